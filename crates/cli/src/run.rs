//! `zerohop run`: any program under a plan (the framework of Lenis & Senar 2017, for programs that are no aligners).

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::{json, reaping};
use zerohop_engine_external::Supervision;
use zerohop_model::plan::HugePages;
use zerohop_plan::{Replicas, Request};
use zerohop_process::tell;

/// Runs the instances to their end.
///
/// # Errors
/// The first instance that fails; the others are killed.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    args.json.iter().try_for_each(|path| zerohop_process::check_writable(path))?;
    let machine = zerohop_topology::detect()?;
    let request = Request {
        workers: args.threads,
        replicas: Replicas::Count(args.replicas),
        pages: args.pages.map(Into::into),
        huge_pages: HugePages::Auto,
        index_bytes: 0,
        engine: zerohop_plan::Engine::External { shares: false },
        map: None,
    };
    let plan = zerohop_plan::plan(&machine, &request)?;
    if let Some(logs) = &args.logs {
        std::fs::create_dir_all(logs)
            .map_err(|e| Failure::Other(format!("{}: cannot be made: {e}", logs.display())))?;
    }
    let reaper = reaping::start()?;
    let plans = plan.instances(false);
    if !args.quiet {
        tell::text(&format!("zerohop   {}\n", plan.reasons.join(" ")));
    }
    let supervision = Supervision { words: &args.command, logs: args.logs.as_deref() };
    let reports = supervision.run(plans, &|charge| reaping::told(&reaper, &charge))?;
    if let Some(path) = &args.json {
        json::write(path, &reports)?;
    }
    if !args.quiet {
        let line = |(i, report)| zerohop_report::instance_line(i, report) + "\n";
        tell::text(&reports.iter().enumerate().map(line).collect::<String>());
    }
    Ok(())
}
