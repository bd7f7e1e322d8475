//! What a plan is for: an engine, its index, and the kind of reads.

use crate::error::AlignError;
use crate::{descriptors, engines, plan_cache, resident};
use serde::Serialize;
use std::path::{Path, PathBuf};
use zerohop_engine_external::descriptor::How;
use zerohop_engine_external::{Found, FoundIndex, UserArguments, cut};
use zerohop_model::engine::Cut;
use zerohop_model::index::{IndexProvider, IndexSource, Wanted};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::Placement;
use zerohop_plan::Engine;
use zerohop_process::cache;
use zerohop_ranks::content;

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
    profile: Profile,
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

impl Profile {
    /// Of reads of a mean length.
    pub fn new(paired: bool, mean_read_length: usize, engine_args: Option<&str>) -> Self {
        let read_length = engines::canonical_read_length(mean_read_length);
        Profile { paired, read_length, engine_args: engine_args.unwrap_or_default().to_owned() }
    }
}

impl TuningKey {
    /// An engine in our own process.
    pub fn embedded(provider: &dyn IndexProvider, source: &dyn IndexSource, profile: Profile) -> Self {
        let (name, version) = provider.engine();
        TuningKey {
            engine: (name.to_owned(), version.to_owned()),
            kind: Engine::Embedded,
            index: source.bytes(),
            kept: resident::kept(source),
            chunk_bases: provider.chunk_bases(),
            files: source.files(),
            is_tuned: provider.has_index(),
            profile,
        }
    }

    /// An aligner that runs as programs of its own.
    pub fn external(
        (found, user): (&Found, &UserArguments),
        index: &FoundIndex,
        reference: &Path,
        cut: Cut,
        profile: Profile,
    ) -> Self {
        TuningKey {
            engine: (found.descriptor.name.clone(), found.version.clone()),
            kind: Engine::External { shares: found.descriptor.sharing.how != How::None },
            index: Bytes(found.memory_bytes(reference, index)),
            kept: Vec::new(),
            chunk_bases: cut.chunk_bases(),
            files: index.files.iter().cloned().chain(user.files()).collect(),
            is_tuned: true,
            profile,
        }
    }

    /// Any engine, by its name.
    ///
    /// # Errors
    /// An engine that is not known or not here; an index that is missing.
    pub fn of(name: &str, engine_files: &[PathBuf], reference: &Path, profile: Profile) -> Result<Self, AlignError> {
        if let Some(provider) = engines::embedded(name).filter(|provider| provider.has_index()) {
            let arguments = &*profile.engine_args;
            let wanted = Wanted { reference, mean_read_length: profile.read_length, anew: false, arguments };
            let source = provider.find(&wanted)?;
            if source.bytes().0 == 0 {
                return Err(AlignError::Failed(format!(
                    "{}: there is no such reference, or it is empty",
                    reference.display()
                )));
            }
            return Ok(Self::embedded(provider, &*source, profile));
        }
        let descriptor = descriptors::described(name, engine_files)?;
        let user = descriptors::user_arguments(&descriptor, &profile.engine_args, profile.read_length)?;
        let cut = cut(&descriptor, &user)?;
        let found = Found::find(descriptor)?;
        let index = found.index(reference, &user)?;
        Ok(Self::external((&found, &user), &index, reference, cut, profile))
    }

    /// What an engine can do, by its name; it need not be here.
    ///
    /// # Errors
    /// An engine that is not known.
    pub fn kind(name: &str, engine_files: &[PathBuf]) -> Result<Engine, AlignError> {
        if engines::embedded(name).is_some_and(|provider| provider.has_index()) {
            return Ok(Engine::Embedded);
        }
        let descriptor = descriptors::described(name, engine_files)?;
        Ok(Engine::External { shares: descriptor.sharing.how != How::None })
    }

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
            (name, content::ends(path).unwrap_or_default())
        };
        cache::digest(&self.files.iter().map(of).collect::<Vec<_>>())
    }
}
