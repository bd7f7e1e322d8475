//! The threads of a run: how they are started, pinned, stopped when one fails, and joined.

use crate::cohorts::Cohorts;
use crate::failure::Failure;
use crate::farm::WorkerEnd;
use crate::instances::{self, Behind, LateSink};
use crate::intake::Input;
use crate::output::Output;
use crate::replica_map::ReplicaMap;
use crate::report_share::ReportShare;
use crate::worker::Worker;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::instance::Instance;
use zerohop_model::machine::{CpuId, NodeId};
use zerohop_model::mapper::{AnyStatistics, AnySummary};
use zerohop_model::measurement::WorkerReport;
use zerohop_model::plan::{Plan, WorkerPlan};
use zerohop_model::sink::Sink;
use zerohop_model::spare;

/// How often to check whether instances that may come later are still needed.
const HANDOVER_POLL: Duration = Duration::from_millis(20);

/// What the threads around all instances share.
#[derive(Clone)]
pub(crate) struct InstancesContext<'scope> {
    pub(crate) input: &'scope Input<'scope>,
    /// Set when the input has ended.
    pub(crate) ended: &'scope AtomicBool,
    /// Is told the headers.
    pub(crate) tell: Sender<(usize, Vec<u8>)>,
    /// When the run began: time lines begin there.
    pub(crate) started: Instant,
}

/// What the threads of a run have in common: where they live, and what happens when one fails.
#[derive(Clone, Copy)]
pub(crate) struct Crew<'scope, 'env, 's> {
    pub(crate) scope: &'scope Scope<'scope, 'env>,
    pub(crate) failure: &'scope Failure,
    pub(crate) output: &'scope OnceLock<Output<'s>>,
    pub(crate) cohorts: &'scope Cohorts<AnySummary, AnyStatistics>,
}

/// A thread, unless it could not be started; what it gives, unless it failed.
pub(crate) type CrewThread<'scope, T> = Option<ScopedJoinHandle<'scope, Option<T>>>;

impl<'scope, 's> Crew<'scope, '_, 's> {
    /// Starts a thread on `cpus` (on any, if none are named). Whatever makes it fail, a panic too, stops the run.
    pub(crate) fn start<T: Send + 'scope>(
        self,
        name: &str,
        cpus: &[CpuId],
        body: impl FnOnce() -> Result<T, Error> + Send + 'scope,
    ) -> CrewThread<'scope, T> {
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
    pub(crate) fn stop_at(self, until: Instant) -> Sender<()> {
        let (ended, over) = channel();
        let left = until.saturating_duration_since(Instant::now());
        self.start("limit", &[], move || match over.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => Err(Error::Stopped),
            _ => Ok(()),
        });
        ended
    }

    /// The threads that write those files which only one thread can write.
    pub(crate) fn start_writers(self, cpus: &[CpuId]) -> Vec<CrewThread<'scope, (u64, Duration)>> {
        let Some(output) = self.output.get() else { return Vec::new() };
        let start = |file| self.start("writer", cpus, move || output.write_sequentially(file));
        output.sequential_files().into_iter().map(start).collect()
    }

    pub(crate) fn start_workers(
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
            Team(vec![self.start("worker", &plan.cpus, on(plan.node, work))])
        };
        plan.workers.iter().zip(ends).enumerate().map(start).collect()
    }

    /// The threads around an instance.
    pub(crate) fn start_instance(
        self,
        place: &InstancesContext<'scope>,
        number: usize,
        instance: Instance,
        end: WorkerEnd,
    ) -> Team<'scope> {
        let Instance { plan, mut feed, mut drain, blame, leave } = instance;
        let InstancesContext { input, ended, tell, started } = place.clone();
        let (outlet, inlets) = instances::outlet(instances::finishers(plan.threads));
        let behind = || Behind { input, output: self.output, blame: Arc::clone(&blame), started };
        let report = WorkerReport { cpus: plan.cpus.clone(), replica: plan.replica, ..WorkerReport::default() };
        let first = ReportShare { worker: report, ..ReportShare::default() };
        let (behind_drainer, leaving) = (behind(), Arc::clone(&leave));
        let drainer = move || {
            let drained = instances::drain(&behind_drainer, number, &mut *drain, tell, &outlet);
            leaving.go();
            Ok(first.and(drained?))
        };
        let feeder = move || instances::feed(input, end, &mut *feed, &leave, ended, started);
        let (cpus, node) = (&plan.cpus, plan.placement.nodes.first().copied());
        let (drainer, feeder) = (on(node, drainer), on(node, feeder));
        let mut threads = vec![self.start("drainer", cpus, drainer), self.start("feeder", cpus, feeder)];
        threads.extend(inlets.into_iter().map(|inlet| {
            let behind = behind();
            self.start("finisher", cpus, on(node, move || instances::finish(&behind, &inlet)))
        }));
        Team(threads)
    }

    /// Starts the threads around instances that come later, until the input ends or the run fails.
    pub(crate) fn hand_over(
        self,
        place: &InstancesContext<'scope>,
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
    pub(crate) fn open_late(
        self,
        headers: &Receiver<(usize, Vec<u8>)>,
        late: &'s dyn LateSink,
        open: impl Fn(&'s dyn Sink) -> Output<'s>,
        cpus: &[CpuId],
    ) -> Vec<CrewThread<'scope, (u64, Duration)>> {
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

/// Waits for a thread.
pub(crate) fn join<T>(thread: CrewThread<'_, T>) -> Option<T> {
    thread.and_then(|thread| thread.join().ok().flatten())
}

/// A worker's thread, or the threads of one instance.
pub(crate) struct Team<'scope>(Vec<CrewThread<'scope, ReportShare>>);

impl Team<'_> {
    /// Waits for its threads and puts together what they say.
    pub(crate) fn join(self) -> Option<ReportShare> {
        let parts: Vec<ReportShare> = self.0.into_iter().filter_map(join).collect();
        parts.into_iter().reduce(ReportShare::and)
    }
}

/// The same work, on a thread that knows its node.
fn on<T>(node: Option<NodeId>, work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    move || {
        node.into_iter().for_each(spare::set_node);
        work()
    }
}
