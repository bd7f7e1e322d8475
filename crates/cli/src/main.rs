//! The program `zerohop`: parse what was typed, resolve what it means, do it, and say how it went.
//!
//! 1. [`args`] is exactly what was typed;
//! 2. [`align`], [`index`], [`topo`], [`plan`], [`tune`], [`search`], [`engines`], [`run`], [`block`], [`bench`](mod@bench),
//!    [`report`] and [`cache`] do the commands. For [`align`], [`lanes`] pairs reads with read groups; [`embedded`] makes the index copies where the plan wants them, or [`external`] starts aligners there;
//!    the runtime runs; [`account`] says how it went;
//! 3. the exit status is 0 for success (also when the reader of our output went away), 1 for a failure, 2 for wrong
//!    usage, and that of the program for [`run`](mod@run).
#![forbid(unsafe_code)]

mod align;
mod args;
mod bench;
mod bench_search;
mod block;
mod cache;
mod db;
mod engines;
mod failure;
mod index;
mod mpi;
mod plan;
mod predictions;
mod recording;
mod report;
mod run;
mod search;
mod search_instances;
mod topo;
mod trials;
mod tune;
mod variant;

use args::search::DbCommand;
use args::{Args, Command};
use clap::{CommandFactory, FromArgMatches};
use failure::Failure;
use std::io::Write;
use std::process::ExitCode;
use zerohop_memory::PlacedAlloc;
use zerohop_process::tell;

/// Large blocks are placed where the plan says; small ones go to mimalloc.
#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

fn main() -> ExitCode {
    zerohop_align::reap_if_asked();
    zerohop_runtime::install_hook();
    zerohop_memory::on_exhausted(zerohop_process::remove_temporaries);
    end_where_exhausted();
    let matches = Args::command().get_matches();
    let args = match Args::from_arg_matches(&matches) {
        Ok(args) => args,
        Err(error) => error.exit(),
    };
    match dispatch(args, &matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.words().iter().for_each(|words| tell::error(words));
            ExitCode::from(failure.status())
        }
    }
}

/// Whether what a command is for goes to standard output.
fn prints(command: &Command) -> bool {
    match command {
        Command::Align(args) => args.output.is_none(),
        Command::Search(args) => args.output.is_none(),
        Command::Report(args) => args.output.is_none(),
        Command::Db(args) => !matches!(args.command, DbCommand::Check { .. }),
        Command::Index(_) | Command::Run(_) | Command::Block(_) => false,
        _ => true,
    }
}

/// A library that allocates by itself (libdeflate) panics where memory cannot be had: one line, as for our own memory.
fn end_where_exhausted() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        if text.is_some_and(|text| text.contains("out of memory")) {
            zerohop_process::remove_temporaries();
            tell::error("out of memory: allow more (ulimit -v, the memory of the job), or use fewer threads (-t)");
            std::process::exit(1);
        }
        hook(info);
    }));
}

fn dispatch(args: Args, matches: &clap::ArgMatches) -> Result<(), Failure> {
    if prints(&args.command) && zerohop_topology::standard_output_was_closed() {
        return Err(Failure::Other("standard output is closed: what would be written there would be lost".to_owned()));
    }
    match args.command {
        Command::Align(align) => {
            let further = matches.subcommand_matches("align").map(align::further_lanes).unwrap_or_default();
            align::run(*align, further)
        }
        Command::Index(index) => index::run(&index),
        Command::Engines(args) => engines::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Db(args) => db::db(&args),
        Command::Mpi(args) => mpi::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Block(args) => block::run(&args),
        Command::Cache(args) => cache::run(&args),
        Command::Topo(topo) => topo::run(&topo),
        Command::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "zerohop", &mut out);
            print(&out)
        }
        Command::Man { command } => {
            let mut all = Args::command();
            all.build();
            let page = match &command {
                None => all,
                Some(name) => {
                    let found = all.find_subcommand(name).cloned();
                    found.ok_or_else(|| Failure::Usage(format!("there is no command '{name}'")))?
                }
            };
            let mut out = Vec::new();
            clap_mangen::Man::new(page).render(&mut out).map_err(Failure::standard_output)?;
            print(&out)
        }
    }
}

/// The command as it was typed.
fn command_line() -> String {
    let quoted = |arg: String| match arg.contains([' ', '\t', '\'', '"', '\\']) {
        true => format!("'{}'", arg.replace('\'', r"'\''")),
        false => arg,
    };
    let arguments = std::env::args_os().skip(1).map(|arg| quoted(arg.to_string_lossy().into_owned()));
    std::iter::once("zerohop".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Writes to standard output.
fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::standard_output)
}
