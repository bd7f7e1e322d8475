//! An experiment: an engine, reads, and how they are measured; and one point of it.

use crate::arm::{Arm, InputKind};
use crate::error::LabError;
use crate::inputs::Fragments;
use crate::process::{EngineSpec, ProcessReport, ProcessSpec};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use zerohop_model::machine::CpuId;

/// Whether more threads get more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// So many fragments for each thread.
    Weak,
    /// So many for all together.
    Strong,
}

/// What all points of an experiment have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// The engine.
    pub engine: EngineSpec,
    /// Weak or strong.
    pub scaling: Scaling,
    /// Fragments for each thread, or for all.
    pub fragments: usize,
    /// Fragments that B and the farm take at once.
    pub batch: usize,
    /// Bases of a chunk that the survey cuts.
    pub chunk_bases: u64,
    /// Tasks that each worker of the farm has.
    pub queue: usize,
    /// Whether threads are pinned, each to a CPU of its own.
    pub pinned: bool,
}

/// One measurement of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// What was measured.
    pub arm: Arm,
    /// The name of the experiment.
    pub experiment: String,
    /// Which repetition; 0 warms up and does not count.
    pub repetition: usize,
    /// Fragments over all threads.
    pub fragments: usize,
    /// Time of the slowest thread, without the making of the index, in seconds.
    pub slowest_s: f64,
    /// From the first start to the last end, in seconds.
    pub span_s: f64,
    /// The processes.
    pub processes: Vec<ProcessReport>,
}

impl Point {
    /// A sum over all threads.
    pub fn sum(&self, of: impl Fn(&crate::worker::ThreadReport) -> f64) -> f64 {
        self.processes.iter().flat_map(|process| &process.threads).map(of).sum()
    }

    /// Seconds per fragment in which somebody held the reader.
    pub fn input_hold_s(&self) -> f64 {
        self.processes.iter().map(|process| process.input_hold_s).sum::<f64>() / self.fragments.max(1) as f64
    }

    /// Seconds per fragment in which somebody held the output.
    pub fn output_hold_s(&self) -> f64 {
        self.sum(|thread| thread.output_hold_s) / self.fragments.max(1) as f64
    }
}

/// How processes of the laboratory are started.
#[derive(Debug, Clone)]
pub struct Starter {
    /// The program and its arguments; it reads a [`ProcessSpec`] in JSON, one line, says a line when it is ready, waits for another
    /// line, and says a [`ProcessReport`].
    pub command: Vec<PathBuf>,
    /// CPUs that may be used.
    pub cpus: Vec<CpuId>,
    /// Where outputs and reads go.
    pub folder: PathBuf,
}

/// A process that was started, killed if it is let go.
struct Running {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    command: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or shall.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(starter: &Starter, spec: &ProcessSpec, log: &Path) -> Result<Self, LabError> {
        let mut words = starter.command.iter();
        let mut command = Command::new(words.next().map_or(Path::new(""), |program| program));
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(std::fs::File::create(log).map_err(|error| LabError::file(log, error))?);
        zerohop_topology::die_with_parent(&mut command);
        let shown = format!("{} {}", starter.command[0].display(), spec.arm);
        let fault = |what: String| LabError::Process { command: shown.clone(), what };
        let mut child = command.spawn().map_err(|error| fault(format!("cannot be started: {error}")))?;
        let Some(out) = child.stdout.take() else { return Err(fault("has no output".to_owned())) };
        let mut running = Running { child, out: BufReader::new(out), command: shown.clone() };
        let spec = serde_json::to_string(spec).map_err(|error| fault(error.to_string()))?;
        running.say(&spec)?;
        Ok(running)
    }

    fn say(&mut self, line: &str) -> Result<(), LabError> {
        let said = self.child.stdin.as_mut().map(|stdin| writeln!(stdin, "{line}"));
        // If it has ended, its output tells.
        match said {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(self.fault(format!("cannot be told: {error}")))
            }
            _ => Ok(()),
        }
    }

    fn hear(&mut self, log: &Path) -> Result<String, LabError> {
        let mut line = String::new();
        let heard = self.out.read_line(&mut line);
        match heard {
            Ok(read) if read > 0 => Ok(line),
            Err(error) => Err(self.fault(format!("cannot be heard: {error}"))),
            Ok(_) => {
                let words = std::fs::read_to_string(log).unwrap_or_default();
                let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
                Err(self.fault(format!("ended with {status}; its last words: {}", words.trim())))
            }
        }
    }

    fn fault(&self, what: String) -> LabError {
        LabError::Process { command: self.command.clone(), what }
    }
}

impl Experiment {
    /// The name by which its points are known.
    pub fn name(&self) -> String {
        let engine = match &self.engine {
            EngineSpec::Null => "null".to_owned(),
            EngineSpec::Strobealign { reference } => {
                format!("strobealign {}", reference.file_name().unwrap_or_default().to_string_lossy())
            }
            EngineSpec::Synthetic { work_us, sleep_us, accesses, table_bytes, skew } => {
                let mut name = "synthetic".to_owned();
                if *work_us > 0.0 {
                    name += &format!(" {work_us} us work");
                }
                if *sleep_us > 0.0 {
                    name += &format!(" {sleep_us} us sleep");
                }
                if *accesses > 0 {
                    name += &format!(" {accesses} accesses in {} MiB", table_bytes >> 20);
                }
                if let Some((every, times)) = skew {
                    name += &format!(" 1 in {every} {times}x");
                }
                name
            }
        };
        let scaling = match self.scaling {
            Scaling::Weak => format!("{} fragments per thread", self.fragments),
            Scaling::Strong => format!("{} fragments", self.fragments),
        };
        format!("{engine}, {scaling}{}", if self.pinned { ", pinned" } else { "" })
    }

    /// Fragments of each process of `arm`.
    fn fragments_each(&self, arm: &Arm) -> usize {
        match self.scaling {
            Scaling::Weak => self.fragments * (arm.threads / arm.processes),
            Scaling::Strong => self.fragments / arm.processes,
        }
    }

    /// What each process of `arm` is told; makes its reads.
    fn specs(&self, arm: &Arm, fragments: &Fragments, starter: &Starter) -> Result<Vec<ProcessSpec>, LabError> {
        let (each, threads) = (self.fragments_each(arm), arm.threads / arm.processes);
        let cpus = &starter.cpus;
        let spec = |process: usize| {
            let pins = (0..threads).map(|thread| cpus[(process * threads + thread) % cpus.len()]);
            Ok(ProcessSpec {
                arm: Arm { threads, processes: 1, ..*arm },
                engine: self.engine.clone(),
                files: fragments.files(process * each, each, arm.input == InputKind::L)?,
                batch: self.batch,
                chunk_bases: self.chunk_bases,
                queue: self.queue,
                output: starter.folder.join(format!("out-{process}.sam")),
                cpus: if self.pinned { pins.collect() } else { Vec::new() },
                crowded: arm.threads > cpus.len(),
            })
        };
        (0..arm.processes).map(spec).collect()
    }

    /// Measures `arm` once.
    ///
    /// # Errors
    /// Whatever goes wrong; also fragments that are not those that went in.
    pub fn measure(
        &self,
        arm: &Arm,
        repetition: usize,
        fragments: &Fragments,
        starter: &Starter,
    ) -> Result<Point, LabError> {
        let specs = self.specs(arm, fragments, starter)?;
        let log = |process: usize| starter.folder.join(format!("process-{process}.log"));
        let mut running = Vec::new();
        for (process, spec) in specs.iter().enumerate() {
            running.push(Running::start(starter, spec, &log(process))?);
        }
        for (process, child) in running.iter_mut().enumerate() {
            child.hear(&log(process))?;
        }
        let started = Instant::now();
        for child in &mut running {
            child.say("go")?;
        }
        let mut processes = Vec::new();
        for (process, child) in running.iter_mut().enumerate() {
            let line = child.hear(&log(process))?;
            let report: ProcessReport = serde_json::from_str(&line)
                .map_err(|error| child.fault(format!("says something else than a report: {error}")))?;
            processes.push(report);
        }
        let span_s = started.elapsed().as_secs_f64();
        drop(running);
        for spec in &specs {
            remove_outputs(&spec.output)?;
        }
        let all = self.fragments_each(arm) * arm.processes;
        let threads = || processes.iter().flat_map(|process| &process.threads);
        let reads: u64 = threads().map(|thread| thread.reads).sum();
        if reads != (all * fragments.reads_each()) as u64 {
            let what = format!("{reads} reads came out of {}", all * fragments.reads_each());
            return Err(LabError::Process { command: arm.to_string(), what });
        }
        let slowest_s = threads().map(|thread| thread.wall_s).fold(0.0, f64::max);
        Ok(Point { arm: *arm, experiment: self.name(), repetition, fragments: all, slowest_s, span_s, processes })
    }
}

/// Removes an output, or its shards.
fn remove_outputs(output: &Path) -> Result<(), LabError> {
    let shards = (1..).map(|shard| zerohop_sinks::shard_path(output, shard)).take_while(|path| path.exists());
    for path in shards.chain(Some(output.to_owned()).filter(|path| path.exists())) {
        std::fs::remove_file(&path).map_err(|error| LabError::file(&path, error))?;
    }
    Ok(())
}
