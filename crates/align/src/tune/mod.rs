//! Tuning: tries the choices on the user's own reads and index, and keeps the best as a plan.
//!
//! 1. the choices of both parts of the method, without those that the rule excludes;
//! 2. how many reads a trial needs: a hundredth of the input, but enough chunks for every instance and some seconds of
//!    work;
//! 3. a race: rounds in which each choice runs once, and from which those drop out that are clearly behind; or, with
//!    `--full`, all of them over all reads;
//! 4. what came of it, as a table like those of Lenis & Senar (2016, 2017), and as a plan that `zerohop align` will
//!    find.

pub mod strategies;
mod trials;

use crate::engines::descriptors;
use crate::engines::key;
use crate::job::AlignError;
use crate::plan;
use crate::plan::tuning_key::TuningKey;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;
use trials::{TrialOrder, Trials};
use zerohop_input::{LaneSpec, OpenLane};
use zerohop_model::machine::Machine;
use zerohop_model::tuning::{Choice, Trial, Tuning};
use zerohop_plan::{Candidate, Engine, Heat, Race, Rules, candidates};
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::{WriteError, cache, json, tell};

/// The part of the reads that a trial maps, and the least time that it should take.
const PART: f64 = 0.01;
const LEAST_S: f64 = 2.0;
/// Chunks that each thread of an embedded engine, or each instance, should have in a trial: with fewer, the last ones
/// decide.
const CHUNKS_EACH: u64 = 8;
/// Reads or pairs, for each copy, of a run that shows how long loading takes.
const NEXT_TO_NONE: u64 = 200;
/// Rounds unless the user says otherwise.
const ROUNDS: u32 = 5;
/// Other programs are spoken of if they kept so many CPUs busy on average.
const DISTURBING_CPUS: f64 = 0.1;
const FULL_ROUNDS: u32 = 10;

/// What is tuned, and how.
#[derive(Debug, Clone)]
pub struct TuneJob {
    /// The reference; its index must be there for aligners that are programs of their own.
    pub reference: PathBuf,
    /// Reads as they will be aligned, in regular files: one, or two with the mates in step.
    pub reads: Vec<PathBuf>,
    /// The aligner, by its name.
    pub engine: String,
    /// Files that describe aligners.
    pub engine_file: Vec<PathBuf>,
    /// Arguments for the aligner.
    pub engine_args: Option<String>,
    /// Reads or pairs that are taken for the whole input; all by default.
    pub first: Option<u64>,
    /// Whether all choices run on all reads.
    pub full: bool,
    /// Rounds; by default 10 if `full`, else 5 at most.
    pub repeat: Option<u32>,
    /// The folder for the trials; what is there is not tried again.
    pub runs: PathBuf,
    /// Where the plan goes, beside the cache folder.
    pub output: Option<PathBuf>,
    /// Whether the plan is kept for later runs.
    pub keep: bool,
    /// The command that asked for it, for the report.
    pub command: String,
    /// Whether progress is kept back.
    pub quiet: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Tuned {
    /// All that was tried and found.
    pub tuning: Tuning,
    /// Whether the plan is kept for later runs, and why not if it should have been.
    pub kept: Option<Result<(), WriteError>>,
}

/// Tries, and keeps the best.
///
/// # Errors
/// Wrong usage, trials that fail, files that cannot be written.
pub fn tune(job: &TuneJob) -> Result<Tuned, AlignError> {
    let started = Instant::now();
    check_outputs(job, &[])?;
    job.output.iter().try_for_each(|path| zerohop_process::check_writable(path))?;
    let machine = zerohop_topology::detect()?;
    let key = key(job)?;
    check_outputs(job, &key.files)?;
    let trials = Trials::open(job, machine.allowed.cpus.clone(), identity(job, &machine, &key)?)?;
    let (reads, fragments) = trials.count()?;
    if reads == 0 {
        return Err(AlignError::Failed(format!("{}: there are no reads to try anything on", job.reads[0].display())));
    }
    let all = candidates(&machine, key.index.0, key.kind, job.full);
    let tried = all.iter().filter(|candidate| candidate.dropped.is_none()).map(|candidate| candidate.choice).collect();
    let rules = Rules { rounds: job.repeat.unwrap_or(if job.full { FULL_ROUNDS } else { ROUNDS }), early: !job.full };
    let mut tuner = Tuner { job, key: &key, trials, reads, fragments, loads: BTreeMap::new() };
    let race = tuner.race(tried, rules)?;

    let mut findings = race.findings();
    let best = findings.first().filter(|best| best.dropped.is_none()).map(|best| best.choice);
    let best = best.ok_or_else(|| match findings.first().and_then(|finding| finding.dropped.clone()) {
        Some(why) => AlignError::Failed(why),
        None => AlignError::Failed("there was nothing to try".to_owned()),
    })?;
    findings.extend(all.iter().filter_map(Candidate::not_tried));
    let mut plan = plan::work_out(&machine, best, key.index, &key.kept)?;
    let tried = findings.iter().filter(|finding| finding.trials > 0).count();
    let trials = tuner.trials.of_rounds();
    let sure = race.sure() + &disturbed(&trials);
    plan.reasons = vec![format!("{best}: the best of {tried} choices in {} trials.", trials.len()), sure.clone()];
    let tuning = Tuning {
        schema_version: Tuning::SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: job.command.clone(),
        engine: key.engine.clone(),
        inputs: job.reads.iter().map(|file| file.display().to_string()).collect(),
        machine,
        index: key.index,
        reads,
        full: job.full,
        trials,
        findings,
        sure,
        took_s: started.elapsed().as_secs_f64(),
        plan,
    };
    keep(job, &key, best, tuning)
}

/// What is to be said if others used the machine at the same time.
fn disturbed(trials: &[Trial]) -> String {
    let mean = trials.iter().map(|trial| trial.others_cpus).sum::<f64>() / trials.len().max(1) as f64;
    match mean > DISTURBING_CPUS {
        true => format!(
            " The machine was not quiet: other programs kept {mean:.1} CPUs busy meanwhile, so differences may be \
             theirs."
        ),
        false => String::new(),
    }
}

/// Refuses outputs that would destroy what is read: what was typed, and the files of the index.
fn check_outputs(job: &TuneJob, index: &[PathBuf]) -> Result<(), AlignError> {
    let descriptors = descriptors::files(&job.engine_file);
    let inputs = job.reads.iter().chain([&job.reference]).chain(&descriptors).chain(index);
    let in_runs = ["tuning.json", "trials.jsonl"].map(|name| job.runs.join(name));
    overwrite::apart(inputs, job.output.iter().chain(&in_runs))?;
    Ok(job.output.iter().chain(&in_runs).try_for_each(|path| overwrite::replaceable(path, Kind::Json))?)
}

/// What is tuned, with the kind of its reads.
fn key(job: &TuneJob) -> Result<TuningKey, AlignError> {
    if let Some(file) = job.reads.iter().find(|file| !file.is_file()) {
        return Err(AlignError::Usage(format!(
            "{}: reads are read many times over, and so must be in a regular file",
            file.display()
        )));
    }
    let spec = LaneSpec { interleaved: false, files: job.reads.clone() };
    let mut lane = OpenLane::open_with(&spec, Some(&job.reference))?;
    let read_length = zerohop_input::mean_read_length(std::slice::from_mut(&mut lane))?;
    let profile = key::profile(lane.is_paired(), read_length, job.engine_args.as_deref());
    key::of(&job.engine, &job.engine_file, &job.reference, profile)
}

/// Sixteen digits that stand for the key, the input and the machine.
fn identity(job: &TuneJob, machine: &Machine, key: &TuningKey) -> Result<String, AlignError> {
    let size = |file: &PathBuf| {
        let fault = |error: std::io::Error| AlignError::Failed(format!("{}: cannot read: {error}", file.display()));
        let canonical = file.canonicalize().map_err(fault)?;
        Ok((canonical.metadata().map_err(fault)?.len(), canonical))
    };
    let inputs = job.reads.iter().map(size).collect::<Result<Vec<_>, AlignError>>()?;
    Ok(cache::digest(&(key.identity(machine), inputs, job.first, job.full)))
}

/// A race, with what it needs.
struct Tuner<'a> {
    job: &'a TuneJob,
    key: &'a TuningKey,
    trials: Trials<'a>,
    /// Of the whole input.
    reads: u64,
    fragments: u64,
    /// Seconds until an aligner maps, by index copies and whether they are shared.
    loads: BTreeMap<(usize, bool), f64>,
}

impl Tuner<'_> {
    fn race(&mut self, tried: Vec<Choice>, rules: Rules) -> Result<Race, AlignError> {
        let count = tried.len();
        if let Some(&favourite) = tried.first() {
            // Who reads an index first reads it from the disk, and should not be blamed for it.
            self.show("the index is read once");
            let fragments = (NEXT_TO_NONE * favourite.threads as u64 + 1).min(self.fragments);
            // What fails here fails again where it is told.
            let _ = self.trials.run(TrialOrder { choice: favourite, fragments, round: 0 }, None);
        }
        let fragments = match tried.first() {
            Some(favourite) if rules.early => self.fragments_of_a_trial(*favourite, &tried)?,
            _ => self.fragments,
        };
        let mut race = Race::new(tried, rules);
        let mut done = 0;
        while let Some(heat) = race.next() {
            done += 1;
            self.show(&format!(
                "trial {done}, round {} of at most {} with {count} choices: {}",
                heat.round, rules.rounds, heat.choice
            ));
            match self.heat(heat, fragments) {
                Ok(took_s) => race.ran(took_s),
                Err(failure) if rules.early => race.failed(failure.to_string()),
                Err(failure) => return Err(failure),
            }
        }
        self.show("");
        Ok(race)
    }

    /// Seconds that the whole input would take; none if the trial was broken off.
    fn heat(&mut self, heat: Heat, fragments: u64) -> Result<Option<f64>, AlignError> {
        let Heat { choice, round, limit_s } = heat;
        let load_s = self.load_s(choice, heat.limit_s.is_some() || fragments < self.fragments)?;
        let part = fragments as f64 / self.fragments as f64;
        // An embedded engine tells how long it loads; until it has, as long again as the longest so far is borne.
        let key = (choice.copies, choice.farm);
        let longest = self.loads.values().fold(0.0, |longest: f64, load| longest.max(*load));
        let borne_s = self.loads.get(&key).map_or(2.0 * longest, |load| 1.5 * load);
        let limit_s = limit_s.map(|limit| borne_s + (limit - borne_s).max(0.0) * part);
        let trial = self.trials.run(TrialOrder { choice, fragments, round }, limit_s)?;
        if self.key.kind == Engine::Embedded && !trial.broken_off {
            self.loads.insert(key, trial.load_s);
        }
        Ok((!trial.broken_off).then(|| self.whole(&trial, load_s)))
    }

    /// Seconds for the whole input, from a trial on part of it.
    fn whole(&self, trial: &Trial, load_s: f64) -> f64 {
        let times = self.reads as f64 / trial.reads.max(1) as f64;
        match self.key.kind {
            Engine::Embedded => trial.load_s + trial.map_s * times,
            // Its own time holds the loading of every instance.
            Engine::External { .. } => trial.load_s + load_s + (trial.map_s - load_s).max(0.0) * times,
        }
    }

    /// How long instances take to load: what a run takes with next to no reads. Embedded engines tell.
    fn load_s(&mut self, choice: Choice, matters: bool) -> Result<f64, AlignError> {
        if self.key.kind == Engine::Embedded || !matters {
            return Ok(0.0);
        }
        let key = (choice.copies, choice.farm);
        if let Some(load_s) = self.loads.get(&key) {
            return Ok(*load_s);
        }
        let fragments = (NEXT_TO_NONE * choice.threads as u64).min(self.fragments);
        let trial = self.trials.run(TrialOrder { choice, fragments, round: 0 }, None)?;
        self.loads.insert(key, trial.map_s);
        Ok(trial.map_s)
    }

    /// How many reads or pairs a trial needs, found out with the favourite.
    fn fragments_of_a_trial(&mut self, favourite: Choice, tried: &[Choice]) -> Result<u64, AlignError> {
        let takers = tried.iter().map(|choice| match self.key.kind {
            Engine::External { .. } if !choice.farm => choice.copies,
            _ => choice.threads,
        });
        let chunks = CHUNKS_EACH * takers.max().unwrap_or(1) as u64;
        let bases_each = self.key.bases_of_a_fragment().max(1);
        let least = (chunks * self.key.chunk_bases / bases_each).max((self.fragments as f64 * PART) as u64);
        if least >= self.fragments {
            return Ok(self.fragments);
        }
        self.show("how many reads a trial needs");
        let load_s = self.load_s(favourite, true)?;
        let trial = self.trials.run(TrialOrder { choice: favourite, fragments: least, round: 0 }, None)?;
        let map_s = (trial.map_s - load_s).max(1e-3);
        Ok(((least as f64 * (LEAST_S / map_s).max(1.0)) as u64).min(self.fragments))
    }

    /// Tells on a terminal what goes on.
    fn show(&self, what: &str) {
        if !self.job.quiet {
            tell::progress(what);
        }
    }
}

/// Writes what came of it, and keeps the plan.
fn keep(job: &TuneJob, key: &TuningKey, best: Choice, tuning: Tuning) -> Result<Tuned, AlignError> {
    cache::write(&job.runs.join("tuning.json"), &tuning)?;
    let machine = &tuning.machine;
    let saved = plan::saved(machine, Some(key), key.index.0, best, tuning.plan.clone());
    if let Some(path) = &job.output {
        json::write(path, &saved)?;
    }
    let kept = key.plan_file(machine).filter(|_| job.keep).map(|path| cache::write(&path, &saved));
    Ok(Tuned { tuning, kept })
}
