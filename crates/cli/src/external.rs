//! `zerohop align --engine NAME` for an aligner that runs as a program of its own.
//!
//! 1. [`Wanted`]: the aligner, the user's arguments for it, and the reads are looked at;
//! 2. [`Site`]: the index and the plan; a reaper, which is told of all that would have to be cleared away; index copies for a
//!    farm;
//! 3. [`Site::align`]: the processes are started, and the runtime feeds and drains them; the output is opened with the first
//!    header that one of them writes.

use crate::account::{self, Account};
use crate::aligners;
use crate::args::{AlignArgs, DealName, HugePagesName, PlanFrom};
use crate::auto::{self, Alternatives, Outcome as Tried, Watched};
use crate::failure::Failure;
use crate::joint::{self, Begun, Came, Joint};
use crate::lanes::Groups;
use crate::planning::{self, Planned};
use crate::reaping::{self, told};
use crate::relief::Relieve;
use crate::seat::Seat;
use crate::subject::{AlignedWith, Profile, Subject};
use crate::{compare, outputs};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use zerohop_distribute::Transport;
use zerohop_engine_external::descriptor::{Descriptor, Keeps, SameRecords};
use zerohop_engine_external::reaper::Reaper;
use zerohop_engine_external::{Charge, Found, FoundIndex, Launch, SharedIndex, UserArguments, law, warnings};
use zerohop_engine_strobealign::canonical_read_length;
use zerohop_model::engine::Law;
use zerohop_model::error::Error;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::measurement::RunReport;
use zerohop_model::plan::Plan;
use zerohop_model::sink::Sink;
use zerohop_reads::{LaneSpec, OpenLane};
use zerohop_report::{IndexOrigin, IndexReport};
use zerohop_runtime::{Dealing, Job, LateSink, Mapping, Outcome, Progress, Relief};
use zerohop_sinks::{FileSink, Header, Program, ReadGroup};

/// The longest read that is passed on, in bases: what a chunk's text can hold twice over.
const MAX_READ_BASES: usize = 1 << 30;
/// Bases in finished chunks that an instance may hold while the others are behind: SNAP alone takes in as much as that
/// before it puts anything out.
const HELD_BASES: u64 = 100_000_000;
/// Instances are relieved only if what is left of the run takes so many times as long as loading took: a gain of a tenth has to pay for
/// loading twice.
const WORTH: f64 = 20.0;
/// Batches that each instance should have mapped before it is judged.
const BATCHES_TO_JUDGE: u64 = 4;
/// How long an instance may stand still, or another rank be silent, in seconds, unless the user says otherwise.
pub const HANG_LIMIT: u64 = 1800;

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
        ("--hang-limit", external.hang_limit.is_some() && args.ranks.ranks.is_none()),
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

/// Runs the command.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left, and no process.
pub fn run(
    args: &AlignArgs,
    specs: Vec<LaneSpec>,
    groups: Groups,
    transport: Option<&dyn Transport>,
    seat: &Seat,
) -> Result<(), Failure> {
    let started = Instant::now();
    compare::check(args, &specs)?;
    let (wanted, open) = Wanted::new(args, &specs, &groups)?;
    let mut notes: Vec<String> = open.iter().flat_map(|lane| lane.notes.clone()).chain(seat.note.clone()).collect();
    let mut site = Site::new(args, &wanted, seat, &mut notes)?;
    let takers = (site.instances(), site.plan.workers.len());
    let begun = Joint::begin(transport, args, &open, wanted.law, takers, &site.with)?;
    let Begun::ToDo(mut joint) = begun else { return Ok(()) };
    if site.shared.as_ref().is_some_and(|shared| shared.reused > 0) {
        notes.push("Index copies that were in /dev/shm already were used.".to_owned());
    }

    let (found, reaper, partials) =
        (&wanted.found, &site.reaper, joint.as_deref().map(|joint| joint.partials().to_owned()));
    let late = Late { args, found, groups: groups.clone(), reaper, partials, sink: OnceLock::new() };
    let outcome = site.align(args, &wanted, open, &specs, &late, joint.as_deref_mut());
    let opened = late.sink.into_inner();
    let ((outcome, dealt), tried) = outcome.map_err(|failure| site.log_folder.keep(failure))?;
    let ranks = transport.map_or(1, Transport::size);
    let changed = tried.as_ref().is_some_and(|tried| tried.changed);
    notes.extend(varying(args, &wanted.found.descriptor, (site.instances(), ranks > 1), changed));
    let Outcome { report: mut run, lengths } = outcome;
    account::check(&run)?;
    notes.extend(warned(&wanted.found.descriptor.name, &run));
    if run.tally.left_out > 0 {
        let (title, reads) = (&wanted.found.descriptor.title, run.tally.left_out);
        notes.push(format!("{title} wrote no record of {reads} mates of no bases."));
    }
    let ranks = match joint.zip(dealt) {
        None => {
            run.bytes_out = Bytes(opened.ok_or_else(|| joint::no_header(args))?.sink.finish(&lengths)?);
            Vec::new()
        }
        Some((joint, dealt)) => {
            notes.extend(joint.note());
            let (sink, header) = opened.map(|opened| (opened.sink, outputs::header_digest(&opened.header))).unzip();
            let Some(ranks) = joint.finish(args, sink, header, &dealt, &mut run)? else { return Ok(()) };
            ranks
        }
    };
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
        plan: site.followed(tried),
        run,
        comparison,
        ranks,
        notes,
    };
    account.tell(args, &specs, &groups)?;
    // The records are there all the same, and what was to be said of them is said.
    failed.map_or(Ok(()), Err)
}

/// What the instances of this process warned of.
fn warned(name: &str, run: &RunReport) -> Vec<String> {
    let logs: Vec<PathBuf> =
        run.instances.iter().filter_map(|instance| instance.log.as_ref().map(PathBuf::from)).collect();
    let (warnings, more) = warnings(&logs);
    let mut notes: Vec<String> = warnings.iter().map(|warning| format!("{name} says: {warning}")).collect();
    if more > 0 {
        notes.push(format!("{name} has {more} further lines of warnings: --logs DIR keeps all that it says."));
    }
    notes
}

/// What is to be said where records depend on which instance had the read: of several, of which other ranks have some if
/// `ranks`; `changed` if they were replaced by others.
fn varying(
    args: &AlignArgs,
    descriptor: &Descriptor,
    (instances, ranks): (usize, bool),
    changed: bool,
) -> Option<String> {
    let title = &descriptor.title;
    if descriptor.contract.same_records == SameRecords::Free || (instances == 1 && !ranks && !changed) {
        return None;
    }
    let same = match () {
        _ if ranks => "For the same records in every run, do without ranks, with --deal static or --replicas 1.",
        _ if changed => "For the same records in every run, do without --plan auto.",
        _ if args.external.deal == DealName::Static => {
            "Every run with --deal static and as many instances gives these; --replicas 1 gives those of the aligner by \
             itself."
        }
        _ => {
            "For the same records in every run, use --deal static with as many instances; --replicas 1 gives those of \
             the aligner by itself."
        }
    };
    Some(format!(
        "Some records of {title} (the choice between equally good places, and what follows from it) depend on which \
         process had the reads. {same}"
    ))
}

/// What the user wants.
struct Wanted {
    found: Found,
    user: UserArguments,
    law: Law,
    paired: bool,
    fasta: bool,
    /// Whether instances take chunks by themselves, in all lanes.
    claimed: bool,
    /// Mean length of the first reads, in bases.
    read_length: usize,
    /// The kind of reads.
    profile: Profile,
    /// The header line of the read group that the aligner itself is told.
    read_group: Option<String>,
}

impl Wanted {
    /// The aligner and its arguments, and the lanes, opened.
    fn new(args: &AlignArgs, specs: &[LaneSpec], groups: &Groups) -> Result<(Self, Vec<OpenLane>), Failure> {
        let descriptor = choose(args)?;
        let mut open: Vec<OpenLane> =
            specs.iter().map(|lane| Ok(OpenLane::open(lane)?.first(args.first))).collect::<Result<_, Failure>>()?;
        let read_length = zerohop_reads::mean_read_length(&mut open)?;
        let known = [
            ("read_length", read_length.to_string()),
            ("canonical_read_length", canonical_read_length(read_length).to_string()),
        ];
        let text = args.external.engine_args.as_deref().unwrap_or_default();
        let user = UserArguments::parse(&descriptor, text, &known)?;
        let law = law(&descriptor, &user)?;
        let (paired, fasta) = one_kind(&open)?;
        let read_group = read_group(&descriptor, groups)?;
        let profile = Profile::new(paired, read_length, args.external.engine_args.as_deref());
        let claimed = open.iter().all(OpenLane::is_claimed);
        Ok((
            Wanted {
                found: Found::find(descriptor)?,
                user,
                law,
                paired,
                fasta,
                claimed,
                read_length,
                profile,
                read_group,
            },
            open,
        ))
    }
}

/// The plan to begin with, and what else may be tried while it runs.
fn begin(
    args: &AlignArgs,
    machine: &Machine,
    subject: &Subject,
    claimed: bool,
) -> Result<(Planned, Option<Alternatives>), Failure> {
    let auto = args.plan == Some(PlanFrom::Auto);
    // What was dealt to an instance cannot be taken back from it.
    let relievable = claimed && args.external.deal == DealName::OnDemand;
    if auto
        && relievable
        && let Some(alternatives) = Alternatives::of(args, machine, subject.kind, subject.index.0)?
    {
        return Ok((Planned { plan: alternatives.plans[0].clone(), farm: false }, Some(alternatives)));
    }
    let mut planned = planning::planned(args, machine, Some(subject))?;
    if auto {
        let why = if relievable { "the rule is sure" } else { "reads are dealt to the instances one after the other" };
        planned.plan.reasons.insert(0, format!("Nothing was tried, for {why}."));
    }
    Ok((planned, None))
}

/// The aligner that the user wants.
fn choose(args: &AlignArgs) -> Result<Descriptor, Failure> {
    if args.read_length.is_some() || args.no_index {
        return Err(Failure::Usage("--read-length and --no-index are for the built-in strobealign".to_owned()));
    }
    if args.huge_pages == HugePagesName::Off {
        return Err(Failure::Usage("--huge-pages is for the built-in strobealign".to_owned()));
    }
    aligners::described(&args.engine, &args.external.engine_file)
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
    /// Whether each worker is a process of its own, and shares an index copy.
    farm: bool,
    /// What else may be tried while it runs.
    alternatives: Option<Alternatives>,
    index: FoundIndex,
    /// What the records depend on.
    with: AlignedWith,
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
    fn new(args: &AlignArgs, wanted: &Wanted, seat: &Seat, notes: &mut Vec<String>) -> Result<Self, Failure> {
        let machine = seat.machine()?;
        let reaper = reaping::start()?;
        let tell = |charge: Charge| told(&reaper, &charge);
        let index = match args.external.build_index {
            false => wanted.found.index(&args.reference, &wanted.user)?,
            true => {
                let threads = args.threads.unwrap_or_else(|| machine.allowed.worker_count());
                wanted.found.index_or_build(&args.reference, &wanted.user, threads, &tell)?
            }
        };
        outputs::apart_from(args, index.files.iter().chain(&index.program).chain([&wanted.found.program]))?;
        let subject = Subject::external(&wanted.found, &index, &args.reference, wanted.law, wanted.profile.clone());
        let (Planned { plan, farm }, alternatives) = begin(args, &machine, &subject, wanted.claimed)?;
        if !farm {
            notes.extend(seat.weigh(&machine, plan.instances(farm).len(), subject.index)?);
        }
        let log_folder = LogFolder::new(args, &reaper)?;
        let started = Instant::now();
        let keep = args.external.keep_copies;
        let share = || SharedIndex::make(&wanted.found, &index, &plan.replicas, keep, &tell);
        let shared = farm.then(share).transpose()?;
        let most = alternatives.as_ref().map_or(0, Alternatives::most_copies).max(plan.replicas.len());
        let own = || vec![index.prefix.clone(); most];
        let prefixes = shared.as_ref().map_or_else(own, |shared| shared.prefixes.clone());
        let with = subject.aligned_with();
        Ok(Site {
            machine,
            plan,
            farm,
            alternatives,
            index,
            with,
            prefixes,
            shared,
            sharing: started.elapsed(),
            log_folder,
            reaper,
        })
    }

    /// Processes that take reads at once.
    fn instances(&self) -> usize {
        self.plan.instances(self.farm).len()
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
        joint: Option<&mut Joint<'_>>,
    ) -> Result<(Came, Option<Tried>), Failure> {
        let plans = self.plan.instances(self.farm);
        let count = plans.len();
        let lanes = joint::deal_lanes(joint.as_deref(), open, wanted.law, MAX_READ_BASES, count)?;
        let launch = self.launch(args, wanted, specs);
        let instances = launch.start(plans, 0, &|charge| told(&self.reaper, &charge))?;
        let dealing = match args.external.deal {
            DealName::OnDemand => Dealing::OnDemand,
            DealName::Static => Dealing::Static,
        };
        let held = (HELD_BASES / wanted.law.closes_at_bases()).max(2) as usize;
        let held = held.max(joint.as_ref().map_or(0, |joint| joint.held()));
        let grains = joint.as_ref().map(|joint| joint.grains());
        let grains = grains.as_deref();
        let (order, progress) = (outputs::order(args), Progress::default());
        let Some(alternatives) = &self.alternatives else {
            let mapping = Mapping::Instances { instances, sink: late, dealing, held, relief: None };
            let job = Job { lanes, mapping, order, grains, plan: &self.plan, progress: &progress };
            return Ok((joint::run(joint, !args.quiet, &progress, || zerohop_runtime::run(job))?, None));
        };
        let (send, fresh) = std::sync::mpsc::channel();
        // Each strategy may come once more when it is the best.
        let most =
            alternatives.plans.iter().map(|plan| plan.replicas.len()).sum::<usize>() + alternatives.most_copies();
        let relief = Relief { fresh, most };
        let switch = Relieve {
            launch: &launch,
            reaper: &self.reaper,
            plans: &alternatives.plans,
            followed: 0,
            send,
            present: instances.iter().map(|instance| Arc::clone(&instance.leave)).collect(),
            started: count,
            progress: &progress,
        };
        let mapping = Mapping::Instances { instances, sink: late, dealing, held, relief: Some(relief) };
        let job = Job { lanes, mapping, order, grains, plan: &self.plan, progress: &progress };
        let over = AtomicBool::new(false);
        let least_reads = Self::reads_to_judge(wanted, alternatives);
        let (progress, over, worth) = (&progress, &over, WORTH);
        let watched = Watched { alternatives, progress, over, making: None, worth, least_reads };
        let run = || joint::run(joint, !args.quiet, progress, || zerohop_runtime::run(job));
        let (outcome, tried) = auto::beside(&watched, switch, run);
        Ok((outcome?, tried.map(|(tried, _)| tried)))
    }

    /// Reads that all instances together must have mapped before it can be said how fast they are: some batches each.
    fn reads_to_judge(wanted: &Wanted, alternatives: &Alternatives) -> u64 {
        let batches = BATCHES_TO_JUDGE * alternatives.most_copies() as u64;
        batches * wanted.law.closes_at_bases() / wanted.read_length.max(1) as u64
    }

    /// The plan that was followed to the end.
    fn followed(&self, tried: Option<Tried>) -> Plan {
        let (Some(alternatives), Some(tried)) = (&self.alternatives, tried) else { return self.plan.clone() };
        let mut plan = alternatives.plans[tried.kept].clone();
        plan.reasons.insert(0, tried.said);
        plan
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
    /// The files that other ranks write as well.
    partials: Option<Vec<PathBuf>>,
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
        let sink = outputs::open(self.args, whole, lane_groups, self.partials.as_deref())?;
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
