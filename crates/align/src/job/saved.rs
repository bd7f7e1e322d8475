//! What is said of the files of trimmed reads, and of those that are dropped.

use crate::job::{AlignError, Job, SAVED_LEVEL};
use std::path::Path;
use zerohop_output::ReadsFormat;

/// Refuses names that promise another format, or two files where there is one.
///
/// # Errors
/// Wrong usage.
pub fn check(job: &Job) -> Result<(), AlignError> {
    for (option, path) in job.saved.named() {
        let refused = |words: &str| Err(AlignError::Usage(format!("{option} {}: {words}", path.display())));
        if job.trimming.is_none() {
            return refused("reads are not trimmed: give --trim, too");
        }
        if level(job, path).is_none() {
            return refused("reads are written as FASTQ: name the file .fq.gz, .fastq.gz, .fq or .fastq");
        }
        if path.file_name().is_some_and(|name| name.to_string_lossy().matches('%').count() > 1) {
            return refused("one '%' stands for the number of the mate, and there are several");
        }
    }
    match job.saved.paths().iter().find(|path| zerohop_process::is_written_in_place(path)) {
        Some(path) => {
            let words = "trimmed and dropped reads can only be written to a regular file";
            Err(AlignError::Usage(format!("{}: {words}", path.display())))
        }
        None => Ok(()),
    }
}

/// How a file of this name is compressed; none if it is no FASTQ.
pub fn level(job: &Job, path: &Path) -> Option<Option<u8>> {
    match ReadsFormat::of_name(path, job.output.level.unwrap_or(SAVED_LEVEL))? {
        ReadsFormat::Fastq => Some(None),
        ReadsFormat::FastqGz { level } => Some(Some(level)),
        ReadsFormat::Bam { .. } => None,
    }
}
