//! An engine that maps nothing: every read comes out unmapped, at once. What is left is the runtime, so this is the engine of
//! its benchmarks and of its tests, and the smallest example of what an engine is.
//!
//! [`Synthetic`] maps nothing either, but takes as long as it is told: for benchmarks that need an aligner of some cost.
//!
//! What it refuses to do: read a base.
#![forbid(unsafe_code)]

mod synthetic;

pub use synthetic::{Cost, Synthetic, rounds_per_second};

use zerohop_model::chunk::{Chunk, Fragment};
use zerohop_model::engine::{Engine, Law, Mapper};
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::record::{self, Contig, Record, RecordWriter};

/// The engine; [`Null::new`] says how it wants the input cut.
#[derive(Debug, Clone)]
pub struct Null {
    law: Law,
    contigs: Vec<Contig>,
}

impl Null {
    /// An engine under `law`, with a header that names `contigs`.
    pub fn new(law: Law, contigs: Vec<Contig>) -> Self {
        Null { law, contigs }
    }
}

impl Engine for Null {
    fn program(&self) -> (&str, &str) {
        ("zerohop-null", env!("CARGO_PKG_VERSION"))
    }

    fn law(&self) -> Law {
        self.law
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

    fn replicate(&self) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(self.clone()))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(NullMapper)
    }
}

struct NullMapper;

impl Mapper for NullMapper {
    fn map(&mut self, chunk: &Chunk, out: &mut dyn RecordWriter) -> Result<Tally, Error> {
        let mut tally = Tally::default();
        chunk.fragments().try_for_each(|fragment| write_unmapped(&fragment, out, &mut tally))?;
        Ok(tally)
    }
}

/// Writes the reads of a fragment as unmapped.
fn write_unmapped(fragment: &Fragment<'_>, out: &mut dyn RecordWriter, tally: &mut Tally) -> Result<(), Error> {
    tally.fragments += 1;
    let paired = fragment.mate.is_some();
    for (read, end) in fragment.reads().zip([record::FIRST, record::LAST]) {
        let pair = if paired { record::PAIRED | record::MATE_UNMAPPED | end } else { 0 };
        out.write(&Record {
            name: read.name,
            flags: record::UNMAPPED | pair,
            locus: None,
            mapq: 0,
            cigar: &[],
            mate_locus: None,
            template_length: 0,
            seq: read.seq,
            qual: read.qual.unwrap_or_default(),
            tags: &[],
            comment: read.comment,
        })?;
        tally.reads += 1;
        tally.primary_records += 1;
        tally.paired += u64::from(paired);
        tally.bases += read.seq.len() as u64;
    }
    Ok(())
}
