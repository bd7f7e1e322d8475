//! The merge of sorted records, which begins when all reads are aligned: of this process, or of all ranks, each of
//! which merges some parts.

use crate::duplicates::{self, Found, Metrics};
use crate::error::AlignError;
use crate::job::Job;
use crate::multi_rank::{self, MultiRank};
use crate::{gather, kept_runs, output_files};
use std::time::Duration;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::SortReport;
use zerohop_model::plan::Plan;
use zerohop_output::{FileSink, KeptRuns, MadePart};
use zerohop_ranks::Transport;
use zerohop_runtime::{Grains, Merged, Progress};

/// What was merged.
pub struct Sorted {
    /// The lengths of the files.
    pub lengths: Vec<u64>,
    /// What there is to say of it.
    pub report: SortReport,
    /// What there is to say of duplicates, in a file of its own, if one is wanted.
    pub metrics: Option<Metrics>,
}

/// Merges what was collected, on the CPUs of the plan, and writes it, with its index. None if records are not sorted.
///
/// # Errors
/// Temporary files that cannot be read, an output that cannot be written.
pub fn merge(job: &Job, plan: &Plan, sink: &mut FileSink) -> Result<Option<Sorted>, AlignError> {
    merge_with(job, plan, sink, None)
}

/// Merges what all ranks have kept of `chunks` chunks, together with them. Gives the way to the output, too, whose
/// index is that of all parts on the first rank.
///
/// # Errors
/// As for [`merge`]; ranks that cannot go on together.
pub fn merge_kept(
    job: &Job,
    plan: &Plan,
    ranks: &mut MultiRank<'_>,
    kept: &KeptRuns,
    chunks: u64,
) -> Result<(FileSink, Sorted), AlignError> {
    let header = kept_runs::header(ranks.transport(), kept)?.ok_or_else(|| output_files::no_header(job))?;
    let mut sink = output_files::open(job, header, Some(ranks.output()))?;
    // Each rank and attempt has left a file or two.
    zerohop_process::allow_more_files();
    sink.take_up(ranks.given_up(), ranks.kept_chunks(chunks)?)?;
    let not_sorted = || AlignError::Failed("what was kept is not sorted: please report this".to_owned());
    let sorted = merge_with(job, plan, &mut sink, Some(ranks))?.ok_or_else(not_sorted)?;
    Ok((sink, sorted))
}

fn merge_with(
    job: &Job,
    plan: &Plan,
    sink: &mut FileSink,
    mut ranks: Option<&mut MultiRank<'_>>,
) -> Result<Option<Sorted>, AlignError> {
    let transport = ranks.as_deref().map(MultiRank::transport);
    let (marks, duplicates, metrics) = match duplicates::find(job, plan, sink, transport)? {
        Some(Found { marks, report, metrics }) => (Some(marks), Some(report), metrics),
        None => (None, None, None),
    };
    let Some(parts) = sink.sorted(marks) else { return Ok(None) };
    let (workers, progress) = (parts.mergers(plan.workers.len()), Progress::default());
    let write =
        |grains: Option<&Grains>| zerohop_runtime::write_parts(&parts, &*sink, plan, workers, grains, &progress);
    let dealt = multi_rank::Parts::of(&parts, workers);
    let (Merged { lengths, wall, making, writing }, ends) =
        multi_rank::run_parts(ranks.as_deref_mut(), (!job.quiet, &progress), dealt, write)?;
    let mut made = parts.into_made();
    let spilled = Bytes(sink.spilled_bytes());
    let mut report = SortReport { spilled, wall, making, writing, duplicates };
    if let Some(transport) = transport_of(&ranks) {
        made = gather::values_at_first(transport, &made)?.into_iter().flatten().collect::<Vec<MadePart>>();
        report = of_all(transport, report)?;
    }
    sink.set_index(made);
    Ok(Some(Sorted { lengths: ends.unwrap_or(lengths), report, metrics }))
}

fn transport_of<'t>(ranks: &Option<&mut MultiRank<'t>>) -> Option<&'t dyn Transport> {
    ranks.as_deref().map(MultiRank::transport)
}

/// What there is to say of all ranks, whose workers took time each; what they spilled every rank knows.
fn of_all(transport: &dyn Transport, own: SortReport) -> Result<SortReport, AlignError> {
    let all: Vec<(Duration, Duration)> = gather::values(transport, &(own.making, own.writing))?;
    let sum = |time: fn(&(Duration, Duration)) -> Duration| all.iter().map(time).sum();
    Ok(SortReport { making: sum(|times| times.0), writing: sum(|times| times.1), ..own })
}
