//! Files of metrics as htsjdk writes them (htsjdk.samtools.metrics.MetricsFile, htsjdk.samtools.util.FormatUtil), and
//! what several of Picard's programs estimate.

/// Comments before all metrics.
pub fn heading<'c>(comments: impl IntoIterator<Item = &'c str>) -> String {
    let line = |comment: &str| format!("## htsjdk.samtools.metrics.StringHeader\n# {comment}\n");
    comments.into_iter().map(line).collect()
}

/// A number with six digits behind the point at most; what lies in the middle is rounded down. What is none is `?`.
///
/// ```
/// # use zerohop_model::htsjdk::decimal;
/// assert_eq!([0.0, 1.5, 0.0117647, 3.0 / 128.0, f64::NAN].map(decimal), ["0", "1.5", "0.011765", "0.023437", "?"]);
/// ```
pub fn decimal(value: f64) -> String {
    if !value.is_finite() {
        return "?".to_owned();
    }
    // The one number of which Java takes the shortest digits for the exact ones.
    if value == 5e-7 {
        return "0.000001".to_owned();
    }
    // Enough digits to tell what lies in the middle.
    let exact = format!("{value:.40}");
    let (kept, rest) = exact.split_at(exact.len() - 34);
    let is_middle = rest.trim_end_matches('0') == "5";
    let text = if is_middle { kept.to_owned() } else { format!("{value:.6}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How many times the size of a library is halved in.
const HALVINGS: u32 = 40;

/// How many different molecules a library has, as far as its pairs say (picard.sam.DuplicationMetrics): the X of the
/// equation of Lander and Waterman, C / X = 1 - exp(-N / X), for N pairs, C of them no duplicates. None if there are no
/// duplicates.
pub fn library_size(pairs: u64, unique: u64) -> Option<u64> {
    if pairs == 0 || unique == 0 || unique >= pairs {
        return None;
    }
    let (n, c) = (pairs as f64, unique as f64);
    let difference = |x: f64| c / x - 1.0 + (-n / x).exp();
    let (mut low, mut high) = (1.0, 100.0);
    if difference(low * c) < 0.0 {
        return None;
    }
    while difference(high * c) > 0.0 {
        high *= 10.0;
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match difference(middle * c) {
            0.0 => break,
            found if found > 0.0 => low = middle,
            _ => high = middle,
        }
    }
    Some((c * (low + high) / 2.0) as u64)
}
