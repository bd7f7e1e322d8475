//! `zerohop run`: any program under a plan (the framework of Lenis & Senar 2017, for programs that are no aligners).

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::reaping;
use zerohop_engine_external::Supervision;
use zerohop_model::plan::HugePages;
use zerohop_plan::{Replicas, Request};

/// Runs the instances to their end.
///
/// # Errors
/// The first instance that fails; the others are killed.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
    let machine = zerohop_topology::detect()?;
    let request = Request {
        workers: args.threads,
        replicas: Replicas::Count(args.replicas),
        pages: args.pages.map(Into::into),
        huge_pages: HugePages::Auto,
        index_bytes: 0,
    };
    let plan = zerohop_plan::plan(&machine, &request)?;
    if let Some(logs) = &args.logs {
        std::fs::create_dir_all(logs)
            .map_err(|e| Failure::Other(format!("{}: cannot be made: {e}", logs.display())))?;
    }
    let reaper = reaping::start()?;
    let plans = plan.instances(false);
    if !args.quiet {
        eprintln!("zerohop   {}", plan.reasons.join(" "));
    }
    let supervision = Supervision { words: &args.command, logs: args.logs.as_deref() };
    let reports = supervision.run(plans, &|charge| reaping::told(&reaper, &charge))?;
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&reports).map_err(|e| Failure::Other(e.to_string()))?;
        std::fs::write(path, text + "\n")
            .map_err(|e| Failure::Other(format!("{}: cannot write: {e}", path.display())))?;
    }
    if !args.quiet {
        reports.iter().enumerate().for_each(|(i, report)| eprintln!("{}", zerohop_report::instance_line(i, report)));
    }
    Ok(())
}
