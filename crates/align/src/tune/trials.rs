//! Trials of `zerohop tune`: each aligns reads as `zerohop align` does, and is saved as soon as it has ended.

use super::TuneJob;
use crate::job::{AlignError, Job, NULL, PlacementOptions, PlanFrom, lanes};
use crate::tell::resources;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::machine::CpuId;
use zerohop_model::tuning::{Choice, Trial};
use zerohop_plan::Replicas;
use zerohop_process::{NewFolder, TemporaryFolder};
use zerohop_report::Summary;

/// What a trial may take beyond its limit: getting ready and ending takes time, too.
const SLACK_S: f64 = 0.3;

/// A trial is run again, so many times at most, if others kept so many CPUs busy meanwhile; the least disturbed one
/// counts.
const QUIET_CPUS: f64 = 0.2;
const MORE_ATTEMPTS: usize = 2;

/// Folders of trials with our process number that may be left by others.
const MOST_FOLDERS: u32 = 1000;

/// What is to be run: a choice, on the first reads of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialOrder {
    /// The choice.
    pub choice: Choice,
    /// Reads or pairs; 0 for all.
    pub fragments: u64,
    /// 1, 2, 3, ...; 0 for runs that only prepare.
    pub round: u32,
}

/// A line of the file of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TrialLine {
    /// What is tuned: trials of another aligner, index, input or machine do not count.
    #[serde(alias = "subject")]
    key: String,
    order: TrialOrder,
    trial: Trial,
}

/// Runs trials, and knows those that were run before.
pub struct Trials<'a> {
    job: &'a TuneJob,
    /// The CPUs that we may use.
    cpus: Vec<CpuId>,
    key: String,
    path: PathBuf,
    /// None before the first trial is saved.
    file: Option<File>,
    lines: Vec<TrialLine>,
    /// The folder, if it is new: it goes if no trial is saved.
    _folder: Option<NewFolder>,
}

impl<'a> Trials<'a> {
    /// Opens the file of trials. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// A file that cannot be read or written, or holds something else.
    pub fn open(job: &'a TuneJob, cpus: Vec<CpuId>, key: String) -> Result<Self, AlignError> {
        let path = job.runs.join("trials.jsonl");
        let fault = |what: String| AlignError::Failed(format!("{}: {what}", path.display()));
        let folder = folder(&job.runs).map_err(|error| fault(error.to_string()))?;
        let mut file = match OpenOptions::new().append(true).read(true).open(&path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(fault(error.to_string())),
        };
        let (mut bytes, mut lines) = (Vec::new(), Vec::new());
        if let Some(file) = &mut file {
            file.read_to_end(&mut bytes).map_err(|error| fault(error.to_string()))?;
            let whole = whole_lines(&bytes);
            file.set_len(whole.len() as u64).map_err(|error| fault(error.to_string()))?;
            lines = trials(whole).map_err(fault)?;
        }
        Ok(Trials { job, cpus, key, path, file, lines, _folder: folder })
    }

    /// All trials of this key that count.
    pub fn of_rounds(&self) -> Vec<Trial> {
        let mine = self.lines.iter().filter(|line| line.key == self.key && line.order.round > 0);
        mine.map(|line| line.trial.clone()).collect()
    }

    /// Runs a trial, or finds it among those that were run. With a limit, it is broken off after so many seconds.
    ///
    /// # Errors
    /// A trial that fails, or cannot be saved.
    pub fn run(&mut self, order: TrialOrder, limit_s: Option<f64>) -> Result<Trial, AlignError> {
        if let Some(line) = self.lines.iter().find(|line| line.key == self.key && line.order == order) {
            return Ok(line.trial.clone());
        }
        let mut trial = run_one(self.job, &self.cpus, order, limit_s)?;
        for _ in 0..MORE_ATTEMPTS {
            if trial.others_cpus <= QUIET_CPUS {
                break;
            }
            let again = run_one(self.job, &self.cpus, order, limit_s)?;
            if again.others_cpus < trial.others_cpus {
                trial = again;
            }
        }
        let line = TrialLine { key: self.key.clone(), order, trial: trial.clone() };
        let fault = |what: String| AlignError::Failed(format!("{}: cannot write: {what}", self.path.display()));
        let text = serde_json::to_string(&line).map_err(|error| fault(error.to_string()))?;
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let made = OpenOptions::new().create(true).append(true).open(&self.path);
                none.insert(made.map_err(|error| fault(error.to_string()))?)
            }
        };
        file.write_all(format!("{text}\n").as_bytes()).map_err(|error| fault(error.to_string()))?;
        self.lines.push(line);
        Ok(trial)
    }

    /// Reads and fragments of the whole input, counted by a run that maps nothing.
    ///
    /// # Errors
    /// Reads that cannot be read.
    pub fn count(&self) -> Result<(u64, u64), AlignError> {
        let mut folder = work_folder(self.job)?;
        // No reference is needed, and what is named as one may be an index that only its aligner can read.
        let reference = file_in(&mut folder, self.job, "none.fa")?;
        std::fs::write(&reference, ">none\nN\n")
            .map_err(|error| AlignError::Failed(format!("{}: cannot write: {error}", reference.display())))?;
        let job = Job { engine: NULL.to_owned(), reference, ..trial(self.job, &mut folder, 0)? };
        let tally = summary(&job)?.run.tally;
        Ok((tally.reads, tally.fragments))
    }
}

/// What is there up to the end of the last line: another may have been cut off, anywhere.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)]
}

fn trials(lines: &[u8]) -> Result<Vec<TrialLine>, String> {
    let line = |(number, line): (usize, &[u8])| {
        serde_json::from_slice(line).map_err(|error| format!("line {} is no trial: {error}", number + 1))
    };
    lines.split_inclusive(|byte| *byte == b'\n').enumerate().map(line).collect()
}

/// The folder for all trials, if it had to be made.
fn folder(runs: &Path) -> std::io::Result<Option<NewFolder>> {
    let runs = std::path::absolute(runs)?;
    if runs.is_dir() {
        return Ok(None);
    }
    runs.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    NewFolder::create(&runs).map(Some)
}

/// A folder for the output of a trial.
fn work_folder(job: &TuneJob) -> Result<TemporaryFolder, AlignError> {
    let made = std::path::absolute(&job.runs).and_then(|runs| {
        // An earlier tuning that was killed may have left some.
        let made = (0..MOST_FOLDERS).map(|number| {
            TemporaryFolder::create(&runs.join(format!("trial-{}-{number}", std::process::id())))
        });
        let is_taken = |made: &std::io::Result<TemporaryFolder>| {
            matches!(made, Err(error) if error.kind() == ErrorKind::AlreadyExists)
        };
        let mut free = made.skip_while(is_taken);
        free.next().unwrap_or_else(|| Err(ErrorKind::AlreadyExists.into()))
    });
    made.map_err(|error| no_file_in(job, &error))
}

fn file_in(folder: &mut TemporaryFolder, job: &TuneJob, name: &str) -> Result<PathBuf, AlignError> {
    folder.file(name).map_err(|error| no_file_in(job, &error))
}

fn no_file_in(job: &TuneJob, error: &std::io::Error) -> AlignError {
    AlignError::Failed(format!("{}: a folder cannot be made in it: {error}", job.runs.display()))
}

/// The alignment of so many reads or pairs (0: all) of this tuning, with its output in `folder`.
fn trial(job: &TuneJob, folder: &mut TemporaryFolder, fragments: u64) -> Result<Job, AlignError> {
    let first = if fragments == 0 { job.first } else { Some(fragments) };
    let mut trial = Job::new(job.reference.clone(), lanes::lanes(vec![job.reads.clone()], false)?);
    trial.output.path = Some(file_in(folder, job, "out")?);
    trial.placement.plan = Some(PlanFrom::Rule);
    Ok(Job { first, quiet: true, ..trial })
}

/// Aligns, and gives what there is to say of it.
fn summary(job: &Job) -> Result<Summary, AlignError> {
    let nothing = || AlignError::Failed("a trial said nothing: please report this".to_owned());
    Ok(crate::align(job)?.ok_or_else(nothing)?.summary)
}

fn run_one(job: &TuneJob, cpus: &[CpuId], order: TrialOrder, limit_s: Option<f64>) -> Result<Trial, AlignError> {
    let TrialOrder { choice, fragments, round } = order;
    let mut folder = work_folder(job)?;
    let mut trial = trial(job, &mut folder, fragments)?;
    trial.engine.clone_from(&job.engine);
    trial.external.engine_file.clone_from(&job.engine_file);
    trial.external.engine_args.clone_from(&job.engine_args);
    trial.external.farm = choice.farm;
    let (threads, pages) = (Some(choice.threads), Some(choice.pages));
    trial.placement = PlacementOptions { threads, replicas: Replicas::Count(choice.copies), pages, ..trial.placement };
    trial.time_limit = limit_s.map(|limit| Duration::from_secs_f64(limit + SLACK_S));

    let used = || resources::used().cpu();
    let (started, busy, own) = (Instant::now(), zerohop_topology::busy_time(cpus), used());
    let outcome = summary(&trial);
    let wall_s = started.elapsed().as_secs_f64();
    let cpu_s = used().saturating_sub(own).as_secs_f64();
    let busy_s = zerohop_topology::busy_time(cpus).saturating_sub(busy).as_secs_f64();
    let others_cpus = (busy_s - cpu_s).max(0.0) / wall_s;
    match outcome {
        Ok(summary) => {
            let (load_s, map_s) = (summary.index.time.as_secs_f64(), summary.run.wall.as_secs_f64());
            let reads = summary.run.tally.reads;
            Ok(Trial { choice, round, reads, load_s, map_s, cpu_s, others_cpus, broken_off: false })
        }
        Err(AlignError::Run(Error::Stopped)) => {
            let (reads, load_s, map_s) = (0, 0.0, wall_s);
            Ok(Trial { choice, round, reads, load_s, map_s, cpu_s, others_cpus, broken_off: true })
        }
        Err(error) => Err(AlignError::Failed(format!("a trial failed: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_line_that_was_cut_off_is_dropped_whatever_its_bytes_are() {
        assert!(trials(whole_lines(b"{\"key\":\"\xff\xfe")).unwrap().is_empty());
        assert!(trials(whole_lines(b"\xff\n{")).err().unwrap().starts_with("line 1 is no trial"));
    }
}
