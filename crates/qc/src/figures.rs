//! What tables and pictures are made of ([`QcFigures`]): it is no report of a tool, but out of the same sums.

use crate::cycles::Cycles;
use crate::mosdepth::Mosdepth;
use crate::record::ReadOrder;
use crate::stats::Stats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{AddAssign, Range};
use zerohop_model::qc_figures::{ContigDepth, QcFigures};
use zerohop_model::record::Contig;

/// So many contigs are shown, those with the most bases.
const CONTIGS: usize = 100;
/// So many windows the reference has, at least, if it has so many bases.
const WINDOWS: u64 = 500;
/// Depths are told up to so many times the mean, and up to one of these at least and at most.
const TIMES_MEAN: u64 = 4;
const DEEPEST: Range<u64> = 100..10_000;
/// Higher qualities are none.
const QUALITIES: usize = 128;

/// Which windows there are.
#[derive(Debug)]
pub(crate) struct WindowSpec {
    bases: u32,
    /// Contigs that are shown.
    is_shown: Vec<bool>,
}

/// Bases by window of each contig that is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WindowDepths(BTreeMap<u32, Vec<u64>>);

impl WindowSpec {
    pub(crate) fn new(contigs: &[Contig]) -> Self {
        let all: u64 = contigs.iter().map(|contig| contig.length).sum();
        let steps = (0..).flat_map(|zeros| [1, 2, 5].map(|digit| digit * 10u64.pow(zeros)));
        let bases = steps.take_while(|bases| bases * WINDOWS <= all).last().unwrap_or(1);
        let mut longest: Vec<usize> = (0..contigs.len()).collect();
        longest.sort_by_key(|number| std::cmp::Reverse(contigs[*number].length));
        let mut is_shown = vec![false; contigs.len()];
        longest.iter().take(CONTIGS).for_each(|number| is_shown[*number] = true);
        WindowSpec { bases: bases as u32, is_shown }
    }
}

impl WindowDepths {
    /// Adds places of a contig that are so deep.
    #[inline]
    pub(crate) fn add(&mut self, contig: u32, places: &Range<u32>, depth: u32, spec: &WindowSpec) {
        if depth == 0 || !spec.is_shown[contig as usize] {
            return;
        }
        let windows = self.0.entry(contig).or_default();
        let (first, last) = (places.start / spec.bases, (places.end - 1) / spec.bases);
        if windows.len() <= last as usize {
            windows.resize(last as usize + 1, 0);
        }
        for window in first..=last {
            let (start, end) = (window * spec.bases, (window + 1).saturating_mul(spec.bases));
            let within = u64::from(places.end.min(end) - places.start.max(start));
            windows[window as usize] += within * u64::from(depth);
        }
    }

    fn of_contig(&self, number: usize, Contig { name, length, .. }: &Contig, bases: u32) -> ContigDepth {
        let (bases, none) = (u64::from(bases), Vec::new());
        let windows = self.0.get(&(number as u32)).unwrap_or(&none);
        let mean = |sum: u64, places: u64| sum as f64 / places.max(1) as f64;
        let of_window = |window: u64| {
            let sum = windows.get(window as usize).copied().unwrap_or(0);
            mean(sum, bases.min(length - window * bases))
        };
        ContigDepth {
            name: name.clone(),
            length: *length,
            depth: mean(windows.iter().sum(), *length),
            windows: (0..length.div_ceil(bases)).map(of_window).collect(),
        }
    }
}

impl AddAssign<&WindowDepths> for WindowDepths {
    fn add_assign(&mut self, more: &WindowDepths) {
        for (contig, more) in &more.0 {
            crate::counts::add_all(self.0.entry(*contig).or_default(), more);
        }
    }
}

/// All figures; `cycles` is settled.
pub(crate) fn figures(
    (contigs, spec): (&[Contig], &WindowSpec),
    windows: &WindowDepths,
    (stats, cycles, mosdepth): (&Stats, &Cycles, &Mosdepth),
) -> QcFigures {
    let shown = contigs.iter().enumerate().filter(|(number, _)| spec.is_shown[*number]);
    let quality = [ReadOrder::First, ReadOrder::Last].map(|mate| {
        let qualities = cycles.qualities(&[mate]);
        let means = (0..qualities.longest).map(|cycle| qualities.mean(cycle, QUALITIES));
        // No read may have a quality in a cycle: JSON has no number for what nothing is the mean of.
        means.map(|mean| if mean.is_nan() { 0.0 } else { mean }).collect()
    });
    QcFigures {
        contigs: shown.map(|(number, contig)| windows.of_contig(number, contig, spec.bases)).collect(),
        all_contigs: contigs.len() as u64,
        reference_bases: contigs.iter().map(|contig| contig.length).sum(),
        window_bases: spec.bases.into(),
        places: with_rest(mosdepth.places(), |places| {
            let all: u64 = places.iter().sum();
            let bases: u64 = places.iter().enumerate().map(|(depth, count)| depth as u64 * count).sum();
            (TIMES_MEAN * bases / all.max(1)).clamp(DEEPEST.start, DEEPEST.end) as usize
        }),
        quality,
        ..stats.figures()
    }
}

/// Counts up to a place, and one that stands for all behind it.
fn with_rest(mut counts: Vec<u64>, last: impl FnOnce(&[u64]) -> usize) -> Vec<u64> {
    let last = last(&counts).min(counts.len().saturating_sub(1));
    let rest: u64 = counts.drain((last + 1).min(counts.len())..).sum();
    if !counts.is_empty() {
        counts.push(rest);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_the_bases_that_lie_in_them() {
        let contigs = [("a", 2500), ("b", 10)].map(|(name, length)| Contig::new(name.to_owned(), length));
        let spec = WindowSpec::new(&contigs);
        assert_eq!((spec.bases, &*spec.is_shown), (5, &[true, true][..]));
        let mut depths = WindowDepths::default();
        depths.add(0, &(3..12), 2, &spec);
        depths.add(0, &(2499..2500), 7, &spec);
        let [a, b] = [0, 1].map(|number| depths.of_contig(number, &contigs[number], spec.bases));
        assert_eq!((&a.windows[..4], a.windows.len()), (&[0.8, 2.0, 0.8, 0.0][..], 500));
        assert_eq!((a.windows[499], a.depth), (7.0 / 5.0, 25.0 / 2500.0));
        assert_eq!((b.windows, b.depth), (vec![0.0, 0.0], 0.0));
    }

    #[test]
    fn what_is_behind_the_last_is_one() {
        assert_eq!(with_rest(vec![1, 2, 3, 4], |_| 1), [1, 2, 7]);
        assert_eq!(with_rest(vec![1, 2], |_| 9), [1, 2, 0]);
        assert_eq!(with_rest(Vec::new(), |_| 9), [0u64; 0]);
    }
}
