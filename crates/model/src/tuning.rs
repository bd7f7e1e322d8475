//! What `zerohop tune` tried, and what it took.

use crate::machine::{Bytes, Machine};
use crate::plan::{Pages, Plan};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which half of the method of Lenis & Senar (2016, 2017) a trial belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// One copy of the index: threads against page policies.
    A,
    /// Several copies: instances against page policies.
    B,
}

/// A way to run an aligner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Index copies: instances of an external aligner, replicas of the embedded one.
    pub copies: usize,
    /// Threads of all copies together.
    pub threads: usize,
    /// Where the pages of each copy go. With one copy, [`Pages::FirstTouch`] is the unchanged program ("original").
    pub pages: Pages,
    /// One single-threaded process per thread; those of a copy share it (external aligners).
    pub farm: bool,
}

impl Choice {
    /// Which half of the method it belongs to.
    pub fn part(&self) -> Part {
        if self.copies == 1 && !self.farm { Part::A } else { Part::B }
    }
}

impl fmt::Display for Choice {
    /// `2 x 8 threads, local`; the policy of the unchanged program is `original`, as in the papers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = match self.pages {
            Pages::FirstTouch if self.copies == 1 => "original".to_owned(),
            pages => pages.to_string(),
        };
        let each = self.threads as f64 / self.copies as f64;
        let farm = if self.farm { ", farm" } else { "" };
        write!(f, "{} x {each} {}, {pages}{farm}", self.copies, if each == 1.0 { "thread" } else { "threads" })
    }
}

/// One run of a choice over part of the input, or all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What was tried.
    pub choice: Choice,
    /// The number of the round, from 1.
    pub round: u32,
    /// Reads that were mapped.
    pub reads: u64,
    /// Seconds until the index copies were there (estimated from a run with next to no reads for external aligners).
    pub load_s: f64,
    /// Seconds of mapping these reads.
    pub map_s: f64,
    /// CPU seconds of all processes.
    pub cpu_s: f64,
    /// CPUs that others kept busy meanwhile, on average, of those that we may use.
    #[serde(default)]
    pub others_cpus: f64,
    /// It was ended early, for it had taken too long by then: the times are lower bounds.
    pub broken_off: bool,
}

/// What all trials of a choice say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The choice that was tried.
    pub choice: Choice,
    /// Trials that ran to their end.
    pub trials: usize,
    /// Mean seconds for the whole input, loading included; projected from trials on part of it. None without a trial
    /// that ended.
    pub seconds: Option<f64>,
    /// The standard deviation over the mean, where there were several trials.
    pub relative_error: Option<f64>,
    /// Times the best choice's, by rounds in which both ran (the median).
    pub against_best: Option<f64>,
    /// Why it was not tried further, or not at all; none for those that stayed to the end.
    pub dropped: Option<String>,
}

/// All results of `zerohop tune`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Version of the JSON form.
    pub schema_version: u32,
    /// Version of zerohop.
    pub version: String,
    /// The command as it was given.
    pub command: String,
    /// Name and version of the engine.
    pub engine: (String, String),
    /// The read files.
    pub inputs: Vec<String>,
    /// The machine that it ran on.
    pub machine: Machine,
    /// Size of one copy of the index.
    pub index: Bytes,
    /// Reads of the whole input; estimated from its size where only part of it was read.
    pub reads: u64,
    /// Whether all choices were run in full.
    pub full: bool,
    /// Every trial that was run.
    pub trials: Vec<Trial>,
    /// A line per choice, the best first.
    pub findings: Vec<Finding>,
    /// How sure it is that the best is the best, in a sentence.
    pub sure: String,
    /// Seconds that all trials took together.
    pub took_s: f64,
    /// The best choice, worked out for the machine.
    pub plan: Plan,
}

impl Tuning {
    /// Version of the JSON form.
    pub const SCHEMA_VERSION: u32 = 1;
}

/// A plan on disk: written by `zerohop plan` and `zerohop tune`, replayed by `zerohop align --plan FILE`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedPlan {
    /// Version of the JSON form.
    pub schema_version: u32,
    /// Version of zerohop that wrote it.
    pub version: String,
    /// The name of the machine that it is for.
    pub machine: String,
    /// Name and version of the engine, if it is for one.
    pub engine: Option<(String, String)>,
    /// Size of one copy of the index.
    pub index: Bytes,
    /// The choice that the plan is for.
    pub choice: Choice,
    /// The choice, worked out for the machine; its reasons say why.
    pub plan: Plan,
}

impl SavedPlan {
    /// Version of the JSON form.
    pub const SCHEMA_VERSION: u32 = 1;
}
