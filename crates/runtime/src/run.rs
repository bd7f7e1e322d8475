//! A whole run: threads are started, pinned and joined; nothing is left behind.

use crate::failure::Failure;
use crate::farm::{Bench, Desk, farm};
use crate::output::{Order, Output};
use crate::progress::Progress;
use crate::worker::{Done, LaneView, Shared, Worker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};
use zerohop_model::engine::Engine;
use zerohop_model::error::Error;
use zerohop_model::machine::CpuId;
use zerohop_model::measurement::{RunReport, Serial};
use zerohop_model::plan::{Plan, WorkerPlan};
use zerohop_model::sink::Sink;
use zerohop_model::source::{Deal, Emit, Lane};

/// What a run is made of.
pub struct Job<'a> {
    /// The inputs, in order.
    pub lanes: Vec<Lane>,
    /// One engine per replica of the plan.
    pub engines: &'a [Box<dyn Engine>],
    /// The output.
    pub sink: &'a dyn Sink,
    /// The order of chunks in it.
    pub order: Order,
    /// Workers, their CPUs and replicas.
    pub plan: &'a Plan,
    /// To be watched from another thread.
    pub progress: &'a Progress,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The measurement.
    pub report: RunReport,
    /// The length of each output file.
    pub lengths: Vec<u64>,
}

/// Runs `job` to its end.
///
/// # Errors
/// The failure that comes first in the order of the input. All threads are joined by then, but for those that read a pipe
/// and may be blocked in it; they end with the program.
pub fn run(job: Job<'_>) -> Result<Outcome, Error> {
    let started = Instant::now();
    let (mut lanes, workers) = (job.lanes, job.plan.workers.len());
    let (failure, output) = (Failure::default(), Output::new(job.sink, job.order, workers));
    let (desk, benches) = farm(workers);
    let (views, mut emitters) = views(&mut lanes);
    let shared = Shared { lanes: views, output: &output, failure: &failure, progress: job.progress };

    let threads = std::thread::scope(|scope| {
        let crew = Crew { scope, failure: &failure, output: &output };
        let helpers = &job.plan.helper_cpus;
        let writers: Vec<_> = output
            .sequential_files()
            .into_iter()
            .map(|file| {
                let output = &output;
                crew.start("writer", helpers, move || output.write_sequentially(file))
            })
            .collect();
        let emitter =
            (!emitters.is_empty()).then(|| crew.start("emitter", helpers, || deal_all(desk, &mut emitters, &shared)));
        let plans = job.plan.workers.iter().zip(benches);
        let workers: Vec<_> = plans
            .map(|(plan, bench)| {
                let (engine, sink, shared) = (&*job.engines[plan.replica], job.sink, &shared);
                crew.start("worker", &plan.cpus, move || work(shared, bench, engine, sink, plan))
            })
            .collect();

        let done: Vec<Done> = workers.into_iter().filter_map(join).collect();
        if let Some(emitter) = emitter {
            join(emitter);
        }
        output.end();
        let written: Vec<Option<(u64, Duration)>> = writers.into_iter().map(join).collect();
        (done, written)
    });
    let (done, written) = threads;
    let emitting: Duration = emitters.iter().map(|(_, emitter)| emitter.serial_time()).sum();
    drop(shared);
    let refused = failure.take_refused();
    failure.into_result()?;

    let claiming: Duration = lanes
        .iter()
        .filter_map(|lane| match &lane.deal {
            Deal::Claim(claim) => Some(claim.serial_time()),
            Deal::Emit(_) => None,
        })
        .sum();
    let writing: Duration = written.iter().flatten().map(|(_, writing)| *writing).sum();
    let order = writing + output.gate_time();
    let lengths = match written.is_empty() {
        true => output.positioned_lengths(),
        false => written.into_iter().flatten().map(|(length, _)| length).collect(),
    };
    let serial = Serial { cut: claiming + emitting, order };
    Ok(Outcome { report: sum_up(done, serial, refused, started.elapsed()), lengths })
}

/// The lanes as workers see them, and the emitters of those that have one, with their positions.
fn views(lanes: &mut [Lane]) -> (Vec<LaneView<'_>>, Vec<(usize, &mut dyn Emit)>) {
    let (mut views, mut emitters) = (Vec::new(), Vec::<(usize, &mut dyn Emit)>::new());
    for (i, lane) in lanes.iter_mut().enumerate() {
        match &mut lane.deal {
            Deal::Claim(claim) => views.push(LaneView::Claim(&**claim, &*lane.parser)),
            Deal::Emit(emitter) => {
                views.push(LaneView::Farm(&*lane.parser));
                emitters.push((i, &mut **emitter));
            }
        }
    }
    (views, emitters)
}

/// What the threads of a run have in common: where they live, and what happens when one fails.
#[derive(Clone, Copy)]
struct Crew<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    failure: &'scope Failure,
    output: &'scope Output<'scope>,
}

type Thread<'scope, T> = Option<ScopedJoinHandle<'scope, Option<T>>>;

impl<'scope> Crew<'scope, '_> {
    /// Starts a thread on `cpus` (on any, if none are named). Whatever makes it fail, a panic too, stops the run.
    fn start<T: Send + 'scope>(
        self,
        name: &str,
        cpus: &'scope [CpuId],
        body: impl FnOnce() -> Result<T, Error> + Send + 'scope,
    ) -> Thread<'scope, T> {
        let Crew { scope, failure, output } = self;
        let fail = move |error| {
            failure.report(None, error);
            output.close();
        };
        let thread = Builder::new().name(name.to_owned()).spawn_scoped(scope, move || {
            if !cpus.is_empty()
                && let Err(error) = zerohop_topology::pin_current_thread(cpus)
            {
                failure.refused(error.to_string());
            }
            let outcome = catch_unwind(AssertUnwindSafe(body));
            outcome.unwrap_or_else(|panic| Err(Error::Internal(crate::panics::message(&*panic)))).map_err(fail).ok()
        });
        thread.map_err(|error| fail(Error::Thread(error))).ok()
    }
}

fn join<T>(thread: Thread<'_, T>) -> Option<T> {
    thread.and_then(|thread| thread.join().ok().flatten())
}

/// The emitter's thread: the lanes that need one, one after the other.
fn deal_all(mut desk: Desk, emitters: &mut [(usize, &mut dyn Emit)], shared: &Shared<'_>) -> Result<(), Error> {
    for (lane, emitter) in emitters {
        let dealt = |share| shared.progress.set_dealt(*lane, shared.lanes.len(), share);
        desk.deal(*emitter, shared.failure, dealt)?;
    }
    Ok(())
}

/// A worker's thread.
fn work<'a>(
    shared: &'a Shared<'a>,
    bench: Bench,
    engine: &'a dyn Engine,
    sink: &'a dyn Sink,
    plan: &WorkerPlan,
) -> Result<Done, Error> {
    Worker::new(shared, bench, engine, sink, plan).run()
}

fn sum_up(done: Vec<Done>, serial: Serial, refused: Vec<String>, wall: Duration) -> RunReport {
    let mut report = RunReport { serial, refused, wall, ..RunReport::default() };
    for Done { worker, tally, bytes } in done {
        report.tally += &tally;
        report.bytes_out.0 += bytes;
        report.workers.push(worker);
    }
    report
}
