//! Files of metrics as htsjdk writes them (htsjdk.samtools.metrics.MetricsFile, htsjdk.samtools.util.FormatUtil).

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
    // Enough digits to tell what lies in the middle.
    let exact = format!("{value:.40}");
    let (kept, rest) = exact.split_at(exact.len() - 34);
    let is_middle = rest.trim_end_matches('0') == "5";
    let text = if is_middle { kept.to_owned() } else { format!("{value:.6}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
