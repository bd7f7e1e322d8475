//! Trials of `zerohop tune`: each is a `zerohop align` of its own, and is saved as soon as it has ended.

use super::TuneJob;
use crate::error::AlignError;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use zerohop_model::machine::CpuId;
use zerohop_model::tuning::{Choice, Trial};
use zerohop_report::Summary;

/// How often a trial is looked at whether it has ended.
const LOOK: Duration = Duration::from_millis(5);
/// What a trial may take beyond its limit: starting and ending a program takes time, too.
const SLACK_S: f64 = 0.3;

/// A trial is run again, so many times at most, if others kept so many CPUs busy meanwhile; the least disturbed one
/// counts.
const QUIET_CPUS: f64 = 0.2;
const MORE_ATTEMPTS: usize = 2;

/// What is to be run: a choice, on the first reads of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The choice.
    pub choice: Choice,
    /// Reads or pairs; 0 for all.
    pub fragments: u64,
    /// 1, 2, 3, ...; 0 for runs that only prepare.
    pub round: u32,
}

/// A line of the file of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    /// What is tuned: trials of another aligner, index, input or machine do not count.
    #[serde(alias = "subject")]
    key: String,
    order: Order,
    trial: Trial,
}

/// Runs trials, and knows those that were run before.
pub struct Trials<'a> {
    job: &'a TuneJob,
    /// The CPUs that we may use.
    cpus: Vec<CpuId>,
    key: String,
    path: PathBuf,
    file: File,
    lines: Vec<Line>,
}

impl<'a> Trials<'a> {
    /// Opens the file of trials. A last line that was cut off is dropped.
    ///
    /// # Errors
    /// A file that cannot be read or written, or holds something else.
    pub fn open(job: &'a TuneJob, cpus: Vec<CpuId>, key: String) -> Result<Self, AlignError> {
        let path = job.runs.join("trials.jsonl");
        let fault = |what: String| AlignError::Failed(format!("{}: {what}", path.display()));
        std::fs::create_dir_all(&job.runs).map_err(|error| fault(error.to_string()))?;
        let opened = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let mut file = opened.map_err(|error| fault(error.to_string()))?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| fault(error.to_string()))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).map_err(|error| fault(error.to_string()))?;
        let line = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| fault(format!("line {} is no trial: {error}", number + 1)))
        };
        let lines = text[..whole].lines().enumerate().map(line).collect::<Result<Vec<Line>, _>>()?;
        Ok(Trials { job, cpus, key, path, file, lines })
    }

    /// All trials of this key that count.
    pub fn of_rounds(&self) -> Vec<Trial> {
        let mine = self.lines.iter().filter(|line| line.key == self.key && line.order.round > 0);
        mine.map(|line| line.trial.clone()).collect()
    }

    /// Runs a trial, or finds it among those that were run. With a limit, it is broken off after so many seconds of the
    /// whole process.
    ///
    /// # Errors
    /// A trial that fails, or cannot be saved.
    pub fn run(&mut self, order: Order, limit_s: Option<f64>) -> Result<Trial, AlignError> {
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
        let line = Line { key: self.key.clone(), order, trial: trial.clone() };
        let fault = |what: String| AlignError::Failed(format!("{}: cannot write: {what}", self.path.display()));
        let text = serde_json::to_string(&line).map_err(|error| fault(error.to_string()))?;
        self.file.write_all(format!("{text}\n").as_bytes()).map_err(|error| fault(error.to_string()))?;
        self.lines.push(line);
        Ok(trial)
    }

    /// Reads and fragments of the whole input, counted by a run that maps nothing.
    ///
    /// # Errors
    /// Reads that cannot be read.
    pub fn count(&self) -> Result<(u64, u64), AlignError> {
        let folder = work_folder(self.job)?;
        // No reference is needed, and what is named as one may be an index that only its aligner can read.
        let reference = folder.path().join("none.fa");
        std::fs::write(&reference, ">none\nN\n")
            .map_err(|error| AlignError::Failed(format!("{}: cannot write: {error}", reference.display())))?;
        let mut command = align(self.job, "null", &reference, self.job.first.unwrap_or(0));
        let json = folder.path().join("count.json");
        command.arg("-o").arg(folder.path().join("count.sam")).arg("--json").arg(&json);
        let (child, said) = start(command)?;
        finish(child, said, None)?;
        let tally = summary(&json)?.run.tally;
        Ok((tally.reads, tally.fragments))
    }
}

fn work_folder(job: &TuneJob) -> Result<tempfile::TempDir, AlignError> {
    let made = tempfile::Builder::new().prefix("trial-").tempdir_in(&job.runs);
    made.map_err(|error| AlignError::Failed(format!("{}: a folder cannot be made in it: {error}", job.runs.display())))
}

/// `zerohop align` on the reads of this tuning.
fn align(job: &TuneJob, engine: &str, reference: &Path, fragments: u64) -> Command {
    let mut command = zerohop_process::command(&job.program);
    command.arg("align").args(["-q", "--plan", "rule", "--engine", engine]);
    if fragments > 0 {
        command.arg("--first").arg(fragments.to_string());
    }
    command.arg(reference).args(&job.reads);
    command
}

fn run_one(job: &TuneJob, cpus: &[CpuId], order: Order, limit_s: Option<f64>) -> Result<Trial, AlignError> {
    let Order { choice, fragments, round } = order;
    let folder = work_folder(job)?;
    let json = folder.path().join("run.json");
    let all = job.first.unwrap_or(0);
    let mut command = align(job, &job.engine, &job.reference, if fragments == 0 { all } else { fragments });
    for file in &job.engine_file {
        command.arg("--engine-file").arg(file);
    }
    if let Some(text) = &job.engine_args {
        command.arg(format!("--engine-args={text}"));
    }
    command.args(["-t", &choice.threads.to_string(), "--replicas", &choice.copies.to_string()]);
    command.args(["--pages", &choice.pages.to_string()]);
    if choice.farm {
        command.arg("--farm");
    }
    command.arg("--json").arg(&json).arg("-o").arg(folder.path().join("out.sam"));
    let (started, busy) = (Instant::now(), zerohop_topology::busy_time(cpus));
    let (child, said) = start(command)?;
    let ended = finish(child, said, limit_s)?;
    let (wall_s, busy) = (started.elapsed().as_secs_f64(), zerohop_topology::busy_time(cpus).saturating_sub(busy));
    if !ended {
        // What it used itself is not known: it cannot be told from what others used.
        let (load_s, map_s, cpu_s, others_cpus) = (0.0, wall_s, 0.0, 0.0);
        return Ok(Trial { choice, round, reads: 0, load_s, map_s, cpu_s, others_cpus, broken_off: true });
    }
    let summary = summary(&json)?;
    let cpu_s = summary.resources.user.as_secs_f64() + summary.resources.system.as_secs_f64();
    let (load_s, map_s) = (summary.index.time.as_secs_f64(), summary.run.wall.as_secs_f64());
    let others_cpus = (busy.as_secs_f64() - cpu_s).max(0.0) / wall_s;
    Ok(Trial { choice, round, reads: summary.run.tally.reads, load_s, map_s, cpu_s, others_cpus, broken_off: false })
}

/// A child, and the thread that keeps what it says.
type Said = std::thread::JoinHandle<String>;

fn start(mut command: Command) -> Result<(Child, Said), AlignError> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let cannot = |error: std::io::Error| AlignError::Failed(format!("a trial cannot be started: {error}"));
    let mut child = command.spawn().map_err(cannot)?;
    let errors = child.stderr.take();
    let read = move || {
        let mut text = String::new();
        // What cannot be read is not said; the exit status tells all the same.
        let _ = errors.map(|mut errors| errors.read_to_string(&mut text));
        text
    };
    Ok((child, std::thread::Builder::new().spawn(read).map_err(cannot)?))
}

/// Waits for the end of a trial; false if it was broken off.
fn finish(mut child: Child, said: Said, limit_s: Option<f64>) -> Result<bool, AlignError> {
    let lost = |error: std::io::Error| AlignError::Failed(format!("a trial was lost: {error}"));
    let started = Instant::now();
    let limit = limit_s.map(|limit| limit + SLACK_S);
    let status = loop {
        if let Some(status) = child.try_wait().map_err(lost)? {
            break status;
        }
        if limit.is_some_and(|limit| started.elapsed().as_secs_f64() > limit) {
            child.kill().map_err(lost)?;
            child.wait().map_err(lost)?;
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    };
    match status.success() {
        true => Ok(true),
        false => {
            let said = said.join().unwrap_or_default();
            Err(AlignError::Failed(format!("a trial failed: {}", said.trim().trim_start_matches("error: "))))
        }
    }
}

fn summary(path: &Path) -> Result<Summary, AlignError> {
    let fault = |what: String| AlignError::Failed(format!("{}: {what}", path.display()));
    let text = std::fs::read(path).map_err(|error| fault(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| fault(error.to_string()))
}
