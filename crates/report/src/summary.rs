//! What there is to say of a run.

use crate::figures::Figures;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use zerohop_model::index::Product;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::measurement::{Comparison, DuplicateReport, LibraryReport, ReplicaReport, RunReport, Tally};
use zerohop_model::plan::Plan;
use zerohop_model::read_lengths::ReadLengths;

/// Version of the JSON form. It grows by one whenever a field changes its meaning or goes; new fields may come without.
pub const SCHEMA_VERSION: u32 = 1;

/// Where the index came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexOrigin {
    /// Loaded from this file.
    File(String),
    /// Built from the reference.
    Built,
}

/// The index of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexReport {
    /// Where it came from.
    pub origin: IndexOrigin,
    /// Whether the file is read where it lies, in the file cache of the system.
    #[serde(default)]
    pub is_mapped: bool,
    /// Size of one copy.
    pub bytes: Bytes,
    /// Bases of the reference; 0 where an aligner of its own knows them alone.
    #[serde(default)]
    pub reference_bases: u64,
    /// Time until all copies were there.
    pub time: Duration,
    /// Mean length of the first reads, in bases, or that which was given, for which it was chosen; 0 if that did not
    /// matter.
    pub mean_read_length: usize,
    /// Length of the reads for which it is made, in bases; 0 if that does not matter.
    #[serde(default)]
    pub read_length: usize,
}

/// What the process as a whole used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ResourceUse {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// The largest resident set so far.
    pub peak_memory: Bytes,
}

impl ResourceUse {
    /// CPU time in both modes.
    pub fn cpu(&self) -> Duration {
        self.user + self.system
    }
}

/// All that a run says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of zerohop.
    pub version: String,
    /// The command as it was given.
    pub command: String,
    /// Name and version of the engine.
    pub engine: (String, String),
    /// The name of the sample; empty in files that were written before there was this field.
    #[serde(default)]
    pub sample: String,
    /// What was made of the reads.
    #[serde(default)]
    pub product: Product,
    /// The read files, a lane each.
    pub inputs: Vec<Vec<String>>,
    /// The output files; none for standard output.
    pub outputs: Vec<String>,
    /// The machine.
    pub machine: Machine,
    /// What was planned, and why.
    pub plan: Plan,
    /// The index.
    pub index: IndexReport,
    /// Each index copy: what was asked for, and where it lies.
    pub replicas: Vec<ReplicaReport>,
    /// What the runtime did.
    pub run: RunReport,
    /// From the start of the program to its end.
    pub wall: Duration,
    /// When it ended, in seconds since 1970; none in files that were written before there was this field.
    #[serde(default)]
    pub finished: Option<u64>,
    /// What the process used so far.
    pub resources: ResourceUse,
    /// Of a sample that `--samples` aligned: how many the run had to align, in all ranks. Its process used
    /// [`resources`](Self::resources) for others, too. 0 of a run of its own.
    #[serde(default)]
    pub samples: usize,
    /// How the records compare with those of the aligner by itself, if that was asked for.
    #[serde(default)]
    pub comparison: Option<Comparison>,
    /// What each rank did; none if there was one process. What the runtime did is then told for the first rank, and the
    /// reads and records of all of them, with those that were finished in an earlier run.
    #[serde(default)]
    pub ranks: Vec<RankSummary>,
    /// What else the user should know, a sentence each.
    pub notes: Vec<String>,
}

/// What one of several ranks did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankSummary {
    /// Its number, from 0.
    pub rank: usize,
    /// The machine's name.
    pub host: String,
    /// Its workers, or instances.
    pub workers: usize,
    /// Its threads, those of instances, too.
    #[serde(default)]
    pub threads: usize,
    /// Runs of chunks that it took.
    pub grains: u64,
    /// Reads and records.
    pub tally: Tally,
    /// From the first chunk to the last of all ranks.
    pub wall: Duration,
}

/// A summary as files have it: programs that read them need not count again.
#[derive(Debug, Serialize)]
pub struct WithFigures<'s> {
    #[serde(flatten)]
    summary: &'s Summary,
    figures: Figures,
}

impl Summary {
    /// The summary as JSON, with its [`Figures`].
    ///
    /// # Errors
    /// None in practice: all its parts can be expressed.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(&self.with_figures()).map(|text| text + "\n")
    }

    /// The same, to be written with other things.
    pub fn with_figures(&self) -> WithFigures<'_> {
        WithFigures { summary: self, figures: self.figures() }
    }

    /// Threads of all ranks.
    pub(crate) fn threads(&self) -> usize {
        match self.ranks[..] {
            [] => self.plan.workers.len(),
            // Files of before have no threads of ranks.
            ref ranks => ranks.iter().map(|rank| rank.threads.max(rank.workers)).sum(),
        }
    }

    /// Whether there are ranks besides the one that tells most.
    pub(crate) fn has_other_ranks(&self) -> bool {
        self.ranks.len() > 1
    }

    /// Reads per second of mapping.
    pub(crate) fn reads_per_second(&self) -> f64 {
        let by_ranks: u64 = self.ranks.iter().map(|rank| rank.tally.reads).sum();
        // What was finished in an earlier run took none of this one's time.
        let reads = if self.ranks.is_empty() { self.run.tally.reads } else { by_ranks };
        reads as f64 / self.run.wall.as_secs_f64().max(1e-9)
    }

    /// The part of all workers' time that a stage took.
    pub(crate) fn share_of_workers(
        &self,
        stage: impl Fn(&zerohop_model::measurement::WorkerReport) -> Duration,
    ) -> f64 {
        let all: f64 = self.run.workers.iter().map(|w| w.wall.as_secs_f64()).sum();
        let part: f64 = self.run.workers.iter().map(|w| stage(w).as_secs_f64()).sum();
        if all > 0.0 { part / all } else { 0.0 }
    }
}

/// `part` of `all` in percent; 0 of nothing.
pub(crate) fn percent(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 }
}

/// Mapped reads that are duplicates, in percent; none without mapped reads.
pub(crate) fn duplicates_percent(found: &DuplicateReport) -> Option<f64> {
    let all = found.paired + found.single;
    (all > 0).then(|| percent(found.paired_duplicates + found.single_duplicates, all))
}

impl Summary {
    /// Paired reads that are properly paired, in percent. Only records say which are.
    pub(crate) fn proper(&self) -> Option<f64> {
        let t = &self.run.tally;
        (t.paired > 0 && self.product == Product::Records).then(|| percent(t.properly_paired, t.paired))
    }

    /// The figures of this run.
    pub fn figures(&self) -> Figures {
        let t = &self.run.tally;
        let found = self.run.sorted.as_ref().and_then(|sorted| sorted.duplicates.as_ref());
        let size = |found: &DuplicateReport| match found.libraries[..] {
            [LibraryReport { estimated_size, .. }] => estimated_size,
            _ => None,
        };
        Figures {
            reads: t.reads,
            mapped: percent(t.mapped, t.reads),
            proper: self.proper(),
            insert: t.insert.quantile(0.5),
            duplicates: found.and_then(duplicates_percent),
            library_size: found.and_then(size),
            n50: self.long_reads().map(ReadLengths::n50),
            identity: self.long_reads().and_then(|_| t.aligned.identity()),
            coverage: self.long_reads().and_then(|_| self.coverage()),
            reads_per_second: self.reads_per_second(),
        }
    }
}
