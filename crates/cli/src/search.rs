//! `zerohop search`: what was typed becomes a job.

use crate::args::search::SearchArgs;
use crate::failure::CommandFailure;
use std::time::Duration;
use zerohop_search::job::SearchJob;
use zerohop_search::search;

/// Runs the command.
///
/// # Errors
/// Whatever goes wrong, on any rank: then all of them end, and what is finished stays for the same command to finish.
pub fn run(args: SearchArgs) -> Result<(), CommandFailure> {
    let job = SearchJob {
        queries: args.queries,
        db: args.db,
        // As without it.
        output: args.output.filter(|path| path.as_os_str() != "-"),
        format: args.format,
        columns: args.columns,
        max_target_seqs: args.max_target_seqs,
        engine_args: args.engine_args,
        threads: args.threads,
        instances: args.instances,
        pages: args.pages.map(Into::into),
        batch_letters: args.batch_letters,
        batch_queries: args.batch_queries,
        resume: args.resume,
        restart: args.restart,
        json: args.json,
        record: args.record,
        ranks: args.ranks,
        mpi: args.mpi,
        hang_limit: args.hang_limit.map(Duration::from_secs),
        command: crate::command_line(),
        quiet: args.quiet,
    };
    Ok(search(&job)?)
}
