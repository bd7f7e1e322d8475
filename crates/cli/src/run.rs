//! `zerohop run`: any program under a plan (the framework of Lenis & Senar 2017, for programs that are no aligners).

use crate::args::RunArgs;
use crate::failure::CommandFailure;
use std::path::PathBuf;
use zerohop_engine_external::Supervision;
use zerohop_model::machine::Machine;
use zerohop_model::plan::HugePages;
use zerohop_plan::{Replicas, Request};
use zerohop_process::json;
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::tell;

/// Runs the instances to their end.
///
/// # Errors
/// The first instance that fails; the others are ended.
pub fn run(args: &RunArgs) -> Result<(), CommandFailure> {
    check_outputs(args)?;
    args.json.iter().try_for_each(|path| zerohop_process::check_writable(path))?;
    let machine = zerohop_topology::detect()?;
    check_threads(args, &machine)?;
    let request = Request {
        workers: args.threads,
        replicas: Replicas::Count(args.replicas),
        pages: args.pages.map(Into::into),
        huge_pages: HugePages::Auto,
        index_bytes: 0,
        kept: &[],
        engine: zerohop_plan::Engine::External { shares: false },
        map: None,
    };
    let plan = zerohop_plan::plan(&machine, &request)?;
    if let Some(logs) = &args.logs {
        std::fs::create_dir_all(logs)
            .map_err(|e| CommandFailure::Other(format!("{}: cannot be made: {e}", logs.display())))?;
    }
    let plans = plan.instances(false);
    if !args.quiet {
        tell::text(&format!("zerohop   {}\n", plan.reasons.join(" ")));
    }
    let supervision = Supervision { words: &args.command, logs: args.logs.as_deref(), cpus: &machine.allowed.cpus };
    let reports = supervision.run(plans)?;
    if let Some(path) = &args.json {
        json::write(path, &reports)?;
    }
    if !args.quiet {
        let line = |(i, report)| zerohop_report::instance_line(i, report) + "\n";
        tell::text(&reports.iter().enumerate().map(line).collect::<String>());
    }
    Ok(())
}

/// Refuses outputs that would destroy the program or a file that is named to it.
fn check_outputs(args: &RunArgs) -> Result<(), CommandFailure> {
    let inputs: Vec<PathBuf> = args.command.iter().map(PathBuf::from).filter(|path| path.is_file()).collect();
    let logs = args.logs.iter().flat_map(|folder| {
        let names = (0..args.replicas).flat_map(|number| [format!("{number}.out"), format!("{number}.err")]);
        names.map(|name| folder.join(name))
    });
    let logs: Vec<PathBuf> = logs.collect();
    overwrite::apart(&inputs, args.json.iter().chain(&logs))?;
    Ok(args.json.iter().try_for_each(|path| overwrite::replaceable(path, Kind::Json))?)
}

/// Refuses more instances than threads.
fn check_threads(args: &RunArgs, machine: &Machine) -> Result<(), CommandFailure> {
    let threads = args.threads.unwrap_or_else(|| machine.allowed.worker_count());
    if args.replicas <= threads {
        return Ok(());
    }
    let replicas = args.replicas;
    let why = match args.threads {
        Some(threads) => format!("-t {threads} gives fewer"),
        None => format!("without -t there are as many as CPUs that may be used, {threads}"),
    };
    Err(CommandFailure::Usage(format!(
        "--replicas {replicas} needs {replicas} threads at least, one for each instance, and {why}: give -t {replicas} \
         or more"
    )))
}
