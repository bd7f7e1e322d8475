//! bwa mem as an embedded engine: [bwa-mem3](https://github.com/fg-labs/bwa-mem3) (MIT; Vasimuddin et al. 2019), whose
//! records are those of `bwa mem` 0.7.17 with the same `-K`.
//!
//! The path of a read:
//!
//! 1. The input is cut into cohorts of `-K` bases, and these into pieces ([`Cut`]).
//! 2. Of each piece, the library finds and extends the chains of all reads (`mapper`, first phase).
//! 3. Of each cohort, it finds the insert sizes.
//! 4. Of each piece, it pairs mates, rescues those without an alignment, and gives its records. They are turned into
//!    ours without names, bases and qualities.
//!
//! [`Provider`] finds the index, which is that of bwa-mem2, or a copy of it that was kept in memory (`kept`). `save`
//! writes one, with `fm`, `sequences` and `digests`. `from_bwa` makes it from the index of bwa, as a file or in the
//! library's memory. Before the library reads an index, every byte that it would trust is checked: by `digests`, by
//! `index_check` where another program made the index, or by `from_bwa`.
//!
//! What it refuses to do: let the library print, start threads, take an index out of shared memory that zerohop has not
//! put there, or read an index that would end the process.
#![deny(unsafe_code)]

mod bisulfite;
mod cohorts;
mod contigs;
#[allow(unsafe_code)]
mod crashes;
mod digests;
mod files;
mod fm;
mod from_bwa;
mod index_check;
mod kept;
mod layout;
#[allow(unsafe_code)]
mod library;
mod library_error;
mod load;
mod mapper;
#[allow(unsafe_code)]
mod memory;
#[allow(unsafe_code)]
mod options;
mod outline;
mod own_names;
mod provider;
mod save;
#[allow(unsafe_code)]
mod segment;
mod sequences;
#[allow(unsafe_code)]
mod silence;
mod source;

pub use files::BwaIndexError;
pub use fm::index_bytes;
pub use options::{BwaMemOptions, BwaMemOptionsError, COHORT_BASES, InsertSizeOption};
pub use provider::Provider;

use crate::cohorts::LibraryCohorts;
use crate::library::{LibraryIndex, LibraryOptions};
use crate::load::Files;
use crate::mapper::BwaMemMapper;
use std::sync::{Arc, LazyLock};
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::mapper::{Mapper, Phased};
use zerohop_model::record::Contig;

/// The name of the engine.
const NAME: &str = "bwa-mem";

/// The version of bwa-mem3, the library that maps.
pub const VERSION: &str = bwa_mem3_sys::build_info::VERSION;

/// With all shortcuts of the library: header and summary tell whose records they are not.
static FAST_VERSION: LazyLock<String> = LazyLock::new(|| format!("{VERSION}, fast, unlike bwa"));

/// Bases of a piece: some batches of the library's kernels (512 reads), and many pieces in a cohort.
pub const PIECE_BASES: u64 = 500_000;

/// The longest read that is taken, in bases.
pub const MAX_READ_BASES: usize = 1 << 20;

/// The engine with one copy of the index.
pub struct BwaMem {
    files: Arc<Files>,
    index: LibraryIndex,
    contigs: Vec<Contig>,
    /// Of each contig, if records are to have it.
    comments: Arc<Vec<Vec<u8>>>,
    options: BwaMemOptions,
    settings: LibraryOptions,
    /// With so many a copy is loaded, one copy at a time.
    threads: usize,
    /// What the copies have in common.
    cohorts: Arc<LibraryCohorts>,
}

impl Engine for BwaMem {
    fn program(&self) -> (&str, &str) {
        (NAME, if self.options.fast { &FAST_VERSION } else { VERSION })
    }

    fn description(&self) -> Option<&str> {
        Some(match (self.options.fast, self.options.bisulfite) {
            (true, _) => "records unlike those of bwa mem (--fast-unlike-bwa)",
            (false, true) => "bisulfite reads, by the rules of bwameth.py 0.2.9",
            (false, false) => "records of bwa mem 0.7.17",
        })
    }

    fn cut(&self) -> Cut {
        Cut::at(self.options.cohort_bases).in_pieces_of(PIECE_BASES)
    }

    fn max_read_bases(&self) -> usize {
        MAX_READ_BASES
    }

    fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    fn index_bytes(&self) -> u64 {
        self.files.bytes()
    }

    fn foreign_memory(&self) -> Vec<(usize, usize)> {
        self.index.memory()
    }

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        // Copies are loaded one after the other, each with all threads.
        let index = self.files.copy(&self.index, self.threads).map_err(|error| Error::Internal(error.to_string()))?;
        Ok(Box::new(BwaMem {
            files: Arc::clone(&self.files),
            index,
            contigs: self.contigs.clone(),
            comments: Arc::clone(&self.comments),
            options: self.options.clone(),
            settings: self.settings.clone(),
            threads: self.threads,
            cohorts: Arc::clone(&self.cohorts),
        }))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(Phased(BwaMemMapper::new(self)))
    }
}
