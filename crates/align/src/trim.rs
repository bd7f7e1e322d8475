//! What is told of trimming.

use crate::finish::Metrics;
use crate::job::{AlignError, Job};
use crate::tell;
use std::sync::Arc;
use zerohop_input::{TrimCounts, TrimReason, Trimmed};
use zerohop_model::measurement::{TrimCycles, TrimReport};

/// Cycles in the summary, at most: those of short reads.
const MOST_CYCLES: usize = 600;

/// Refuses what cannot be trimmed.
///
/// # Errors
/// Wrong usage.
pub(crate) fn check(job: &Job) -> Result<(), AlignError> {
    if job.trimming.is_none() || !job.external.compare {
        return Ok(());
    }
    let words = "--compare-with compares with the aligner by itself, which does not trim reads: leave out --trim";
    Err(AlignError::Usage(words.to_owned()))
}

/// What came of it; none if reads are not trimmed.
pub(crate) fn report(lanes: &[Arc<Trimmed>]) -> Option<TrimReport> {
    let counts = all(lanes)?;
    let dropped = |reason| counts.dropped_for(reason);
    Some(TrimReport {
        reads: counts.before.iter().map(|amount| amount.reads).sum(),
        bases: counts.before.iter().map(|amount| amount.bases).sum(),
        kept_reads: counts.after.iter().map(|amount| amount.reads).sum(),
        kept_bases: counts.after.iter().map(|amount| amount.bases).sum(),
        low_quality: dropped(TrimReason::LowQuality),
        too_many_n: dropped(TrimReason::TooManyN),
        too_short: dropped(TrimReason::TooShort),
        too_long: dropped(TrimReason::TooLong),
        low_complexity: dropped(TrimReason::LowComplexity),
        adapter_dimers: dropped(TrimReason::AdapterDimer),
        adapter_reads: counts.adapter_reads,
        adapter_bases: counts.adapter_bases,
        adapters: [0, 1].map(|mate| lanes.iter().find_map(|lane| lane.adapter(mate)).map(str::to_owned)),
        cycles: Trimmed::curves(lanes).map(|curves| TrimCycles {
            quality_before: shown(curves.quality_before),
            quality_after: shown(curves.quality_after),
            bases_before: shown(curves.bases_before),
        }),
    })
}

/// As much as a picture shows.
fn shown<T>(mut cycles: Vec<T>) -> Vec<T> {
    cycles.truncate(MOST_CYCLES);
    cycles
}

/// fastp's report, if it is wanted.
pub(crate) fn report_file(job: &Job, lanes: &[Arc<Trimmed>]) -> Option<Metrics> {
    let path = job.trim_report.clone()?;
    // MultiQC takes the name of the sample from what follows this option of fastp.
    let sample = tell::sample(job);
    let text = Trimmed::json(lanes, &format!("zerohop align --report_title {sample} -- {}", job.command))?;
    Some(Metrics { path, text })
}

fn all(lanes: &[Arc<Trimmed>]) -> Option<TrimCounts> {
    let (first, others) = lanes.split_first()?;
    let mut counts = first.counts();
    others.iter().for_each(|lane| counts += &lane.counts());
    Some(counts)
}
