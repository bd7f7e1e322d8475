//! `zerohop align` with an engine in our own process: index copies where the plan wants them, and workers of ours.

use crate::account::{self, Account};
use crate::args::{AlignArgs, NULL, PlanFrom};
use crate::auto::{self, Alternatives, Watched};
use crate::failure::Failure;
use crate::joint::{self, Begun, Joint};
use crate::lanes::Groups;
use crate::replicas::{Copies, IndexSource, Move, Replicas};
use crate::seat::Seat;
use crate::subject::{AlignedWith, Profile, Subject};
use crate::{outputs, planning};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use zerohop_distribute::Transport;
use zerohop_engine_null::Null;
use zerohop_model::engine::{Engine, Law};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::Plan;
use zerohop_reads::{LaneSpec, OpenLane};
use zerohop_runtime::{HELD_PER_WORKER, Job, Mapping, Outcome, Progress};
use zerohop_sinks::{Header, Program, ReadGroup};

/// Further index copies are made only if what is left of the run takes so many times as long as making the first one took.
const WORTH: f64 = 4.0;
/// How the null engine wants its input cut: as strobealign.
const NULL_LAW: Law = Law::Chunk { past_bases: 1_000_000 };

/// Aligns.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left.
pub fn run(
    args: &AlignArgs,
    specs: Vec<LaneSpec>,
    (groups, lane_groups): Groups,
    transport: Option<&dyn Transport>,
    seat: &Seat,
) -> Result<(), Failure> {
    let started = Instant::now();
    zerohop_memory::set_default_huge_pages(args.huge_pages.into());

    let mut open: Vec<OpenLane> =
        specs.iter().map(|lane| Ok(OpenLane::open(lane)?.first(args.first))).collect::<Result<_, Failure>>()?;
    let mean_read_length = match args.read_length {
        Some(length) => length,
        None => zerohop_reads::mean_read_length(&mut open)?,
    };
    let mut notes: Vec<String> = open.iter().flat_map(|lane| lane.notes.clone()).chain(seat.note.clone()).collect();
    let machine = seat.machine()?;
    let (plan, alternatives, mut replicas, with) =
        make_index(args, (&machine, seat), open[0].is_paired(), mean_read_length, &mut notes)?;
    let engine = Arc::clone(&replicas.engines[0]);
    let (name, version) = engine.program();
    let program = (name.to_owned(), version.to_owned());

    let workers = plan.workers.len();
    let begun = Joint::begin(transport, args, &open, engine.law(), (workers, workers), &with)?;
    let Begun::ToDo(mut joint) = begun else { return Ok(()) };
    let (law, most) = (engine.law(), engine.max_read_bases());
    let dealt = joint::deal_lanes(joint.as_deref(), open, law, most, workers)?;
    let header = header(&*engine, groups.clone());
    let header_digest = outputs::header_digest(&header);
    let sink = outputs::open(args, header, lane_groups.clone(), joint.as_deref().map(Joint::partials))?;
    let (order, progress) = (outputs::order(args), Progress::default());
    // From here on a copy lives as long as somebody reads it.
    let (shelf, over) = (replicas.shelf(&plan), AtomicBool::new(false));
    replicas.engines.clear();
    let (grains, held) = (joint.as_deref().map(Joint::grains), joint.as_deref().map_or(HELD_PER_WORKER, Joint::held));
    let mapping = Mapping::Embedded { shelf: &shelf, sink: &sink, held };
    let job = Job { lanes: dealt, mapping, order, grains: grains.as_deref(), plan: &plan, progress: &progress };
    let run = || joint::run(joint.as_deref_mut(), !args.quiet, &progress, || zerohop_runtime::run(job));
    let (outcome, tried) = match &alternatives {
        Some(alternatives) => {
            let (making, worth, least_reads) = (Some(replicas.report.time), WORTH, 0);
            let watched = Watched { alternatives, progress: &progress, over: &over, making, worth, least_reads };
            let plans = &alternatives.plans;
            let switch = Move { shelf: &shelf, plans, followed: 0, first: engine, copies: None };
            let (outcome, tried) = auto::beside(&watched, switch, run);
            (outcome, tried.map(|(tried, moved)| (tried, moved.copies)))
        }
        None => (run(), None),
    };
    let (Outcome { mut report, lengths }, dealt) = outcome?;
    account::check(&report)?;
    let ranks = match joint.zip(dealt) {
        None => {
            report.bytes_out = Bytes(sink.finish(&lengths)?);
            Vec::new()
        }
        Some((joint, dealt)) => {
            notes.extend(joint.note());
            let Some(ranks) = joint.finish(args, Some(sink), Some(header_digest), &dealt, &mut report)? else {
                return Ok(());
            };
            ranks
        }
    };
    let (plan, replicas) = match tried {
        Some((tried, copies)) => followed(plan, alternatives, tried, copies, replicas),
        None => (plan, replicas),
    };
    notes.extend(zerohop_memory::unplaced_refused());
    let account = Account {
        started,
        engine: program,
        replicas: replicas.census(&plan),
        index: replicas.report.clone(),
        machine,
        plan,
        run: report,
        comparison: None,
        ranks,
        notes,
    };
    account.tell(args, &specs, &(groups, lane_groups))
}

/// The plan that was followed to the end, and its copies: `copies` are those that came while the run went on, and stayed.
fn followed(
    first: Plan,
    alternatives: Option<Alternatives>,
    tried: auto::Outcome,
    copies: Option<Copies>,
    replicas: Replicas,
) -> (Plan, Replicas) {
    let (mut plan, replicas) = match (alternatives, copies) {
        (Some(mut alternatives), Some(copies)) => (alternatives.plans.swap_remove(tried.kept), replicas.with(copies)),
        _ => (first, replicas),
    };
    plan.reasons.insert(0, tried.said);
    (plan, replicas)
}

/// The plan to begin with, what else may be tried, the index copies, and what the records depend on. What the user
/// should know of the copies goes to `notes`.
fn make_index(
    args: &AlignArgs,
    (machine, seat): (&Machine, &Seat),
    paired: bool,
    mean_read_length: usize,
    notes: &mut Vec<String>,
) -> Result<(Plan, Option<Alternatives>, Replicas, AlignedWith), Failure> {
    if args.engine == NULL {
        let (plan, alternatives) = begin(args, machine, None)?;
        let contigs = zerohop_reads::reference::read(&args.reference, |_| {})?;
        let replicas = Replicas::of(Box::new(Null::new(NULL_LAW, contigs)), &plan, mean_read_length)?;
        let files = vec![args.reference.clone()];
        let with = AlignedWith { engine: NULL.to_owned(), reads: mean_read_length.to_string(), files };
        return Ok((plan, alternatives, replicas, with));
    }
    let source = IndexSource::find(&args.reference, mean_read_length, args.no_index)?;
    outputs::apart_from(args, [&source.file().to_owned()])?;
    let subject = Subject::embedded(&source, Profile::new(paired, mean_read_length, None));
    let (plan, alternatives) = begin(args, machine, Some(&subject))?;
    notes.extend(seat.weigh(machine, plan.replicas.len(), subject.index)?);
    notes.extend(source.note());
    source.check_memory(plan.replicas.len())?;
    let replicas = Replicas::make(&source, &plan)?;
    Ok((plan, alternatives, replicas, subject.aligned_with()))
}

/// The plan to begin with, and what else may be tried.
fn begin(
    args: &AlignArgs,
    machine: &Machine,
    subject: Option<&Subject>,
) -> Result<(Plan, Option<Alternatives>), Failure> {
    let index_bytes = subject.map_or(0, |subject| subject.index.0);
    if args.plan == Some(PlanFrom::Auto)
        && let Some(alternatives) = Alternatives::of(args, machine, zerohop_plan::Engine::Embedded, index_bytes)?
    {
        return Ok((alternatives.plans[0].clone(), Some(alternatives)));
    }
    let mut plan = planning::planned(args, machine, subject)?.plan;
    if args.plan == Some(PlanFrom::Auto) {
        plan.reasons.insert(0, "Nothing was tried, for the rule is sure.".to_owned());
    }
    Ok((plan, None))
}

fn header(engine: &dyn Engine, read_groups: Vec<ReadGroup>) -> Header {
    let (name, version) = engine.program();
    let programs =
        vec![Program { name: name.to_owned(), version: version.to_owned(), command_line: None }, account::zerohop()];
    Header { contigs: engine.contigs().to_vec(), read_groups, programs, ..Header::default() }
}
