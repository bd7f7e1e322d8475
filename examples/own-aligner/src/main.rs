//! `own-aligner REFERENCE OUTPUT READS [MATES]` writes SAM, or BAM if OUTPUT ends in .bam.
#![forbid(unsafe_code)]

use own_aligner::OwnAligner;
use std::path::PathBuf;
use std::process::ExitCode;
use zerohop_align::{AlignError, Job, PlacedAlloc, align_with, lanes};
use zerohop_process::tell;

/// Index copies and buffers lie where the plan says.
#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

fn main() -> ExitCode {
    zerohop_align::prepare();
    let mut files = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(reference), Some(output)) = (files.next(), files.next()) else {
        tell::error("usage: own-aligner REFERENCE OUTPUT READS [MATES]");
        return ExitCode::from(2);
    };
    match align(reference, output, files.collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !matches!(error, AlignError::BrokenPipe) {
                tell::error(&error.to_string());
            }
            ExitCode::from(error.status())
        }
    }
}

fn align(reference: PathBuf, output: PathBuf, reads: Vec<PathBuf>) -> Result<(), AlignError> {
    let mut job = Job::new(reference, lanes::lanes(vec![reads], false)?);
    job.engine = "own-aligner".to_owned();
    job.output.path = Some(output);
    align_with(&job, &OwnAligner)
}
