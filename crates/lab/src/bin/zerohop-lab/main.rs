//! The program `zerohop-lab`: experiments with what zerohop is made of. Nothing here is on the path of `zerohop align`.
//!
//! 1. [`args`] is exactly what was typed;
//! 2. [`scaling`] measures threads, locks, parsing and outputs; [`exchange`] the ways in which ranks exchange results,
//!    and [`predictions`] says what more ranks would take; [`cohorts`] says how well workers are used where engines map
//!    in two phases; [`block`] writes FASTQ in blocks of a fixed size; [`report`] makes a page of what was measured;
//! 3. the exit status is 0 for success (also when the reader of our output went away), 1 for a failure, 2 for wrong
//!    usage.
#![forbid(unsafe_code)]

mod args;
mod block;
mod cohorts;
mod exchange;
mod failure;
mod predictions;
mod report;
mod scaling;

use args::{Args, Command};
use clap::{CommandFactory, Parser};
use failure::Failure;
use std::process::ExitCode;
use zerohop_align::PlacedAlloc;
use zerohop_process::standard;

/// Large blocks are placed where an experiment wants them; small ones go to mimalloc.
#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

fn main() -> ExitCode {
    zerohop_align::prepare();
    match dispatch(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.ending().tell(),
    }
}

/// Whether what a command is for goes to standard output.
fn prints(command: &Command) -> bool {
    match command {
        Command::Block(_) => false,
        Command::Report(args) => args.output.is_none(),
        _ => true,
    }
}

fn dispatch(args: Args) -> Result<(), Failure> {
    if prints(&args.command) {
        standard::check_open()?;
    }
    match args.command {
        Command::Scaling(args) => scaling::scaling(&args),
        Command::Farm(args) => scaling::farm(&args),
        Command::Claims(args) => scaling::claims(&args),
        Command::Page { folder } => scaling::page(&folder),
        Command::Exchange(args) => exchange::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Cohorts(args) => cohorts::run(&args),
        Command::Block(args) => block::run(&args),
        Command::Process => scaling::process(),
        Command::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "zerohop-lab", &mut out);
            Ok(standard::print(&out)?)
        }
        Command::Man { command } => man(command.as_deref()),
    }
}

fn man(command: Option<&str>) -> Result<(), Failure> {
    let mut page = Args::command();
    page.build();
    if let Some(name) = command {
        let found = page.find_subcommand(name).cloned();
        page = found.ok_or_else(|| Failure::Usage(format!("there is no command '{name}'")))?;
    }
    let mut out = Vec::new();
    let page = page.mut_args(|arg| arg.hide_short_help(false));
    clap_mangen::Man::new(page).render(&mut out).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(standard::print(&out)?)
}
