//! `zerohop plan`: what was typed becomes a question to the planner.

use crate::args::PlanArgs;
use crate::failure::CommandFailure;
use zerohop_align::strategies::{Question, answer};
use zerohop_process::json;

/// Runs the command.
///
/// # Errors
/// A file that describes no machine; standard output that cannot be written.
pub fn run(args: PlanArgs) -> Result<(), CommandFailure> {
    let answer = answer(&Question {
        reference: args.reference,
        index_size: args.index_size,
        engine: args.engine,
        engine_file: args.engine_file,
        threads: args.threads,
        read_length: args.read_length,
        machine: args.machine,
        output: args.output,
    })?;
    if args.json { crate::print(json::text(&answer)?.as_bytes()) } else { crate::show(&answer.text(args.explain)) }
}
