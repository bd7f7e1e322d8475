//! Sorted output: what is refused, how much memory it may take, and the merge, which begins when all reads are aligned.

use crate::error::AlignError;
use crate::job::{Job, Sorting};
use crate::progress;
use std::path::{Path, PathBuf};
use std::time::Instant;
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::{DuplicateReport, SortReport};
use zerohop_model::plan::Plan;
use zerohop_output::{Decision, DuplicateCounts, Marks};
use zerohop_output::{FileSink, Format, IndexFormat, SortOrder, WriteIndex, index_path};
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
    if let WriteIndex::As(_) = sorting.index
        && (job.output.format() == Format::Sam || sorting.order == SortOrder::Name || job.output.path.is_none())
    {
        let words = "--index is for BAM files (-o FILE.bam) that are sorted by coordinate";
        return Err(AlignError::Usage(words.to_owned()));
    }
    if let Some(folder) = &sorting.tmp_dir {
        tempfile::tempfile_in(folder).map_err(|source| Error::Spill { folder: folder.clone(), source })?;
    }
    Ok(())
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
    let beside = job.output.path.as_deref().and_then(Path::parent).filter(|folder| folder.is_dir());
    let folder = match (&wanted.tmp_dir, beside) {
        (Some(folder), _) => folder.clone(),
        (None, Some(folder)) if !folder.starts_with("/dev") => folder.to_owned(),
        // The name of a file in this folder, or standard output.
        (None, _) => PathBuf::from("."),
    };
    Ok(zerohop_output::Sorting {
        order: wanted.order,
        memory,
        folder,
        index: wanted.index,
        duplicates: wanted.duplicates,
    })
}

/// Names that the index of the output may get.
pub fn indexes(job: &Job) -> Vec<PathBuf> {
    let (Some(sorting), Some(path)) = (&job.output.sorting, &job.output.path) else { return Vec::new() };
    let is_file = std::fs::metadata(path).map_or(true, |there| there.is_file());
    if job.output.format() == Format::Sam || sorting.order == SortOrder::Name || !is_file {
        return Vec::new();
    }
    let formats = match sorting.index {
        WriteIndex::No => vec![],
        WriteIndex::AsNeeded => vec![IndexFormat::Bai, IndexFormat::Csi],
        WriteIndex::As(format) => vec![format],
    };
    formats.into_iter().map(|format| index_path(path, format)).collect()
}

/// Merges what was collected, on the CPUs of the plan, and writes it, with its index. Gives the lengths of the files;
/// none if records are not sorted.
///
/// # Errors
/// Temporary files that cannot be read, an output that cannot be written.
pub fn merge(job: &Job, plan: &Plan, sink: &mut FileSink) -> Result<Option<(Vec<u64>, SortReport)>, Error> {
    let decided = sink.decision().map(|decision| decide(decision, plan)).transpose()?;
    let (marks, duplicates) = decided.unzip();
    let Some(parts) = sink.sorted(marks) else { return Ok(None) };
    let workers = parts.mergers(plan.workers.len());
    let progress = Progress::default();
    let write = || zerohop_runtime::write_parts(&parts, &*sink, plan, workers, &progress);
    let Merged { lengths, wall, making, writing } = progress::shown(!job.quiet, &progress, write)?;
    let spilled = Bytes(sink.spilled_bytes());
    sink.write_index(parts)?;
    Ok(Some((lengths, SortReport { spilled, wall, making, writing, duplicates })))
}

/// Finds the duplicates.
fn decide(decision: Decision, plan: &Plan) -> Result<(Marks, DuplicateReport), Error> {
    let started = Instant::now();
    let (workers, rows) = (decision.deciders(plan.workers.len()), (decision.count(), decision.in_a_row()));
    let mut all = DuplicateCounts::default();
    for counts in zerohop_runtime::do_parts(plan, workers, rows, |parts| decision.decide(parts))? {
        all += counts;
    }
    let DuplicateCounts { paired, single, paired_duplicates, single_duplicates } = all;
    let wall = started.elapsed();
    let report = DuplicateReport { paired, single, paired_duplicates, single_duplicates, wall };
    Ok((decision.into_marks(), report))
}
