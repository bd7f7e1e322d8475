//! [strobealign](https://github.com/ksahlin/strobealign) 0.19.1 (Sahlin 2022, MIT) as an embedded engine.
//!
//! Its records are those of the strobealign program with the same [`Options`], byte for byte, because the input is cut
//! where the program cuts it ([`Cut`]) and each chunk starts with the same random numbers. The path of a read:
//!
//! 1. its randstrobes are made two fragments ahead, and the places in the index where they will be looked up are
//!    prefetched;
//! 2. hits become chains (`Chainer::get_chains`), chains alignments (`align_paired_end_read`);
//! 3. strobealign's records are turned into ours, with names and qualities straight from the chunk. Or, without
//!    alignments, chains become lines of PAF or weights of contigs.
//!
//! [`Provider`] finds the index. It comes from [`Strobealign::build`], from a file ([`Strobealign::load`]) or from
//! another copy ([`Engine::replicate`]).
//!
//! What it refuses to do: start threads while it maps, print, or use an index of which a byte is wrong.
#![deny(unsafe_code)]

mod build;
pub mod file;
mod mapper;
mod modes;
mod options;
mod parameters;
mod pieces;
mod provider;
mod records;
mod reference;
mod resident;
mod seeds;
mod tables;

pub use options::{Options, OptionsError};
pub use parameters::IndexParameters;
pub use provider::Provider;
pub use reference::{Reference, ReferenceBuilder};

use crate::mapper::StrobealignMapper;
use crate::tables::{AddressedIndex, RANDSTROBE_BYTES};
use strobealign::chainer::{Chainer, MAXIMUM_QUERY_LENGTH};
use strobealign::modes::align::MappingParameters;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
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
    index: AddressedIndex,
    options: Options,
    /// What strobealign's functions take of the options.
    mapping: MappingParameters,
    chainer: Chainer,
}

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
    /// When threads cannot be started, or memory cannot be had.
    pub fn build(
        reference: Reference,
        parameters: &IndexParameters,
        threads: usize,
        on_start: impl Fn(usize) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let pool = build::pool(threads, on_start).map_err(|e| Error::Thread(std::io::Error::other(e)))?;
        let tables = build::build(&reference, parameters, &pool)?;
        let starts = reference.sequence.starts.clone();
        Ok(Strobealign::assemble(reference, parameters.clone(), AddressedIndex::new(tables, starts)))
    }

    fn assemble(reference: Reference, parameters: IndexParameters, index: AddressedIndex) -> Self {
        let options = Options::default();
        let chainer = Chainer::new(index.index().k(), options.chaining.clone());
        let mapping = options.mapping();
        Strobealign { reference, parameters, index, options, mapping, chainer }
    }

    /// The same, which maps with these options. The index stays as it is: they should be those that it was made for.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        let chainer = Chainer::new(self.index.index().k(), options.chaining.clone());
        let mapping = options.mapping();
        Strobealign { options, mapping, chainer, ..self }
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
        let tables = self.index.randstrobes().len() * RANDSTROBE_BYTES + size_of_val(self.index.bucket_starts());
        (tables + self.reference.sequence.total_length() / 4) as u64
    }

    fn replicate(&self, threads: usize) -> Result<Box<dyn Engine>, Error> {
        let (reference, index) = self.index.copy(threads, || self.reference.clone())?;
        let copy = Strobealign::assemble(reference, self.parameters.clone(), index);
        Ok(Box::new(copy.with_options(self.options.clone())))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(StrobealignMapper::new(self))
    }
}
