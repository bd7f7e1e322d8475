//! Where an external aligner runs: its index, the plan, index copies, logs, and who clears away.

use super::handover::HandOver;
use super::late::Late;
use super::logs::LogFolder;
use super::reference::check_time;
use super::wanted::WantedAligner;
use crate::engines::key;
use crate::job::{AlignError, Job, PlanFrom, files};
use crate::plan::pilots::{self, Alternatives, PilotsOutcome, WatchedRun};
use crate::plan::tuning_key::{AlignedWith, TuningKey};
use crate::plan::{self, Planned};
use crate::run::{self, MachineShare, RunPart};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use zerohop_engine_external::{FoundIndex, Launch, SharedIndex};
use zerohop_input::OpenLane;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::Plan;
use zerohop_output::Comments;
use zerohop_report::{IndexOrigin, IndexReport};
use zerohop_runtime::{Dealing, Handover, Job as Run, Mapping, Outcome, Progress};

/// The longest read that is passed on, in bases: what a chunk's text can hold twice over.
const MAX_READ_BASES: usize = 1 << 30;
/// Bases in finished chunks that an instance may hold while the others are behind: SNAP alone takes in as much as that
/// before it puts anything out.
const HELD_BASES: u64 = 100_000_000;
/// Instances hand over only if what is left of the run takes so many times as long as loading took: a gain of a
/// tenth has to pay for loading twice.
const WORTH: f64 = 20.0;
/// Batches that each instance should have mapped before it is judged.
const BATCHES_TO_JUDGE: u64 = 4;
/// Where it happens.
pub struct Site {
    pub machine: Machine,
    pub plan: Plan,
    /// Whether each worker is a process of its own, and shares an index copy.
    pub farm: bool,
    /// What else may be tried while it runs.
    pub alternatives: Option<Alternatives>,
    pub index: FoundIndex,
    /// What the records depend on.
    pub with: AlignedWith,
    /// What the aligner is told as its index, for each replica.
    pub prefixes: Vec<PathBuf>,
    pub shared: Option<SharedIndex>,
    /// Time that laying out the copies took.
    pub sharing: Duration,
    pub log_folder: LogFolder,
}

impl Site {
    /// Finds or builds the index, plans, and lays out copies. What the user should know goes to `notes`.
    ///
    /// # Errors
    /// An index that is missing; copies that do not fit; a folder or a process that cannot be made.
    pub fn new(
        job: &Job,
        wanted: &WantedAligner,
        share: &dyn MachineShare,
        notes: &mut Vec<String>,
    ) -> Result<Self, AlignError> {
        let machine = share.machine()?;
        if !zerohop_process::is_prepared() {
            let words = "external aligners need a program that begins with zerohop_align::prepare()";
            return Err(AlignError::Failed(words.to_owned()));
        }
        let index = match job.external.build_index {
            false => wanted.found.index(&job.reference, &wanted.user)?,
            true => {
                let threads = job.placement.threads.unwrap_or_else(|| machine.allowed.worker_count());
                wanted.found.index_or_build(&job.reference, &wanted.user, threads)?
            }
        };
        check_time((&wanted.found, &wanted.user), &index, &job.reference, notes)?;
        let (found, user) = (&wanted.found, &wanted.user);
        let key = key::external((found, user), &index, &job.reference, wanted.cut, wanted.profile.clone());
        files::apart_from(job, key.files.iter().chain(&index.program).chain([&found.program]))?;
        let (Planned { plan, farm }, alternatives) = begin(job, &machine, &key, wanted.claimed)?;
        if !farm {
            notes.extend(share.weigh(&machine, plan.instances(farm).len(), key.index)?);
        }
        let log_folder = LogFolder::new(job)?;
        let started = Instant::now();
        let keep = job.external.keep_copies;
        let share = || SharedIndex::make(&wanted.found, &index, &plan.replicas, keep);
        let shared = farm.then(share).transpose()?;
        let most = alternatives.as_ref().map_or(0, Alternatives::most_copies).max(plan.replicas.len());
        let own = || vec![index.prefix.clone(); most];
        let prefixes = shared.as_ref().map_or_else(own, |shared| shared.prefixes.clone());
        let with = key.aligned_with();
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
        })
    }

    /// Processes that take reads at once.
    pub fn instances(&self) -> usize {
        self.plan.instances(self.farm).len()
    }

    /// How instances are started.
    pub fn launch<'a>(&'a self, job: &'a Job, wanted: &'a WantedAligner) -> Launch<'a> {
        Launch {
            found: &wanted.found,
            index: &self.index,
            prefixes: &self.prefixes,
            shared: self.shared.as_ref().map(|shared| &shared.folders[..]).unwrap_or_default(),
            user: &wanted.user,
            reference: &job.reference,
            lanes: job.lanes.iter().map(|lane| lane.files[0].clone()).collect(),
            paired: wanted.paired,
            fasta: wanted.fasta,
            read_group: wanted.read_group.clone(),
            comments: job.output.comments != Comments::None,
            dna: job.external.dna,
            logs: &self.log_folder.logs,
            hang_limit: job.hang_limit(),
        }
    }

    /// Starts the instances, feeds and drains them, and stops them at a point in time.
    ///
    /// # Errors
    /// What made it fail.
    pub fn align(
        &self,
        job: &Job,
        wanted: &WantedAligner,
        (open, until): (Vec<OpenLane>, Option<Instant>),
        late: &Late<'_>,
        part: &mut dyn RunPart,
    ) -> Result<(Outcome, Option<PilotsOutcome>), AlignError> {
        let plans = self.plan.instances(self.farm);
        let count = plans.len();
        let lanes = part.deal(open, wanted.cut, MAX_READ_BASES, count)?;
        let launch = self.launch(job, wanted);
        let instances = launch.start(plans, 0)?;
        let dealing = job.external.deal;
        let held = (HELD_BASES / wanted.cut.chunk_bases()).max(2) as usize;
        let (held, grains) = (held.max(part.held()), part.grains());
        let grains = grains.as_deref();
        let (order, progress) = (job.output.order, Progress::default());
        let Some(alternatives) = &self.alternatives else {
            let mapping = Mapping::Instances { instances, sink: late, dealing, held, handover: None };
            let run = Run { lanes, mapping, order, grains, plan: &self.plan, progress: &progress, until };
            return Ok((run::run(part, job.quiet, &progress, || zerohop_runtime::run(run))?, None));
        };
        let (send, fresh) = std::sync::mpsc::channel();
        // Each strategy may come once more when it is the best.
        let most =
            alternatives.plans.iter().map(|plan| plan.replicas.len()).sum::<usize>() + alternatives.most_copies();
        let handover = Handover { fresh, most };
        let switch = HandOver {
            launch: &launch,
            plans: &alternatives.plans,
            followed: 0,
            send,
            present: instances.iter().map(|instance| Arc::clone(&instance.leave)).collect(),
            started: count,
            progress: &progress,
        };
        let mapping = Mapping::Instances { instances, sink: late, dealing, held, handover: Some(handover) };
        let run = Run { lanes, mapping, order, grains, plan: &self.plan, progress: &progress, until };
        let over = AtomicBool::new(false);
        let least_reads = Self::reads_to_judge(wanted, alternatives);
        let (progress, over, worth) = (&progress, &over, WORTH);
        let watched = WatchedRun { alternatives, progress, over, making: None, worth, least_reads };
        let run = || run::run(part, job.quiet, progress, || zerohop_runtime::run(run));
        let (outcome, tried) = pilots::beside(&watched, switch, run);
        Ok((outcome?, tried.map(|(tried, _)| tried)))
    }

    /// Reads that all instances together must have mapped before it can be said how fast they are: some batches each.
    fn reads_to_judge(wanted: &WantedAligner, alternatives: &Alternatives) -> u64 {
        let batches = BATCHES_TO_JUDGE * alternatives.most_copies() as u64;
        batches * wanted.cut.closes_at_bases / wanted.read_length.max(1) as u64
    }

    /// The plan that was followed to the end.
    pub fn followed(&self, tried: Option<PilotsOutcome>) -> Plan {
        let (Some(alternatives), Some(tried)) = (&self.alternatives, tried) else { return self.plan.clone() };
        let mut plan = alternatives.plans[tried.kept].clone();
        plan.reasons.insert(0, tried.said);
        plan
    }

    /// What is to be said of the index.
    pub fn index_report(&self) -> IndexReport {
        let origin = IndexOrigin::File(self.index.prefix.display().to_string());
        IndexReport {
            origin,
            is_mapped: false,
            bytes: Bytes(self.index.bytes()),
            reference_bases: 0,
            time: self.sharing,
            mean_read_length: 0,
            read_length: 0,
        }
    }
}

/// The plan to begin with, and what else may be tried while it runs.
fn begin(
    job: &Job,
    machine: &Machine,
    key: &TuningKey,
    claimed: bool,
) -> Result<(Planned, Option<Alternatives>), AlignError> {
    let auto = job.placement.plan == Some(PlanFrom::Auto);
    // What was dealt to an instance cannot be taken back from it.
    let can_hand_over = claimed && job.external.deal == Dealing::OnDemand;
    if auto
        && can_hand_over
        && let Some(alternatives) = Alternatives::of(job, machine, key)?
    {
        return Ok((Planned { plan: alternatives.plans[0].clone(), farm: false }, Some(alternatives)));
    }
    let mut planned = plan::planned(job, machine, key)?;
    if auto {
        let why =
            if can_hand_over { "the rule is sure" } else { "reads are dealt to the instances one after the other" };
        planned.plan.reasons.insert(0, format!("Nothing was tried, for {why}."));
    }
    Ok((planned, None))
}
