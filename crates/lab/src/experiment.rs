//! An experiment: an engine, reads, and how they are measured; and one point of it.

use crate::aligner;
use crate::arm::{Arm, InputKind};
use crate::error::LabError;
use crate::inputs::{BLOCK_BYTES, Fragments};
use crate::process::{EngineSpec, ProcessReport, ProcessSpec};
use crate::starter::{Running, Starter};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Whether more threads get more to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// So many fragments for each thread.
    Weak,
    /// So many for all together.
    Strong,
}

/// The kernel counts the time of each CPU in so many seconds, at the beginning and at the end.
const COUNTED_S: f64 = 0.02;

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
    /// Whether the index lies page by page in turn on all nodes.
    pub interleaved: bool,
    /// Whether every other read is cut to a quarter of its length.
    pub mixed: bool,
    /// The files of reads, and their sizes in bytes.
    pub inputs: Vec<(PathBuf, u64)>,
    /// The machine, in a few words.
    pub machine: String,
    /// Its CPUs, as far as they may be used.
    pub cpus: usize,
}

/// One measurement of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// What was measured.
    pub arm: Arm,
    /// What it has in common with others: only points of the same experiment are compared.
    pub experiment: Experiment,
    /// Which repetition; 0 warms up and does not count.
    pub repetition: usize,
    /// Fragments over all threads.
    pub fragments: usize,
    /// From the moment when all were let go to the end of the slowest thread, in seconds: without the making of the
    /// index.
    pub slowest_s: f64,
    /// Time that was taken off for the making or loading of the index, in seconds: for programs that do not tell.
    pub load_s: f64,
    /// The processes.
    pub processes: Vec<ProcessReport>,
    /// What others used of the CPUs meanwhile; none for points that were measured before this was looked at.
    #[serde(default)]
    pub others: Option<Others>,
}

/// What others used of the CPUs while a point was measured, its preparation included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Others {
    /// CPU seconds; may be a little less than nothing, for the kernel counts in hundredths.
    pub cpu_s: f64,
    /// Seconds that it took.
    pub window_s: f64,
}

impl Others {
    /// CPUs that others kept busy on average beyond what the kernel's counting may make of nothing.
    pub fn cpus(&self) -> f64 {
        (self.cpu_s - COUNTED_S).max(0.0) / self.window_s.max(COUNTED_S)
    }
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

impl Experiment {
    /// The name by which its points are known.
    pub fn name(&self) -> String {
        let engine = match &self.engine {
            EngineSpec::Null => "null".to_owned(),
            EngineSpec::Strobealign { reference } => {
                format!("strobealign {}", reference.file_name().unwrap_or_default().to_string_lossy())
            }
            EngineSpec::External { name, reference } => {
                format!("{name} {}", reference.file_name().unwrap_or_default().to_string_lossy())
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
        let also = [(self.pinned, ", pinned"), (self.interleaved, ", interleaved"), (self.mixed, ", mixed lengths")];
        let also: String = also.into_iter().filter(|(is, _)| *is).map(|(_, words)| words).collect();
        format!("{engine}, {scaling}{also}")
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
            let places = || (0..threads).map(|thread| (process * threads + thread) % cpus.len());
            let nodes = places().filter_map(|place| starter.nodes.get(place).copied()).collect();
            Ok(ProcessSpec {
                arm: Arm { threads, processes: 1, ..*arm },
                engine: self.engine.clone(),
                files: fragments.files(process * each, each, (arm.input == InputKind::L).then_some(BLOCK_BYTES))?,
                batch: self.batch,
                interleaved: self.interleaved,
                chunk_bases: self.chunk_bases,
                queue: self.queue,
                output: starter.folder.join(format!("out-{process}.sam")),
                cpus: if self.pinned { places().map(|place| cpus[place]).collect() } else { Vec::new() },
                nodes: if self.pinned { nodes } else { Vec::new() },
                rounds_per_second: starter.rounds_per_second,
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
        let all = self.fragments_each(arm) * arm.processes;
        let watch = zerohop_topology::Others::on(&starter.cpus);
        let (slowest_s, load_s, processes) = match &self.engine {
            EngineSpec::External { name, reference } => {
                let ran = aligner::run(name, reference, arm, (all, fragments), starter)?;
                (ran.mapping_s, ran.load_s, ran.processes)
            }
            _ => {
                let (started_s, processes) = self.run_processes(arm, fragments, starter)?;
                let ends = processes.iter().flat_map(|process| &process.threads).map(|thread| thread.ended_s);
                (ends.fold(0.0, f64::max) - started_s, 0.0, processes)
            }
        };
        let reads: u64 = processes.iter().flat_map(|process| &process.threads).map(|thread| thread.reads).sum();
        if reads != (all * fragments.reads_each()) as u64 {
            let what = format!("{reads} reads came out of {}", all * fragments.reads_each());
            return Err(LabError::Process { command: arm.to_string(), what });
        }
        let (cpu_s, window_s) = watch.used_s();
        let (experiment, others) = (self.clone(), Some(Others { cpu_s, window_s }));
        Ok(Point { arm: *arm, experiment, repetition, fragments: all, slowest_s, load_s, processes, others })
    }

    /// Starts the processes of `arm`, lets them go together, and waits for them; returns when they were let go, too.
    fn run_processes(
        &self,
        arm: &Arm,
        fragments: &Fragments,
        starter: &Starter,
    ) -> Result<(f64, Vec<ProcessReport>), LabError> {
        let specs = self.specs(arm, fragments, starter)?;
        let log = |process: usize| starter.folder.join(format!("process-{process}.log"));
        let mut running = Vec::new();
        for (process, spec) in specs.iter().enumerate() {
            running.push(Running::start(starter, spec, &log(process))?);
        }
        for (process, child) in running.iter_mut().enumerate() {
            child.hear(&log(process))?;
        }
        let started_s = zerohop_topology::monotonic_time().as_secs_f64();
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
        drop(running);
        for spec in &specs {
            remove_outputs(&spec.output)?;
        }
        Ok((started_s, processes))
    }
}

/// Removes an output, or its shards.
fn remove_outputs(output: &Path) -> Result<(), LabError> {
    let shards = (1..).map(|shard| zerohop_output::shard_path(output, shard)).take_while(|path| path.exists());
    for path in shards.chain(Some(output.to_owned()).filter(|path| path.exists())) {
        std::fs::remove_file(&path).map_err(|error| LabError::file(&path, error))?;
    }
    Ok(())
}
