//! What htsjdk says of a histogram (htsjdk.samtools.util.Histogram): values, ascending, and how often each was counted.

use crate::sizes::Sizes;

/// How many values there are.
pub(super) fn count(values: &[(f64, u64)]) -> u64 {
    values.iter().map(|(_, count)| count).sum()
}

/// Their mean.
pub(super) fn mean(values: &[(f64, u64)]) -> f64 {
    values.iter().map(|(value, count)| value * *count as f64).sum::<f64>() / count(values) as f64
}

/// Their standard deviation.
pub(super) fn deviation(values: &[(f64, u64)]) -> f64 {
    let mean = mean(values);
    let square = |(value, count): &(f64, u64)| *count as f64 * (value - mean).powi(2);
    (values.iter().map(square).fold(0.0, |sum, more| sum + more) / (count(values) as f64 - 1.0)).sqrt()
}

/// Their median.
pub(super) fn median(values: &[(f64, u64)]) -> f64 {
    let all = count(values);
    let at = |rank: u64| {
        let mut sum = 0;
        let reached = values.iter().find(|(_, count)| {
            sum += count;
            sum >= rank
        });
        reached.map_or(0.0, |(value, _)| *value)
    };
    match all.is_multiple_of(2) {
        true => (at(all / 2) + at(all / 2 + 1)) / 2.0,
        false => at(all.div_ceil(2)),
    }
}

/// The median of how far they are from their median.
pub(super) fn median_deviation(values: &[(f64, u64)]) -> f64 {
    let median_value = median(values);
    let mut away: Vec<(f64, u64)> =
        values.iter().map(|(value, count)| ((value - median_value).abs(), *count)).collect();
    away.sort_by(|one, other| one.0.total_cmp(&other.0));
    median(&away)
}

/// Those of sizes.
pub(super) fn of_sizes(sizes: &Sizes) -> Vec<(f64, u64)> {
    sizes.counts().map(|(size, count)| (size as f64, count)).collect()
}

/// Those of a list of counts.
pub(super) fn of_counts(counts: &[u64]) -> Vec<(f64, u64)> {
    let all = counts.iter().enumerate().map(|(value, count)| (value as f64, *count));
    all.filter(|(_, count)| *count > 0).collect()
}
