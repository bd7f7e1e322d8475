//! An engine in our own process: index copies where the plan wants them, and workers of ours.

pub(crate) mod index_files;
pub mod keep;
mod library;
mod mapping;
mod replicas;
pub(crate) mod resident;
pub(crate) mod shared_index;
pub(crate) mod taken;

use crate::engines::key;
use crate::job::{AlignError, Job, PlanFrom, STROBEALIGN, files};
use crate::open::output;
use crate::plan;
use crate::plan::pilots::{self, Alternatives, WatchedRun};
use crate::plan::tuning_key::{AlignedWith, TuningKey};
use crate::run::{self, EngineRan, MachineShare, ReadyEngine, RunPart};
use crate::tell::{EngineTold, progress};
use index_files::find_or_write;
use replicas::{CopiesOnTheWay, IndexCopies, Move, check_memory};
use shared_index::{OneOfMany, PreparedIndex};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use zerohop_input::OpenLane;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::index::{IndexProvider, Wanted};
use zerohop_model::machine::Machine;
use zerohop_model::measurement::{Comparison, RunReport};
use zerohop_model::methylation::MethylationReport;
use zerohop_model::plan::Plan;
use zerohop_output::{Header, Program};
use zerohop_plan::count_missing;
use zerohop_process::tell;
use zerohop_runtime::{HELD_PER_WORKER, Job as Run, Mapping, Progress, ReplicaMap};

/// Further index copies are made only if what is left of the run takes so many times as long as making the first one
/// took.
const WORTH: f64 = 4.0;

/// An engine with its index.
pub struct EmbeddedEngine<'j> {
    job: &'j Job,
    machine: Machine,
    plan: Plan,
    /// What else may be tried.
    alternatives: Option<Alternatives>,
    replicas: IndexCopies,
    engine: Arc<dyn Engine>,
    with: AlignedWith,
    /// Other runs that read the same index.
    among: Option<OneOfMany<'j>>,
    /// Who read what: a copy lies in memory as long as this holds it, and the kernel is asked where only at the end.
    readers: Option<ReplicaMap>,
    /// What was tried, and the copies that came while the run went on, and stayed.
    tried: Option<(pilots::PilotsOutcome, Option<CopiesOnTheWay>)>,
}

impl<'j> EmbeddedEngine<'j> {
    /// Plans, and makes the index copies. What the user should know of them goes to `notes`.
    ///
    /// # Errors
    /// An index that cannot be found or made, or does not fit into memory; a plan that does not fit the machine.
    pub fn new(
        job: &'j Job,
        provider: &dyn IndexProvider,
        lanes: &mut [OpenLane],
        (share, among): (&dyn MachineShare, Option<OneOfMany<'j>>),
        notes: &mut Vec<String>,
    ) -> Result<Self, AlignError> {
        let mean_read_length = match job.read_length {
            Some(length) => length,
            None => zerohop_input::mean_read_length(lanes)?,
        };
        let arguments = job.external.engine_args.as_deref().unwrap_or_default();
        if provider.is_for_bisulfite(arguments) {
            lanes.iter_mut().try_for_each(|lane| library::find(lane, job.library, notes))?;
        }
        let reads = ReadsAhead {
            are_paired: lanes.first().is_some_and(OpenLane::is_paired),
            mean_length: mean_read_length,
            // Further runs may read the same index.
            bases: match among {
                None => lanes.iter().map(|lane| lane.about_bases(mean_read_length)).sum(),
                Some(_) => None,
            },
        };
        let mut alternatives = None;
        let prepare = || {
            let (prepared, others) = prepare(job, provider, reads, share, notes)?;
            alternatives = others;
            Ok(prepared)
        };
        let PreparedIndex { machine, plan, mut replicas, with, files, .. } = match among {
            Some(OneOfMany { index, .. }) => index.prepared(read_length_of(provider, mean_read_length), prepare)?,
            None => prepare()?,
        };
        files::apart_from(job, &files)?;
        replicas.report.mean_read_length = if provider.has_read_length() { mean_read_length } else { 0 };
        replicas.report.read_length = read_length_of(provider, mean_read_length);
        let engine = Arc::clone(&replicas.engines[0]);
        Ok(EmbeddedEngine {
            job,
            machine,
            plan,
            alternatives,
            replicas,
            engine,
            with,
            among,
            readers: None,
            tried: None,
        })
    }

    fn header(&self) -> Header {
        let (name, version) = self.engine.program();
        let own = Program {
            name: name.to_owned(),
            version: version.to_owned(),
            description: self.engine.description().map(str::to_owned),
            command_line: None,
        };
        let own = self.engine.is_in_header().then_some(own);
        Header {
            contigs: self.engine.contigs().to_vec(),
            read_groups: self.job.read_groups.groups.clone(),
            history: self.job.history.clone(),
            has_strobealigns_head: name == STROBEALIGN,
            programs: own.into_iter().chain([output::zerohop(self.job)]).collect(),
            ..Header::default()
        }
    }
}

/// The canonical length of reads by which indexes differ, of a mean length; 0 if they do not.
fn read_length_of(provider: &dyn IndexProvider, mean_read_length: usize) -> usize {
    if provider.has_read_length() { provider.canonical_read_length(mean_read_length) } else { 0 }
}

/// What is known of the reads before they are read.
struct ReadsAhead {
    are_paired: bool,
    /// In bases.
    mean_length: usize,
    /// About how many bases there are; unknown of pipes, and where they are not all that are aligned with the index.
    bases: Option<u64>,
}

/// Plans for such reads, and makes the index copies.
fn prepare(
    job: &Job,
    provider: &dyn IndexProvider,
    reads: ReadsAhead,
    share: &dyn MachineShare,
    notes: &mut Vec<String>,
) -> Result<(PreparedIndex, Option<Alternatives>), AlignError> {
    let (machine, tells) = (share.machine()?, !job.quiet && share.tells());
    let ReadsAhead { are_paired, mean_length: mean_read_length, bases } = reads;
    let arguments = job.external.engine_args.as_deref();
    let wanted = Wanted {
        reference: &job.reference,
        mean_read_length,
        anew: job.no_index,
        arguments: arguments.unwrap_or_default(),
    };
    let source = match job.external.build_index {
        true => {
            let threads = job.placement.threads.unwrap_or_else(|| machine.allowed.worker_count());
            find_or_write(provider, &wanted, threads, tells)?
        }
        false => provider.find(&wanted)?,
    };
    files::apart_from(job, &source.files())?;
    let key = key::embedded(provider, &*source, key::profile(are_paired, mean_read_length, arguments));
    let (plan, alternatives) = begin(job, &machine, &key)?;
    let missing = count_missing(&plan.replicas, &key.kept);
    notes.extend(share.weigh(&machine, missing, key.index)?);
    notes.extend(source.note());
    check_memory(source.least_bytes(), &job.reference, missing)?;
    if let Some(note) = source.note().filter(|_| tells && source.is_built()) {
        // Why there is work to do, before it is done; the summary says it again.
        tell::note(&note);
    }
    let what = if source.is_built() { "making" } else { "loading" };
    let what = format!("{what} the index of {}", job.reference.display());
    let mapped = mapping::mapped_pages(bases, source.bytes(), machine.nodes.len(), &plan.replicas);
    let mapped = mapped.filter(|_| alternatives.is_none() && !source.is_built());
    let make = || IndexCopies::make(&*source, &plan, mean_read_length, provider.has_index(), mapped);
    let replicas = progress::waiting(tells && provider.has_index(), &what, |_| make())?;
    notes.extend(replicas.notes.iter().cloned());
    let (read_length, files) = (read_length_of(provider, mean_read_length), source.files());
    Ok((PreparedIndex { read_length, machine, plan, replicas, with: key.aligned_with(), files }, alternatives))
}

impl ReadyEngine for EmbeddedEngine<'_> {
    fn cut(&self) -> Cut {
        self.engine.cut()
    }

    fn takers(&self) -> (usize, usize) {
        (self.plan.workers.len(), self.plan.workers.len())
    }

    fn aligned_with(&self) -> &AlignedWith {
        &self.with
    }

    fn run(
        &mut self,
        lanes: Vec<OpenLane>,
        until: Option<Instant>,
        part: &mut dyn RunPart,
    ) -> Result<EngineRan, AlignError> {
        let mut lanes = part.deal(lanes, self.engine.cut(), self.engine.max_read_bases(), self.plan.workers.len())?;
        if let Some(OneOfMany { run, taken, .. }) = self.among {
            lanes = taken::watched(lanes, run, taken);
        }
        let header = self.header();
        let digest = output::header_digest(&header);
        let sink = output::open(self.job, header, part.output())?;
        let (order, progress) = (self.job.output.order, Progress::default());
        // From here on a copy lives as long as somebody reads it.
        let (replicas, over) = (self.replicas.replicas(&self.plan), AtomicBool::new(false));
        self.replicas.engines.clear();
        let (grains, held) = (part.grains(), part.held().max(HELD_PER_WORKER));
        let mapping = Mapping::Embedded { replicas: &replicas, sink: &sink, held };
        let (grains, plan) = (grains.as_deref(), &self.plan);
        let run = Run { lanes, mapping, order, grains, plan, progress: &progress, until };
        let quiet = self.job.quiet;
        let run = || run::run(part, quiet, &progress, || zerohop_runtime::run(run));
        let (outcome, tried) = match &self.alternatives {
            None => (run(), None),
            Some(alternatives) => {
                let (making, worth, least_reads) = (Some(self.replicas.report.time), WORTH, 0);
                let watched = WatchedRun { alternatives, progress: &progress, over: &over, making, worth, least_reads };
                let (plans, first) = (&alternatives.plans, Arc::clone(&self.engine));
                let switch = Move { replicas: &replicas, plans, followed: 0, first, copies: None };
                let (outcome, tried) = pilots::beside(&watched, switch, run);
                (outcome, tried.map(|(tried, moved)| (tried, moved.copies)))
            }
        };
        (self.tried, self.readers) = (tried, Some(replicas));
        let outcome = outcome?;
        self.engine.check_unchanged()?;
        Ok(EngineRan { outcome, sink: Some((sink, digest)) })
    }

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn notes(&self, _: &RunReport, _: usize) -> Vec<String> {
        zerohop_memory::unplaced_refused()
    }

    fn compare(&self) -> Result<Option<Comparison>, AlignError> {
        Ok(None)
    }

    fn told(self: Box<Self>, mut run: RunReport) -> EngineTold {
        let contigs = self.engine.contigs();
        let name = |number: u32| contigs.get(number as usize).map(|contig| &*contig.name);
        run.methylation = MethylationReport::of(std::mem::take(&mut run.tally.methylation), name);
        let (name, version) = self.engine.program();
        let engine = (name.to_owned(), version.to_owned());
        let (plan, replicas) = match self.tried {
            Some((tried, copies)) => followed(self.plan, self.alternatives, tried, copies, self.replicas),
            None => (self.plan, self.replicas),
        };
        let census = replicas.census(&plan);
        drop(self.readers);
        EngineTold { engine, replicas: census, index: replicas.report, machine: self.machine, plan, run }
    }
}

/// The plan that was followed to the end, and its copies: `copies` are those that came while the run went on, and
/// stayed.
fn followed(
    first: Plan,
    alternatives: Option<Alternatives>,
    tried: pilots::PilotsOutcome,
    copies: Option<CopiesOnTheWay>,
    replicas: IndexCopies,
) -> (Plan, IndexCopies) {
    let (mut plan, replicas) = match (alternatives, copies) {
        (Some(mut alternatives), Some(copies)) => (alternatives.plans.swap_remove(tried.kept), replicas.with(copies)),
        _ => (first, replicas),
    };
    plan.reasons.insert(0, tried.said);
    (plan, replicas)
}

/// The plan to begin with, and what else may be tried.
fn begin(job: &Job, machine: &Machine, key: &TuningKey) -> Result<(Plan, Option<Alternatives>), AlignError> {
    if job.placement.plan == Some(PlanFrom::Auto)
        && let Some(alternatives) = Alternatives::of(job, machine, key)?
    {
        return Ok((alternatives.plans[0].clone(), Some(alternatives)));
    }
    let mut plan = plan::planned(job, machine, key)?.plan;
    if job.placement.plan == Some(PlanFrom::Auto) {
        plan.reasons.insert(0, "Nothing was tried, for the rule is sure.".to_owned());
    }
    Ok((plan, None))
}
