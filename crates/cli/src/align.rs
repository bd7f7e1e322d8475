//! `zerohop align`: from what was typed to a run, and from the run to what is said of it.

use crate::args::{AlignArgs, FormatName, NULL, OrderName, STROBEALIGN};
use crate::failure::Failure;
use crate::replicas::{IndexSource, Replicas};
use crate::{external, lanes, progress, resources};
use std::path::{Path, PathBuf};
use std::time::Instant;
use zerohop_engine_null::Null;
use zerohop_engine_strobealign::MAX_READ_BASES;
use zerohop_model::engine::{Engine, Law};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::measurement::RunReport;
use zerohop_model::plan::Plan;
use zerohop_plan::Request;
use zerohop_reads::{LaneSpec, OpenLane};
use zerohop_report::{SCHEMA_VERSION, Summary};
use zerohop_runtime::{Job, Mapping, Order, Outcome, Progress};
use zerohop_sinks::{FileSink, Format, Header, OutputSpec, Program, ReadGroup, shard_path};

/// How the null engine wants its input cut: as strobealign.
const NULL_LAW: Law = Law::Chunk { past_bases: 1_000_000 };

/// Runs the command; `typed` are the lanes given by `--reads`.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left.
pub fn run(args: &AlignArgs, typed: Vec<Vec<PathBuf>>) -> Result<(), Failure> {
    let specs = lanes::specs(args, typed)?;
    let groups = lanes::read_groups(args, specs.len())?;
    check_outputs(args, &specs)?;
    match &*args.engine {
        STROBEALIGN | NULL => embedded(args, specs, groups),
        _ => external::run(args, specs, groups),
    }
}

/// The read groups, and each lane's position among them.
pub type Groups = (Vec<ReadGroup>, Vec<Option<usize>>);

/// With an engine in our own process.
fn embedded(args: &AlignArgs, specs: Vec<LaneSpec>, (groups, lane_groups): Groups) -> Result<(), Failure> {
    external::refuse_options(args)?;
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
    let sink = FileSink::create(output_spec(args, header, lane_groups))?;
    let (order, watched) = (order(args), Progress::default());
    let mapping = Mapping::Embedded { engines: &replicas.engines, sink: &sink };
    let job = Job { lanes: dealt, mapping, order, plan: &plan, progress: &watched };
    let Outcome { mut report, lengths } = progress::shown(!args.quiet, &watched, || zerohop_runtime::run(job))?;
    check_account(&report)?;
    report.bytes_out = Bytes(sink.finish(&lengths)?);

    notes.extend(zerohop_memory::unplaced_refused());
    let (name, version) = engine.program();
    let summary = Summary {
        schema_version: SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command_line(),
        engine: (name.to_owned(), version.to_owned()),
        inputs: specs.iter().map(|lane| lane.files.iter().map(|f| f.display().to_string()).collect()).collect(),
        outputs: output_paths(args).iter().map(|path| path.display().to_string()).collect(),
        replicas: replicas.census(&plan),
        index: replicas.report.clone(),
        machine,
        plan,
        run: report,
        wall: started.elapsed(),
        resources: resources::used(),
        comparison: None,
        notes,
    };
    tell(args, &summary, &groups, &specs)
}

/// Every read must have come out.
pub fn check_account(report: &RunReport) -> Result<(), Failure> {
    let (reads, records) = (report.tally.reads, report.tally.primary_records);
    match reads == records {
        true => Ok(()),
        false => {
            Err(Failure::Other(format!("{reads} reads came in, but {records} are accounted for: please report this")))
        }
    }
}

/// What the plan is asked for, for an index of this size.
pub fn request(args: &AlignArgs, index_bytes: u64) -> Request {
    Request {
        workers: args.threads,
        replicas: args.replicas,
        pages: args.pages.map(Into::into),
        huge_pages: args.huge_pages.into(),
        index_bytes,
    }
}

fn make_index(args: &AlignArgs, machine: &Machine, mean_read_length: usize) -> Result<(Plan, Replicas), Failure> {
    if args.engine == NULL {
        let plan = zerohop_plan::plan(machine, &request(args, 0))?;
        let contigs = zerohop_reads::reference::read(&args.reference, |_| {})?;
        let replicas = Replicas::of(Box::new(Null::new(NULL_LAW, contigs)), &plan, mean_read_length)?;
        return Ok((plan, replicas));
    }
    let source = IndexSource::find(&args.reference, mean_read_length, args.no_index)?;
    let plan = zerohop_plan::plan(machine, &request(args, source.bytes))?;
    let replicas = Replicas::make(&source, &plan)?;
    Ok((plan, replicas))
}

/// Refuses shards without a name, outputs that would destroy an input or each other, and outputs that cannot be written:
/// before hours of work, not after.
fn check_outputs(args: &AlignArgs, lanes: &[LaneSpec]) -> Result<(), Failure> {
    if args.shards > 1 && args.output.is_none() {
        return Err(Failure::Usage("--shards needs an output file (-o)".to_owned()));
    }
    let inputs: Vec<PathBuf> = lanes
        .iter()
        .flat_map(|lane| &lane.files)
        .chain([&args.reference])
        .filter_map(|path| lanes::file_of(path))
        .collect();
    let mut outputs: Vec<PathBuf> = Vec::new();
    for path in output_paths(args).iter().chain(&args.json).chain(&args.mqc) {
        let Some(file) = lanes::file_of(path) else { continue };
        if inputs.contains(&file) {
            return Err(Failure::Usage(format!("{} is an input and cannot be the output too", path.display())));
        }
        if outputs.contains(&file) {
            return Err(Failure::Usage(format!("{} was given as two outputs", path.display())));
        }
        outputs.push(file);
        zerohop_sinks::check_writable(path)?;
    }
    Ok(())
}

fn header(engine: &dyn Engine, read_groups: Vec<ReadGroup>) -> Header {
    let (name, version) = engine.program();
    let programs = vec![Program { name: name.to_owned(), version: version.to_owned(), command_line: None }, zerohop()];
    Header { contigs: engine.contigs().to_vec(), read_groups, programs, ..Header::default() }
}

/// zerohop itself, for @PG.
pub fn zerohop() -> Program {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Program { name: "zerohop".to_owned(), version, command_line: Some(command_line()) }
}

pub fn output_spec(args: &AlignArgs, header: Header, lane_groups: Vec<Option<usize>>) -> OutputSpec {
    let by_suffix = || match args.output.as_ref().and_then(|path| path.extension()) {
        Some(suffix) if suffix.eq_ignore_ascii_case("bam") => FormatName::Bam,
        _ => FormatName::Sam,
    };
    let format = match args.format.unwrap_or_else(by_suffix) {
        FormatName::Sam => Format::Sam,
        FormatName::Bam => Format::Bam { level: args.level },
    };
    let (path, shards, comments) = (args.output.clone(), args.shards, args.comments);
    OutputSpec { path, shards, format, header, lane_groups, comments }
}

pub fn output_paths(args: &AlignArgs) -> Vec<PathBuf> {
    match &args.output {
        None => Vec::new(),
        Some(path) if args.shards == 1 => vec![path.clone()],
        Some(path) => (1..=args.shards).map(|i| shard_path(path, i)).collect(),
    }
}

pub fn order(args: &AlignArgs) -> Order {
    match args.order {
        OrderName::Input => Order::Input,
        OrderName::Any => Order::Any,
    }
}

pub fn command_line() -> String {
    let quoted = |arg: String| match arg.contains([' ', '\t', '\'', '"', '\\']) {
        true => format!("'{}'", arg.replace('\'', r"'\''")),
        false => arg,
    };
    let arguments = std::env::args_os().skip(1).map(|arg| quoted(arg.to_string_lossy().into_owned()));
    std::iter::once("zerohop".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Says how it went, in words and in the files asked for.
pub fn tell(args: &AlignArgs, summary: &Summary, groups: &[ReadGroup], lanes: &[LaneSpec]) -> Result<(), Failure> {
    if args.quiet {
        // What may make the result wrong is never kept quiet.
        summary.notes.iter().for_each(|note| eprintln!("note: {note}"));
    } else {
        eprint!("{}", summary.text());
    }
    let other = |e: serde_json::Error| Failure::Other(e.to_string());
    let write = |path: &Path, text: String| {
        std::fs::write(path, text).map_err(|e| Failure::Other(format!("{}: cannot write: {e}", path.display())))
    };
    if let Some(path) = &args.json {
        write(path, summary.json().map_err(other)?)?;
    }
    if let Some(path) = &args.mqc {
        let in_group = groups.iter().flat_map(|g| &g.fields).find_map(|field| field.strip_prefix("SM:"));
        let of_file = lanes[0].files[0].file_name().map(|name| name.to_string_lossy().into_owned());
        let sample = args.sample.clone().or_else(|| in_group.map(str::to_owned)).or(of_file).unwrap_or_default();
        write(path, summary.multiqc(&sample).map_err(other)?)?;
    }
    Ok(())
}
