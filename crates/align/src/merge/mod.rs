//! The step *merge*: records that were collected are sorted and written, with their index, when all reads are aligned.
//! Of several processes each makes some parts.

mod duplicates;
mod qc;

use crate::finish::Sorted;
use crate::job::{AlignError, Job};
use crate::run::{PartsToMake, RunPart};
use crate::tell::progress;
use duplicates::FoundDuplicates;
use qc::Qc;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::SortReport;
use zerohop_model::plan::Plan;
use zerohop_model::sink::Parts as _;
use zerohop_output::FileSink;
use zerohop_runtime::{Grains, Merged, Progress};

/// Merges what was collected, on the CPUs of the plan, and writes it. Gives the way to the output, whose index is that
/// of all parts then. Records that are not sorted stay as they are.
///
/// # Errors
/// Temporary files that cannot be read, an output that cannot be written.
pub fn merge(
    job: &Job,
    plan: &Plan,
    sink: Option<FileSink>,
    part: &mut dyn RunPart,
) -> Result<(Option<FileSink>, Option<Sorted>), AlignError> {
    if job.output.sorting.is_none() {
        return Ok((sink, None));
    }
    let mut sink = part.collected(job, sink)?;
    let (marks, duplicates, metrics) = match duplicates::find(job, plan, &sink, part)? {
        Some(FoundDuplicates { marks, report, metrics }) => (Some(marks), Some(report), metrics),
        None => (None, None, Vec::new()),
    };
    let not_sorted = || AlignError::Failed("what was kept is not sorted: please report this".to_owned());
    let qc = Qc::open(job, &sink, part)?;
    let visitors = qc.as_ref().map(Qc::visitors);
    let parts = sink.sorted(marks, visitors).ok_or_else(not_sorted)?;
    let (workers, progress) = (parts.mergers(plan.workers.len()), Progress::default());
    let to_make = PartsToMake { count: parts.count() as u64, row: parts.in_a_row() as u64, workers: workers as u64 };
    let write = |grains: Option<&Grains>| zerohop_runtime::write_parts(&parts, &sink, plan, workers, grains, &progress);
    let shown = !job.quiet && part.shows_progress();
    let body = |grains: Option<&Grains>| progress::shown(shown, &progress, || write(grains));
    let Merged { lengths, wall, making, writing } = part.merge(to_make, Box::new(body))?;
    let made = parts.into_made();
    let spilled = Bytes(sink.spilled_bytes());
    let report = SortReport { spilled, wall, making, writing, duplicates, reports: None };
    let (made, mut report) = part.gather(made, report)?;
    sink.set_index(made);
    let (reports, cost) = qc.map_or(Ok((Vec::new(), None)), |qc| qc.finish(part, plan, to_make))?;
    report.reports = cost;
    Ok((Some(sink), Some(Sorted { lengths, report, metrics, reports })))
}
