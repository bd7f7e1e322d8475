//! `zerohop bench`: the thread-scaling laboratory.

use crate::args::{BenchArgs, BenchCommand, ExperimentArgs, ScalingArgs};
use crate::failure::Failure;
use crate::replicas;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use zerohop_engine_null::{Null, Synthetic};
use zerohop_lab::process::{EngineSpec, ProcessSpec};
use zerohop_lab::{Experiment, Fragments, Grid, Scaling, Starter, Store, present};
use zerohop_model::engine::{Engine, Law};
use zerohop_model::error::Error;

/// Read length for which strobealign's index is made.
const READ_LENGTH: usize = 150;

/// Does the command.
///
/// # Errors
/// Whatever goes wrong; points that were measured stay.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    match &args.command {
        BenchCommand::Scaling(args) => scaling(args),
        BenchCommand::Page { folder } => page(folder),
        BenchCommand::Process => process(),
    }
}

fn scaling(args: &ScalingArgs) -> Result<(), Failure> {
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
        EngineSpec::External { .. } => Grid {
            inputs: vec![zerohop_lab::InputKind::Survey],
            locks: vec![zerohop_lab::LockKind::Futex],
            outputs: vec![zerohop_lab::OutputKind::Ordered],
            ..grid
        }
        .arms(),
        _ => grid.arms(),
    };
    if arms.is_empty() {
        return Err(Failure::Usage(
            "there is nothing to measure: no number of processes divides a number of threads evenly".to_owned(),
        ));
    }
    measure(&args.experiment, &experiment, &arms)?;
    page(&args.experiment.out)
}

/// Measures all arms in turn, as often as was asked for; what is there already is not measured again.
fn measure(args: &ExperimentArgs, experiment: &Experiment, arms: &[zerohop_lab::Arm]) -> Result<(), Failure> {
    let mut store = Store::open(&args.out)?;
    let work = tempfile::Builder::new().prefix("zerohop-lab-").tempdir_in(args.work.as_deref().unwrap_or(&args.out));
    let work =
        work.map_err(|error| Failure::Other(format!("{}: cannot be written to: {error}", args.out.display())))?;
    let starter = starter(work.path())?;
    let most = arms.iter().map(|arm| arm.threads).max().unwrap_or(1);
    let wanted = experiment.fragments * if experiment.scaling == Scaling::Weak { most } else { 1 };
    let files: Vec<_> = std::iter::once(&args.reads_1).chain(&args.reads_2).cloned().collect();
    let fragments = Fragments::read(&files, wanted, work.path())?;
    let name = experiment.name();
    let todo = (args.repeats + 1) * arms.len();
    for repetition in 0..=args.repeats {
        for i in 0..arms.len() {
            // Each repetition starts with another arm, so that none always follows the same one.
            let arm = &arms[(i + repetition) % arms.len()];
            if store.has(&name, arm, repetition) {
                continue;
            }
            let point = experiment.measure(arm, repetition, &fragments, &starter)?;
            if std::io::stderr().is_terminal() {
                eprint!("\r{} of {todo}: {arm}: {:.3} s        ", repetition * arms.len() + i + 1, point.slowest_s);
            }
            store.add(point)?;
        }
    }
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    Ok(())
}

fn page(folder: &Path) -> Result<(), Failure> {
    let store = Store::open(folder)?;
    let cpus = zerohop_topology::detect()?.allowed.cpus.len();
    present(store.points(), cpus, folder)?;
    println!("{}", folder.join("index.html").display());
    Ok(())
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
    Ok(Experiment {
        engine,
        scaling: args.scaling.into(),
        fragments: args.fragments,
        batch: args.batch,
        chunk_bases: args.chunk_bases,
        queue: args.queue,
        pinned: args.pin,
    })
}

fn starter(folder: &Path) -> Result<Starter, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::Other(format!("this program cannot be found: {error}")))?;
    let machine = zerohop_topology::detect()?;
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).and_then(|rest| rest.split_once(':'));
    let model = model.map_or("a machine of unknown kind", |(_, name)| name.trim());
    let (cpus, nodes) = (machine.allowed.cpus.len(), machine.nodes.len());
    Ok(Starter {
        command: vec![program, "bench".into(), "process".into()],
        machine: format!("{model}, {cpus} CPUs, {nodes} {}", if nodes == 1 { "node" } else { "nodes" }),
        cpus: machine.allowed.cpus,
        folder: folder.to_owned(),
    })
}

/// One process of a point, driven by the one that measures.
fn process() -> Result<(), Failure> {
    let mut lines = std::io::stdin().lock().lines();
    let mut line = || -> Result<String, Error> {
        let gone = || Error::Internal("the program that measures has gone".to_owned());
        lines.next().ok_or_else(gone)?.map_err(|error| Error::Internal(error.to_string()))
    };
    let spec: ProcessSpec = serde_json::from_str(&line()?).map_err(|error| Failure::Other(error.to_string()))?;
    let engine = engine(&spec)?;
    let report = zerohop_lab::process::run(&spec, &*engine, || {
        println!("ready");
        line().map(|_| ())
    })?;
    let text = serde_json::to_string(&report).map_err(|error| Failure::Other(error.to_string()))?;
    writeln!(std::io::stdout(), "{text}").map_err(Failure::standard_output)
}

fn engine(spec: &ProcessSpec) -> Result<Box<dyn Engine>, Failure> {
    Ok(match &spec.engine {
        EngineSpec::Null => Box::new(Null::new(Law::Free { preferred_bases: spec.chunk_bases }, Vec::new())),
        EngineSpec::Synthetic { .. } => Box::new(Synthetic::new(spec.engine.cost().unwrap_or_default())),
        EngineSpec::Strobealign { reference } => {
            Box::new(replicas::build(replicas::read_reference(reference)?, READ_LENGTH, spec.arm.threads, None)?)
        }
        EngineSpec::External { name, .. } => return Err(Failure::Other(format!("{name} is a program of its own"))),
    })
}
