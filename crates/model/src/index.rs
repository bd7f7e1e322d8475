//! Where the index of an embedded engine comes from: what every command asks of it, and all that it asks.

use crate::engine::Engine;
use crate::machine::Bytes;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};

/// An embedded engine, before there is an index. One constant of it per engine is all that a job needs to know.
pub trait IndexProvider: Sync {
    /// Name and version of the engine, as `--engine` and @PG have them.
    fn engine(&self) -> (&str, &str);

    /// The read length in bases, of the few for which indexes differ, that is nearest to a mean of `mean_bases`.
    fn canonical_read_length(&self, mean_bases: usize) -> usize {
        mean_bases
    }

    /// Called once, at the beginning of the program, as long as it has one thread.
    fn prepare(&self) {}

    /// Whether indexes differ by the length of reads.
    fn has_read_length(&self) -> bool {
        false
    }

    /// Whether its index files can be kept in memory ([`IndexSource::resident`]).
    fn has_resident(&self) -> bool {
        false
    }

    /// Whether it aligns pairs, and not single reads alone.
    fn aligns_pairs(&self) -> bool {
        true
    }

    /// Whether it has options of its own: [`Wanted::arguments`].
    fn takes_arguments(&self) -> bool {
        false
    }

    /// Whether there is an index at all: without one there is nothing to place, plan or tune.
    fn has_index(&self) -> bool {
        true
    }

    /// What it makes of reads when it is given these arguments.
    ///
    /// # Errors
    /// Arguments that it does not take.
    fn product(&self, _arguments: &str) -> Result<Product, IndexError> {
        Ok(Product::Records)
    }

    /// Whether, given these arguments, it takes reads for those of bisulfite libraries.
    fn is_for_bisulfite(&self, _arguments: &str) -> bool {
        false
    }

    /// Bases after which a worker takes the next chunk, as [`Engine`] will cut the input.
    fn chunk_bases(&self) -> u64;

    /// Finds the index: `reference` is one itself, or one lies beside it, or it is to be built. Nothing of it is
    /// loaded.
    ///
    /// # Errors
    /// An index that is for other reads, or cannot be used.
    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError>;

    /// The file that [`IndexProvider::save`] writes; none for an engine whose index is built in every run.
    ///
    /// # Errors
    /// Arguments that the engine does not take.
    fn path(&self, _wanted: &Wanted<'_>) -> Result<Option<PathBuf>, IndexError> {
        Ok(None)
    }

    /// Builds the index that is wanted with `threads` threads and writes it to its path; says what it does to `told`.
    /// Arguments that the index does not depend on make no difference.
    ///
    /// # Errors
    /// A reference that cannot be read, an index that cannot be written.
    fn save(&self, _wanted: &Wanted<'_>, _threads: usize, _told: Told<'_>) -> Result<SavedIndex, IndexError> {
        Err(IndexError::Usage(format!("{} builds its index in every run, and has no index file", self.engine().0)))
    }
}

/// What is told while an index is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MakingNews<'w> {
    /// What is done now, in words such as `block 3 of 70`.
    Step(&'w str),
    /// What the user should know before it is done.
    Note(&'w str),
}

/// Who is told.
pub type Told<'t> = &'t (dyn Fn(MakingNews<'_>) + Sync);

/// What it takes to make an index and to write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MakingCost {
    /// Memory, an estimate.
    pub memory: Bytes,
    /// What it takes at least.
    pub least_memory: Bytes,
    /// Room for the files, an estimate.
    pub disk: Bytes,
}

/// An index that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedIndex {
    /// Size of one copy in memory.
    pub bytes: Bytes,
    /// The file of another program that it was made from, if it was not built from the reference.
    pub made_from: Option<PathBuf>,
    /// What else the user should know of it.
    pub notes: Vec<String>,
}

impl SavedIndex {
    /// One that was built from the reference.
    pub fn built(bytes: u64) -> Self {
        SavedIndex { bytes: Bytes(bytes), made_from: None, notes: Vec::new() }
    }
}

/// What an engine makes of reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Product {
    /// Records, as SAM, BAM and CRAM have them.
    #[default]
    Records,
    /// Lines of PAF, which the engine writes itself: [`Alignments::text`](crate::alignment::Alignments::text).
    Paf,
    /// How much of each contig the reads cover: [`Alignments::text`](crate::alignment::Alignments::text) holds
    /// [weights](crate::alignment::Weight).
    Abundances,
}

/// Which index is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The reference in FASTA, or an index.
    pub reference: &'a Path,
    /// Mean length of the reads, in bases.
    pub mean_read_length: usize,
    /// Whether it is built anew even if there is one.
    pub anew: bool,
    /// Arguments for the engine, as the user wrote them; may be empty.
    pub arguments: &'a str,
}

/// An index that was found, or will be built.
pub trait IndexSource: Send + Sync {
    /// The file of the index, or the reference that it is built from.
    fn file(&self) -> &Path;

    /// All its files: what must not be written over, and what records depend on.
    fn files(&self) -> Vec<PathBuf> {
        vec![self.file().to_owned()]
    }

    /// Those of its files that say what the reference does not, such as which contigs stand for others.
    fn beside_reference(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether it is built from the reference, and not loaded.
    fn is_built(&self) -> bool {
        true
    }

    /// Whether `--build-index` writes it first: it is built in every run, or made from what another program wrote.
    fn is_to_be_saved(&self) -> bool {
        self.is_built()
    }

    /// Size of one copy in memory; an estimate if it is to be built.
    fn bytes(&self) -> Bytes;

    /// What one copy takes at least, for refusing what cannot fit.
    fn least_bytes(&self) -> Bytes {
        self.bytes()
    }

    /// What it takes to make it and to write it: of most, the memory of one copy, and as much room.
    fn making(&self) -> MakingCost {
        MakingCost { memory: self.bytes(), least_memory: self.least_bytes(), disk: self.bytes() }
    }

    /// What the user should know of it.
    fn note(&self) -> Option<String> {
        None
    }

    /// What keeps it in memory for many processes; none for an index that cannot be kept.
    fn resident(&self) -> Option<&dyn Resident> {
        None
    }

    /// Loads or builds it with `threads` threads, each of which calls `on_start` first. The caller's thread is under
    /// the placement of the copy; `on_start` puts others under it.
    ///
    /// # Errors
    /// A file that is damaged or was made from another reference; a reference that cannot be read; no memory.
    fn make(&self, threads: usize, on_start: OnStart) -> Result<Box<dyn Engine>, IndexError>;

    /// The engine on the index file itself, mapped: it takes no memory but that of the system's file cache, wherever
    /// that has put it. Every byte is checked with `threads` threads. None of what cannot be used so, or does not lie
    /// on such pages.
    ///
    /// # Errors
    /// As for [`IndexSource::make`].
    fn map(&self, _threads: usize, _pages: FilePages) -> Result<Option<Box<dyn Engine>>, IndexError> {
        Ok(None)
    }
}

/// The pages of the system's file cache that an index may lie on when it is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePages {
    /// Any: where little is looked up, small pages cost less than loading the index.
    Any,
    /// Nearly all of it on huge pages: looking something up costs what it does in memory of the process.
    Huge,
}

/// Index files that can be copied to memory, into one file, for processes that map the copy in place of loading the
/// index.
pub trait Resident: Send + Sync {
    /// The name of the engine.
    fn engine(&self) -> &str;

    /// The path of the index file.
    fn file(&self) -> &Path;

    /// All files that a copy is made of: it is of no use when one of them has changed, or another one has come.
    fn files(&self) -> Vec<PathBuf> {
        vec![self.file().to_owned()]
    }

    /// The length of a copy in bytes, of an index that was checked.
    ///
    /// # Errors
    /// Files that cannot be read.
    fn bytes(&self, threads: usize) -> Result<u64, IndexError>;

    /// Refuses one that was made from another reference than that beside it. The reference is read, with so many
    /// threads, only if nothing else can tell. What [`Resident::bytes`] reads is checked, too.
    ///
    /// # Errors
    /// An index of another reference, or one that cannot be used.
    fn check(&self, threads: usize) -> Result<(), IndexError>;

    /// How much more time mapping takes with a copy on small pages, in words such as `a tenth more time`, as measured.
    fn cost_of_small_pages(&self) -> &'static str;

    /// Fills `copy`, which has its length and its pages already, with so many threads. Every byte was checked, or is
    /// checked on the way.
    ///
    /// # Errors
    /// A file that is damaged; what cannot be read or written.
    fn fill(&self, copy: &File, threads: usize) -> Result<(), IndexError>;

    /// Whether the copy at this path is whole, and has the same description as the index. Neither is read as a whole.
    fn is_copy(&self, copy: &Path) -> bool;

    /// The engine with the copy at this path, of which nothing but the beginning is checked. Nobody may change the copy
    /// as long as there is the engine.
    ///
    /// # Errors
    /// As for [`IndexSource::make`].
    fn attach(&self, copy: &Path, threads: usize) -> Result<Box<dyn Engine>, IndexError>;
}

/// What each thread that makes an index calls first.
pub type OnStart = Box<dyn Fn() + Send + Sync>;

/// Why there is no index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The options or arguments are wrong.
    #[error("{0}")]
    Usage(String),
    /// There is none, and the engine does not build one in every run. `--build-index` makes it.
    #[error("{0}")]
    Missing(String),
    /// It cannot be found, read, built or written.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl IndexError {
    /// What failed, as another error or in words.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        IndexError::Failed(error.into())
    }

    /// Wrong usage, in words.
    pub fn usage(what: impl Display) -> Self {
        IndexError::Usage(what.to_string())
    }
}
