//! `zerohop plan`: which strategy is best for an index on a machine, and why.

use crate::args::PlanArgs;
use crate::failure::Failure;
use serde::Serialize;
use std::path::{Path, PathBuf};
use zerohop_align::tuning_key::{Profile, TuningKey};
use zerohop_align::{STROBEALIGN, descriptors, plan_cache, planning};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::tuning::{Choice, SavedPlan};
use zerohop_plan::{Engine, Need, Ranked, Remark, Strategy, Verdict, rank, remarks};
use zerohop_process::json;
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::tell;

/// What is said, as JSON has it.
#[derive(Serialize)]
struct Said<'a> {
    machine: &'a str,
    index: Bytes,
    threads: usize,
    /// The aligner that was named.
    #[serde(skip)]
    engine: Option<&'a str>,
    /// Whether the number of threads was.
    #[serde(skip)]
    asked: bool,
    strategies: &'a [Ranked],
    remarks: &'a [Remark],
    plan: &'a SavedPlan,
}

/// Runs the command.
///
/// # Errors
/// A file that describes no machine; standard output that cannot be written.
pub fn run(args: &PlanArgs) -> Result<(), Failure> {
    check_output(args, &[])?;
    let machine = match &args.machine {
        None => {
            zerohop_topology::unknown().iter().for_each(|what| tell::note(what));
            zerohop_topology::detect()?
        }
        Some(path) => described(path)?,
    };
    let threads = args.threads.unwrap_or_else(|| machine.allowed.worker_count());
    let map = if args.machine.is_none() { plan_cache::memory_map(&machine) } else { None };
    let key = key(args)?;
    check_output(args, key.as_ref().map(|key| &key.files[..]).unwrap_or_default())?;
    let index = match (&key, args.index_size) {
        (_, Some(size)) => size,
        (Some(key), None) => key.index,
        (None, None) => {
            return Err(Failure::Usage("say how large the index is: --index-size, or --reference".to_owned()));
        }
    };
    let engine = match (&key, &args.engine) {
        (Some(key), _) => Some(key.kind),
        (None, Some(name)) => Some(TuningKey::kind(name, &args.engine_file)?),
        (None, None) => None,
    };
    let need = Need { index_bytes: index.0, engine: engine.unwrap_or(Engine::External { shares: false }), threads };
    let strategies = rank(&machine, &need, map.as_ref());
    let remarks = remarks(&machine, engine);
    let best = strategies.first().map(|ranked| ranked.strategy);
    let best = best.ok_or_else(|| Failure::Other("there is no strategy for a machine without nodes".to_owned()))?;
    let choice = Choice { copies: best.copies, threads, pages: best.pages, farm: false };
    let mut plan = planning::work_out(&machine, choice, index.0)?;
    plan.reasons.splice(0..1, strategies[0].reasons.iter().cloned());
    let plan = planning::saved(&machine, key.as_ref(), index.0, choice, plan);
    if let Some(path) = &args.output {
        json::write(path, &plan)?;
    }
    let said = Said {
        machine: &machine.name,
        index,
        threads,
        engine: args.engine.as_deref().filter(|name| *name != STROBEALIGN),
        asked: args.threads.is_some(),
        strategies: &strategies,
        remarks: &remarks,
        plan: &plan,
    };
    let text = match args.json {
        true => json::text(&said)?,
        false => words(&machine, &said, args.explain),
    };
    crate::print(text.as_bytes())
}

/// Refuses an output that would destroy what is read: what was typed, and the files of the index.
fn check_output(args: &PlanArgs, index: &[PathBuf]) -> Result<(), Failure> {
    let descriptors = descriptors::files(&args.engine_file);
    overwrite::apart(args.reference.iter().chain(&args.machine).chain(&descriptors).chain(index), &args.output)?;
    Ok(args.output.iter().try_for_each(|path| overwrite::replaceable(path, Kind::Json))?)
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
fn key(args: &PlanArgs) -> Result<Option<TuningKey>, Failure> {
    let Some(reference) = &args.reference else { return Ok(None) };
    let profile = Profile::new(true, args.read_length, None);
    let name = args.engine.as_deref().unwrap_or(STROBEALIGN);
    Ok(Some(TuningKey::of(name, &args.engine_file, reference, profile)?))
}

fn words(machine: &Machine, said: &Said<'_>, all: bool) -> String {
    let (nodes, free) = (machine.nodes.len(), machine.memory_nodes().iter().map(|node| node.free.0).sum::<u64>());
    let free = free.min(machine.allowed.memory_left.map_or(u64::MAX, |left| left.0));
    let cpus = machine.allowed.cpus.len();
    let mut text = format!(
        "{}: {nodes} {}, {cpus} CPUs, {} of memory free; an index of {}, {} threads\n\n",
        machine.name,
        if nodes == 1 { "node" } else { "nodes" },
        Bytes(free),
        said.index,
        said.threads
    );
    let shown = |verdict: Verdict| all || matches!(verdict, Verdict::Chosen | Verdict::Pilot);
    for Ranked { strategy, verdict, reasons } in said.strategies.iter().filter(|ranked| shown(ranked.verdict)) {
        let copies = if strategy.copies == 1 { "1 copy".to_owned() } else { format!("{} copies", strategy.copies) };
        let (pages, verdict) = (strategy.pages, verdict_words(*verdict));
        text += &format!("{verdict:13}  {copies:9}  {pages:11}  {}\n", reasons.join(" "));
        if verdict == "best by rule" {
            text += &format!("{:13}  {:9}  {:11}  {}\n", "", "", "", command(said, *strategy));
        }
    }
    for Remark { about, verdict, reason } in said.remarks.iter().filter(|remark| shown(remark.verdict)) {
        text += &format!("{:13}  {about:22}  {reason}\n", verdict_words(*verdict));
    }
    text
}

/// The command that follows a strategy.
fn command(said: &Said<'_>, strategy: Strategy) -> String {
    let threads = if said.asked { format!(" -t {}", said.threads) } else { String::new() };
    let name = said.engine.map_or_else(String::new, |name| format!(" --engine {name}"));
    format!("zerohop align{name}{threads} --replicas {} --pages {}", strategy.copies, strategy.pages)
}

fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Chosen => "best by rule",
        Verdict::Pilot => "worth a trial",
        Verdict::Possible => "possible",
        Verdict::RuledOut => "ruled out",
    }
}
