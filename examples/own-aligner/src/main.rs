//! `own-aligner REFERENCE OUTPUT READS [MATES]` writes SAM, or BAM if OUTPUT ends in .bam.
#![forbid(unsafe_code)]

use own_aligner::OwnAligner;
use std::path::PathBuf;
use std::process::ExitCode;
use zerohop_align::{AlignError, Job, align_with, lanes, tell};

fn main() -> ExitCode {
    let mut files = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(reference), Some(output)) = (files.next(), files.next()) else {
        zerohop_process::tell::error("usage: own-aligner REFERENCE OUTPUT READS [MATES]");
        return ExitCode::from(2);
    };
    match align(reference, output, files.collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            zerohop_process::tell::error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn align(reference: PathBuf, output: PathBuf, reads: Vec<PathBuf>) -> Result<(), AlignError> {
    let mut job = Job::new(reference, lanes::lanes(vec![reads], false)?);
    job.engine = "own-aligner".to_owned();
    job.output.path = Some(output);
    if let Some(done) = align_with(&job, &OwnAligner)? {
        tell(&job, &done.summary)?;
    }
    Ok(())
}
