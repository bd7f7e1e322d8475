//! Reports of the records (`--qc`): for which outputs they are made, and how their files are named.

use crate::job::{AlignError, Job};
use std::path::{Path, PathBuf};
use zerohop_output::{BedFile, Format, SortOrder};

/// Reports that are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QcOptions {
    /// What the names of their files begin with; by default the name of the output.
    pub prefix: Option<PathBuf>,
}

/// The files of the reports.
#[derive(Debug, Clone)]
pub struct QcFiles {
    /// `samtools stats`.
    pub stats: PathBuf,
    /// `samtools flagstat`.
    pub flagstat: PathBuf,
    /// `samtools idxstats`.
    pub idxstats: PathBuf,
    /// `samtools coverage`.
    pub coverage: PathBuf,
    /// mosdepth's summary.txt, global.dist.txt and region.dist.txt.
    pub mosdepth: [PathBuf; 3],
    /// mosdepth's regions.bed.gz.
    pub windows: PathBuf,
}

impl QcFiles {
    /// Those of a job; none if it wants none. samtools' are named after the file of records, `S.bam.stats`, mosdepth's
    /// after the sample, `S.mosdepth.summary.txt`.
    pub fn of(job: &Job) -> Option<Self> {
        let QcOptions { prefix } = job.output.sorting.as_ref()?.qc.as_ref()?;
        let (records, sample) = match (prefix, &job.output.path) {
            (Some(prefix), _) => (prefix.clone(), prefix.clone()),
            (None, Some(path)) => (path.clone(), path.with_extension("")),
            (None, None) => return None,
        };
        let file = |base: &Path, suffix: &str| {
            let mut name = base.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let of_mosdepth = [".mosdepth.summary.txt", ".mosdepth.global.dist.txt", ".mosdepth.region.dist.txt"];
        Some(QcFiles {
            stats: file(&records, ".stats"),
            flagstat: file(&records, ".flagstat"),
            idxstats: file(&records, ".idxstats"),
            coverage: file(&records, ".coverage.txt"),
            mosdepth: of_mosdepth.map(|suffix| file(&sample, suffix)),
            windows: file(&sample, ".regions.bed.gz"),
        })
    }
}

/// All files of the reports of a job.
pub fn files(job: &Job) -> Vec<PathBuf> {
    let Some(QcFiles { stats, flagstat, idxstats, coverage, mosdepth, windows }) = QcFiles::of(job) else {
        return Vec::new();
    };
    let index = BedFile::index_path(&windows);
    [stats, flagstat, idxstats, coverage, windows, index].into_iter().chain(mosdepth).collect()
}

/// Refuses outputs of which there are no reports.
///
/// # Errors
/// Wrong usage.
pub fn check(job: &Job) -> Result<(), AlignError> {
    let Some(sorting) = &job.output.sorting else { return Ok(()) };
    let Some(qc) = &sorting.qc else { return Ok(()) };
    let has_name = job.output.path.as_deref().is_some_and(|path| !zerohop_process::is_written_in_place(path));
    let words = if sorting.order != SortOrder::Coordinate {
        "--qc is for records that are sorted by coordinate: give --sort"
    } else if !matches!(job.output.format(), Format::Bam { .. } | Format::Cram { .. }) {
        "--qc is for BAM and CRAM: name the output .bam or .cram, or give --format"
    } else if qc.prefix.is_none() && !has_name {
        "--qc names its files after the output, which is no file: say what their names begin with (--qc=PREFIX)"
    } else if job.ranks.is_recorded() {
        "--qc cannot be combined with --ranks, --durable, --resume and --restart"
    } else {
        return Ok(());
    };
    Err(AlignError::Usage(words.to_owned()))
}
