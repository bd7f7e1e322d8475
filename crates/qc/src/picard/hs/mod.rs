//! CollectHsMetrics (picard.analysis.directed.TargetMetricsCollector of 3.4.0), with its defaults: how well regions
//! were enriched.
//!
//! Secondary records are not counted. What lies on baits or near them is counted of all mapped records that pass the
//! filters of the sequencer; coverage of those that are no duplicates and no adapters, with a high mapping quality.
//! Where mates overlap, the bases of the first one behind the start of the other do not count: that is seen in each
//! record alone.

mod text;

use super::adapters::is_adapter;
use super::pileup::Pileup;
use super::sweep::Counts;
use super::targets::Targets;
use super::worth::{NO_COVERAGE, Qualities};
use crate::counts::{add_all, count_at, count_where};
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{AddAssign, Range};

/// Records of a lower mapping quality are left out.
const LEAST_MAPQ: u8 = 20;
/// Bases of a lower quality are no coverage; up to the other one they are not looked at.
const LEAST_QUALITY: u8 = 20;
const WORST_QUALITY: u8 = 2;
/// Larger qualities are none.
const LARGEST_QUALITY: u8 = 126;
/// A record that is so near to a bait was selected.
const NEAR: u32 = 250;
/// Up to so many bases at a place are counted by their quality.
const LARGEST_DEPTH: u8 = 200;

/// The regions of a capture kit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// What was to be enriched.
    pub targets: Targets,
    /// What it was enriched with.
    pub baits: Targets,
}

/// What is summed up.
#[derive(Debug, Clone, Copy)]
enum Sum {
    Reads,
    Passed,
    PassedUnique,
    PassedUniqueAligned,
    PassedBases,
    AlignedBases,
    UniqueAlignedBases,
    SelectedPairs,
    SelectedUniquePairs,
    OnBait,
    NearBait,
    OffBait,
    OnTarget,
    OnTargetFromPairs,
    Duplicate,
    Adapter,
    Mapq,
    Quality,
    Overlap,
    OffTarget,
}

const SUMS: usize = Sum::OffTarget as usize + 1;

/// All sums.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HsMetrics {
    sums: [u64; SUMS],
    /// Bases of coverage on each target that has some.
    of_target: BTreeMap<usize, u64>,
    /// Places of targets by their depth, from 1 on: of coverage, and, up to [`LARGEST_DEPTH`], of all bases that were
    /// looked at.
    depths: Vec<u64>,
    all_depths: Vec<u64>,
    /// Bases on targets by their quality: all, and those at places that had [`LARGEST_DEPTH`] before.
    qualities: Qualities,
    over_limit: Vec<u64>,
}

impl HsMetrics {
    fn get(&self, sum: Sum) -> u64 {
        self.sums[sum as usize]
    }

    fn count(&mut self, sum: Sum, by: impl Into<u64>) {
        self.sums[sum as usize] += by.into();
    }

    /// Adds a record with these bases; those on targets to a pileup.
    pub(super) fn add(&mut self, record: &Record<'_>, codes: &[u8], capture: &Capture, pileup: &mut Pileup) {
        let flags = record.flags;
        if flags.is_secondary() {
            return;
        }
        let (is_read, is_unique) = (!flags.is_supplementary(), !flags.is_duplicate());
        self.count(Sum::Reads, is_read);
        if flags.failed_filters() {
            return;
        }
        let aligned: u64 = record.aligned().map(|(_, bases)| bases.len() as u64).sum();
        if is_read {
            self.count(Sum::Passed, 1u64);
            self.count(Sum::PassedUnique, is_unique);
            self.count(Sum::PassedUniqueAligned, is_unique && flags.is_mapped());
            self.count(Sum::PassedBases, record.bases as u64);
        }
        let (true, Ok(contig)) = (flags.is_mapped(), u32::try_from(record.contig)) else { return };
        self.count(Sum::AlignedBases, aligned);
        self.count(Sum::UniqueAlignedBases, if is_unique { aligned } else { 0 });
        self.add_to_baits(record, contig, aligned, &capture.baits);
        let reason = if !is_unique {
            Some(Sum::Duplicate)
        } else if is_adapter(record, codes) {
            Some(Sum::Adapter)
        } else if record.mapq < LEAST_MAPQ {
            Some(Sum::Mapq)
        } else {
            None
        };
        match reason {
            Some(reason) => self.count(reason, aligned),
            None => self.add_to_targets(record, contig, &capture.targets, pileup),
        }
    }

    fn add_to_baits(&mut self, record: &Record<'_>, contig: u32, aligned: u64, baits: &Targets) {
        let has_bases = record.cigar().any(|op| op.consumes_reference() && op.length() > 0);
        if !has_bases || baits.near(contig, &record.span(), NEAR).is_empty() {
            return self.count(Sum::OffBait, aligned);
        }
        let flags = record.flags;
        if !flags.is_supplementary() && flags.is_paired() && flags.is_first() && flags.is_mate_mapped() {
            self.count(Sum::SelectedPairs, 1u64);
            self.count(Sum::SelectedUniquePairs, !flags.is_duplicate());
        }
        let on_bait = record.aligned().flat_map(|(positions, _)| baits.within(contig, positions.clone()));
        let on_bait: u64 = on_bait.map(|(_, positions)| positions.len() as u64).sum();
        self.count(Sum::OnBait, on_bait);
        self.count(Sum::NearBait, aligned - on_bait);
    }

    fn add_to_targets(&mut self, record: &Record<'_>, contig: u32, targets: &Targets, pileup: &mut Pileup) {
        let flags = record.flags;
        let (overlap, kept) = overlap(record);
        self.count(Sum::Overlap, overlap);
        let is_of_pair = flags.is_paired() && flags.is_mate_mapped() && !flags.is_supplementary();
        pileup.begin(contig, record);
        for (positions, of_read) in record.aligned() {
            let of_read = of_read.start..of_read.end.min(kept);
            let Some(qualities) = record.qualities.get(of_read).filter(|qualities| !qualities.is_empty()) else {
                continue;
            };
            let positions = positions.start..positions.start + qualities.len() as u32;
            let high = count_where(qualities, is_high);
            self.count(Sum::Quality, qualities.len() as u64 - high);
            let mut on_target = 0;
            for (number, Range { start, end }) in targets.within(contig, positions.clone()) {
                let within = &qualities[(start - positions.start) as usize..(end - positions.start) as usize];
                let covering = count_where(within, is_high);
                on_target += covering;
                if covering > 0 {
                    *self.of_target.entry(number).or_default() += covering;
                }
                self.qualities.add(pileup.block(contig, start, within.iter().map(|quality| worth(*quality))));
            }
            self.count(Sum::OnTarget, on_target);
            self.count(Sum::OnTargetFromPairs, if is_of_pair { on_target } else { 0 });
            self.count(Sum::OffTarget, high - on_target);
        }
    }
}

/// What a base on a target is good for.
#[inline]
fn worth(quality: u8) -> u8 {
    // Without branches: many bases are looked at at a time.
    let worth = if is_high(quality) { quality } else { quality | NO_COVERAGE };
    if (quality > WORST_QUALITY) & (quality <= LARGEST_QUALITY) { worth } else { 0 }
}

fn is_high(quality: u8) -> bool {
    (LEAST_QUALITY..=LARGEST_QUALITY).contains(&quality)
}

/// How many bases of a record its mate has, too, and up to which base of the read it keeps its own
/// (htsjdk.samtools.SAMUtils.getNumOverlappingAlignedBasesToClip). Picard does not ask whether the mate lies on the
/// same contig, and counts operations but M as a whole.
fn overlap(record: &Record<'_>) -> (u64, usize) {
    let flags = record.flags;
    let (start, mate) = (i64::from(record.position), i64::from(record.mate_position));
    if !flags.is_paired() || !flags.is_mate_mapped() || mate < start || mate == start && flags.is_first() {
        return (0, usize::MAX);
    }
    let (mut at, mut both, mut last) = (start, 0, 0);
    for op in record.cigar() {
        let length = i64::from(op.length());
        let of_reference = if op.consumes_reference() { length } else { 0 };
        if mate < at + of_reference {
            both += match op.letter() {
                b'M' => (at + length - mate).min(length),
                b'I' | b'=' | b'X' => length,
                _ => 0,
            };
        }
        at += of_reference;
        last = if op.letter() == b'S' { op.length() as usize } else { 0 };
    }
    let both = both as u64;
    match both {
        0 => (0, usize::MAX),
        _ if mate == start => (both, 0),
        _ => (both, record.bases.saturating_sub(both as usize + last)),
    }
}

impl Counts for HsMetrics {
    const LIMIT: u8 = LARGEST_DEPTH;
    const NAMES: bool = false;

    fn place(&mut self, bases: u32, coverage: u32) {
        count_at(&mut self.all_depths, bases as usize);
        if coverage > 0 {
            count_at(&mut self.depths, coverage as usize);
        }
    }

    fn overlap(&mut self, _: u64) {}

    fn over_limit(&mut self, quality: u8) {
        count_at(&mut self.over_limit, quality.into());
    }
}

impl AddAssign<&HsMetrics> for HsMetrics {
    fn add_assign(&mut self, more: &HsMetrics) {
        self.sums.iter_mut().zip(more.sums).for_each(|(all, more)| *all += more);
        for (target, bases) in &more.of_target {
            *self.of_target.entry(*target).or_default() += bases;
        }
        add_all(&mut self.depths, &more.depths);
        add_all(&mut self.all_depths, &more.all_depths);
        self.qualities += &more.qualities;
        add_all(&mut self.over_limit, &more.over_limit);
    }
}
