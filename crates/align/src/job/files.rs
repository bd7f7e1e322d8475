//! The files that `zerohop align` writes.

use crate::job::sorting::OfMetrics;
use crate::job::{AlignError, Job, PlanFrom, RAMMAP, STROBEALIGN, UnalignedOptions, qc, saved, sorting};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use zerohop_input::reference;
use zerohop_output::{Format, ReadsFormat, shard_path};
use zerohop_process::WriteError;
use zerohop_process::overwrite::{self, Kind};

/// Refuses shards without a name, formats that cannot be written, outputs that would destroy an input, each other or a
/// file of another kind, and outputs that cannot be written: before hours of work, not after. `described` are files
/// that describe aligners.
///
/// # Errors
/// Wrong usage, or what the system says.
pub fn check(job: &Job, described: &[PathBuf]) -> Result<(), AlignError> {
    if job.output.shards > 1 {
        if job.output.path.as_deref().is_none_or(zerohop_process::is_written_in_place) {
            return Err(AlignError::Usage("--shards needs an output file (-o)".to_owned()));
        }
        zerohop_process::allow_more_files();
    }
    check_compression(job)?;
    sorting::check(job)?;
    qc::check(job)?;
    let plan = match &job.placement.plan {
        Some(PlanFrom::File(path)) => Some(path),
        _ => None,
    };
    let reads = job.lanes.iter().flat_map(|lane| &lane.files);
    let (records, indexes) = (paths(job), sorting::indexes(job));
    unaligned(job)?;
    saved::check(job)?;
    let saved = job.saved.paths();
    let beside: Vec<PathBuf> = job.output.unaligned.iter().flat_map(UnalignedOptions::paths).collect();
    if let Some(path) = beside.iter().find(|path| zerohop_process::is_written_in_place(path)) {
        let words = "unaligned reads can only be written to a regular file";
        return Err(AlignError::Usage(format!("{}: {words}", path.display())));
    }
    let (reports, tables) = (qc::files(job), tables(job));
    let all = || records.iter().chain(&indexes).chain(&beside).chain(&saved).chain(&reports).chain(&tables);
    all().chain(&job.external.logs).try_for_each(|path| zerohop_process::check_folder(path))?;
    apart_from(
        job,
        reads
            .chain([&job.reference])
            .chain(plan)
            .chain(described)
            .chain(&job.ranks.mpi)
            .chain(qc::regions(job).map(|(_, file)| file)),
    )?;
    let kind = match job.output.format() {
        Format::Sam | Format::Bam { .. } | Format::Cram { .. } => Kind::Records,
        Format::Paf => Kind::Paf,
        Format::Abundances => Kind::Numbers,
    };
    records.iter().try_for_each(|path| overwrite::replaceable(path, kind))?;
    if let (Some(path), shards @ 2..) = (&job.output.path, job.output.shards)
        && let more = shard_path(path, shards + 1)
        && more.is_file()
    {
        return Err(AlignError::Usage(format!(
            "{} is there, from a run with more shards, and would pass for a shard of this one: remove it and those \
             after it, or name another output",
            more.display()
        )));
    }
    beside.iter().chain(&saved).try_for_each(|path| overwrite::replaceable(path, Kind::Reads))?;
    indexes.iter().try_for_each(|path| overwrite::replaceable(path, Kind::Index))?;
    of_json(job).try_for_each(|path| overwrite::replaceable(&path, Kind::Json))?;
    if job.output.format.is_none() {
        job.output.path.iter().try_for_each(|path| check_suffix(path, &job.engine))?;
    }
    if matches!(job.output.format(), Format::Cram { .. }) {
        reference::check_fasta(&job.reference, "CRAM needs the reference")?;
    }
    job.external.logs.iter().try_for_each(|logs| check_logs(logs))?;
    sorting::metrics(job).try_for_each(|(of, path)| {
        let kind = if of == OfMetrics::Duplicates { Kind::Metrics } else { Kind::UmiMetrics };
        overwrite::replaceable(&path, kind)
    })?;
    reports.iter().try_for_each(|path| overwrite::replaceable(path, Kind::Report))?;
    all().try_for_each(|path| Ok(zerohop_process::check_writable(path)?))
}

/// Refuses options that are for another format.
fn check_compression(job: &Job) -> Result<(), AlignError> {
    let (format, output) = (job.output.format(), &job.output);
    let has_reads = output.unaligned.is_some() || !job.saved.paths().is_empty();
    let is_compressed = matches!(format, Format::Bam { .. } | Format::Cram { .. }) || has_reads;
    let words = if output.level.is_some() && !is_compressed {
        "--level is for BAM and CRAM, and for compressed files of reads: name the output .bam or .cram"
    } else if output.cram_version.is_some() && !matches!(format, Format::Cram { .. }) {
        "--cram-version is for CRAM: name the output .cram, or give --format cram"
    } else if output.reference_uri.is_some() && !matches!(format, Format::Cram { .. }) {
        "--reference-uri is for CRAM: name the output .cram, or give --format cram"
    } else {
        return Ok(());
    };
    Err(AlignError::Usage(words.to_owned()))
}

/// Where reads go that were not aligned.
///
/// # Errors
/// A name that promises a format which zerohop does not write; two files of BAM.
pub fn unaligned(job: &Job) -> Result<Option<zerohop_output::Unaligned>, AlignError> {
    let Some(wanted @ UnalignedOptions { path, any_mate }) = &job.output.unaligned else { return Ok(None) };
    let format = job.output.unaligned_format().ok_or_else(|| {
        AlignError::Usage(format!(
            "{}: unaligned reads are written as FASTQ or BAM: name the file .fq.gz, .fastq.gz, .fq, .fastq or .bam",
            path.display()
        ))
    })?;
    let paths = wanted.paths();
    let refused = |words: &str| Err(AlignError::Usage(format!("--unaligned {}: {words}", path.display())));
    if paths.iter().any(|path| path.file_name().is_some_and(|name| name.as_bytes().contains(&b'%'))) {
        return refused("one '%' stands for the number of the mate, and there are several");
    }
    if wanted.is_by_mate() && matches!(format, ReadsFormat::Bam { .. }) {
        return refused("one file of BAM holds both mates of a pair: leave out the '%'");
    }
    Ok(Some(zerohop_output::Unaligned { paths, format, any_mate: *any_mate }))
}

/// The files that tell how it went.
fn tables(job: &Job) -> Vec<PathBuf> {
    let metrics = sorting::metrics(job).map(|(_, path)| path);
    of_json(job).chain(metrics).collect()
}

/// Those of JSON.
fn of_json(job: &Job) -> impl Iterator<Item = PathBuf> {
    job.report.json.iter().chain(&job.report.mqc).chain(&job.trim_report).cloned().chain(job.report.mqc_m_bias())
}

/// Refuses outputs that would destroy one of `inputs`, such as the files of the index once it is found, or each other.
///
/// # Errors
/// Wrong usage.
pub fn apart_from<'p>(job: &Job, inputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), AlignError> {
    let standard_output = job.output.path.is_none().then(|| PathBuf::from("-")).into_iter().collect();
    let outputs =
        [standard_output, all_paths(job), job.saved.paths(), sorting::indexes(job), qc::files(job), logs_there(job)]
            .concat();
    Ok(overwrite::apart(inputs, outputs.iter().chain(&tables(job)))?)
}

/// What is in the folder for logs already, under names that logs of this run may have.
fn logs_there(job: &Job) -> Vec<PathBuf> {
    let entries = job.external.logs.as_ref().and_then(|folder| std::fs::read_dir(folder).ok());
    let entries = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".log") && name.starts_with(&*job.engine) || name == "original.log"
    };
    entries.filter(is_ours).collect()
}

/// A suffix must not promise a format that the file has not got.
fn check_suffix(path: &Path, engine: &str) -> Result<(), AlignError> {
    let known = |suffix: &str| ["sam", "bam", "cram"].contains(&suffix);
    let Some(suffix) = suffix(path).filter(|suffix| !known(suffix)) else { return Ok(()) };
    let path = path.display();
    Err(AlignError::Usage(match (&*suffix, engine) {
        ("gz", _) if path.to_string().ends_with(".sam.gz") => {
            format!("{path}: SAM is not written compressed: name the file .bam")
        }
        ("paf", STROBEALIGN) => {
            format!("{path}: PAF is what strobealign writes with --engine-args=-x: give that, too")
        }
        ("paf", RAMMAP) => {
            format!("{path}: PAF is what rammap writes with -c or --paf in --engine-args: give one of them, too")
        }
        _ => format!(
            "{path}: zerohop writes SAM, BAM and CRAM, and '.{suffix}' is none of them: name the file .sam, .bam or \
             .cram, or give --format sam, bam or cram"
        ),
    }))
}

/// The suffix of a file of records, in lower case; none of a pipe, which may have any name.
pub fn suffix(path: &Path) -> Option<String> {
    let is_pipe = std::fs::metadata(path).is_ok_and(|there| !there.is_file());
    let suffix = path.extension().filter(|_| !is_pipe && !path.starts_with("/dev"));
    suffix.map(|suffix| suffix.to_string_lossy().to_lowercase())
}

/// A folder that can be written to, or made.
fn check_logs(path: &Path) -> Result<(), AlignError> {
    let check = |folder: &Path| tempfile::tempdir_in(folder).map(drop);
    let checked = match std::fs::create_dir(path) {
        Ok(()) => std::fs::remove_dir(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => check(path),
        Err(error) => Err(error),
    };
    Ok(checked.map_err(WriteError::of(path))?)
}

/// The files of records; none for standard output.
pub fn paths(job: &Job) -> Vec<PathBuf> {
    zerohop_output::paths(job.output.path.as_deref(), job.output.shards)
}

/// All files that records and reads go to: those of records, and those of reads that were not aligned.
pub fn all_paths(job: &Job) -> Vec<PathBuf> {
    let unaligned = job.output.unaligned.iter().flat_map(UnalignedOptions::paths);
    paths(job).into_iter().chain(unaligned).collect()
}

/// What these files end with.
///
/// # Errors
/// Wrong usage.
pub fn end_markers(job: &Job) -> Result<impl Iterator<Item = &'static [u8]> + use<>, AlignError> {
    Ok(zerohop_output::end_markers(job.output.format(), job.output.shards, unaligned(job)?.as_ref()))
}
