//! A whole run: threads are started, pinned and joined; nothing is left behind.

use crate::failure::Failure;
use crate::farm::{Bench, CHUNKS_PER_WORKER, Desk, emitted, farm};
use crate::instances::{self, Behind, Dealing, LateSink};
use crate::intake::{Input, LaneView};
use crate::output::{HELD_PER_WORKER, Order, Output};
use crate::part::Part;
use crate::progress::Progress;
use crate::worker::Worker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};
use zerohop_model::engine::Engine;
use zerohop_model::error::Error;
use zerohop_model::instance::Instance;
use zerohop_model::machine::CpuId;
use zerohop_model::measurement::{RunReport, Serial, WorkerReport};
use zerohop_model::plan::{Plan, WorkerPlan};
use zerohop_model::sink::Sink;
use zerohop_model::source::{Deal, Emit, Lane};

/// What a run is made of.
pub struct Job<'a> {
    /// The inputs, in order.
    pub lanes: Vec<Lane>,
    /// Who maps, and where the records go.
    pub mapping: Mapping<'a>,
    /// The order of chunks in the output.
    pub order: Order,
    /// Workers, their CPUs and replicas.
    pub plan: &'a Plan,
    /// To be watched from another thread.
    pub progress: &'a Progress,
}

/// Who maps.
pub enum Mapping<'a> {
    /// Workers of ours, with an engine in our own process.
    Embedded {
        /// One engine per replica of the plan.
        engines: &'a [Box<dyn Engine>],
        /// The output.
        sink: &'a dyn Sink,
    },
    /// Programs of their own, which run already.
    Instances {
        /// One or more.
        instances: Vec<Instance>,
        /// The output, which opens when its header is known.
        sink: &'a dyn LateSink,
        /// How chunks reach them.
        dealing: Dealing,
        /// Finished chunks that each may hold while the others are behind.
        held: usize,
    },
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The measurement.
    pub report: RunReport,
    /// The length of each output file; none if there was no output to be opened, for no instance said a header.
    pub lengths: Vec<u64>,
}

/// Runs `job` to its end.
///
/// # Errors
/// The failure that comes first in the order of the input. All threads are joined by then, but for those that read a pipe
/// and may be blocked in it; they end with the program.
pub fn run(job: Job<'_>) -> Result<Outcome, Error> {
    let started = Instant::now();
    let Job { mut lanes, mut mapping, order, plan, progress } = job;
    let (failure, output) = (Failure::default(), OnceLock::new());
    let (mut desk, benches) = farm(takers(&mapping, plan), lanes.len(), CHUNKS_PER_WORKER);
    if let Mapping::Instances { dealing: Dealing::Static, .. } = mapping {
        desk.strictly_in_turn();
        lanes = lanes.into_iter().map(|lane| Lane { deal: emitted(lane.deal), ..lane }).collect();
    }
    let (views, mut emitters) = views(&mut lanes);
    let input = Input { lanes: views, failure: &failure, progress };
    if let Mapping::Embedded { sink, .. } = mapping {
        let _ = output.set(Output::new(sink, order, plan.workers.len(), HELD_PER_WORKER));
    }

    let (parts, written) = std::thread::scope(|scope| {
        let crew = Crew { scope, failure: &failure, output: &output };
        let helpers = &plan.helper_cpus;
        let emitter = (!emitters.is_empty()).then(|| {
            let (emitters, input) = (&mut emitters, &input);
            crew.start("emitter", helpers, move || deal_all(desk, emitters, input))
        });
        let (parts, writers) = match &mut mapping {
            Mapping::Embedded { engines, sink } => {
                let writers = crew.start_writers(helpers);
                (crew.start_workers(&input, benches, engines, *sink, plan), writers)
            }
            Mapping::Instances { instances, sink, held, .. } => {
                let (parts, headers) = crew.start_instances(&input, benches, instances);
                let committers = parts.len();
                let open = |sink| Output::new(sink, order, committers, *held);
                (parts, crew.open_late(&headers, *sink, open, helpers))
            }
        };
        let parts: Vec<Part> = parts.into_iter().flat_map(Team::join).collect();
        if let Some(emitter) = emitter {
            join(emitter);
        }
        if let Some(output) = output.get() {
            output.end();
        }
        let written: Vec<Option<(u64, Duration)>> = writers.into_iter().map(join).collect();
        (parts, written)
    });
    let emitting: Duration = emitters.iter().map(|(_, emitter)| emitter.serial_time()).sum();
    drop(input);
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
    let at_gates = output.get().map_or(Duration::ZERO, Output::gate_time);
    let lengths = match written.is_empty() {
        true => output.get().map(Output::positioned_lengths).unwrap_or_default(),
        false => written.into_iter().flatten().map(|(length, _)| length).collect(),
    };
    let serial = Serial { cut: claiming + emitting, order: writing + at_gates };
    Ok(Outcome { report: sum_up(parts, serial, refused, started.elapsed()), lengths })
}

/// Threads that take chunks.
fn takers(mapping: &Mapping<'_>, plan: &Plan) -> usize {
    match mapping {
        Mapping::Embedded { .. } => plan.workers.len(),
        Mapping::Instances { instances, .. } => instances.len(),
    }
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
struct Crew<'scope, 'env, 's> {
    scope: &'scope Scope<'scope, 'env>,
    failure: &'scope Failure,
    output: &'scope OnceLock<Output<'s>>,
}

type Thread<'scope, T> = Option<ScopedJoinHandle<'scope, Option<T>>>;

impl<'scope, 's> Crew<'scope, '_, 's> {
    /// Starts a thread on `cpus` (on any, if none are named). Whatever makes it fail, a panic too, stops the run.
    fn start<T: Send + 'scope>(
        self,
        name: &str,
        cpus: &'scope [CpuId],
        body: impl FnOnce() -> Result<T, Error> + Send + 'scope,
    ) -> Thread<'scope, T> {
        let Crew { scope, failure, .. } = self;
        let thread = Builder::new().name(name.to_owned()).spawn_scoped(scope, move || {
            if !cpus.is_empty()
                && let Err(error) = zerohop_topology::pin_current_thread(cpus)
            {
                failure.refused(error.to_string());
            }
            let outcome = catch_unwind(AssertUnwindSafe(body));
            outcome
                .unwrap_or_else(|panic| Err(Error::Internal(crate::panics::message(&*panic))))
                .map_err(|e| self.fail(e))
                .ok()
        });
        thread.map_err(|error| self.fail(Error::Thread(error))).ok()
    }

    /// Ends the run: wakes all who wait.
    fn fail(self, error: Error) {
        self.failure.report(None, error);
        // With the fence in `open_late`: either that sees the failure, or this sees the output.
        fence(Ordering::SeqCst);
        if let Some(output) = self.output.get() {
            output.close();
        }
    }

    /// The threads that write those files which only one thread can write.
    fn start_writers(self, cpus: &'scope [CpuId]) -> Vec<Thread<'scope, (u64, Duration)>> {
        let Some(output) = self.output.get() else { return Vec::new() };
        let start = |file| self.start("writer", cpus, move || output.write_sequentially(file));
        output.sequential_files().into_iter().map(start).collect()
    }

    fn start_workers(
        self,
        input: &'scope Input<'scope>,
        benches: Vec<Bench>,
        engines: &'scope [Box<dyn Engine>],
        sink: &'scope dyn Sink,
        plan: &'scope Plan,
    ) -> Vec<Team<'scope>> {
        let Some(output) = self.output.get() else { return Vec::new() };
        let start = |(plan, bench): (&'scope WorkerPlan, Bench)| {
            let engine = &*engines[plan.replica];
            let work = move || Worker::new(input, output, bench, engine, sink, plan).run();
            Team(vec![self.start("worker", &plan.cpus, work)])
        };
        plan.workers.iter().zip(benches).map(start).collect()
    }

    /// The threads around the instances, and what tells their headers.
    fn start_instances(
        self,
        input: &'scope Input<'scope>,
        benches: Vec<Bench>,
        instances: &'scope mut [Instance],
    ) -> (Vec<Team<'scope>>, Receiver<(usize, Vec<u8>)>) {
        let (tell, headers) = channel();
        let start = |(i, (instance, bench)): (usize, (&'scope mut Instance, Bench))| {
            let Instance { plan, feed, drain, blame } = instance;
            let (tell, plan, blame) = (tell.clone(), &*plan, &**blame);
            let (outlet, inlets) = instances::outlet(instances::finishers(plan.threads));
            let behind = Behind { input, output: self.output, blame };
            let report = WorkerReport { cpus: plan.cpus.clone(), replica: plan.replica, ..WorkerReport::default() };
            let first = Part { worker: report, ..Part::default() };
            let drainer = move || Ok(first.and(instances::drain(&behind, i, &mut **drain, tell, &outlet)?));
            let mut threads = vec![
                self.start("drainer", &plan.cpus, drainer),
                self.start("feeder", &plan.cpus, move || instances::feed(input, bench, &mut **feed)),
            ];
            threads.extend(inlets.into_iter().map(|inlet| {
                let behind = Behind { input, output: self.output, blame };
                self.start("finisher", &plan.cpus, move || instances::finish(&behind, &inlet))
            }));
            Team(threads)
        };
        (instances.iter_mut().zip(benches).enumerate().map(start).collect(), headers)
    }

    /// Opens the output with the first header that comes, compares the others with it, and starts the writers.
    fn open_late(
        self,
        headers: &Receiver<(usize, Vec<u8>)>,
        late: &'s dyn LateSink,
        open: impl Fn(&'s dyn Sink) -> Output<'s>,
        cpus: &'scope [CpuId],
    ) -> Vec<Thread<'scope, (u64, Duration)>> {
        let mut writers = Vec::new();
        for (instance, header) in headers {
            let outcome = if self.output.get().is_some() {
                late.check(instance, &header)
            } else {
                late.open(&header).map(|sink| {
                    let _ = self.output.set(open(sink));
                    fence(Ordering::SeqCst);
                    if let (true, Some(output)) = (self.failure.stopped(), self.output.get()) {
                        output.close();
                    }
                    writers = self.start_writers(cpus);
                })
            };
            if let Err(error) = outcome {
                self.fail(error);
            }
        }
        writers
    }
}

fn join<T>(thread: Thread<'_, T>) -> Option<T> {
    thread.and_then(|thread| thread.join().ok().flatten())
}

/// A worker's thread, or the threads of one instance.
struct Team<'scope>(Vec<Thread<'scope, Part>>);

impl Team<'_> {
    /// Waits for its threads and puts together what they say.
    fn join(self) -> Option<Part> {
        let parts: Vec<Part> = self.0.into_iter().filter_map(join).collect();
        parts.into_iter().reduce(Part::and)
    }
}

/// The emitter's thread: the lanes that need one, one after the other.
fn deal_all(mut desk: Desk, emitters: &mut [(usize, &mut dyn Emit)], input: &Input<'_>) -> Result<(), Error> {
    for (lane, emitter) in emitters {
        let dealt = |share| input.progress.set_dealt(*lane, input.lanes.len(), share);
        desk.deal(*emitter, input.failure, dealt)?;
    }
    Ok(())
}

fn sum_up(parts: Vec<Part>, serial: Serial, refused: Vec<String>, wall: Duration) -> RunReport {
    let mut report = RunReport { serial, refused, wall, ..RunReport::default() };
    for Part { worker, tally, bytes, instance } in parts {
        report.tally += &tally;
        report.bytes_out.0 += bytes;
        report.workers.push(worker);
        report.instances.extend(instance);
    }
    report
}
