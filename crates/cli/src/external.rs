//! `zerohop align --engine NAME` for an aligner that runs as a program of its own.
//!
//! 1. the aligner, its index and the user's arguments for it are looked at (`prepare`);
//! 2. the plan says how many processes there are, on which CPUs and nodes;
//! 3. a reaper is told what would have to be cleared away, index copies are laid out for a farm, the processes are started;
//! 4. the runtime feeds and drains them; the output is opened with the first header that one of them writes.

use crate::account::{self, Account};
use crate::args::{AlignArgs, DealName, OrderName};
use crate::failure::Failure;
use crate::lanes::Groups;
use crate::{compare, outputs, progress};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use zerohop_engine_external::descriptor::{Descriptor, Keeps};
use zerohop_engine_external::reaper::{Charge, Reaper};
use zerohop_engine_external::share::SharedIndex;
use zerohop_engine_external::{ExternalError, Found, FoundIndex, Launch, UserArguments, law};
use zerohop_engine_strobealign::canonical_read_length;
use zerohop_model::engine::Law;
use zerohop_model::error::Error;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::{InstancePlan, Plan};
use zerohop_model::sink::Sink;
use zerohop_reads::{LaneSpec, OpenLane};
use zerohop_report::{IndexOrigin, IndexReport};
use zerohop_runtime::{Dealing, Job, LateSink, Mapping, Outcome, Progress};
use zerohop_sinks::{FileSink, Header, ReadGroup};

/// The longest read that is passed on, in bases: what a chunk's text can hold twice over.
const MAX_READ_BASES: usize = 1 << 30;
/// Bases in finished chunks that an instance may hold while the others are behind: SNAP alone takes in as much as that
/// before it puts anything out.
const HELD_BASES: u64 = 100_000_000;

/// Options that only make sense for a program of its own.
///
/// # Errors
/// Wrong usage.
pub fn refuse_options(args: &AlignArgs) -> Result<(), Failure> {
    let external = &args.external;
    let given = [
        ("--engine-args", external.engine_args.is_some()),
        ("--build-index", external.build_index),
        ("--dna", external.dna),
        ("--farm", external.farm),
        ("--deal static", external.deal == DealName::Static),
        ("--logs", external.logs.is_some()),
        ("--compare-with", external.compare_with.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::Usage(format!(
            "{option} is for aligners that run as programs of their own, and {} runs inside zerohop",
            args.engine
        ))),
        None => Ok(()),
    }
}

/// All descriptors: built-in ones, the user's own folder, and the files named.
///
/// # Errors
/// A file that is no descriptor.
pub fn descriptors(files: &[PathBuf]) -> Result<Vec<Descriptor>, Failure> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".config")));
    let folder = config.map(|config| config.join("zerohop/engines"));
    let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok());
    let mut own: Vec<PathBuf> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    own.retain(|path| path.extension().is_some_and(|suffix| suffix == "toml"));
    own.sort();
    Ok(zerohop_engine_external::all(own.iter().chain(files).map(PathBuf::as_path))?)
}

/// Runs the command.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left, and no process.
pub fn run(args: &AlignArgs, specs: Vec<LaneSpec>, groups: Groups) -> Result<(), Failure> {
    let started = Instant::now();
    let descriptor = choose(args)?;
    compare::check(args, &specs)?;
    let mut open: Vec<OpenLane> = specs.iter().map(OpenLane::open).collect::<Result<_, _>>()?;
    let prepared = Prepared::new(args, descriptor, open[0].mean_read_length(MAX_READ_BASES)?)?;
    let (paired, fasta) = one_kind(&open)?;
    let read_group = prepared.read_group(&groups)?;
    let mut notes: Vec<String> = open.iter().flat_map(|lane| lane.notes.clone()).collect();

    let machine = zerohop_topology::detect()?;
    let index = prepared.index(args, &machine)?;
    let plan = zerohop_plan::plan(&machine, &args.request(index.bytes()))?;
    let plans = plan.instances(args.external.farm);

    let reaper = start_reaper()?;
    let mut workplace = Workplace::new(args, &reaper)?;
    let sharing = Instant::now();
    let shared = share(args, &prepared.found, &index, &plan, &reaper)?;
    let sharing = sharing.elapsed();
    let prefixes = match &shared {
        Some(shared) => shared.prefixes.clone(),
        None => vec![index.prefix.clone(); plan.replicas.len()],
    };
    let logs = workplace.logs.clone();
    let launch = Launch {
        found: &prepared.found,
        index: &index,
        prefixes: &prefixes,
        shared: shared.as_ref().map(|shared| &shared.folders[..]).unwrap_or_default(),
        user: &prepared.user,
        reference: &args.reference,
        paired,
        fasta,
        read_group,
        comments: args.comments,
        dna: args.external.dna,
        logs: &logs,
        hang_limit: Duration::from_secs(args.external.hang_limit),
    };
    let late = Late { args, groups: groups.clone(), reaper: &reaper, sink: OnceLock::new() };
    let outcome = align_with(args, &prepared, &launch, plans, open, &plan, &late, &reaper);
    let Outcome { mut report, lengths } = outcome.map_err(|failure| workplace.keep(failure))?;
    account::check(&report)?;
    if shared.as_ref().is_some_and(|shared| shared.reused > 0) {
        notes.push("Index copies that were in /dev/shm already were used.".to_owned());
    }
    let opened = late.sink.into_inner().ok_or_else(|| Failure::Other("no instance wrote a header".to_owned()))?;
    report.bytes_out = Bytes(opened.sink.finish(&lengths)?);
    if args.external.logs.is_none() {
        report.instances.iter_mut().for_each(|instance| instance.log = None);
    }

    let comparison =
        compare::with_original(args, &launch, &specs, prepared.found.descriptor.order.keeps != Keeps::Never)?;
    let account = Account {
        started,
        engine: (prepared.found.descriptor.name.clone(), prepared.found.version.clone()),
        replicas: Vec::new(),
        index: IndexReport {
            origin: IndexOrigin::File(index.prefix.display().to_string()),
            bytes: Bytes(index.bytes()),
            time: sharing,
            mean_read_length: 0,
        },
        machine,
        plan,
        run: report,
        comparison,
        notes,
    };
    account.tell(args, &specs, &groups)
}

/// The aligner, and what the user gave for it.
struct Prepared {
    found: Found,
    user: UserArguments,
    law: Law,
}

/// The aligner that the user wants.
fn choose(args: &AlignArgs) -> Result<Descriptor, Failure> {
    let all = descriptors(&args.external.engine_file)?;
    if args.read_length.is_some() || args.no_index {
        return Err(Failure::Usage("--read-length and --no-index are for the built-in strobealign".to_owned()));
    }
    if args.external.deal == DealName::Static && args.order == OrderName::Input {
        let words = "--deal static needs --order any: to put equal parts in order, all that a fast instance is ahead would \
                     have to be held";
        return Err(Failure::Usage(words.to_owned()));
    }
    all.iter().find(|descriptor| descriptor.name == args.engine).cloned().ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|descriptor| &*descriptor.name).collect();
        let (engine, names) = (&args.engine, names.join(", "));
        Failure::Usage(format!(
            "there is no engine '{engine}': there are strobealign (built in) and, as programs of their own, {names}"
        ))
    })
}

impl Prepared {
    fn new(args: &AlignArgs, descriptor: Descriptor, read_length: usize) -> Result<Self, Failure> {
        let known = [
            ("read_length", read_length.to_string()),
            ("canonical_read_length", canonical_read_length(read_length).to_string()),
        ];
        let text = args.external.engine_args.as_deref().unwrap_or_default();
        let user = UserArguments::parse(&descriptor, text, &known)?;
        let law = law(&descriptor, &user)?;
        Ok(Prepared { found: Found::find(descriptor)?, user, law })
    }

    /// The read group that the aligner itself is told: one for all reads, if it can be told any.
    fn read_group(&self, (groups, lane_groups): &Groups) -> Result<Option<String>, Failure> {
        let told = &self.found.descriptor.read_group;
        let one = groups.len() == 1 && lane_groups.iter().all(|group| group == &Some(0));
        if told.always && !groups.is_empty() && !one {
            let title = &self.found.descriptor.title;
            return Err(Failure::Usage(format!(
                "{title} puts one read group into every record: align lanes of different read groups in runs of their own"
            )));
        }
        let line =
            |group: &ReadGroup| ["@RG".to_owned(), format!("ID:{}", group.id)].into_iter().chain(group.fields.clone());
        Ok((one && !told.option.is_empty()).then(|| line(&groups[0]).collect::<Vec<_>>().join("\t")))
    }

    fn index(&self, args: &AlignArgs, machine: &Machine) -> Result<FoundIndex, ExternalError> {
        if !args.external.build_index {
            return self.found.index(&args.reference, &self.user);
        }
        let threads = args.threads.unwrap_or_else(|| machine.allowed.worker_count());
        self.found.index_or_build(&args.reference, &self.user, threads)
    }
}

/// One process takes either pairs or single reads, and either FASTQ or FASTA.
fn one_kind(lanes: &[OpenLane]) -> Result<(bool, bool), Failure> {
    let paired = lanes.first().is_some_and(OpenLane::is_paired);
    let mut kinds = lanes.iter().filter_map(OpenLane::is_fasta);
    let fasta = kinds.next().unwrap_or(false);
    if lanes.iter().any(|lane| lane.is_paired() != paired) || kinds.any(|kind| kind != fasta) {
        let words = "an external aligner takes either pairs or single reads, and either FASTQ or FASTA: \
                     align them in runs of their own";
        return Err(Failure::Usage(words.to_owned()));
    }
    Ok((paired, fasta))
}

/// Our own program again, as what clears away if we are killed.
pub fn start_reaper() -> Result<Reaper, Failure> {
    let mut command = Command::new("/proc/self/exe");
    command.arg("reaper");
    Reaper::start(command)
        .map_err(|e| Failure::Other(format!("the process that would clear away after us cannot be started: {e}")))
}

/// Charges the reaper; one that is gone is a failure, for then nobody would clear away.
pub fn charge(reaper: &Reaper, charge: &Charge) -> Result<(), Failure> {
    reaper
        .charge(charge)
        .map_err(|e| Failure::Other(format!("the process that would clear away after us is gone: {e}")))
}

/// Where the logs go.
struct Workplace {
    logs: PathBuf,
    /// Removed at the end, unless the run failed.
    temporary: Option<TempDir>,
}

impl Workplace {
    fn new(args: &AlignArgs, reaper: &Reaper) -> Result<Self, Failure> {
        let fault = |path: &Path, e: std::io::Error| Failure::Other(format!("{}: cannot be made: {e}", path.display()));
        if let Some(logs) = &args.external.logs {
            std::fs::create_dir_all(logs).map_err(|e| fault(logs, e))?;
            return Ok(Workplace { logs: logs.clone(), temporary: None });
        }
        let temporary = tempfile::Builder::new().prefix("zerohop-").tempdir();
        let temporary = temporary.map_err(|e| fault(&std::env::temp_dir(), e))?;
        charge(reaper, &Charge::Folder(temporary.path().to_owned()))?;
        Ok(Workplace { logs: temporary.path().to_owned(), temporary: Some(temporary) })
    }

    /// After a failure of an instance the logs stay.
    fn keep(&mut self, failure: Failure) -> Failure {
        match (failure, self.temporary.take()) {
            (Failure::Run(error @ Error::Instance { .. }), Some(temporary)) => {
                let logs = temporary.keep();
                Failure::Other(format!("{error}\n(all it said is in {})", logs.display()))
            }
            (failure, _) => failure,
        }
    }
}

fn share(
    args: &AlignArgs,
    found: &Found,
    index: &FoundIndex,
    plan: &Plan,
    reaper: &Reaper,
) -> Result<Option<SharedIndex>, Failure> {
    if !args.external.farm {
        return Ok(None);
    }
    charge(reaper, &Charge::Copies)?;
    let shared = SharedIndex::make(found, index, &plan.replicas, args.external.keep_copies, |segments| {
        let _ = reaper.charge(&Charge::Segments(segments));
    })?;
    Ok(Some(shared))
}

/// Starts the instances and runs.
#[allow(clippy::too_many_arguments)]
fn align_with(
    args: &AlignArgs,
    prepared: &Prepared,
    launch: &Launch<'_>,
    plans: Vec<InstancePlan>,
    open: Vec<OpenLane>,
    plan: &Plan,
    late: &Late<'_>,
    reaper: &Reaper,
) -> Result<Outcome, Failure> {
    let count = plans.len();
    let deal = |(i, lane): (usize, OpenLane)| lane.deal(i as u32, prepared.law, MAX_READ_BASES, count);
    let lanes = open.into_iter().enumerate().map(deal).collect::<Result<Vec<_>, _>>()?;
    let instances = launch.start(plans, |group| {
        let _ = reaper.charge(&Charge::Group(group));
    })?;
    let dealing = match args.external.deal {
        DealName::OnDemand => Dealing::OnDemand,
        DealName::Static => Dealing::Static,
    };
    let held = (HELD_BASES / prepared.law.closes_at_bases()).max(2) as usize;
    let mapping = Mapping::Instances { instances, sink: late, dealing, held };
    let watched = Progress::default();
    let job = Job { lanes, mapping, order: outputs::order(args), plan, progress: &watched };
    Ok(progress::shown(!args.quiet, &watched, || zerohop_runtime::run(job))?)
}

/// The output, which is opened when its header is known.
struct Late<'a> {
    args: &'a AlignArgs,
    groups: Groups,
    reaper: &'a Reaper,
    sink: OnceLock<Opened>,
}

struct Opened {
    sink: FileSink,
    /// The header of the instance that was first.
    header: Header,
}

impl Late<'_> {
    fn open_sink(&self, text: &[u8]) -> Result<Opened, Failure> {
        let header = Header::from_program(text)?;
        let (groups, lane_groups) = self.groups.clone();
        let mut whole = header.clone().with_read_groups(groups)?;
        whole.programs = vec![account::zerohop()];
        let sink = FileSink::create(outputs::spec(self.args, whole, lane_groups))?;
        for file in sink.temporary_files() {
            charge(self.reaper, &Charge::File(file))?;
        }
        Ok(Opened { sink, header })
    }
}

impl LateSink for Late<'_> {
    fn open(&self, header: &[u8]) -> Result<&dyn Sink, Error> {
        let opened = self.open_sink(header).map_err(|failure| match failure {
            Failure::Run(error) => error,
            Failure::BrokenPipe => Error::BrokenPipe,
            other => Error::Header(other.to_string()),
        })?;
        Ok(&self.sink.get_or_init(|| opened).sink)
    }

    fn check(&self, instance: usize, header: &[u8]) -> Result<(), Error> {
        let header = Header::from_program(header).map_err(|e| Error::Header(e.to_string()))?;
        match self.sink.get() {
            Some(opened) if !header.same_as(&opened.header) => Err(Error::Header(format!(
                "instance {instance} wrote another header than the first one that wrote its own: do they read the same index?"
            ))),
            _ => Ok(()),
        }
    }
}
