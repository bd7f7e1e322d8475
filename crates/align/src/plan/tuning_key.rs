//! What a plan is for: an engine, its index, and the kind of reads.

use super::plan_cache;
use serde::Serialize;
use std::path::PathBuf;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::Placement;
use zerohop_plan::Engine;
use zerohop_process::{cache, file_ends};

/// What records depend on beside the reads and options: the engine, and all of its index.
#[derive(Debug, Clone)]
pub struct AlignedWith {
    /// Name and version of the engine.
    pub engine: String,
    /// The kind of reads, on which an index that is built may depend.
    pub reads: String,
    /// The files of the index, or the reference if it is built anew; and those that arguments for an external aligner
    /// name.
    pub files: Vec<PathBuf>,
}

/// What a plan is for.
#[derive(Debug)]
pub struct TuningKey {
    /// Name and version of the engine.
    pub engine: (String, String),
    /// What it can do.
    pub kind: Engine,
    /// Size of one copy of the index.
    pub index: Bytes,
    /// Where copies of it are kept in memory.
    pub kept: Vec<Placement>,
    /// Bases after which it is given the next chunk of reads.
    pub chunk_bases: u64,
    /// The files of the index, or the reference if it is built anew; and those that arguments for an external aligner
    /// name.
    pub files: Vec<PathBuf>,
    /// Whether plans for it are tuned and kept.
    pub is_tuned: bool,
    /// The kind of reads.
    pub profile: Profile,
}

/// What of the reads, and of what is done with them, a plan depends on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// Whether they are pairs.
    pub paired: bool,
    /// Their mean length, in bases, to the nearest of some lengths.
    pub read_length: usize,
    /// Arguments for the engine.
    pub engine_args: String,
}

impl TuningKey {
    /// Bases of a read, or of a pair.
    pub fn bases_of_a_fragment(&self) -> u64 {
        self.profile.read_length as u64 * if self.profile.paired { 2 } else { 1 }
    }

    /// Sixteen digits that are others wherever another plan might be better.
    pub fn identity(&self, machine: &Machine) -> String {
        cache::digest(&(plan_cache::machine_id(machine), &self.engine, self.index_digest(), &self.profile))
    }

    /// What the records depend on.
    pub fn aligned_with(&self) -> AlignedWith {
        let (name, version) = &self.engine;
        let mates = if self.profile.paired { "pairs" } else { "single reads" };
        let reads = format!("{mates} of about {} bases", self.profile.read_length);
        AlignedWith { engine: format!("{name} {version}"), reads, files: self.files.clone() }
    }

    /// Where a plan for this on `machine` is kept; nowhere without a cache folder.
    pub fn plan_file(&self, machine: &Machine) -> Option<PathBuf> {
        plan_cache::plan_file(&self.identity(machine))
    }

    /// Names, lengths, beginnings and ends of all files: an index of human size would take longer to read than a plan
    /// saves.
    fn index_digest(&self) -> String {
        let of = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            (name, file_ends(path).unwrap_or_default())
        };
        cache::digest(&self.files.iter().map(of).collect::<Vec<_>>())
    }
}
