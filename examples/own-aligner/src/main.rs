//! `own-aligner REFERENCE READS [MATES]` writes SAM to standard output.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [reference, reads @ ..] = &files[..] else { return usage() };
    if !(1..=2).contains(&reads.len()) {
        return usage();
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    match own_aligner::align(reference, reads, None, workers) {
        Ok(outcome) => {
            let tally = &outcome.report.tally;
            say(&format!("{} reads, {} of them mapped", tally.reads, tally.mapped));
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&format!("own-aligner: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    say("usage: own-aligner REFERENCE READS [MATES]");
    ExitCode::from(2)
}

/// A line on standard error, if anyone reads it.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
