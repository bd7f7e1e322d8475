//! [strobealign](https://github.com/ksahlin/strobealign) 0.19.1 (Sahlin 2022, MIT) as an embedded engine.
//!
//! Its records are those of the strobealign program with the same [`StrobealignOptions`], byte for byte, because the
//! input is cut where the program cuts it ([`Cut`]) and each chunk starts with the same random numbers. The path of a
//! read:
//!
//! 1. Its seeds, pairs of strobes, are made (`seeds`), some fragments ahead of it.
//! 2. They are looked up in the index (`tables`, `hits`), whose cache lines were prefetched, and become anchors.
//! 3. Anchors become chains (`chains`), and the reference where the best ones lie is prefetched.
//! 4. Chains become alignments (`extension`), of single reads (`single`) or pairs (`pairs`), and records (`records`).
//!    Or, without alignments, chains become lines of PAF or weights of contigs (`modes`).
//!
//! These steps are our own, because most of their time is waiting for memory. The tests compare each with the function
//! of the crate. What seldom decides the time is left to the crate: alignments with gaps, parameters of seeds, PAF,
//! abundances.
//!
//! [`Provider`] finds the index. It comes from [`Strobealign::build`], from a file ([`Strobealign::load`]) or from
//! another copy ([`Engine::replicate`]).
//!
//! What it refuses to do: start threads while it maps, print, or use an index of which a byte is wrong.
#![deny(unsafe_code)]

mod build;
mod chains;
mod confine;
mod extension;
pub mod file;
mod hits;
mod loader;
mod mapper;
mod modes;
mod options;
mod pairs;
mod parameters;
mod pieces;
mod provider;
mod query;
mod randstrobe;
mod records;
mod reference;
mod resident;
mod seeds;
mod sequence;
mod single;
mod starts;
mod tables;
#[cfg(test)]
mod twin;
mod ungapped;
mod wide;

pub use options::{StrobealignOptions, StrobealignOptionsError};
pub use parameters::IndexParameters;
pub use provider::Provider;
pub use reference::{Reference, ReferenceBuilder};

use crate::loader::MappedFile;
use crate::mapper::StrobealignMapper;
use crate::sequence::Sequence;
use crate::tables::Tables;
use strobealign::chainer::MAXIMUM_QUERY_LENGTH;
use strobealign::modes::align::MappingParameters;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::index::Told;
use zerohop_model::mapper::Mapper;
use zerohop_model::record::Contig;

/// The version of the crate, and so of the program whose records these are.
pub const VERSION: &str = "0.19.1";

/// The longest read that strobealign takes, in bases.
pub const MAX_READ_BASES: usize = MAXIMUM_QUERY_LENGTH;

/// Bases that an open chunk does not exceed: `--chunk-size` of the program.
pub const CHUNK_BASES: u64 = 1_000_000;

/// One copy of the reference and its index.
pub struct Strobealign {
    reference: Reference,
    parameters: IndexParameters,
    tables: Tables,
    options: StrobealignOptions,
    /// Those of the options that say where alignments are looked for.
    mapping: MappingParameters,
    /// The file that the tables are mapped from, if nobody promises that it stays as it is.
    mapped: Option<MappedFile>,
}

/// The canonical read lengths, in bases.
pub const CANONICAL_READ_LENGTHS: [usize; 7] = [50, 75, 100, 125, 150, 250, 400];

/// The canonical read length for which an index is made when reads have a mean length of `mean` bases: 50, 75, 100,
/// 125, 150, 250 or 400. Reads of one canonical length share an index.
///
/// ```
/// assert_eq!(zerohop_engine_strobealign::canonical_read_length(148), 150);
/// ```
pub fn canonical_read_length(mean: usize) -> usize {
    use strobealign::seeding::Profile;
    match Profile::from(mean) {
        Profile::ReadLength50 => 50,
        Profile::ReadLength75 => 75,
        Profile::ReadLength100 => 100,
        Profile::ReadLength125 => 125,
        Profile::ReadLength150 => 150,
        Profile::ReadLength250 => 250,
        Profile::ReadLength400 | Profile::Noisy => 400,
    }
}

impl Strobealign {
    /// Builds the index of `reference` with these parameters on `threads` threads, each of which calls `on_start`
    /// first.
    ///
    /// # Errors
    /// When threads cannot be started, or there is not enough memory.
    pub fn build(
        reference: Reference,
        parameters: &IndexParameters,
        threads: usize,
        on_start: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        Strobealign::build_telling(reference, parameters, threads, on_start, &|_| ())
    }

    /// The same, which says what it does to `told`.
    fn build_telling(
        reference: Reference,
        parameters: &IndexParameters,
        threads: usize,
        on_start: impl Fn(usize) + Send + Sync + 'static,
        told: Told<'_>,
    ) -> Result<Self, Error> {
        let pool = build::pool(threads, on_start).map_err(|e| Error::Thread(std::io::Error::other(e)))?;
        let tables = build::build(&reference, parameters, &pool, told)?;
        Ok(Strobealign::assemble(reference, parameters.clone(), tables))
    }

    fn assemble(reference: Reference, parameters: IndexParameters, tables: Tables) -> Self {
        let options = StrobealignOptions::default();
        let mapping = options.mapping();
        Strobealign { reference, parameters, tables, options, mapping, mapped: None }
    }

    /// The same, which maps with these options. The index stays as it is: they should be those that it was made for.
    #[must_use]
    pub fn with_options(self, options: StrobealignOptions) -> Self {
        let mapping = options.mapping();
        Strobealign { options, mapping, ..self }
    }

    fn copy(&self, threads: usize) -> Result<Self, Error> {
        let Reference { sequence, contigs, outline } = &self.reference;
        let (words, tables) = self.tables.copy(sequence.words(), threads)?;
        let sequence = Sequence::from_words(words, sequence.len());
        let reference = Reference { sequence, contigs: contigs.clone(), outline: outline.clone() };
        Ok(Strobealign::assemble(reference, self.parameters.clone(), tables).with_options(self.options.clone()))
    }
}

impl Engine for Strobealign {
    fn program(&self) -> (&str, &str) {
        ("strobealign", VERSION)
    }

    fn is_in_header(&self) -> bool {
        !self.options.no_pg
    }

    fn cut(&self) -> Cut {
        Cut::at(CHUNK_BASES + 1)
    }

    fn max_read_bases(&self) -> usize {
        MAX_READ_BASES
    }

    fn contigs(&self) -> &[Contig] {
        &self.reference.contigs
    }

    fn index_bytes(&self) -> u64 {
        (self.tables.bytes() + size_of_val(self.reference.sequence.words())) as u64
    }

    fn check_unchanged(&self) -> Result<(), Error> {
        self.mapped.as_ref().map_or(Ok(()), MappedFile::check_unchanged)
    }

    fn replicate(&self, threads: usize) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(self.copy(threads)?))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(StrobealignMapper::new(self))
    }
}
