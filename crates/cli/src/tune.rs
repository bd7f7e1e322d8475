//! `zerohop tune`: what was typed becomes a job.

use crate::args::external::engine_args;
use crate::args::tune::TuneArgs;
use crate::failure::CommandFailure;
use zerohop_align::tune::{TuneJob, Tuned, tune};
use zerohop_process::tell;

/// Runs the command.
///
/// # Errors
/// Wrong usage, trials that fail, files that cannot be written.
pub fn run(args: TuneArgs) -> Result<(), CommandFailure> {
    let engine_args = engine_args(&args.engine, args.engine_args, args.meth).map_err(CommandFailure::Usage)?;
    let job = TuneJob {
        reference: args.reference,
        reads: std::iter::once(args.reads_1).chain(args.reads_2).collect(),
        engine: args.engine,
        engine_file: args.engine_file,
        engine_args,
        first: args.first,
        full: args.full,
        repeat: args.repeat,
        runs: args.runs,
        output: args.output,
        keep: !args.no_keep,
        command: crate::command_line(),
        quiet: args.quiet,
    };
    let Tuned { tuning, kept } = tune(&job)?;
    let mut text = zerohop_report::tuning_text(&tuning);
    text += match kept {
        Some(Ok(())) => "'zerohop align' will follow it for this aligner, index and kind of reads on this machine.\n",
        Some(Err(_)) | None => "It is not kept for later runs of 'zerohop align'.\n",
    };
    crate::show(&text)?;
    // Hours of trials are not lost for it.
    if let Some(Err(error)) = kept {
        tell::note(&format!("the plan cannot be kept: {error}"));
    }
    Ok(())
}
