//! A whole run: threads are started, pinned and joined; nothing is left behind.

use crate::cohorts::{self, Cohorts};
use crate::failure::Failure;
use crate::farm::{CHUNKS_PER_WORKER, EmitterEnd, WorkerEnd, emitted, farm};
use crate::grains::Grains;
use crate::instances::{self, Behind, Dealing, Handover, LateSink};
use crate::intake::{Input, LaneView};
use crate::output::{Order, Output, QUEUED_PER_WORKER};
use crate::part::Part;
use crate::progress::Progress;
use crate::replica_map::ReplicaMap;
use crate::worker::Worker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::instance::Instance;
use zerohop_model::machine::CpuId;
use zerohop_model::mapper::{Statistics, Summary};
use zerohop_model::measurement::{RunReport, Serial, WorkerReport};
use zerohop_model::plan::{Plan, WorkerPlan};
use zerohop_model::sink::Sink;
use zerohop_model::source::{Deal, Emit, Lane};

/// How often it is looked whether instances that may come later are still needed.
const HANDOVER_POLL: Duration = Duration::from_millis(20);

/// What a run is made of.
pub struct Job<'a> {
    /// The inputs, in order.
    pub lanes: Vec<Lane>,
    /// Who maps, and where the records go.
    pub mapping: Mapping<'a>,
    /// The order of chunks in the output.
    pub order: Order,
    /// Our part of the input, if other processes align the rest into the same file; then the order is that of the
    /// input.
    pub grains: Option<&'a Grains>,
    /// Workers, their CPUs and replicas.
    pub plan: &'a Plan,
    /// To be watched from another thread.
    pub progress: &'a Progress,
    /// When it is stopped if it has not ended: then it fails with [`Error::Stopped`].
    pub until: Option<Instant>,
}

/// Who maps.
pub enum Mapping<'a> {
    /// Workers of ours, with an engine in our own process.
    Embedded {
        /// The engine copy of each worker of the plan.
        replicas: &'a ReplicaMap,
        /// The output.
        sink: &'a dyn Sink,
        /// Finished chunks that each worker may hold while earlier ones are not finished,
        /// [`HELD_PER_WORKER`](crate::HELD_PER_WORKER) as a rule.
        held: usize,
    },
    /// Programs of their own, which run already.
    Instances {
        /// One or more.
        instances: Vec<Instance>,
        /// The output, which opens when its header is known.
        sink: &'a dyn LateSink,
        /// How chunks reach them.
        dealing: Dealing,
        /// Finished chunks that each may hold while the others are behind, if reads are dealt on demand.
        held: usize,
        /// Others that may come later; none come if an emitter deals a lane, or all of them in turn.
        handover: Option<Handover>,
    },
}

/// Finished chunks that an instance may hold if reads are dealt in turn.
const HELD_IN_TURN: usize = 1 << 24;

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
/// The failure that comes first in the order of the input. All threads are joined by then, but for those that read a
/// pipe and may be blocked in it; they end with the program.
pub fn run(job: Job<'_>) -> Result<Outcome, Error> {
    let started = Instant::now();
    let Job { mut lanes, mut mapping, order, grains, plan, progress, until } = job;
    let (failure, output, ended) = (Failure::default(), OnceLock::new(), AtomicBool::new(false));
    let is_static = matches!(mapping, Mapping::Instances { dealing: Dealing::Static, .. });
    if is_static {
        lanes = lanes.into_iter().map(|lane| Lane { deal: emitted(lane.deal), ..lane }).collect();
    }
    // What an emitter has dealt to an instance cannot be taken back from it.
    if let Mapping::Instances { handover, .. } = &mut mapping
        && lanes.iter().any(|lane| matches!(lane.deal, Deal::Emit(_)))
    {
        *handover = None;
    }
    let (mut emitter_end, ends) = farm(takers(&mapping, plan), lanes.len(), CHUNKS_PER_WORKER);
    if is_static {
        emitter_end.strictly_in_turn();
    }
    let (views, mut emitters) = views(&mut lanes);
    let input = Input { lanes: views, failure: &failure, progress };
    let cohorts = cohorts_of(&mapping, plan);
    let open = |sink, committers, held, queued| match grains {
        Some(grains) => Output::granted(sink, grains, committers, held),
        None => Output::new(sink, order, committers, held, queued),
    };
    if let Mapping::Embedded { sink, held, .. } = mapping {
        let _ = output.set(open(sink, plan.workers.len(), held, QUEUED_PER_WORKER));
    }

    let (parts, written) = std::thread::scope(|scope| {
        let crew = Crew { scope, failure: &failure, output: &output, cohorts: &cohorts };
        let helpers = &plan.helper_cpus;
        let limit = until.map(|until| crew.stop_at(until));
        let emitter = (!emitters.is_empty()).then(|| {
            let (emitters, input) = (&mut emitters, &input);
            crew.start("emitter", helpers, move || deal_all(emitter_end, emitters, input))
        });
        let (teams, handover, writers) = match mapping {
            Mapping::Embedded { replicas, sink, .. } => {
                let writers = crew.start_writers(helpers);
                (crew.start_workers(&input, ends, replicas, sink, plan), None, writers)
            }
            Mapping::Instances { instances, sink, dealing, held, handover } => {
                // In turn, chunks are held for as long as the program whose turn it is takes in more: if they were
                // not, it would get no more and put nothing out. No more is dealt than that program takes, which
                // bounds them.
                let held = if dealing == Dealing::Static { HELD_IN_TURN } else { held };
                let (tell, headers) = channel();
                let (committers, mut ends) = (ends.len(), ends.into_iter());
                let place = Place { input: &input, ended: &ended, tell, started };
                let start = |(i, (instance, end))| crew.start_instance(&place, i, instance, end);
                let teams: Vec<Team<'_>> = instances.into_iter().zip(&mut ends).enumerate().map(start).collect();
                let first = teams.len();
                let handover = handover.map(|Handover { fresh, .. }| {
                    let place = place.clone();
                    crew.start("handover", helpers, move || Ok(crew.hand_over(&place, &fresh, ends, first)))
                });
                drop(place);
                let open = |sink| open(sink, committers, held, held);
                (teams, handover, crew.open_late(&headers, sink, open, helpers))
            }
        };
        let fresh = handover.and_then(join).into_iter().flatten();
        let parts: Vec<Part> = teams.into_iter().chain(fresh).flat_map(Team::join).collect();
        if let Some(emitter) = emitter {
            join(emitter);
        }
        if let Some(output) = output.get() {
            output.end();
        }
        let written: Vec<Option<(u64, Duration)>> = writers.into_iter().map(join).collect();
        drop(limit);
        (parts, written)
    });
    let emitting: Duration = emitters.iter().map(|(_, emitter)| emitter.serial_time()).sum();
    drop(input);
    let refused = failure.take_refused();
    failure.into_result()?;
    match (grains, output.get()) {
        (Some(grains), Some(output)) => output.write_owed_header(grains)?,
        (Some(grains), None) => grains.no_header(),
        (None, _) => {}
    }

    let (ordering, lengths) = ordered(output.get(), written);
    let serial = Serial { cut: claiming(&lanes) + emitting, order: ordering };
    Ok(Outcome { report: sum_up(parts, serial, refused, started.elapsed()), lengths })
}

/// What workers of an engine in two phases share; instances of a program need none of it.
fn cohorts_of(mapping: &Mapping<'_>, plan: &Plan) -> Cohorts<Summary, Statistics> {
    match mapping {
        Mapping::Embedded { replicas, .. } => {
            let most_text = replicas.cut().map_or(0, |cut| cohorts::most_text(cut, plan.workers.len()));
            Cohorts::new(plan.workers.len(), most_text)
        }
        Mapping::Instances { .. } => Cohorts::new(0, 0),
    }
}

/// Serial time of putting chunks in order, and the lengths of the files. `written` is what writer threads wrote.
fn ordered(output: Option<&Output<'_>>, written: Vec<Option<(u64, Duration)>>) -> (Duration, Vec<u64>) {
    let writing: Duration = written.iter().flatten().map(|(_, writing)| *writing).sum();
    let at_gates = output.map_or(Duration::ZERO, Output::gate_time);
    let lengths = match written.is_empty() {
        true => output.map(Output::positioned_lengths).unwrap_or_default(),
        false => written.into_iter().flatten().map(|(length, _)| length).collect(),
    };
    (writing + at_gates, lengths)
}

/// Serial time of those lanes that workers deal.
fn claiming(lanes: &[Lane]) -> Duration {
    let time = |lane: &Lane| match &lane.deal {
        Deal::Claim(claim) => Some(claim.serial_time()),
        Deal::Emit(_) => None,
    };
    lanes.iter().filter_map(time).sum()
}

/// Threads that take chunks.
fn takers(mapping: &Mapping<'_>, plan: &Plan) -> usize {
    match mapping {
        Mapping::Embedded { .. } => plan.workers.len(),
        Mapping::Instances { instances, handover, .. } => {
            instances.len() + handover.as_ref().map_or(0, |handover| handover.most)
        }
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

/// What the threads around all instances share.
#[derive(Clone)]
struct Place<'scope> {
    input: &'scope Input<'scope>,
    /// Set when the input has ended.
    ended: &'scope AtomicBool,
    /// Is told the headers.
    tell: Sender<(usize, Vec<u8>)>,
    /// When the run began: time lines begin there.
    started: Instant,
}

/// What the threads of a run have in common: where they live, and what happens when one fails.
#[derive(Clone, Copy)]
struct Crew<'scope, 'env, 's> {
    scope: &'scope Scope<'scope, 'env>,
    failure: &'scope Failure,
    output: &'scope OnceLock<Output<'s>>,
    cohorts: &'scope Cohorts<Summary, Statistics>,
}

type Thread<'scope, T> = Option<ScopedJoinHandle<'scope, Option<T>>>;

impl<'scope, 's> Crew<'scope, '_, 's> {
    /// Starts a thread on `cpus` (on any, if none are named). Whatever makes it fail, a panic too, stops the run.
    fn start<T: Send + 'scope>(
        self,
        name: &str,
        cpus: &[CpuId],
        body: impl FnOnce() -> Result<T, Error> + Send + 'scope,
    ) -> Thread<'scope, T> {
        let Crew { scope, failure, .. } = self;
        let cpus = cpus.to_vec();
        let thread = Builder::new().name(name.to_owned()).spawn_scoped(scope, move || {
            if !cpus.is_empty()
                && let Err(error) = zerohop_topology::pin_current_thread(&cpus)
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
        self.cohorts.close();
        // With the fence in `open_late`: either that sees the failure, or this sees the output.
        fence(Ordering::SeqCst);
        if let Some(output) = self.output.get() {
            output.close();
        }
    }

    /// Starts the thread that stops the run at `until`, unless what this gives is dropped before.
    fn stop_at(self, until: Instant) -> Sender<()> {
        let (ended, over) = channel();
        let left = until.saturating_duration_since(Instant::now());
        self.start("limit", &[], move || match over.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => Err(Error::Stopped),
            _ => Ok(()),
        });
        ended
    }

    /// The threads that write those files which only one thread can write.
    fn start_writers(self, cpus: &[CpuId]) -> Vec<Thread<'scope, (u64, Duration)>> {
        let Some(output) = self.output.get() else { return Vec::new() };
        let start = |file| self.start("writer", cpus, move || output.write_sequentially(file));
        output.sequential_files().into_iter().map(start).collect()
    }

    fn start_workers(
        self,
        input: &'scope Input<'scope>,
        ends: Vec<WorkerEnd>,
        replicas: &'scope ReplicaMap,
        sink: &'scope dyn Sink,
        plan: &'scope Plan,
    ) -> Vec<Team<'scope>> {
        let Some(output) = self.output.get() else { return Vec::new() };
        let start = |(number, (plan, end)): (usize, (&'scope WorkerPlan, WorkerEnd))| {
            let work = move || Worker::new(input, output, self.cohorts, end, sink, (number, plan)).run(replicas);
            Team(vec![self.start("worker", &plan.cpus, work)])
        };
        plan.workers.iter().zip(ends).enumerate().map(start).collect()
    }

    /// The threads around an instance.
    fn start_instance(self, place: &Place<'scope>, number: usize, instance: Instance, end: WorkerEnd) -> Team<'scope> {
        let Instance { plan, mut feed, mut drain, blame, leave } = instance;
        let Place { input, ended, tell, started } = place.clone();
        let (outlet, inlets) = instances::outlet(instances::finishers(plan.threads));
        let behind = || Behind { input, output: self.output, blame: Arc::clone(&blame), started };
        let report = WorkerReport { cpus: plan.cpus.clone(), replica: plan.replica, ..WorkerReport::default() };
        let first = Part { worker: report, ..Part::default() };
        let (behind_drainer, leaving) = (behind(), Arc::clone(&leave));
        let drainer = move || {
            let drained = instances::drain(&behind_drainer, number, &mut *drain, tell, &outlet);
            leaving.go();
            Ok(first.and(drained?))
        };
        let feeder = move || instances::feed(input, end, &mut *feed, &leave, ended, started);
        let mut threads = vec![self.start("drainer", &plan.cpus, drainer), self.start("feeder", &plan.cpus, feeder)];
        threads.extend(inlets.into_iter().map(|inlet| {
            let behind = behind();
            self.start("finisher", &plan.cpus, move || instances::finish(&behind, &inlet))
        }));
        Team(threads)
    }

    /// Starts the threads around instances that come later, until the input ends or the run fails.
    fn hand_over(
        self,
        place: &Place<'scope>,
        fresh: &Receiver<Instance>,
        ends: impl Iterator<Item = WorkerEnd>,
        first: usize,
    ) -> Vec<Team<'scope>> {
        let mut teams = Vec::new();
        for end in ends {
            let instance = loop {
                match fresh.recv_timeout(HANDOVER_POLL) {
                    Ok(instance) => break instance,
                    Err(RecvTimeoutError::Disconnected) => return teams,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if self.failure.stopped() || place.ended.load(Ordering::Acquire) {
                    return teams;
                }
            };
            teams.push(self.start_instance(place, first + teams.len(), instance, end));
        }
        teams
    }

    /// Opens the output with the first header that comes, compares the others with it, and starts the writers.
    fn open_late(
        self,
        headers: &Receiver<(usize, Vec<u8>)>,
        late: &'s dyn LateSink,
        open: impl Fn(&'s dyn Sink) -> Output<'s>,
        cpus: &[CpuId],
    ) -> Vec<Thread<'scope, (u64, Duration)>> {
        let mut writers = Vec::new();
        for (instance, header) in headers {
            let outcome = if self.output.get().is_some() {
                late.check(instance, &header)
            } else if self.failure.stopped() {
                // A program may say its header only because its input has ended with the failure: nothing is to be
                // opened for it.
                continue;
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
fn deal_all(
    mut emitter_end: EmitterEnd,
    emitters: &mut [(usize, &mut dyn Emit)],
    input: &Input<'_>,
) -> Result<(), Error> {
    for (lane, emitter) in emitters {
        let dealt = |share| input.progress.set_dealt(*lane, input.lanes.len(), share);
        emitter_end.deal(*emitter, input.failure, dealt)?;
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
