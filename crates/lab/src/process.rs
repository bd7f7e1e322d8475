//! One process of an arm: its threads, started together.

use crate::arm::{Arm, InputKind, OutputKind};
use crate::output::destination;
use crate::parsing::{Parsing, deal_serially};
use crate::pool::pool;
use crate::start::StartLine;
use crate::synthetic::Cost;
use crate::worker::{ThreadReport, work};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread::{Builder, ScopedJoinHandle};
use std::time::Duration;
use zerohop_input::{LaneSpec, OpenLane};
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::machine::{CpuId, NodeId};
use zerohop_model::source::{Deal, Lane};
use zerohop_output::{FileSink, Format, Header, OutputSpec};
use zerohop_runtime::{Failure, Input, LaneView, Progress, WorkerEnd, farm};

/// The engine of an experiment that runs inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineSpec {
    /// Maps nothing.
    Null,
    /// Maps nothing and takes its time.
    Synthetic {
        /// Work per read, in microseconds of a core that nothing disturbs.
        work_us: f64,
        /// Sleep per read, in microseconds.
        sleep_us: f64,
        /// Dependent accesses to the table per read.
        accesses: u32,
        /// Bytes of the table.
        table_bytes: usize,
        /// One fragment in so many costs so many times as much.
        skew: Option<(u64, u32)>,
    },
    /// strobealign, with the index of a reference.
    Strobealign {
        /// The reference.
        reference: PathBuf,
    },
    /// An aligner that runs as a program of its own, under `zerohop align`; it takes its reads, and locks, as it likes.
    External {
        /// Its name, as `zerohop engines` has it.
        name: String,
        /// The reference.
        reference: PathBuf,
    },
}

impl EngineSpec {
    /// Whether its reads cost nothing but sleep, which needs no core.
    pub fn only_sleeps(&self) -> bool {
        match self {
            EngineSpec::Synthetic { work_us, sleep_us, accesses: 0, .. } => *work_us == 0.0 && *sleep_us > 0.0,
            _ => false,
        }
    }

    /// What a synthetic read costs.
    pub fn cost(&self) -> Option<Cost> {
        match *self {
            EngineSpec::Synthetic { work_us, sleep_us, accesses, table_bytes, skew } => {
                let time = |microseconds: f64| Duration::try_from_secs_f64(microseconds / 1e6).unwrap_or_default();
                Some(Cost { work: time(work_us), sleep: time(sleep_us), accesses, table_bytes, skew })
            }
            _ => None,
        }
    }
}

/// What one process is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// The arm; its threads are those of this process.
    pub arm: Arm,
    /// The engine.
    pub engine: EngineSpec,
    /// One file of reads, or two.
    pub files: Vec<PathBuf>,
    /// Fragments that B and the farm take at once.
    pub batch: usize,
    /// Whether the index lies page by page in turn on all nodes.
    pub interleaved: bool,
    /// Bases of a chunk that the survey cuts.
    pub chunk_bases: u64,
    /// Tasks that each worker of the farm has.
    pub queue: usize,
    /// Where records go; a file per thread gets a number.
    pub output: PathBuf,
    /// The CPU of each thread; none leaves it to the scheduler.
    pub cpus: Vec<CpuId>,
    /// The node of each of these CPUs, if it shall be counted where the pages of tasks lie.
    pub nodes: Vec<NodeId>,
    /// Rounds of work per second of a core, for the synthetic engine: measured once for all processes.
    pub rounds_per_second: f64,
    /// Whether there are more threads, over all processes, than CPUs.
    pub crowded: bool,
}

/// What one process says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessReport {
    /// Its threads.
    pub threads: Vec<ThreadReport>,
    /// Time in which somebody held the reader, in seconds: under the lock, in the emitter, or cutting.
    pub input_hold_s: f64,
    /// Bytes of all outputs.
    pub bytes_out: u64,
}

/// Runs the threads of one process. `ready` is called when all are ready, and returns when they shall start.
///
/// # Errors
/// Whatever fails first.
pub fn run(
    spec: &ProcessSpec,
    engine: &dyn Engine,
    ready: impl FnOnce() -> Result<(), Error>,
) -> Result<ProcessReport, Error> {
    let threads = spec.arm.threads;
    let mut lane = open(spec, engine)?;
    let sink = FileSink::create(output(spec, engine))?;
    let out = destination(&sink, spec.arm.output, spec.arm.lock, threads, spec.crowded);
    let (failure, progress) = (Failure::default(), Progress::default());
    let (mut emitter_end, ends) = farm(threads, 1, spec.queue);
    let (view, emitter) = match &mut lane.deal {
        Deal::Claim(claim) => (LaneView::Claim(&**claim, &*lane.parser), None),
        Deal::Emit(emitter) => (LaneView::Farm(&*lane.parser), Some(&mut **emitter)),
    };
    let input = Input { lanes: vec![view], failure: &failure, progress: &progress };
    let line = StartLine::default();
    // Whatever makes a thread fail ends the run for all.
    let fail = |error: Error| {
        failure.report(None, error);
        line.abort();
        out.close();
    };
    let body = |number: usize, end: WorkerEnd| {
        if let Some(cpu) = spec.cpus.get(number)
            && let Err(refused) = zerohop_topology::pin_current_thread(&[*cpu])
        {
            failure.refused(refused.to_string());
        }
        let node = spec.nodes.get(number).copied();
        let worked = || work(&input, end, engine, &sink, &mut *out.way(number), node, || line.ready());
        let outcome = catch_unwind(AssertUnwindSafe(worked));
        outcome.unwrap_or_else(|_| Err(Error::Internal("a thread panicked".to_owned()))).map_err(&fail).ok()
    };
    let body = &body;
    let reports = std::thread::scope(|scope| {
        let start = |(number, end): (usize, WorkerEnd)| {
            let thread = Builder::new().name("worker".to_owned()).spawn_scoped(scope, move || body(number, end));
            thread.map_err(|error| fail(Error::Thread(error))).ok()
        };
        let workers: Vec<_> = ends.into_iter().enumerate().filter_map(start).collect();
        match line.wait_for(threads).and_then(|()| ready()) {
            Ok(()) => line.open(),
            Err(error) => fail(error),
        }
        if let Some(emitter) = emitter {
            // This thread is the emitter, without a CPU of its own. A fault of the input it has reported itself.
            let _ = emitter_end.deal(emitter, &failure, |_| ());
        }
        drop(emitter_end);
        let join = |worker: ScopedJoinHandle<'_, Option<ThreadReport>>| worker.join().ok().flatten();
        workers.into_iter().filter_map(join).collect::<Vec<ThreadReport>>()
    });
    let refused = failure.take_refused();
    failure.into_result()?;
    if let Some(refused) = refused.first() {
        return Err(Error::Internal(format!("{refused}: what was measured is not what was asked for")));
    }
    let input_hold_s = match &lane.deal {
        Deal::Claim(claim) => claim.serial_time(),
        Deal::Emit(emitter) => emitter.serial_time(),
    };
    let lengths = out.end()?;
    drop(out);
    let bytes_out = sink.finish(&lengths, Vec::new())?;
    Ok(ProcessReport { threads: reports, input_hold_s: input_hold_s.as_secs_f64(), bytes_out })
}

/// Opens the reads as the arm takes them.
fn open(spec: &ProcessSpec, engine: &dyn Engine) -> Result<Lane, Error> {
    let max_bases = engine.max_read_bases();
    let parsing = match spec.arm.input {
        InputKind::O => Parsing::Original,
        InputKind::D => Parsing::Deferred,
        InputKind::B | InputKind::Farm => Parsing::Batch(spec.batch),
        InputKind::L => Parsing::Block,
        InputKind::Survey => {
            let lane = OpenLane::open(&LaneSpec { files: spec.files.clone(), interleaved: false })?;
            let cut = Cut::at(spec.chunk_bases);
            return Ok(lane.deal(0, cut, max_bases, spec.arm.threads)?);
        }
    };
    let lane = deal_serially(&spec.files, parsing, max_bases)?;
    let deal = match lane.deal {
        Deal::Emit(emitter) if spec.arm.input != InputKind::Farm => {
            Deal::Claim(pool(emitter, spec.arm.lock, spec.crowded))
        }
        deal => deal,
    };
    Ok(Lane { deal, ..lane })
}

fn output(spec: &ProcessSpec, engine: &dyn Engine) -> OutputSpec {
    let header = Header { contigs: engine.contigs().to_vec(), ..Header::default() };
    let shards = if spec.arm.output == OutputKind::Files { spec.arm.threads } else { 1 };
    OutputSpec { shards, ..OutputSpec::new(Some(spec.output.clone()), Format::Sam, header) }
}
