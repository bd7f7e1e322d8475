//! `zerohop-lab scaling`, `farm`, `claims` and `page`: how threads scale.

use crate::args::{ClaimsArgs, ExperimentArgs, FarmArgs, ScalingArgs};
use crate::failure::Failure;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use zerohop_engine_null::Null;
use zerohop_engine_strobealign::{IndexParameters, Reference, Strobealign};
use zerohop_lab::claims::{self, Verdict};
use zerohop_lab::process::{EngineSpec, ProcessSpec};
use zerohop_lab::synthetic::{self, Synthetic};
use zerohop_lab::{
    Arm, Experiment, Fragments, Grid, InputKind, LockKind, OutputKind, Point, Scaling, Starter, Store, present,
};
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::machine::{CpuId, Machine};
use zerohop_model::plan::{HugePages, Pages, Placement};
use zerohop_process::{standard, tell};

/// How often a point of `claims` is measured again that others disturbed.
const MORE_ATTEMPTS: usize = 2;
/// Read length for which strobealign's index is made.
const READ_LENGTH: usize = 150;

/// Measures all combinations.
///
/// # Errors
/// Whatever goes wrong; points that were measured stay.
pub fn scaling(args: &ScalingArgs) -> Result<(), Failure> {
    let grid = Grid {
        inputs: args.inputs.clone(),
        locks: args.locks.clone(),
        outputs: args.outputs.clone(),
        threads: args.threads.clone(),
        processes: args.processes.clone(),
    };
    let experiment = experiment(&args.experiment)?;
    let arms = match experiment.engine {
        // It takes its reads as it likes.
        EngineSpec::External { .. } => {
            let (inputs, locks, outputs) = (vec![InputKind::Survey], vec![LockKind::Futex], vec![OutputKind::Ordered]);
            Grid { inputs, locks, outputs, ..grid }.arms()
        }
        _ => grid.arms(),
    };
    let most = arms.iter().map(|arm| arm.processes).max().unwrap_or(1);
    if experiment.scaling == Scaling::Strong && experiment.fragments < most {
        return Err(Failure::Usage(format!("{} fragments are too few for {most} processes", experiment.fragments)));
    }
    if arms.is_empty() {
        return Err(Failure::Usage(
            "there is nothing to measure: no number of processes divides a number of threads evenly".to_owned(),
        ));
    }
    measure(&args.experiment, &experiment, &arms, 0)?;
    page(&args.experiment.out)
}

/// The farm against pools that differ from it in nothing but the lock, with and without pinning, interleaving and mixed
/// lengths.
///
/// # Errors
/// Whatever goes wrong; points that were measured stay.
pub fn farm(args: &FarmArgs) -> Result<(), Failure> {
    let grid = Grid {
        inputs: vec![InputKind::Farm, InputKind::B],
        locks: vec![LockKind::Ttas, LockKind::Futex],
        outputs: vec![OutputKind::Shared],
        threads: args.threads.clone(),
        processes: vec![1],
    };
    let base = experiment(&args.experiment)?;
    for (pinned, interleaved) in [(false, false), (true, false), (true, true)] {
        for mixed in [false, true] {
            let experiment = Experiment { pinned, interleaved, mixed, ..base.clone() };
            measure(&args.experiment, &experiment, &grid.arms(), 0)?;
        }
    }
    page(&args.experiment.out)
}

/// Measures what claims are about, and fails if one of them does not hold that could.
///
/// # Errors
/// Whatever goes wrong; also claims that do not hold; points that were measured stay.
pub fn claims(args: &ClaimsArgs) -> Result<(), Failure> {
    let like = experiment(&args.experiment)?;
    if like.engine != EngineSpec::Null || like.scaling != Scaling::Weak || args.experiment.repeats == 0 {
        let words = "claims bring engines of their own, scale weakly and need at least one repetition: leave --engine \
            and --scaling out, and give --repeats 1 or more";
        return Err(Failure::Usage(words.to_owned()));
    }
    let threads = args.cpus.unwrap_or(like.cpus);
    let plans = claims::plans(threads, &like);
    for (experiment, arms) in &plans {
        measure(&args.experiment, experiment, arms, MORE_ATTEMPTS)?;
    }
    page(&args.experiment.out)?;
    let store = Store::open(&args.experiment.out)?;
    let findings = claims::findings(store.points(), &plans, threads);
    let table = claims::table(&findings).markdown();
    let path = args.experiment.out.join("claims.md");
    zerohop_process::write(&path, table.as_bytes())?;
    standard::print(table.as_bytes())?;
    if let Some(busy) = claims::too_busy(store.points(), &plans) {
        return Err(Failure::Other(format!(
            "other programs kept {busy:.1} CPUs busy meanwhile, so the claims were not judged: measure again into \
             another folder while the machine is idle"
        )));
    }
    let failed = |finding: &&claims::Finding| matches!(finding.verdict, Verdict::Fails | Verdict::NotMeasured);
    match findings.iter().filter(failed).count() {
        0 => Ok(()),
        1 => Err(Failure::Other("one claim does not hold here".to_owned())),
        n => Err(Failure::Other(format!("{n} claims do not hold here"))),
    }
}

/// Measures all arms in turn, as often as was asked for; what is there already is not measured again. Points that
/// others disturbed are measured up to `more` times again, and the least disturbed one counts.
fn measure(args: &ExperimentArgs, experiment: &Experiment, arms: &[Arm], more: usize) -> Result<(), Failure> {
    let mut store = Store::open(&args.out)?;
    let work = tempfile::Builder::new().prefix("zerohop-lab-").tempdir_in(args.work.as_deref().unwrap_or(&args.out));
    let work =
        work.map_err(|error| Failure::Other(format!("{}: cannot be written to: {error}", args.out.display())))?;
    let starter = starter(work.path(), args.probe)?;
    let most = arms.iter().map(|arm| arm.threads).max().unwrap_or(1);
    let wanted = experiment.fragments * if experiment.scaling == Scaling::Weak { most } else { 1 };
    let files: Vec<_> = std::iter::once(&args.reads_1).chain(&args.reads_2).cloned().collect();
    let fragments = Fragments::read(&files, wanted, experiment.mixed, work.path())?;
    let todo = (args.repeats + 1) * arms.len();
    for repetition in 0..=args.repeats {
        for i in 0..arms.len() {
            // Each repetition starts with another arm, so that none always follows the same one.
            let arm = &arms[(i + repetition) % arms.len()];
            if store.has(experiment, arm, repetition) {
                continue;
            }
            let mut point = experiment.measure(arm, repetition, &fragments, &starter)?;
            for _ in 0..more {
                if !claims::is_disturbed(&point) {
                    break;
                }
                let again = experiment.measure(arm, repetition, &fragments, &starter)?;
                let cpus = |point: &Point| point.others.map_or(0.0, |others| others.cpus());
                point = if cpus(&again) < cpus(&point) { again } else { point };
            }
            let done = repetition * arms.len() + i + 1;
            tell::progress(&format!("{done} of {todo}: {arm}: {:.3} s", point.slowest_s));
            store.add(point)?;
        }
    }
    tell::progress("");
    Ok(())
}

/// Makes the page of a folder.
///
/// # Errors
/// A folder without points; files that cannot be written.
pub fn page(folder: &Path) -> Result<(), Failure> {
    let store = Store::existing(folder)?;
    present(store.points(), folder)?;
    Ok(standard::print(format!("{}\n", folder.join("index.html").display()).as_bytes())?)
}

fn experiment(args: &ExperimentArgs) -> Result<Experiment, Failure> {
    let reference =
        || args.reference.clone().ok_or_else(|| Failure::Usage(format!("--engine {} needs --reference", args.engine)));
    let engine = match &*args.engine {
        "null" => EngineSpec::Null,
        "synthetic" => EngineSpec::Synthetic {
            work_us: args.work_us,
            sleep_us: args.sleep_us,
            accesses: args.accesses,
            table_bytes: args.table_mib << 20,
            skew: args.skew,
        },
        "strobealign" => EngineSpec::Strobealign { reference: reference()? },
        name => EngineSpec::External { name: name.to_owned(), reference: reference()? },
    };
    let size = |file: &PathBuf| {
        let metadata = std::fs::metadata(file)
            .map_err(|error| Failure::Other(format!("{}: cannot open: {error}", file.display())))?;
        Ok((file.clone(), metadata.len()))
    };
    let inputs = std::iter::once(&args.reads_1).chain(&args.reads_2).map(size).collect::<Result<_, Failure>>()?;
    let machine = zerohop_topology::detect()?;
    Ok(Experiment {
        engine,
        scaling: args.scaling.into(),
        fragments: args.fragments,
        batch: args.batch,
        chunk_bases: args.chunk_bases,
        queue: args.queue,
        pinned: args.pin,
        interleaved: false,
        mixed: false,
        inputs,
        machine: machine_words(&machine),
        cpus: machine.allowed.cpus.len(),
    })
}

fn starter(folder: &Path, probe: bool) -> Result<Starter, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::Other(format!("this program cannot be found: {error}")))?;
    let machine = zerohop_topology::detect()?;
    let node_of = |cpu: &CpuId| machine.nodes.iter().find(|node| node.cpus.contains(cpu)).map(|node| node.id);
    let nodes_of_cpus = if probe { machine.allowed.cpus.iter().filter_map(node_of).collect() } else { Vec::new() };
    Ok(Starter {
        nodes: nodes_of_cpus,
        rounds_per_second: synthetic::rounds_per_second(),
        command: vec![program, "process".into()],
        cpus: machine.allowed.cpus,
        folder: folder.to_owned(),
    })
}

/// A machine in a few words.
fn machine_words(machine: &Machine) -> String {
    let (cpus, nodes) = (machine.allowed.cpus.len(), machine.nodes.len());
    let model = if machine.cpu_model.is_empty() { "a machine of unknown kind" } else { &machine.cpu_model };
    format!("{model}, {cpus} CPUs, {nodes} {}", if nodes == 1 { "node" } else { "nodes" })
}

/// One process of a point, driven by the one that measures.
///
/// # Errors
/// Whatever goes wrong in it; no program that measures.
pub fn process() -> Result<(), Failure> {
    let mut lines = std::io::stdin().lock().lines();
    let mut line = || -> Result<String, Error> {
        let gone = || Error::Internal("the program that measures has gone".to_owned());
        lines.next().ok_or_else(gone)?.map_err(|error| Error::Internal(error.to_string()))
    };
    let spec: ProcessSpec = serde_json::from_str(&line()?).map_err(|error| Failure::Other(error.to_string()))?;
    let engine = if spec.interleaved { interleaved(|| engine(&spec))? } else { engine(&spec)? };
    let report = zerohop_lab::process::run(&spec, &*engine, || {
        let gone = |error: std::io::Error| Error::Internal(error.to_string());
        writeln!(std::io::stdout(), "ready").map_err(gone)?;
        line().map(|_| ())
    })?;
    let text = serde_json::to_string(&report).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(standard::print(format!("{text}\n").as_bytes())?)
}

/// Makes something whose pages lie in turn on all nodes.
fn interleaved<T>(make: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let nodes = zerohop_topology::detect()?.memory_nodes().iter().map(|node| node.id).collect();
    let placement = Placement { nodes, pages: Pages::Interleave, huge_pages: HugePages::Auto };
    let (made, refused) = zerohop_memory::with_placement(&placement, make);
    match refused.first() {
        Some(refused) => Err(Failure::Other(format!("{refused}: the index is not interleaved"))),
        None => made,
    }
}

fn engine(spec: &ProcessSpec) -> Result<Box<dyn Engine>, Failure> {
    Ok(match &spec.engine {
        EngineSpec::Null => Box::new(Null::new(Cut::at(spec.chunk_bases), Vec::new())),
        EngineSpec::Synthetic { .. } => {
            Box::new(Synthetic::new(spec.engine.cost().unwrap_or_default(), spec.rounds_per_second))
        }
        EngineSpec::Strobealign { reference } => Box::new(Strobealign::build(
            Reference::read(reference, spec.arm.threads)?,
            &IndexParameters::of_reads(READ_LENGTH),
            spec.arm.threads,
            |_| (),
        )?),
        EngineSpec::External { name, .. } => return Err(Failure::Other(format!("{name} is a program of its own"))),
    })
}
