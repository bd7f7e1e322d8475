//! minimap2's alignments of long reads (Li 2018, 2021) as an embedded engine, by
//! [rammap](https://github.com/jwanglab/rammap) (MIT), which makes the records of minimap2 2.31.
//!
//! The path of a read:
//!
//! 1. It goes to rammap as minimap2 looks at it: in capitals, with T for U (`mapper`).
//! 2. rammap finds its minimizers in the index, chains them, and aligns between them.
//! 3. What it finds becomes alignments, in the order of minimap2's fields (`records`), or lines of PAF (`paf`).
//!
//! Nothing passes from read to read, so the input may be cut anywhere, and no thread waits for the longest read. Reads
//! of satellites take much memory (`repeats`): as many are mapped at a time as there is room for (`room`).
//!
//! [`Provider`] finds the index. All threads make its parts (`build`), and one makes of these what rammap reads
//! (`payload`); so it is kept in files (`file`). An index of minimap2 is turned into the same (`mmi`). Options are
//! those of minimap2 (`options`), with files of introns and splice sites (`intervals`).
//!
//! What it refuses to do: align pairs, find overlaps among reads, take an index in several parts, or let rammap print.
#![forbid(unsafe_code)]

mod build;
mod error;
mod file;
mod intervals;
mod mapper;
mod mmi;
mod options;
mod paf;
mod parameters;
mod payload;
mod provider;
mod records;
mod repeats;
mod room;
#[cfg(test)]
mod tests;

pub use error::RammapIndexError;
pub use options::{Given, RammapOptions, RammapOptionsError, options_of};
pub use parameters::IndexParameters;
pub use provider::Provider;

use crate::intervals::Annotation;
use crate::mapper::RammapMapper;
use crate::room::Room;
use rammap::align::dp::{SimdCap, set_simd_cap};
use rammap::align::index::Index;
use rammap::align::map::MapOptions;
use std::sync::Arc;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::{Error, InputError};
use zerohop_model::mapper::Mapper;
use zerohop_model::record::Contig;

/// The name of the engine.
const NAME: &str = "rammap";

/// The version of rammap-core.
pub const VERSION: &str = "1.2.0";

/// Bases after which a worker takes the next chunk.
pub const CHUNK_BASES: u64 = 1_000_000;

/// The longest read that is taken, in bases: an operation of a CIGAR has 28 bits.
pub const MAX_READ_BASES: usize = (1 << 28) - 1;

/// One copy of the index.
pub struct Rammap {
    index: Index,
    /// Bytes of it.
    bytes: u64,
    contigs: Arc<Vec<Contig>>,
    options: Arc<RammapOptions>,
    /// The options, with what depends on the index.
    map: MapOptions,
    annotation: Arc<Annotation>,
    /// Of all copies.
    room: Arc<Room>,
}

impl Rammap {
    fn new(
        mut index: Index,
        bytes: u64,
        mut contigs: Vec<Contig>,
        options: Arc<RammapOptions>,
    ) -> Result<Self, InputError> {
        // With registers of 512 bits a run takes 1.2 times as long on an EPYC (docs/upstream.md): nearly all gaps
        // between anchors have 200 to 239 bases. Presets, which are applied before, set this to what they think of it;
        // RAMMAP_FORCE_AVX512 counts more.
        set_simd_cap(SimdCap::Avx2);
        let mut map = options.map.clone();
        rammap::api::finalize_options(&mut map, index.kmer_size);
        if options.frequent <= 0.0 && map.seeding.mid_occ == 0 {
            // None is too frequent, but where there is a limit (mm_mapopt_update of minimap2).
            let (least, most) = (map.seeding.min_mid_occ, map.seeding.max_mid_occ);
            map.seeding.mid_occ = if most > least { most } else { i32::MAX } as usize;
        }
        rammap::api::calibrate_mid_occ(&mut map, &index, options.frequent);
        let annotation = Annotation::read(&options.files, &index, &map)?;
        for number in &annotation.alternates {
            index.seqs[*number].is_alt = true;
            contigs[*number].is_alternate = true;
        }
        Ok(Rammap {
            index,
            bytes,
            contigs: Arc::new(contigs),
            options,
            map,
            annotation: Arc::new(annotation),
            room: Arc::default(),
        })
    }
}

impl Engine for Rammap {
    fn program(&self) -> (&str, &str) {
        (NAME, VERSION)
    }

    fn description(&self) -> Option<&str> {
        Some("records of minimap2 2.31")
    }

    fn cut(&self) -> Cut {
        Cut::at(CHUNK_BASES)
    }

    fn max_read_bases(&self) -> usize {
        MAX_READ_BASES
    }

    fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    fn index_bytes(&self) -> u64 {
        self.bytes
    }

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(Rammap {
            index: self.index.clone(),
            bytes: self.bytes,
            contigs: Arc::clone(&self.contigs),
            options: Arc::clone(&self.options),
            map: self.map.clone(),
            annotation: Arc::clone(&self.annotation),
            room: Arc::clone(&self.room),
        }))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(RammapMapper::new(self))
    }
}
