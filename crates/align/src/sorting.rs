//! Sorted output: what is refused, how much memory it may take, and the merge, which begins when all reads are aligned.

use crate::duplicates::{self, Found, Metrics};
use crate::error::AlignError;
use crate::job::{Job, Sorting};
use crate::progress;
use std::path::{Path, PathBuf};
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::SortReport;
use zerohop_model::plan::Plan;
use zerohop_output::{Barcode, FileSink, IndexFormat, Marking, SortOrder, WriteIndex, index_path};
use zerohop_runtime::{Merged, Progress};

/// The part of free memory that records may take until they are written, by default.
const PART_OF_FREE: f64 = 0.5;
/// The least memory that records get by default, in bytes.
const LEAST: u64 = 256 << 20;

/// Refuses what cannot be sorted, or sorted so.
///
/// # Errors
/// Wrong usage; a folder for temporary files that cannot be written to.
pub fn check(job: &Job) -> Result<(), AlignError> {
    let Some(sorting) = &job.output.sorting else { return Ok(()) };
    let refused = [
        ("--shards", job.output.shards > 1),
        ("--ranks, --durable, --resume and --restart", job.ranks.is_recorded()),
        ("--compare-with", job.external.compare),
    ];
    if let Some((option, _)) = refused.iter().find(|(_, is_given)| *is_given) {
        return Err(AlignError::Usage(format!("--sort cannot be combined with {option}")));
    }
    if let WriteIndex::As(index) = sorting.index
        && (indexes(job).is_empty() || !IndexFormat::of(job.output.format()).contains(&index))
    {
        let words = "--index is for BAM files (-o FILE.bam) that are sorted by coordinate";
        return Err(AlignError::Usage(words.to_owned()));
    }
    if let Some(Marking { barcode: Some(Barcode::Tag(_)), .. }) = sorting.marking
        && !job.output.comments
    {
        let words = "--barcode-tag is looked for in the comments of the reads: give -C, too, which copies them";
        return Err(AlignError::Usage(words.to_owned()));
    }
    let folder = folder(job, sorting);
    tempfile::tempfile_in(&folder).map(drop).map_err(|source| Error::Spill { folder, source })?;
    Ok(())
}

/// The folder of temporary files: the one that is wanted, else that of the output, else the present one.
fn folder(job: &Job, sorting: &Sorting) -> PathBuf {
    let path = job.output.path.as_deref().filter(|path| !zerohop_process::is_written_in_place(path));
    let beside = path.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    sorting.tmp_dir.as_deref().or(beside).unwrap_or(Path::new(".")).to_owned()
}

/// How the records of a job are to be sorted.
///
/// # Errors
/// A machine that does not say how much memory it has.
pub fn spec(job: &Job, wanted: &Sorting) -> Result<zerohop_output::Sorting, Error> {
    let memory = match wanted.memory {
        Some(memory) => memory.0,
        None => {
            let machine = zerohop_topology::detect().map_err(|error| Error::Internal(error.to_string()))?;
            LEAST.max((zerohop_plan::free_memory(&machine) as f64 * PART_OF_FREE) as u64)
        }
    };
    Ok(zerohop_output::Sorting {
        order: wanted.order,
        memory,
        folder: folder(job, wanted),
        index: wanted.index,
        marking: wanted.marking,
    })
}

/// The file of metrics of duplicates, if one is wanted.
pub fn metrics(job: &Job) -> Option<&PathBuf> {
    job.output.sorting.as_ref()?.metrics.as_ref()
}

/// Indexes that the output may get; and those of another format, which are removed, for they would be of other records.
pub fn indexes(job: &Job) -> Vec<PathBuf> {
    let (Some(sorting), Some(path)) = (&job.output.sorting, &job.output.path) else { return Vec::new() };
    let has_none = sorting.order == SortOrder::Name
        || sorting.index == WriteIndex::No
        || zerohop_process::is_written_in_place(path);
    let formats = if has_none { &[][..] } else { IndexFormat::of(job.output.format()) };
    formats.iter().map(|format| index_path(path, *format)).collect()
}

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
pub fn merge(job: &Job, plan: &Plan, sink: &mut FileSink) -> Result<Option<Sorted>, Error> {
    let (marks, duplicates, metrics) = match duplicates::find(job, plan, sink)? {
        Some(Found { marks, report, metrics }) => (Some(marks), Some(report), metrics),
        None => (None, None, None),
    };
    let Some(parts) = sink.sorted(marks) else { return Ok(None) };
    let workers = parts.mergers(plan.workers.len());
    let progress = Progress::default();
    let write = || zerohop_runtime::write_parts(&parts, &*sink, plan, workers, &progress);
    let Merged { lengths, wall, making, writing } = progress::shown(!job.quiet, &progress, write)?;
    let spilled = Bytes(sink.spilled_bytes());
    let index = sink.index_of(parts);
    sink.set_index(index);
    Ok(Some(Sorted { lengths, report: SortReport { spilled, wall, making, writing, duplicates }, metrics }))
}
