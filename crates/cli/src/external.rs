//! `zerohop align --engine NAME` for an aligner that runs as a program of its own.
//!
//! 1. [`Wanted`]: the aligner, the user's arguments for it, and the reads are looked at;
//! 2. [`Site`]: the index and the plan; a reaper, which is told of all that would have to be cleared away; index copies for a
//!    farm;
//! 3. [`Site::align`]: the processes are started, and the runtime feeds and drains them; the output is opened with the first
//!    header that one of them writes.

use crate::account::{self, Account};
use crate::args::{AlignArgs, DealName, HugePagesName, OrderName};
use crate::failure::Failure;
use crate::lanes::Groups;
use crate::reaping::{self, told};
use crate::{compare, outputs, progress};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use zerohop_engine_external::descriptor::{Descriptor, Keeps};
use zerohop_engine_external::reaper::Reaper;
use zerohop_engine_external::{Charge, Found, FoundIndex, Launch, SharedIndex, UserArguments, law};
use zerohop_engine_strobealign::canonical_read_length;
use zerohop_model::engine::Law;
use zerohop_model::error::Error;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::Plan;
use zerohop_model::sink::Sink;
use zerohop_reads::{LaneSpec, OpenLane};
use zerohop_report::{IndexOrigin, IndexReport};
use zerohop_runtime::{Dealing, Job, LateSink, Mapping, Outcome, Progress};
use zerohop_sinks::{FileSink, Header, Program, ReadGroup};

/// The longest read that is passed on, in bases: what a chunk's text can hold twice over.
const MAX_READ_BASES: usize = 1 << 30;
/// Bases in finished chunks that an instance may hold while the others are behind: SNAP alone takes in as much as that
/// before it puts anything out.
const HELD_BASES: u64 = 100_000_000;
/// How long an instance may stand still, in seconds, unless the user says otherwise.
const HANG_LIMIT: u64 = 1800;

/// Options that only make sense for a program of its own.
///
/// # Errors
/// Wrong usage.
pub fn refuse_options(args: &AlignArgs) -> Result<(), Failure> {
    let external = &args.external;
    let given = [
        ("--engine-args", external.engine_args.is_some()),
        ("--engine-file", !external.engine_file.is_empty()),
        ("--build-index", external.build_index),
        ("--dna", external.dna),
        ("--farm", external.farm),
        ("--deal static", external.deal == DealName::Static),
        ("--hang-limit", external.hang_limit.is_some()),
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
    compare::check(args, &specs)?;
    let (wanted, open) = Wanted::new(args, &specs, &groups)?;
    let mut notes: Vec<String> = open.iter().flat_map(|lane| lane.notes.clone()).collect();
    let mut site = Site::new(args, &wanted)?;
    if site.shared.as_ref().is_some_and(|shared| shared.reused > 0) {
        notes.push("Index copies that were in /dev/shm already were used.".to_owned());
    }

    let late = Late { args, found: &wanted.found, groups: groups.clone(), reaper: &site.reaper, sink: OnceLock::new() };
    let outcome = site.align(args, &wanted, open, &specs, &late);
    let opened = late.sink.into_inner();
    let Outcome { report: mut run, lengths } = outcome.map_err(|failure| site.log_folder.keep(failure))?;
    account::check(&run)?;
    let opened = opened.ok_or_else(|| {
        Failure::Other(format!("{} wrote no header, for there were no reads: there is nothing to write", args.engine))
    })?;
    run.bytes_out = Bytes(opened.sink.finish(&lengths)?);
    if args.external.logs.is_none() {
        run.instances.iter_mut().for_each(|instance| instance.log = None);
    }

    let same_order = wanted.found.descriptor.order.keeps != Keeps::Never;
    let compared = compare::with_original(args, &site.launch(args, &wanted, &specs), &specs, same_order, &site.reaper);
    let (comparison, failed) = match compared {
        Ok(comparison) => (comparison, None),
        Err(failure) => (None, Some(failure)),
    };
    let account = Account {
        started,
        engine: (wanted.found.descriptor.name.clone(), wanted.found.version.clone()),
        replicas: Vec::new(),
        index: site.index_report(),
        machine: site.machine.clone(),
        plan: site.plan.clone(),
        run,
        comparison,
        notes,
    };
    account.tell(args, &specs, &groups)?;
    // The records are there all the same, and what was to be said of them is said.
    failed.map_or(Ok(()), Err)
}

/// What the user wants.
struct Wanted {
    found: Found,
    user: UserArguments,
    law: Law,
    paired: bool,
    fasta: bool,
    /// The header line of the read group that the aligner itself is told.
    read_group: Option<String>,
}

impl Wanted {
    /// The aligner and its arguments, and the lanes, opened.
    fn new(args: &AlignArgs, specs: &[LaneSpec], groups: &Groups) -> Result<(Self, Vec<OpenLane>), Failure> {
        let descriptor = choose(args)?;
        let mut open: Vec<OpenLane> = specs.iter().map(OpenLane::open).collect::<Result<_, _>>()?;
        let read_length = open[0].mean_read_length(MAX_READ_BASES)?;
        let known = [
            ("read_length", read_length.to_string()),
            ("canonical_read_length", canonical_read_length(read_length).to_string()),
        ];
        let text = args.external.engine_args.as_deref().unwrap_or_default();
        let user = UserArguments::parse(&descriptor, text, &known)?;
        let law = law(&descriptor, &user)?;
        let (paired, fasta) = one_kind(&open)?;
        let read_group = read_group(&descriptor, groups)?;
        Ok((Wanted { found: Found::find(descriptor)?, user, law, paired, fasta, read_group }, open))
    }
}

/// The aligner that the user wants.
fn choose(args: &AlignArgs) -> Result<Descriptor, Failure> {
    let all = descriptors(&args.external.engine_file)?;
    if args.read_length.is_some() || args.no_index {
        return Err(Failure::Usage("--read-length and --no-index are for the built-in strobealign".to_owned()));
    }
    if args.huge_pages == HugePagesName::Off {
        return Err(Failure::Usage("--huge-pages is for the built-in strobealign".to_owned()));
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

/// The read group that the aligner itself is told: one for all reads, if it can be told any.
fn read_group(descriptor: &Descriptor, (groups, lane_groups): &Groups) -> Result<Option<String>, Failure> {
    let told = &descriptor.read_group;
    let one = groups.len() == 1 && lane_groups.iter().all(|group| group == &Some(0));
    if told.always && !groups.is_empty() && !one {
        let title = &descriptor.title;
        return Err(Failure::Usage(format!(
            "{title} puts one read group into every record: align lanes of different read groups in runs of their own"
        )));
    }
    let line = |group: &ReadGroup| {
        let fields: String = group.fields.iter().map(|field| format!("\t{field}")).collect();
        format!("@RG\tID:{}{fields}", group.id)
    };
    Ok((one && !told.option.is_empty()).then(|| line(&groups[0])))
}

/// Where it happens.
struct Site {
    machine: Machine,
    plan: Plan,
    index: FoundIndex,
    /// What the aligner is told as its index, for each replica.
    prefixes: Vec<PathBuf>,
    shared: Option<SharedIndex>,
    /// Time that laying out the copies took.
    sharing: Duration,
    log_folder: LogFolder,
    /// The last to go: until then it would clear away the rest.
    reaper: Reaper,
}

impl Site {
    fn new(args: &AlignArgs, wanted: &Wanted) -> Result<Self, Failure> {
        let machine = zerohop_topology::detect()?;
        let reaper = reaping::start()?;
        let tell = |charge: Charge| told(&reaper, &charge);
        let index = match args.external.build_index {
            false => wanted.found.index(&args.reference, &wanted.user)?,
            true => {
                let threads = args.threads.unwrap_or_else(|| machine.allowed.worker_count());
                wanted.found.index_or_build(&args.reference, &wanted.user, threads, &tell)?
            }
        };
        let plan = zerohop_plan::plan(&machine, &args.request(wanted.found.memory_bytes(&args.reference, &index)))?;
        let log_folder = LogFolder::new(args, &reaper)?;
        let started = Instant::now();
        let keep = args.external.keep_copies;
        let share = || SharedIndex::make(&wanted.found, &index, &plan.replicas, keep, &tell);
        let shared = args.external.farm.then(share).transpose()?;
        let own = || vec![index.prefix.clone(); plan.replicas.len()];
        let prefixes = shared.as_ref().map_or_else(own, |shared| shared.prefixes.clone());
        Ok(Site { machine, plan, index, prefixes, shared, sharing: started.elapsed(), log_folder, reaper })
    }

    fn launch<'a>(&'a self, args: &'a AlignArgs, wanted: &'a Wanted, specs: &[LaneSpec]) -> Launch<'a> {
        Launch {
            found: &wanted.found,
            index: &self.index,
            prefixes: &self.prefixes,
            shared: self.shared.as_ref().map(|shared| &shared.folders[..]).unwrap_or_default(),
            user: &wanted.user,
            reference: &args.reference,
            lanes: specs.iter().map(|lane| lane.files[0].clone()).collect(),
            paired: wanted.paired,
            fasta: wanted.fasta,
            read_group: wanted.read_group.clone(),
            comments: args.comments,
            dna: args.external.dna,
            logs: &self.log_folder.logs,
            hang_limit: Duration::from_secs(args.external.hang_limit.unwrap_or(HANG_LIMIT)),
        }
    }

    /// Starts the instances, feeds and drains them.
    fn align(
        &self,
        args: &AlignArgs,
        wanted: &Wanted,
        open: Vec<OpenLane>,
        specs: &[LaneSpec],
        late: &Late<'_>,
    ) -> Result<Outcome, Failure> {
        let plans = self.plan.instances(args.external.farm);
        let count = plans.len();
        let deal = |(i, lane): (usize, OpenLane)| lane.deal(i as u32, wanted.law, MAX_READ_BASES, count);
        let lanes = open.into_iter().enumerate().map(deal).collect::<Result<Vec<_>, _>>()?;
        let launch = self.launch(args, wanted, specs);
        let instances = launch.start(plans, &|charge| told(&self.reaper, &charge))?;
        let dealing = match args.external.deal {
            DealName::OnDemand => Dealing::OnDemand,
            DealName::Static => Dealing::Static,
        };
        let held = (HELD_BASES / wanted.law.closes_at_bases()).max(2) as usize;
        let mapping = Mapping::Instances { instances, sink: late, dealing, held };
        let watched = Progress::default();
        let job = Job { lanes, mapping, order: outputs::order(args), plan: &self.plan, progress: &watched };
        Ok(progress::shown(!args.quiet, &watched, || zerohop_runtime::run(job))?)
    }

    fn index_report(&self) -> IndexReport {
        let origin = IndexOrigin::File(self.index.prefix.display().to_string());
        IndexReport { origin, bytes: Bytes(self.index.bytes()), time: self.sharing, mean_read_length: 0 }
    }
}

/// Where the logs go.
struct LogFolder {
    logs: PathBuf,
    /// Removed at the end, unless the run failed.
    temporary: Option<TempDir>,
}

impl LogFolder {
    fn new(args: &AlignArgs, reaper: &Reaper) -> Result<Self, Failure> {
        let fault = |path: &Path, e: std::io::Error| Failure::Other(format!("{}: cannot be made: {e}", path.display()));
        if let Some(logs) = &args.external.logs {
            std::fs::create_dir_all(logs).map_err(|e| fault(logs, e))?;
            return Ok(LogFolder { logs: logs.clone(), temporary: None });
        }
        let temporary = tempfile::Builder::new().prefix("zerohop-").tempdir();
        let temporary = temporary.map_err(|e| fault(&std::env::temp_dir(), e))?;
        told(reaper, &Charge::folder(temporary.path()))?;
        Ok(LogFolder { logs: temporary.path().to_owned(), temporary: Some(temporary) })
    }

    /// After a failure of an instance the logs stay.
    fn keep(&mut self, failure: Failure) -> Failure {
        match (failure, self.temporary.take()) {
            (Failure::Run(error @ (Error::Instance { .. } | Error::Header(_))), Some(temporary)) => {
                let logs = temporary.keep();
                Failure::Other(format!("{error}\n(all it said is in {})", logs.display()))
            }
            (failure, _) => failure,
        }
    }
}

/// The output, which is opened when its header is known.
struct Late<'a> {
    args: &'a AlignArgs,
    found: &'a Found,
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
        if header.contigs.is_empty() {
            // minimap2 goes on without any, and ends well, if its index is cut off.
            let words = "the header that the aligner wrote names no sequence: its index must be damaged";
            return Err(Failure::Other(words.to_owned()));
        }
        let (groups, lane_groups) = self.groups.clone();
        let mut whole = header.clone().with_read_groups(groups)?;
        // Most aligners name themselves.
        if !header.lines.iter().any(|line| line.starts_with("@PG")) {
            let (name, version) = (self.found.descriptor.name.clone(), self.found.version.clone());
            whole.programs.push(Program { name, version, command_line: None });
        }
        whole.programs.push(account::zerohop());
        let sink = FileSink::create(outputs::spec(self.args, whole, lane_groups))?;
        for file in sink.temporary_files() {
            told(self.reaper, &Charge::file(&file))?;
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
        let wrong = |what: String| Error::Header(format!("instance {instance} of {}: {what}", self.args.engine));
        let header = Header::from_program(header).map_err(|e| wrong(format!("the header that it wrote: {e}")))?;
        match self.sink.get() {
            Some(opened) if !header.same_as(&opened.header) => Err(wrong(
                "it wrote another header than the first instance that wrote its own: do they read the same index?"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }
}
