//! The program `zerohop`: parse what was typed, resolve what it means, do it, and say how it went.
//!
//! 1. [`args`] is exactly what was typed;
//! 2. [`align`], [`index`], [`topo`], [`plan`], [`tune`], [`search`], [`db`], [`mpi`], [`engines`], [`run`](mod@run),
//!    [`report`] and [`cache`] make a job of it, which a library does, and print what comes back;
//! 3. the exit status is 0 for success (also when the reader of our output went away), 1 for a failure, 2 for wrong
//!    usage, and that of the program for [`run`](mod@run).
//!
//! What it refuses to do: the work itself. Libraries align, search, plan and measure.
#![forbid(unsafe_code)]

mod align;
mod args;
mod cache;
mod db;
mod engines;
mod failure;
mod index;
mod mistyped;
mod mpi;
mod plan;
mod report;
mod run;
mod search;
mod topo;
mod tune;

use args::search::DbCommand;
use args::{Args, Command};
use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, FromArgMatches};
use failure::CommandFailure;
use std::process::ExitCode;
use zerohop_memory::PlacedAlloc;
use zerohop_process::standard;

/// Large blocks are placed where the plan says; small ones go to mimalloc.
#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

fn main() -> ExitCode {
    zerohop_align::prepare();
    if let Some(words) = mistyped::instead(std::env::args_os().skip(1)) {
        return CommandFailure::Usage(words).ending().tell();
    }
    let matches = match Args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => match mistyped::one_file_too_many(&error) {
            Some(words) => return CommandFailure::Usage(words).ending().tell(),
            None => error.exit(),
        },
    };
    let args = match Args::from_arg_matches(&matches) {
        Ok(args) => args,
        Err(error) => error.exit(),
    };
    match dispatch(args, &matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.ending().tell(),
    }
}

/// Whether what a command is for goes to standard output.
fn prints(command: &Command) -> bool {
    match command {
        Command::Align(args) => args.output.is_none() && args.samples.is_none(),
        Command::Search(args) => args.output.is_none(),
        Command::Report(args) => args.output.is_none(),
        Command::Db(args) => !matches!(args.command, DbCommand::Check { .. }),
        Command::Index(_) | Command::Run(_) => false,
        _ => true,
    }
}

fn dispatch(args: Args, matches: &clap::ArgMatches) -> Result<(), CommandFailure> {
    if prints(&args.command) {
        standard::check_open()?;
    }
    match args.command {
        Command::Align(align) => {
            let lanes = matches.subcommand_matches("align").map(align::typed_lanes).unwrap_or_default();
            align::run(*align, lanes)
        }
        Command::Index(index) => index::run(&index),
        Command::Engines(args) => engines::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Plan(args) => plan::run(args),
        Command::Search(args) => search::run(*args),
        Command::Db(args) => db::db(&args),
        Command::Mpi(args) => mpi::run(&args),
        Command::Tune(args) => tune::run(*args),
        Command::Report(args) => report::run(&args),
        Command::Cache(args) => cache::run(&args),
        Command::Topo(topo) => topo::run(&topo),
        Command::Completions { shell } => print(&completions(shell)),
        Command::Man { command } => print(&manual(&command)?),
    }
}

/// The completion script of a shell.
fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let (all, own) = (engines::names(), engines::own_names());
    let with_values = |command: clap::Command| {
        let names = if command.get_name() == "index" { own.clone() } else { all.clone() };
        command.mut_args(|arg| match arg.get_long() {
            Some("engine") if arg.get_possible_values().is_empty() => {
                arg.value_parser(PossibleValuesParser::new(&names))
            }
            // What may follow such an option as a word of its own is no value of it, but a file.
            _ if arg.is_require_equals_set() => arg.value_parser(clap::value_parser!(String)),
            _ => arg,
        })
    };
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Args::command().mut_subcommands(with_values), "zerohop", &mut out);
    out
}

/// The manual page of zerohop, or of a command.
fn manual(command: &[String]) -> Result<Vec<u8>, CommandFailure> {
    let mut page = Args::command();
    page.build();
    // 'db build', as words or as one
    for name in command.iter().flat_map(|words| words.split_whitespace()) {
        let found = page.find_subcommand(name).cloned();
        page = found.ok_or_else(|| CommandFailure::Usage(format!("there is no command '{}'", command.join(" "))))?;
    }
    // A page has what -h leaves out; each says the version at its foot.
    let page = page.mut_args(|arg| arg.hide_short_help(false));
    let page = page.version(env!("CARGO_PKG_VERSION")).disable_version_flag(!command.is_empty());
    let mut out = Vec::new();
    let page = clap_mangen::Man::new(page).source(concat!("zerohop ", env!("CARGO_PKG_VERSION")));
    page.render(&mut out).map_err(|error| CommandFailure::Other(error.to_string()))?;
    // What follows the options is the exit status, or where more help is.
    let text = String::from_utf8_lossy(&out).replace(".SH EXTRA\nExit status:\n", ".SH \"EXIT STATUS\"\n");
    Ok(text.into_bytes())
}

/// The command as it was typed.
fn command_line() -> String {
    zerohop_process::command_line("zerohop")
}

/// Writes words to standard output; names in them may be from files, and must not steer the terminal.
fn show(text: &str) -> Result<(), CommandFailure> {
    print(zerohop_process::tell::printable(text).as_bytes())
}

/// Writes to standard output.
fn print(bytes: &[u8]) -> Result<(), CommandFailure> {
    Ok(standard::print(bytes)?)
}
