//! Which plan a run follows: the one that was typed, one that `zerohop tune` found for the same, or that of the rule.

pub mod pilots;
pub mod plan_cache;
pub mod tuning_key;

use crate::job::{AlignError, Job, PlacementOptions, PlanFrom};
use std::path::Path;
use tuning_key::TuningKey;
use zerohop_model::machine::{Bytes, CpuId, Machine, NodeId};
use zerohop_model::memory_map::MemoryMap;
use zerohop_model::plan::{HugePages, Placement, Plan};
use zerohop_model::tuning::{Choice, SavedPlan};
use zerohop_plan::{Replicas, Request, kept_suffice};
use zerohop_process::{cache, tell};

/// What a plan for this placement is asked for.
pub fn request<'a>(placement: &PlacementOptions, key: &'a TuningKey, map: Option<&'a MemoryMap>) -> Request<'a> {
    Request {
        workers: placement.threads,
        replicas: placement.replicas,
        pages: placement.pages,
        huge_pages: placement.huge_pages,
        index_bytes: key.index.0,
        kept: &key.kept,
        engine: key.kind,
        map,
    }
}

/// A plan, and whether it is for single-threaded processes.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Whether each worker is a process of its own.
    pub farm: bool,
}

/// The most threads, and index copies, that can be asked for.
const MOST: usize = 65_536;

/// The plan for an engine, its index and reads.
///
/// # Errors
/// A plan that does not fit the machine, a file that is none, or copies that do not fit into memory.
pub fn planned(job: &Job, machine: &Machine, key: &TuningKey) -> Result<Planned, AlignError> {
    let by_rule = || -> Result<Planned, AlignError> {
        let map = plan_cache::memory_map(machine);
        let request = request(&job.placement, key, map.as_ref());
        Ok(Planned { plan: zerohop_plan::plan(machine, &request)?, farm: job.external.farm })
    };
    match &job.placement.plan {
        Some(PlanFrom::File(path)) => replay(path, job, machine, key),
        Some(PlanFrom::Rule | PlanFrom::Auto) => by_rule(),
        None if asks_for_something(job) || kept_suffice(machine, &key.kept) => by_rule(),
        None => match key.is_tuned.then(|| tuned(machine, key)).flatten() {
            Some(planned) => Ok(planned),
            None => by_rule(),
        },
    }
}

/// Whether the user said how it shall run.
fn asks_for_something(job: &Job) -> bool {
    job.placement.threads.is_some()
        || job.placement.replicas != Replicas::Auto
        || job.placement.pages.is_some()
        || job.placement.huge_pages == HugePages::Off
        || job.external.farm
}

/// What `zerohop tune` found for the same engine, index and kind of reads on this machine.
fn tuned(machine: &Machine, key: &TuningKey) -> Option<Planned> {
    let saved: SavedPlan = cache::read(&key.plan_file(machine)?)?;
    if saved.schema_version != SavedPlan::SCHEMA_VERSION || misfit(machine, &saved).is_some() {
        return None;
    }
    // What was free then may not be free now.
    let copies = saved.plan.replicas.len();
    let leaves_room = !key.kept.is_empty() || zerohop_plan::leaves_room(machine, key.index.0, copies);
    if !leaves_room || too_little_memory(machine, &saved, key).is_some() {
        return None;
    }
    let mut plan = saved.plan;
    plan.reasons.insert(0, "As 'zerohop tune' found it best (--plan rule does without).".to_owned());
    Some(Planned { plan, farm: saved.choice.farm })
}

fn replay(path: &Path, job: &Job, machine: &Machine, key: &TuningKey) -> Result<Planned, AlignError> {
    let fault = |what: String| AlignError::Failed(format!("{}: {what}", path.display()));
    if asks_for_something(job) {
        let words = "--plan FILE says all of it: leave -t, --replicas, --pages, --huge-pages and --farm out";
        return Err(AlignError::Usage(words.to_owned()));
    }
    let text = std::fs::read(path).map_err(|error| fault(format!("cannot read: {error}")))?;
    let saved: SavedPlan = serde_json::from_slice(&text)
        .map_err(|error| fault(format!("it is no plan as 'zerohop plan -o' and 'zerohop tune' write it: {error}")))?;
    if saved.schema_version != SavedPlan::SCHEMA_VERSION {
        let (there, here) = (saved.schema_version, SavedPlan::SCHEMA_VERSION);
        return Err(fault(format!(
            "it is a plan of version {there}, and this zerohop reads version {here}: make it anew"
        )));
    }
    if let Some((planned_for, _)) = &saved.engine
        && key.is_tuned
        && *planned_for != key.engine.0
    {
        return Err(fault(format!("it is a plan for {planned_for}, not for {}", key.engine.0)));
    }
    if let Some(misfit) = misfit(machine, &saved) {
        let machine = tell::one_line(&saved.machine);
        return Err(fault(format!("it was made for {machine}, and does not fit here: {misfit}")));
    }
    if let Some(too_little) = too_little_memory(machine, &saved, key) {
        return Err(fault(too_little));
    }
    if saved.choice.farm && key.kind == zerohop_plan::Engine::Embedded {
        return Err(fault(
            "it is a plan for processes that share an index, and the engine runs inside zerohop".to_owned(),
        ));
    }
    let mut plan = saved.plan;
    plan.reasons.insert(0, format!("As {} says.", path.display()));
    Ok(Planned { plan, farm: saved.choice.farm })
}

/// Why the copies of a plan do not fit into the memory that is free, if they do not.
fn too_little_memory(machine: &Machine, saved: &SavedPlan, key: &TuningKey) -> Option<String> {
    work_out(machine, saved.choice, key.index, &key.kept).err().map(|error| error.to_string())
}

/// Why a plan cannot be followed on `machine`, if it cannot.
fn misfit(machine: &Machine, SavedPlan { plan, choice, .. }: &SavedPlan) -> Option<String> {
    if choice.threads > MOST || choice.copies > MOST {
        return Some(format!("nobody has more than {MOST} threads or index copies"));
    }
    if plan.replicas.is_empty() || plan.workers.is_empty() {
        return Some("it has no workers or no index copies".to_owned());
    }
    if plan.workers.iter().any(|worker| worker.replica >= plan.replicas.len()) {
        return Some("a worker reads an index copy that is not in it".to_owned());
    }
    let mut cpus = plan.workers.iter().flat_map(|worker| &worker.cpus).chain(&plan.helper_cpus);
    let missing = |cpu: &&CpuId| !machine.allowed.cpus.contains(cpu);
    if let Some(cpu) = cpus.find(missing) {
        return Some(format!("CPU {cpu} is not there, or may not be used"));
    }
    let memory = machine.memory_nodes();
    let mut nodes = plan.replicas.iter().flat_map(|replica| &replica.nodes);
    let missing = |node: &&NodeId| !memory.iter().any(|has| has.id == **node);
    nodes.find(missing).map(|node| format!("node {node} has no memory that may be used"))
}

/// A choice, worked out for a machine, and for an index of this size of which copies may be kept in memory.
///
/// # Errors
/// Copies that do not fit into memory.
pub fn work_out(machine: &Machine, choice: Choice, index: Bytes, kept: &[Placement]) -> Result<Plan, AlignError> {
    let request = Request {
        workers: Some(choice.threads),
        replicas: Replicas::Count(choice.copies),
        pages: Some(choice.pages),
        huge_pages: HugePages::Auto,
        index_bytes: index.0,
        kept,
        // With everything given, neither is looked at.
        engine: zerohop_plan::Engine::Embedded,
        map: None,
    };
    Ok(zerohop_plan::plan(machine, &request)?)
}

/// A plan as it is written to disk.
pub fn saved(machine: &Machine, key: Option<&TuningKey>, index: u64, choice: Choice, plan: Plan) -> SavedPlan {
    SavedPlan {
        schema_version: SavedPlan::SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine.name.clone(),
        engine: key.map(|key| key.engine.clone()),
        index: zerohop_model::machine::Bytes(index),
        choice,
        plan,
    }
}
