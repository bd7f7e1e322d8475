//! CollectWgsMetrics (picard.analysis.AbstractWgsMetricsCollector and its filters), with its defaults and without the
//! fast algorithm, which has other figures.
//!
//! Bases of records that are left out are counted for the first reason in the order of [`LeftOut`]; secondary records
//! are not counted at all. Of the others, each base that lies on a base of the reference that is not N counts, but for
//! low qualities, N, and mates that cover the same place. Picard's limit of 100,000 records at a place is not kept.

use super::adapters::is_adapter;
use super::histogram::{self, deviation, mean, median, median_deviation};
use super::pileup::Pileup;
use super::sensitivity::{phred, sensitivity};
use super::sweep::Counts;
use super::worth::{NO_COVERAGE, QUALITIES, Qualities, covers};
use super::{Table, file};
use crate::counts::{add_all, count_at, count_where};
use crate::record::{NO_CALL, Record};
use crate::reference::Window;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use zerohop_model::error::Error;
use zerohop_model::htsjdk::decimal;

/// Records of a lower mapping quality are left out.
const LEAST_MAPQ: u8 = 20;
/// Bases of a lower quality are no coverage; up to the other one they are not looked at.
const LEAST_QUALITY: u8 = 20;
const WORST_QUALITY: u8 = 2;
/// The largest depth.
const LARGEST_DEPTH: u8 = 250;
/// Depths, up to which share of the places is told that have so much at least.
const TOLD_DEPTHS: [usize; 14] = [1, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100];
/// How much more is needed for this share of the places to have the mean depth now.
const FOLDS: [f64; 3] = [0.2, 0.1, 0.05];

/// Why bases are left out, in the order in which that is told.
#[derive(Debug, Clone, Copy)]
enum LeftOut {
    Adapter,
    Mapq,
    Duplicate,
    Unpaired,
    Quality,
    Overlap,
    Capped,
}

const LEFT_OUT: usize = LeftOut::Capped as usize + 1;

/// What is summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WgsMetrics {
    left_out: [u64; LEFT_OUT],
    /// Places by their depth, from 1 on: of coverage, and of all bases that were looked at.
    depths: Vec<u64>,
    all_depths: Vec<u64>,
    /// Bases by their quality: all, and those at places that had [`LARGEST_DEPTH`] before.
    qualities: Qualities,
    over_limit: Vec<u64>,
}

impl WgsMetrics {
    fn count(&mut self, reason: LeftOut, bases: u64) {
        self.left_out[reason as usize] += bases;
    }

    /// Adds a record with these bases; those that may count at their places to a pileup.
    pub(super) fn add(
        &mut self,
        record: &Record<'_>,
        codes: &[u8],
        window: &mut Window<'_>,
        pileup: &mut Pileup,
    ) -> Result<(), Error> {
        let flags = record.flags;
        if flags.is_secondary() {
            return Ok(());
        }
        let reason = if is_adapter(record, codes) {
            Some(LeftOut::Adapter)
        } else if record.mapq < LEAST_MAPQ {
            Some(LeftOut::Mapq)
        } else if flags.is_duplicate() {
            Some(LeftOut::Duplicate)
        } else if !flags.is_paired() || !flags.is_mate_mapped() {
            Some(LeftOut::Unpaired)
        } else {
            None
        };
        if let Some(reason) = reason {
            self.count(reason, record.aligned().map(|(_, bases)| bases.len() as u64).sum());
            return Ok(());
        }
        let Ok(contig) = u32::try_from(record.contig) else { return Ok(()) };
        if !flags.is_mapped() || flags.failed_filters() {
            return Ok(());
        }
        pileup.begin(contig, record);
        for (positions, of_read) in record.aligned() {
            let start = positions.start;
            let reference = window.codes(record.contig, positions)?;
            let (Some(codes), Some(qualities)) = (codes.get(of_read.clone()), record.qualities.get(of_read)) else {
                continue;
            };
            let bases = codes.iter().zip(qualities).zip(reference);
            let of_block =
                pileup.block(contig, start, bases.map(|((code, quality), base)| worth(*code, *quality, *base)));
            self.qualities.add(of_block);
            let known = count_where(&reference[..of_block.len()], |base| base != NO_CALL);
            self.count(LeftOut::Quality, known - count_where(of_block, covers));
        }
        Ok(())
    }

    /// The file; so many bases of the reference are not N, and qualities are drawn so often.
    pub(super) fn text(&self, (territory, rounds): (u64, u32), heading: &str) -> String {
        let with_empty = |counts: &[u64]| -> Vec<u64> {
            let mut all = vec![0; usize::from(LARGEST_DEPTH) + 1];
            all.iter_mut().zip(counts).for_each(|(all, count)| *all = *count);
            all[0] = territory.saturating_sub(all.iter().sum());
            all
        };
        let (depths, all_depths) = (with_empty(&self.depths), with_empty(&self.all_depths));
        let mut qualities = self.qualities.counts();
        qualities.iter_mut().zip(&self.over_limit).for_each(|(all, over)| *all -= over);
        let row = self.row(territory, &depths, sensitivity(&all_depths, &qualities, rounds));
        let titles = ["GENOME_TERRITORY", "MEAN_COVERAGE", "SD_COVERAGE", "MEDIAN_COVERAGE", "MAD_COVERAGE"];
        let reasons = ["ADAPTER", "MAPQ", "DUPE", "UNPAIRED", "BASEQ", "OVERLAP", "CAPPED", "TOTAL"];
        let titles = (titles.into_iter().map(str::to_owned))
            .chain(reasons.map(|reason| format!("PCT_EXC_{reason}")))
            .chain(TOLD_DEPTHS.map(|depth| format!("PCT_{depth}X")))
            .chain(["80", "90", "95"].map(|share| format!("FOLD_{share}_BASE_PENALTY")))
            .chain(["HET_SNP_SENSITIVITY", "HET_SNP_Q"].map(str::to_owned));
        let metrics = Table::new("METRICS CLASS\tpicard.analysis.WgsMetrics", titles, vec![row]);
        let rows = depths.iter().enumerate().map(|(depth, count)| vec![depth.to_string(), count.to_string()]);
        let titles = ["coverage", "high_quality_coverage_count"];
        file(heading, Some(metrics), Some(Table::new("HISTOGRAM\tjava.lang.Integer", titles, rows.collect())))
    }

    fn row(&self, territory: u64, depths: &[u64], sensitivity: f64) -> Vec<String> {
        let values = histogram::of_counts(depths);
        let of_places = |value: fn(&[(f64, u64)]) -> f64| match territory {
            0 => f64::NAN,
            _ => value(&values),
        };
        // Of one place Picard takes the first depth of all.
        let middle = |value: fn(&[(f64, u64)]) -> f64| if territory < 2 { 0.0 } else { value(&values) };
        let covered: u64 = depths.iter().enumerate().map(|(depth, count)| depth as u64 * count).sum();
        let all = (covered + self.left_out.iter().sum::<u64>()) as f64;
        let share = |bases: f64| decimal(if all == 0.0 { 0.0 } else { bases / all });
        let from = |depth: usize| depths[depth..].iter().sum::<u64>() as f64 / territory as f64;
        let fold = |share: f64| {
            let mut sum = 0;
            let reached = depths.iter().position(|count| {
                sum += count;
                sum as f64 / territory as f64 >= share
            });
            match territory {
                0 => 0.0,
                _ => mean(&values) / reached.unwrap_or(0) as f64,
            }
        };
        let depth = [of_places(mean), of_places(deviation), middle(median), middle(median_deviation)];
        let left_out = self.left_out.iter().map(|bases| share(*bases as f64)).chain([share(all - covered as f64)]);
        let places =
            TOLD_DEPTHS.map(|depth| decimal(from(depth))).into_iter().chain(FOLDS.map(|share| decimal(fold(share))));
        let site = [decimal(sensitivity), phred(sensitivity).to_string()];
        [territory.to_string()]
            .into_iter()
            .chain(depth.map(decimal))
            .chain(left_out)
            .chain(places)
            .chain(site)
            .collect()
    }
}

/// What a base is good for, on this one of the reference.
#[inline]
fn worth(code: u8, quality: u8, reference: u8) -> u8 {
    // Without branches: many bases are looked at at a time.
    let is_looked_at = (reference != NO_CALL) & (quality > WORST_QUALITY) & (quality < QUALITIES as u8);
    let is_coverage = (quality >= LEAST_QUALITY) & (code != NO_CALL);
    let worth = if is_coverage { quality } else { quality | NO_COVERAGE };
    if is_looked_at { worth } else { 0 }
}

impl Counts for WgsMetrics {
    const LIMIT: u8 = LARGEST_DEPTH;
    const NAMES: bool = true;

    #[inline]
    fn place(&mut self, bases: u32, coverage: u32) {
        let largest = u32::from(LARGEST_DEPTH);
        count_at(&mut self.all_depths, bases as usize);
        if coverage > 0 {
            count_at(&mut self.depths, coverage.min(largest) as usize);
            self.count(LeftOut::Capped, coverage.saturating_sub(largest).into());
        }
    }

    fn overlap(&mut self, bases: u64) {
        self.count(LeftOut::Overlap, bases);
    }

    fn over_limit(&mut self, quality: u8) {
        count_at(&mut self.over_limit, quality.into());
    }
}

impl AddAssign<&WgsMetrics> for WgsMetrics {
    fn add_assign(&mut self, more: &WgsMetrics) {
        self.left_out.iter_mut().zip(more.left_out).for_each(|(all, more)| *all += more);
        add_all(&mut self.depths, &more.depths);
        add_all(&mut self.all_depths, &more.all_depths);
        self.qualities += &more.qualities;
        add_all(&mut self.over_limit, &more.over_limit);
    }
}
