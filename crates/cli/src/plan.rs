//! `zerohop plan`: which strategy is best for an index on a machine, and why.

use crate::args::PlanArgs;
use crate::failure::Failure;
use crate::subject::{Profile, Subject};
use crate::{json, planning, topo};
use serde::Serialize;
use std::path::Path;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::tuning::{Choice, SavedPlan};
use zerohop_plan::{Ranked, Remark, Verdict, rank, remarks};
use zerohop_process::tell;

/// What is said, as JSON has it.
#[derive(Serialize)]
struct Said<'a> {
    machine: &'a str,
    index: Bytes,
    strategies: &'a [Ranked],
    remarks: &'a [Remark],
    plan: &'a SavedPlan,
}

/// Runs the command.
///
/// # Errors
/// A file that describes no machine; standard output that cannot be written.
pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    let machine = match &args.machine {
        None => {
            zerohop_topology::unknown().iter().for_each(|what| tell::note(what));
            zerohop_topology::detect()?
        }
        Some(path) => described(path)?,
    };
    let map = if args.machine.is_none() { topo::kept_map(&machine) } else { None };
    let subject = subject(args)?;
    let index = match (&subject, args.index_size) {
        (_, Some(size)) => size,
        (Some(subject), None) => subject.index,
        (None, None) => {
            return Err(Failure::Usage("say how large the index is: --index-size, or --reference".to_owned()));
        }
    };
    let strategies = rank(&machine, index.0, map.as_ref());
    let remarks = remarks(&machine, subject.as_ref().map(|subject| subject.kind));
    let best = strategies.first().map(|ranked| ranked.strategy);
    let best = best.ok_or_else(|| Failure::Other("there is no strategy for a machine without nodes".to_owned()))?;
    let threads = machine.allowed.worker_count();
    let choice = Choice { copies: best.copies, threads, pages: best.pages, farm: false };
    let mut plan = planning::work_out(&machine, choice, index.0)?;
    plan.reasons.splice(0..1, strategies[0].reasons.iter().cloned());
    let plan = planning::saved(&machine, subject.as_ref(), index.0, choice, plan);
    if let Some(path) = &args.output {
        json::write(path, &plan)?;
    }
    let said = Said { machine: &machine.name, index, strategies: &strategies, remarks: &remarks, plan: &plan };
    let text = match args.json {
        true => json::text(&said)?,
        false => words(&machine, &said, args.explain),
    };
    crate::print(text.as_bytes())
}

/// The machine that a file describes: as hwloc does if it begins as XML does, else as we do.
fn described(path: &Path) -> Result<Machine, Failure> {
    let fault = |what: String| Failure::Other(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| fault(format!("cannot read: {error}")))?;
    if text.trim_start().starts_with('<') {
        zerohop_topology::from_hwloc_xml(&text)
            .map_err(|error| fault(format!("it does not describe a machine as 'lstopo --of xml' does: {error}")))
    } else {
        serde_json::from_str(&text)
            .map_err(|error| fault(format!("it does not describe a machine as 'zerohop topo --json' does: {error}")))
    }
}

/// What the plan is for, if an index was named.
fn subject(args: &PlanArgs) -> Result<Option<Subject>, Failure> {
    let Some(reference) = &args.reference else { return Ok(None) };
    let profile = Profile::new(true, args.read_length, None);
    Subject::of(&args.engine, &args.engine_file, reference, profile).map(Some)
}

fn words(machine: &Machine, said: &Said<'_>, all: bool) -> String {
    let (nodes, free) = (machine.nodes.len(), machine.memory_nodes().iter().map(|node| node.free.0).sum());
    let cpus = machine.allowed.cpus.len();
    let mut text = format!(
        "{}: {nodes} {}, {cpus} CPUs, {} of memory free; an index of {}\n\n",
        machine.name,
        if nodes == 1 { "node" } else { "nodes" },
        Bytes(free),
        said.index
    );
    let shown = |verdict: Verdict| all || matches!(verdict, Verdict::Chosen | Verdict::Pilot);
    for Ranked { strategy, verdict, reasons } in said.strategies.iter().filter(|ranked| shown(ranked.verdict)) {
        let copies = if strategy.copies == 1 { "1 copy".to_owned() } else { format!("{} copies", strategy.copies) };
        let (pages, verdict) = (strategy.pages, verdict_words(*verdict));
        text += &format!("{verdict:13}  {copies:9}  {pages:11}  {}\n", reasons.join(" "));
        if verdict == "best by rule" {
            text += &format!(
                "{:13}  {:9}  {:11}  zerohop align --replicas {} --pages {pages}\n",
                "", "", "", strategy.copies
            );
        }
    }
    for Remark { about, verdict, reason } in said.remarks.iter().filter(|remark| shown(remark.verdict)) {
        text += &format!("{:13}  {about:22}  {reason}\n", verdict_words(*verdict));
    }
    text
}

fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Chosen => "best by rule",
        Verdict::Pilot => "worth a trial",
        Verdict::Possible => "possible",
        Verdict::RuledOut => "ruled out",
    }
}
