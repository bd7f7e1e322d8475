//! CollectGcBiasMetrics (picard.analysis.GcBiasMetricsCollector), with its defaults: how many reads begin at windows of
//! the reference, by their share of G and C.
//!
//! All mapped records count. That of a forward read is the window behind its first base, that of a reverse one the
//! window up to its last base; at the end of a contig Picard has none, and counts the read for no G and C at all.
//! Records without bases do not count: Picard counts them from the hundred and first on.

use super::{Table, file};
use crate::counts::{count_of_pairs, count_where};
use crate::record::{BASE_C, BASE_G, NO_CALL, Record};
use crate::reference::{Window, code_of};
use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Range};
use zerohop_cram::ContigBases;
use zerohop_model::error::Error;
use zerohop_model::htsjdk::decimal;

/// Bases of a window.
const WINDOW: u32 = 100;
/// Windows with more unknown bases are left out.
const MOST_UNKNOWN: u64 = 4;
/// Shares of G and C, in percent; up to this one they count as AT in a dropout.
const SHARES: usize = 101;
const MIDDLE: usize = 50;
/// Shares whose coverage is told together.
const GROUPS: [Range<usize>; 5] = [0..20, 20..40, 40..60, 60..80, 80..101];
/// What an unknown base counts for in a window, where G and C count for 1.
const UNKNOWN: u32 = 1 << 16;
/// So many places of the reference are read at once.
const PIECE: u32 = 1 << 16;

/// What is summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GcBias {
    clusters: u64,
    aligned: u64,
    /// By share: windows of the reference, reads that begin there, their bases, and how many differ.
    shares: Vec<OfShare>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OfShare {
    windows: u64,
    reads: u64,
    bases: u64,
    errors: u64,
}

impl GcBias {
    fn share(&mut self, share: usize) -> &mut OfShare {
        self.shares.resize(SHARES, OfShare::default());
        &mut self.shares[share]
    }

    /// Adds a record with these bases.
    pub(super) fn add(&mut self, record: &Record<'_>, codes: &[u8], window: &mut Window<'_>) -> Result<(), Error> {
        let flags = record.flags;
        if record.bases == 0 {
            return Ok(());
        }
        self.clusters += u64::from(!flags.is_paired() || flags.is_first());
        let (true, Ok(contig)) = (flags.is_mapped(), u32::try_from(record.contig)) else { return Ok(()) };
        self.aligned += 1;
        // Of aligned reads all shares are told.
        self.share(0);
        let start = i64::from(record.position);
        let bases: i64 = record.cigar().filter(|op| op.consumes_reference()).map(|op| i64::from(op.length())).sum();
        let at = if flags.is_reverse() { start + bases - i64::from(WINDOW) } else { start + 1 };
        let Some(at) = u32::try_from(at).ok().filter(|at| *at > 0) else { return Ok(()) };
        let share = match at.saturating_add(WINDOW) < window.length(contig) {
            true => share(window.codes(record.contig, at..at + WINDOW)?),
            false => Some(0),
        };
        let Some(share) = share else { return Ok(()) };
        let indels = record.cigar().filter(|op| matches!(op.letter(), b'I' | b'D')).map(|op| u64::from(op.length()));
        let mut errors = indels.sum::<u64>();
        for (positions, of_read) in record.aligned() {
            let reference = window.codes(record.contig, positions)?;
            let read = codes.get(of_read).unwrap_or_default();
            errors += count_of_pairs(read, reference, |read, reference| read != reference);
        }
        let of_share = self.share(share);
        of_share.reads += 1;
        of_share.bases += record.bases as u64;
        of_share.errors += errors;
        Ok(())
    }

    /// Counts the windows that begin at these positions of a contig. The first one and the last one of a contig are
    /// left out.
    pub(super) fn windows(&mut self, contig: u32, positions: Range<u32>, reference: &ContigBases) -> Result<(), Error> {
        let end = reference.length(contig).saturating_sub(WINDOW).min(positions.end);
        let (mut start, mut bases) = (positions.start.max(1), Vec::new());
        while start < end {
            let until = end.min(start + PIECE);
            bases.clear();
            reference.read(contig, start..until + WINDOW, &mut bases)?;
            self.windows_of(&bases[..(until - start + WINDOW) as usize]);
            start = until;
        }
        Ok(())
    }

    /// Counts the windows in these bases of a reference, but for the last.
    fn windows_of(&mut self, bases: &[u8]) {
        let mut windows = [0u64; SHARES.next_power_of_two()];
        let of_bases: [u32; 256] = std::array::from_fn(|base| match code_of(base as u8) {
            NO_CALL => UNKNOWN,
            code => is_gc(code).into(),
        });
        let count = |base: &u8| of_bases[usize::from(*base)];
        let mut counts: u32 = bases[..WINDOW as usize].iter().map(count).sum();
        for (first, next) in bases.iter().zip(&bases[WINDOW as usize..]) {
            let (gc, unknown) = (counts % UNKNOWN, counts / UNKNOWN);
            windows[gc as usize % windows.len()] += u64::from(u64::from(unknown) <= MOST_UNKNOWN);
            counts = counts + count(next) - count(first);
        }
        self.share(0);
        self.shares.iter_mut().zip(windows).for_each(|(of_share, windows)| of_share.windows += windows);
    }

    /// `gc_bias.detail_metrics`.
    pub(super) fn detail(&self, heading: &str) -> String {
        let mean = self.mean();
        let row = |(share, of_share): (usize, &OfShare)| {
            let OfShare { windows, reads, bases, errors } = *of_share;
            let quality = (-10.0 * (errors as f64 / bases as f64).log10() + 0.5).floor();
            let of_windows = |reads: f64| match windows {
                0 => 0.0,
                _ => reads / windows as f64 / mean,
            };
            let numbers = [share as u64, windows, reads].map(|number| number.to_string());
            let quality = if errors > 0 { quality as i64 } else { 0 };
            let coverage = [reads as f64, (reads as f64).sqrt()].map(|reads| decimal(of_windows(reads)));
            row(numbers.into_iter().chain([quality.to_string()]).chain(coverage))
        };
        let rows = self.told().iter().enumerate().map(row).collect();
        let titles = ["GC", "WINDOWS", "READ_STARTS", "MEAN_BASE_QUALITY", "NORMALIZED_COVERAGE", "ERROR_BAR_WIDTH"];
        let metrics = Table::new("METRICS CLASS\tpicard.analysis.GcBiasDetailMetrics", titled(titles), rows);
        file(heading, Some(metrics), None)
    }

    /// `gc_bias.summary_metrics`.
    pub(super) fn summary(&self, heading: &str) -> String {
        let (mean, shares) = (self.mean(), self.told());
        let [all_windows, all_reads] = self.all();
        let mut dropouts = [0.0; 2];
        for (share, OfShare { windows, reads, .. }) in shares.iter().enumerate() {
            let dropout = (*windows as f64 / all_windows - *reads as f64 / all_reads) * 100.0;
            if dropout > 0.0 {
                dropouts[usize::from(share > MIDDLE)] += dropout;
            }
        }
        let coverage = |group: Range<usize>| {
            let with_windows = || shares[group.clone()].iter().filter(|of_share| of_share.windows > 0);
            let (reads, windows): (u64, u64) =
                (with_windows().map(|it| it.reads).sum(), with_windows().map(|it| it.windows).sum());
            if windows == 0 { 0.0 } else { reads as f64 / (windows as f64 * mean) }
        };
        let groups = match shares.is_empty() {
            true => Vec::new(),
            false => GROUPS.map(|group| decimal(coverage(group))).to_vec(),
        };
        let numbers = [u64::from(WINDOW), self.clusters, self.aligned].map(|number| number.to_string());
        let rows = match shares.is_empty() {
            true => Vec::new(),
            false => vec![row(numbers.into_iter().chain(dropouts.map(decimal)).chain(groups))],
        };
        let titles = ["WINDOW_SIZE", "TOTAL_CLUSTERS", "ALIGNED_READS", "AT_DROPOUT", "GC_DROPOUT"].map(str::to_owned);
        let groups = GROUPS.map(|group| format!("GC_NC_{}_{}", group.start, group.end - 1));
        let titles = titled(titles.into_iter().chain(groups));
        file(heading, Some(Table::new("METRICS CLASS\tpicard.analysis.GcBiasSummaryMetrics", titles, rows)), None)
    }

    /// What is told of: of no aligned reads nothing.
    fn told(&self) -> &[OfShare] {
        if self.aligned == 0 { &[] } else { &self.shares }
    }

    /// All windows, and all reads that begin at one.
    fn all(&self) -> [f64; 2] {
        let of = |value: fn(&OfShare) -> u64| self.shares.iter().map(value).sum::<u64>() as f64;
        [of(|it| it.windows), of(|it| it.reads)]
    }

    /// Reads of a window.
    fn mean(&self) -> f64 {
        let [windows, reads] = self.all();
        reads / windows
    }
}

fn is_gc(code: u8) -> bool {
    code == BASE_C || code == BASE_G
}

/// How many bases are G or C, and how many are not known.
fn counts(codes: &[u8]) -> (u64, u64) {
    (count_where(codes, is_gc), count_where(codes, |code| code == NO_CALL))
}

/// The share of a window; none if too many of its bases are not known.
fn share(codes: &[u8]) -> Option<usize> {
    let (gc, unknown) = counts(codes);
    (unknown <= MOST_UNKNOWN).then_some(gc as usize)
}

/// A row of the figures of all reads.
fn row(figures: impl IntoIterator<Item = String>) -> Vec<String> {
    let of_all = ["All Reads", "ALL"].map(str::to_owned);
    of_all.into_iter().chain(figures).chain(vec![String::new(); 3]).collect()
}

fn titled<T: ToString>(titles: impl IntoIterator<Item = T>) -> Vec<String> {
    let titles = titles.into_iter().map(|title| title.to_string());
    let (of_reads, of_groups) = (["ACCUMULATION_LEVEL", "READS_USED"], ["SAMPLE", "LIBRARY", "READ_GROUP"]);
    of_reads.map(str::to_owned).into_iter().chain(titles).chain(of_groups.map(str::to_owned)).collect()
}

impl AddAssign<&GcBias> for GcBias {
    fn add_assign(&mut self, more: &GcBias) {
        self.clusters += more.clusters;
        self.aligned += more.aligned;
        for (share, more) in more.shares.iter().enumerate() {
            let OfShare { windows, reads, bases, errors } = self.share(share);
            *windows += more.windows;
            *reads += more.reads;
            *bases += more.bases;
            *errors += more.errors;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn windows_are_those_that_are_counted_alone(
            bases in prop::collection::vec(prop_oneof![20 => Just(b'A'), 20 => Just(b'g'), 9 => Just(b'C'),
                1 => prop_oneof![Just(b'N'), Just(b'n'), Just(b'.'), Just(b'R'), Just(b'-')]], 100..600),
        ) {
            let (mut bias, mut naive) = (GcBias::default(), vec![0; SHARES]);
            bias.windows_of(&bases);
            let codes: Vec<u8> = bases.iter().map(|base| code_of(*base)).collect();
            for codes in codes[..bases.len() - 1].windows(WINDOW as usize) {
                share(codes).into_iter().for_each(|share| naive[share] += 1);
            }
            prop_assert_eq!(bias.shares.iter().map(|of_share| of_share.windows).collect::<Vec<_>>(), naive);
        }
    }
}
