//! The depth of one region: its mean or median, and how many of its places are so deep at least.

use super::MosdepthSpec;
use std::collections::BTreeMap;
use std::ops::Range;

/// Larger depths count as this one in a median.
const LARGEST_MEDIAN: u32 = 65_535;

/// Runs of depth in a region, in their order: so many places each, and how deep they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Runs(Vec<(u32, u32)>);

/// What is known of a region, of its first places at least.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RegionDepth {
    /// How many places are known.
    pub(crate) places: u32,
    mean: f64,
    counts: BTreeMap<u32, u64>,
    /// For each threshold, how many places are so deep at least.
    pub(crate) over: Vec<u32>,
}

impl Runs {
    pub(crate) fn add(&mut self, places: u32, depth: u32) {
        self.0.push((places, depth));
    }

    fn places(&self) -> u32 {
        self.0.iter().map(|(places, _)| places).sum()
    }

    /// Their mean over so many places, if its two digits do not depend on how it is added up; mosdepth adds the depth
    /// of each place, divided by their number.
    fn clear_mean(&self, length: u32) -> Option<f64> {
        let sum: u64 = self.0.iter().map(|(places, depth)| u64::from(*places) * u64::from(*depth)).sum();
        let mean = sum as f64 / f64::from(length);
        let is_between = |scaled: f64| (scaled - scaled.floor() - 0.5).abs() < 1e-6;
        (!is_between(mean) && !is_between(100.0 * mean)).then_some(mean)
    }
}

impl RegionDepth {
    /// Of a region of so many places, all of which are in `runs` that its contig has.
    pub(crate) fn of(runs: &Runs, length: u32, spec: &MosdepthSpec) -> Self {
        let mut depth = RegionDepth::default();
        match runs.clear_mean(length) {
            Some(mean) if !spec.tells_median => {
                (depth.places, depth.mean) = (runs.places(), mean);
                depth.count_over(runs, spec);
            }
            _ => depth.add(runs, length, spec),
        }
        depth
    }

    /// Adds what follows.
    pub(crate) fn add(&mut self, runs: &Runs, length: u32, spec: &MosdepthSpec) {
        self.places += runs.places();
        self.count_over(runs, spec);
        for (places, depth) in &runs.0 {
            if spec.tells_median {
                *self.counts.entry((*depth).min(LARGEST_MEDIAN)).or_default() += u64::from(*places);
                continue;
            }
            // As mosdepth does it, place by place: a product is rounded in another way.
            let share = f64::from(*depth) / f64::from(length);
            (0..*places).for_each(|_| self.mean += share);
        }
    }

    fn count_over(&mut self, runs: &Runs, spec: &MosdepthSpec) {
        self.over.resize(spec.thresholds.len(), 0);
        for (places, depth) in &runs.0 {
            let reached = spec.thresholds.iter().zip(&mut self.over).take_while(|(threshold, _)| *threshold <= depth);
            reached.for_each(|(_, over)| *over += places);
        }
    }

    /// The mean or the median of a region of a contig that is so long. Where the region goes on behind it, mosdepth
    /// sees one place more, of no depth; the mean is that over all of its places.
    pub(crate) fn value(&self, positions: &Range<u32>, contig_length: u32, spec: &MosdepthSpec) -> f64 {
        if !spec.tells_median {
            return self.mean;
        }
        let behind = u64::from(has_place_behind(positions, contig_length));
        let half = (0.5 + (u64::from(self.places) + behind) as f64 * 0.5) as u64;
        let mut sum = 0;
        for (depth, count) in [(&0, &behind)].into_iter().chain(&self.counts) {
            sum += count;
            if sum >= half {
                return f64::from(*depth);
            }
        }
        0.0
    }
}

/// Whether a region has the place behind the end of its contig, which mosdepth counts, too.
pub(crate) fn has_place_behind(positions: &Range<u32>, contig_length: u32) -> bool {
    positions.start <= contig_length && contig_length < positions.end
}
