//! A whole run: threads are started, pinned and joined; nothing is left behind.

use crate::cohorts::{self, Cohorts};
use crate::failure::Failure;
use crate::farm::{CHUNKS_PER_WORKER, EmitterEnd, emitted, farm};
use crate::grains::Grains;
use crate::instances::{Dealing, Handover, LateSink};
use crate::intake::{Input, LaneView};
use crate::output::{Order, Output, QUEUED_PER_WORKER};
use crate::progress::Progress;
use crate::replica_map::ReplicaMap;
use crate::report_share::ReportShare;
use crate::threads::{Crew, InstancesContext, Team, join};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::instance::Instance;
use zerohop_model::mapper::{AnyStatistics, AnySummary};
use zerohop_model::measurement::{RunReport, Serial};
use zerohop_model::plan::Plan;
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

/// Who maps the reads.
pub enum Mapping<'a> {
    /// Workers with an embedded engine, in this process.
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
        /// One instance or more.
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

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Times and counts.
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
    let open = |sink, committers, held, queued| {
        let output = match grains {
            Some(grains) => Output::granted(sink, grains, committers, held),
            None => Output::new(sink, order, committers, held, queued),
        };
        output.with_beside()
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
                let place = InstancesContext { input: &input, ended: &ended, tell, started };
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
        let parts: Vec<ReportShare> = teams.into_iter().chain(fresh).flat_map(Team::join).collect();
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
fn cohorts_of(mapping: &Mapping<'_>, plan: &Plan) -> Cohorts<AnySummary, AnyStatistics> {
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
    let positioned = output.map(Output::positioned_lengths).unwrap_or_default();
    let lengths = written.into_iter().flatten().map(|(length, _)| length).chain(positioned).collect();
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

fn sum_up(parts: Vec<ReportShare>, serial: Serial, refused: Vec<String>, wall: Duration) -> RunReport {
    let mut report = RunReport { serial, refused, wall, ..RunReport::default() };
    for ReportShare { worker, tally, bytes, instance } in parts {
        report.tally += &tally;
        report.bytes_out.0 += bytes;
        report.workers.push(worker);
        report.instances.extend(instance);
    }
    report
}
