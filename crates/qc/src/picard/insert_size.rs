//! CollectInsertSizeMetrics (picard.analysis.directed.InsertSizeMetricsCollector), with its defaults.
//!
//! The second read of a pair counts if both mates are mapped to the same contig, and it is primary, no duplicate, and
//! has a TLEN.

use super::histogram::{deviation, mean, median, median_deviation};
use super::{Table, file, orientation};
use crate::counts::{add_all, count_at};
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;
use zerohop_model::htsjdk::decimal;

/// How they are told, in the order of [`Orientation`].
const ORIENTATIONS: [&str; 3] = ["FR", "RF", "TANDEM"];
/// Orientations with a smaller share of the pairs are left out; Picard has it with 32 bits.
const LEAST_SHARE: f32 = 0.05;
/// The histogram ends so many deviations behind the median.
const DEVIATIONS: f64 = 10.0;
/// Shares of the pairs whose width around the median is told, in percent.
const WIDTHS: [u32; 11] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];
/// Most sizes are less.
const USUAL: usize = 4096;

/// Pairs by their size, for each of [`ORIENTATIONS`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InsertSizes([Sizes; ORIENTATIONS.len()]);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sizes {
    usual: Vec<u64>,
    others: BTreeMap<u32, u64>,
}

/// Sizes, ascending, and how many pairs have each.
type Histogram = Vec<(u32, u64)>;

impl InsertSizes {
    #[inline]
    pub(super) fn add(&mut self, record: &Record<'_>) {
        let Record { flags, template_length, .. } = *record;
        let counts = flags.is_paired() && flags.is_mapped() && flags.is_mate_mapped() && !flags.is_first();
        let is_left_out = flags.is_secondary() || flags.is_supplementary() || flags.is_duplicate();
        if !counts || is_left_out || template_length == 0 || record.contig != record.mate_contig {
            return;
        }
        self.0[orientation(record) as usize].count(template_length.unsigned_abs());
    }

    pub(super) fn text(&self, heading: &str) -> String {
        let histograms = self.0.each_ref().map(Sizes::histogram);
        let pairs = histograms.each_ref().map(|histogram| pairs(histogram));
        let all: u64 = pairs.iter().sum();
        let is_told = |orientation: usize| pairs[orientation] as f64 >= all as f64 * f64::from(LEAST_SHARE);
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for orientation in (0..ORIENTATIONS.len()).filter(|orientation| all > 0 && is_told(*orientation)) {
            let (row, trimmed) = metrics(&histograms[orientation], ORIENTATIONS[orientation]);
            rows.push(row);
            let title = format!("All_Reads.{}_count", ORIENTATIONS[orientation].to_lowercase());
            columns.push((title, trimmed));
        }
        let titles = ["MEDIAN_INSERT_SIZE", "MODE_INSERT_SIZE", "MEDIAN_ABSOLUTE_DEVIATION", "MIN_INSERT_SIZE"]
            .into_iter()
            .chain(["MAX_INSERT_SIZE", "MEAN_INSERT_SIZE", "STANDARD_DEVIATION", "READ_PAIRS", "PAIR_ORIENTATION"])
            .map(str::to_owned)
            .chain(WIDTHS.map(|share| format!("WIDTH_OF_{share}_PERCENT")))
            .chain(["SAMPLE", "LIBRARY", "READ_GROUP"].map(str::to_owned));
        let metrics = Table::new("METRICS CLASS\tpicard.analysis.InsertSizeMetrics", titles, rows);
        file(heading, Some(metrics), histogram(columns))
    }
}

impl Sizes {
    fn count(&mut self, size: u32) {
        match (size as usize) < USUAL {
            true => count_at(&mut self.usual, size as usize),
            false => *self.others.entry(size).or_default() += 1,
        }
    }

    fn histogram(&self) -> Histogram {
        let usual = self.usual.iter().enumerate().map(|(size, count)| (size as u32, *count));
        let others = self.others.iter().map(|(size, count)| (*size, *count));
        usual.chain(others).filter(|(_, count)| *count > 0).collect()
    }
}

fn pairs(histogram: &[(u32, u64)]) -> u64 {
    histogram.iter().map(|(_, count)| count).sum()
}

/// The row of an orientation, and its histogram without what is far from the median. One without pairs, which Picard
/// tells of if no other one has any, does not occur.
fn metrics(histogram: &[(u32, u64)], orientation: &str) -> (Vec<String>, Histogram) {
    let all = pairs(histogram);
    let values: Vec<(f64, u64)> = histogram.iter().map(|(size, count)| (f64::from(*size), *count)).collect();
    let (median_size, deviation_of_median) = (median(&values), median_deviation(&values));
    // Of equal counts the first is the mode.
    let mode = histogram.iter().rev().max_by_key(|(_, count)| *count).map_or(0, |(size, _)| *size);
    let (least, most) = (histogram.first().map_or(0, |it| it.0), histogram.last().map_or(0, |it| it.0));
    let widths = widths(histogram, median_size, all);
    let end = (median_size + DEVIATIONS * deviation_of_median) as i64;
    let trimmed: Histogram = histogram.iter().copied().filter(|(size, _)| i64::from(*size) <= end).collect();
    let kept: Vec<(f64, u64)> = trimmed.iter().map(|(size, count)| (f64::from(*size), *count)).collect();
    let numbers = [median_size, f64::from(mode), deviation_of_median].map(decimal);
    let row = numbers
        .into_iter()
        .chain([least.to_string(), most.to_string(), decimal(mean(&kept)), decimal(deviation(&kept)), all.to_string()])
        .chain([orientation.to_owned()])
        .chain(widths.map(|width| width.to_string()))
        .chain(["", "", ""].map(str::to_owned))
        .collect();
    (row, trimmed)
}

/// How many sizes around the median hold each share of [`WIDTHS`]. Picard goes from the median, one size at a time in
/// both directions; here, from size to size.
fn widths(histogram: &[(u32, u64)], median: f64, all: u64) -> [u64; WIDTHS.len()] {
    let middle = median as i64;
    let mut by_distance: Vec<(u64, u64)> =
        histogram.iter().map(|(size, count)| ((i64::from(*size) - middle).unsigned_abs(), *count)).collect();
    by_distance.sort_unstable();
    let (mut widths, mut covered) = ([0; WIDTHS.len()], 0);
    for (at, (distance, count)) in by_distance.iter().enumerate() {
        covered += count;
        // Two sizes that are as far from the median count together.
        if by_distance.get(at + 1).is_some_and(|next| next.0 == *distance) {
            continue;
        }
        let share = covered as f64 / all as f64;
        for (width, percent) in widths.iter_mut().zip(WIDTHS) {
            if *width == 0 && share >= f64::from(percent) / 100.0 {
                *width = 2 * distance + 1;
            }
        }
    }
    widths
}

/// The histogram of all orientations that are told.
fn histogram(columns: Vec<(String, Histogram)>) -> Option<Table> {
    let columns: Vec<_> = columns.into_iter().filter(|(_, sizes)| !sizes.is_empty()).collect();
    let mut rows: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (column, (_, sizes)) in columns.iter().enumerate() {
        for (size, count) in sizes {
            rows.entry(*size).or_insert_with(|| vec![0; columns.len()])[column] = *count;
        }
    }
    let row = |(size, counts): (u32, Vec<u64>)| {
        [size.to_string()].into_iter().chain(counts.iter().map(u64::to_string)).collect()
    };
    let titles = ["insert_size".to_owned()].into_iter().chain(columns.into_iter().map(|(title, _)| title));
    Some(Table::new("HISTOGRAM\tjava.lang.Integer", titles, rows.into_iter().map(row).collect()))
}

impl AddAssign<&InsertSizes> for InsertSizes {
    fn add_assign(&mut self, more: &InsertSizes) {
        for (all, more) in self.0.iter_mut().zip(&more.0) {
            add_all(&mut all.usual, &more.usual);
            more.others.iter().for_each(|(size, count)| *all.others.entry(*size).or_default() += count);
        }
    }
}
