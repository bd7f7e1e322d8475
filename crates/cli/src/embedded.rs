//! `zerohop align` with an engine in our own process: index copies where the plan wants them, and workers of ours.

use crate::account::{self, Account};
use crate::args::{AlignArgs, NULL};
use crate::failure::Failure;
use crate::lanes::Groups;
use crate::replicas::{IndexSource, Replicas};
use crate::{outputs, progress};
use std::time::Instant;
use zerohop_engine_null::Null;
use zerohop_engine_strobealign::MAX_READ_BASES;
use zerohop_model::engine::{Engine, Law};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::Plan;
use zerohop_reads::{LaneSpec, OpenLane};
use zerohop_runtime::{Job, Mapping, Outcome, Progress};
use zerohop_sinks::{FileSink, Header, Program, ReadGroup};

/// How the null engine wants its input cut: as strobealign.
const NULL_LAW: Law = Law::Chunk { past_bases: 1_000_000 };

/// Aligns.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left.
pub fn run(args: &AlignArgs, specs: Vec<LaneSpec>, (groups, lane_groups): Groups) -> Result<(), Failure> {
    let started = Instant::now();
    zerohop_memory::set_default_huge_pages(args.huge_pages.into());

    let mut open: Vec<OpenLane> = specs.iter().map(OpenLane::open).collect::<Result<_, _>>()?;
    let mean_read_length = match args.read_length {
        Some(length) => length,
        None => open[0].mean_read_length(MAX_READ_BASES)?,
    };
    let mut notes: Vec<String> = open.iter().flat_map(|lane| lane.notes.clone()).collect();
    let machine = zerohop_topology::detect()?;
    let (plan, replicas) = make_index(args, &machine, mean_read_length)?;
    let engine = &*replicas.engines[0];

    let workers = plan.workers.len();
    let deal = |(i, lane): (usize, OpenLane)| lane.deal(i as u32, engine.law(), engine.max_read_bases(), workers);
    let dealt = open.into_iter().enumerate().map(deal).collect::<Result<Vec<_>, _>>()?;
    let header = header(engine, groups.clone());
    let sink = FileSink::create(outputs::spec(args, header, lane_groups.clone()))?;
    let (order, watched) = (outputs::order(args), Progress::default());
    let mapping = Mapping::Embedded { engines: &replicas.engines, sink: &sink };
    let job = Job { lanes: dealt, mapping, order, plan: &plan, progress: &watched };
    let Outcome { mut report, lengths } = progress::shown(!args.quiet, &watched, || zerohop_runtime::run(job))?;
    account::check(&report)?;
    report.bytes_out = Bytes(sink.finish(&lengths)?);

    notes.extend(zerohop_memory::unplaced_refused());
    let (name, version) = engine.program();
    let account = Account {
        started,
        engine: (name.to_owned(), version.to_owned()),
        replicas: replicas.census(&plan),
        index: replicas.report.clone(),
        machine,
        plan,
        run: report,
        comparison: None,
        notes,
    };
    account.tell(args, &specs, &(groups, lane_groups))
}

fn make_index(args: &AlignArgs, machine: &Machine, mean_read_length: usize) -> Result<(Plan, Replicas), Failure> {
    if args.engine == NULL {
        let plan = zerohop_plan::plan(machine, &args.request(0))?;
        let contigs = zerohop_reads::reference::read(&args.reference, |_| {})?;
        let replicas = Replicas::of(Box::new(Null::new(NULL_LAW, contigs)), &plan, mean_read_length)?;
        return Ok((plan, replicas));
    }
    let source = IndexSource::find(&args.reference, mean_read_length, args.no_index)?;
    let plan = zerohop_plan::plan(machine, &args.request(source.bytes))?;
    let replicas = Replicas::make(&source, &plan)?;
    Ok((plan, replicas))
}

fn header(engine: &dyn Engine, read_groups: Vec<ReadGroup>) -> Header {
    let (name, version) = engine.program();
    let programs =
        vec![Program { name: name.to_owned(), version: version.to_owned(), command_line: None }, account::zerohop()];
    Header { contigs: engine.contigs().to_vec(), read_groups, programs, ..Header::default() }
}
