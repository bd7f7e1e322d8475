//! An engine that maps nothing: every read comes out unmapped, at once. What remains is the runtime, so its benchmarks
//! and tests use this engine. It is also the smallest example of an engine.
//!
//! What it refuses to do: read a base.
#![forbid(unsafe_code)]

mod provider;

pub use provider::Provider;

use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::mapper::Mapper;
use zerohop_model::record::{self, Contig};

/// The engine; [`Null::new`] says how it wants the input cut.
#[derive(Debug, Clone)]
pub struct Null {
    cut: Cut,
    contigs: Vec<Contig>,
}

impl Null {
    /// An engine whose input is cut by `cut`, with a header that names `contigs`.
    pub fn new(cut: Cut, contigs: Vec<Contig>) -> Self {
        Null { cut, contigs }
    }
}

impl Engine for Null {
    fn program(&self) -> (&str, &str) {
        ("zerohop-null", env!("CARGO_PKG_VERSION"))
    }

    fn cut(&self) -> Cut {
        self.cut
    }

    fn max_read_bases(&self) -> usize {
        1 << 20
    }

    fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    fn index_bytes(&self) -> u64 {
        0
    }

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(self.clone()))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(NullMapper)
    }
}

struct NullMapper;

impl Mapper for NullMapper {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        chunk.fragments().for_each(|fragment| add_unmapped(fragment.mate.is_some(), out));
        Ok(())
    }
}

/// Adds the reads of a fragment as unmapped.
pub fn add_unmapped(paired: bool, out: &mut Alignments) {
    let unmapped = |mate, pair| Alignment { mate, flags: record::UNMAPPED | pair, ..Alignment::default() };
    let pair = record::PAIRED | record::MATE_UNMAPPED;
    match paired {
        true => {
            out.push(unmapped(0, pair | record::FIRST), [], []);
            out.push(unmapped(1, pair | record::LAST), [], []);
        }
        false => out.push(unmapped(0, 0), [], []),
    }
    out.end_fragment();
}
