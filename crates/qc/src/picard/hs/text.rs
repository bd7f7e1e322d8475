//! The file of CollectHsMetrics (picard.analysis.directed.HsMetricCollector).

use super::{Capture, HsMetrics, LARGEST_DEPTH, LARGEST_QUALITY, Sum};
use crate::picard::histogram::{median, of_counts};
use crate::picard::sensitivity::{phred, sensitivity};
use crate::picard::targets::Interval;
use crate::picard::{PicardSpec, Table, file};
use crate::record::{BASE_C, BASE_G};
use crate::reference::code_of;
use zerohop_cram::ContigBases;
use zerohop_model::error::Error;
use zerohop_model::htsjdk::{decimal, library_size};

/// Depths that a penalty is told for.
const PENALTIES: [u32; 6] = [10, 20, 30, 40, 50, 100];
/// Depths that so many targets' bases have at least.
const TOLD_DEPTHS: [usize; 17] =
    [1, 2, 10, 20, 30, 40, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000];
/// Classes of targets by their share of G and C, in percent, and the one in the middle.
const GC_CLASSES: usize = 101;
const GC_MIDDLE: usize = 50;
/// How often a penalty is looked for, and how near is near enough.
const PENALTY_STEPS: u32 = 10_000;
const PENALTY_NEAR: f64 = 0.001;

impl HsMetrics {
    /// The file.
    ///
    /// # Errors
    /// A reference that cannot be read.
    pub(crate) fn text(&self, capture: &Capture, spec: &PicardSpec, heading: &str) -> Result<String, Error> {
        let territory = capture.targets.territory();
        let with_empty = |counts: &[u64], largest: usize| -> Vec<u64> {
            let mut all = counts.to_vec();
            all.resize(largest.max(counts.len().saturating_sub(1)) + 1, 0);
            all[0] = territory.saturating_sub(counts.iter().sum());
            all
        };
        let depths = with_empty(&self.depths, 0);
        let row = self.row(capture, &depths, &with_empty(&self.all_depths, usize::from(LARGEST_DEPTH)), spec)?;
        let metrics = Table::new("METRICS CLASS\tpicard.analysis.directed.HsMetrics", titles(), vec![row]);
        let qualities = self.qualities.counts();
        let count = |counts: &[u64], at: usize| counts.get(at).copied().unwrap_or(0).to_string();
        let rows = (0..depths.len().max(usize::from(LARGEST_QUALITY) + 1))
            .map(|at| vec![at.to_string(), count(&depths, at), count(&qualities, at)]);
        let titles = ["coverage_or_base_quality", "high_quality_coverage_count", "unfiltered_baseq_count"];
        let histogram = Table::new("HISTOGRAM\tjava.lang.Integer", titles, rows.collect());
        Ok(file(heading, Some(metrics), Some(histogram)))
    }

    fn row(
        &self,
        Capture { targets, baits }: &Capture,
        depths: &[u64],
        all_depths: &[u64],
        PicardSpec { reference, rounds, .. }: &PicardSpec,
    ) -> Result<Vec<String>, Error> {
        let number = |sum| self.get(sum) as f64;
        let (territory, bait_territory) = (targets.territory(), baits.territory());
        let genome = reference.all_bases();
        let (on_bait, selected) = (number(Sum::OnBait), number(Sum::OnBait) + number(Sum::NearBait));
        let looked_at = selected + number(Sum::OffBait);
        let (places, all_places) = (territory as f64, bait_territory as f64);
        let coverage: u64 = self.of_target.values().sum();
        let mean = coverage as f64 / places;
        let values = of_counts(depths);
        let middle = if territory == 1 { 0.0 } else { median(&values) };
        let fifth = {
            let mut sum = 0;
            let reached = depths.iter().position(|count| {
                sum += count;
                sum as f64 / places >= 0.2
            });
            reached.unwrap_or(0) as f64
        };
        let fold_80 = mean / fifth;
        let (pairs, unique_pairs) = (self.get(Sum::SelectedPairs), self.get(Sum::SelectedUniquePairs));
        let size = match unique_pairs {
            0 if pairs > 0 => Some(0),
            _ => library_size(pairs, unique_pairs),
        };
        let penalty = |depth: u32| match size {
            None => 0.0,
            Some(size) => {
                let goal = f64::from(depth) / (number(Sum::OnTargetFromPairs) / places) * fold_80;
                let on_target = number(Sum::OnTarget) / number(Sum::UniqueAlignedBases);
                penalty(goal, (pairs as f64, unique_pairs as f64), size as f64, fold_80, on_target)
            }
        };
        let uncovered = targets.all().len() - self.of_target.len();
        let of_aligned = |sum| decimal(number(sum) / number(Sum::AlignedBases));
        let left_out = [Sum::Duplicate, Sum::Adapter, Sum::Mapq, Sum::Quality, Sum::Overlap, Sum::OffTarget];
        let covered = |depth: usize| depths.iter().skip(depth).sum::<u64>() as f64 / places;
        let [at_dropout, gc_dropout] = self.dropouts(targets.all(), reference)?;
        let site = self.sensitivity(all_depths, *rounds);
        let least = values.first().map_or(0.0, |(depth, _)| *depth);
        let most = values.last().map_or(0.0, |(depth, _)| *depth);
        let count = |sum| self.get(sum).to_string();
        Ok([
            vec![
                baits.name.clone(),
                bait_territory.to_string(),
                decimal(places / all_places),
                count(Sum::OnBait),
                count(Sum::NearBait),
                count(Sum::OffBait),
                decimal(selected / looked_at),
                decimal(number(Sum::OffBait) / looked_at),
                decimal(on_bait / selected),
                decimal(on_bait / all_places),
                decimal(on_bait / number(Sum::PassedBases)),
                decimal(number(Sum::OnTarget) / number(Sum::PassedBases)),
                decimal(on_bait / looked_at / (all_places / genome as f64)),
                size.map(|size| size.to_string()).unwrap_or_default(),
            ],
            PENALTIES.map(|depth| decimal(penalty(depth))).to_vec(),
            vec![
                territory.to_string(),
                genome.to_string(),
                count(Sum::Reads),
                count(Sum::Passed),
                count(Sum::PassedBases),
                count(Sum::PassedUnique),
                count(Sum::PassedUniqueAligned),
                count(Sum::AlignedBases),
                count(Sum::UniqueAlignedBases),
                count(Sum::OnTarget),
                decimal(number(Sum::Passed) / number(Sum::Reads)),
                decimal(number(Sum::PassedUnique) / number(Sum::Reads)),
                decimal(number(Sum::PassedUniqueAligned) / number(Sum::PassedUnique)),
                decimal(mean),
                decimal(middle),
                decimal(most),
                decimal(least),
                decimal(uncovered as f64 / targets.listed as f64),
            ],
            left_out.map(of_aligned).to_vec(),
            vec![decimal(fold_80)],
            TOLD_DEPTHS.map(|depth| decimal(covered(depth))).to_vec(),
            vec![decimal(at_dropout), decimal(gc_dropout), decimal(site), phred(site).to_string()],
            // Sample, library and read group: the figures are of all.
            vec![String::new(); 3],
        ]
        .concat())
    }

    /// How likely a heterozygous site is found. Without a place of the largest depth 3.4.0 does not know of that depth.
    fn sensitivity(&self, all_depths: &[u64], rounds: u32) -> f64 {
        let largest = usize::from(LARGEST_DEPTH);
        let depths = if all_depths[largest] == 0 { &all_depths[..largest] } else { all_depths };
        let mut qualities = self.qualities.counts();
        qualities.iter_mut().zip(&self.over_limit).for_each(|(all, over)| *all -= over);
        sensitivity(depths, &qualities, rounds)
    }

    /// AT_DROPOUT and GC_DROPOUT: how much less coverage than bases the targets have that are poor or rich in G and C.
    fn dropouts(&self, targets: &[Interval], reference: &ContigBases) -> Result<[f64; 2], Error> {
        let (mut bases, mut coverage) = ([0u64; GC_CLASSES], [0u64; GC_CLASSES]);
        let mut text = Vec::new();
        for (number, Interval { contig, start, end }) in targets.iter().enumerate() {
            text.clear();
            reference.read(*contig, *start..*end, &mut text)?;
            let gc = text.iter().filter(|base| matches!(code_of(**base), BASE_C | BASE_G)).count();
            let length = u64::from(end - start);
            let class = (gc as f64 / length as f64 * 100.0 + 0.5).floor() as usize;
            bases[class] += length;
            coverage[class] += self.of_target.get(&number).copied().unwrap_or(0);
        }
        let [all_bases, all_coverage] = [bases, coverage].map(|counts| counts.iter().sum::<u64>() as f64);
        let mut dropouts = [0.0; 2];
        for class in 0..GC_CLASSES {
            let lost = (coverage[class] as f64 / all_coverage - bases[class] as f64 / all_bases) * 100.0;
            if lost < 0.0 {
                dropouts[0] -= if class <= GC_MIDDLE { lost } else { 0.0 };
                dropouts[1] -= if class >= GC_MIDDLE { lost } else { 0.0 };
            }
        }
        Ok(dropouts)
    }
}

/// How many times as many bases have to be sequenced as places are to be covered; -1 if Picard finds it for no number
/// of pairs (HsMetricCollector.calculateHsPenalty). Where its walk ends depends on its steps.
fn penalty(goal: f64, (pairs, unique): (f64, f64), size: f64, fold_80: f64, on_target: f64) -> f64 {
    let (mut multiple, mut step, mut goes_up) = (goal, 1.0, goal >= 1.0);
    for _ in 0..PENALTY_STEPS {
        let unique_multiple = size * (1.0 - (-(multiple * pairs) / size).exp()) / unique;
        if (unique_multiple - goal).abs() / goal <= PENALTY_NEAR {
            let unique_share = (unique * goal) / (pairs * multiple);
            return (1.0 / unique_share) * fold_80 * (1.0 / on_target);
        }
        if unique_multiple > goal && goes_up || unique_multiple < goal && !goes_up {
            step /= 2.0;
            goes_up = !goes_up;
        }
        multiple += if goes_up { step } else { -step };
    }
    -1.0
}

fn titles() -> Vec<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    [
        words(
            "BAIT_SET BAIT_TERRITORY BAIT_DESIGN_EFFICIENCY ON_BAIT_BASES NEAR_BAIT_BASES OFF_BAIT_BASES \
             PCT_SELECTED_BASES PCT_OFF_BAIT ON_BAIT_VS_SELECTED MEAN_BAIT_COVERAGE PCT_USABLE_BASES_ON_BAIT \
             PCT_USABLE_BASES_ON_TARGET FOLD_ENRICHMENT HS_LIBRARY_SIZE",
        ),
        PENALTIES.map(|depth| format!("HS_PENALTY_{depth}X")).to_vec(),
        words(
            "TARGET_TERRITORY GENOME_SIZE TOTAL_READS PF_READS PF_BASES PF_UNIQUE_READS PF_UQ_READS_ALIGNED \
             PF_BASES_ALIGNED PF_UQ_BASES_ALIGNED ON_TARGET_BASES PCT_PF_READS PCT_PF_UQ_READS \
             PCT_PF_UQ_READS_ALIGNED MEAN_TARGET_COVERAGE MEDIAN_TARGET_COVERAGE MAX_TARGET_COVERAGE \
             MIN_TARGET_COVERAGE ZERO_CVG_TARGETS_PCT PCT_EXC_DUPE PCT_EXC_ADAPTER PCT_EXC_MAPQ PCT_EXC_BASEQ \
             PCT_EXC_OVERLAP PCT_EXC_OFF_TARGET FOLD_80_BASE_PENALTY",
        ),
        TOLD_DEPTHS.map(|depth| format!("PCT_TARGET_BASES_{depth}X")).to_vec(),
        words("AT_DROPOUT GC_DROPOUT HET_SNP_SENSITIVITY HET_SNP_Q SAMPLE LIBRARY READ_GROUP"),
    ]
    .concat()
}
