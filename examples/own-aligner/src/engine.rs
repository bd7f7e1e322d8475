//! The aligner: reads are placed where most of their k-mers occur in the reference, without gaps.

use std::collections::HashMap;
use std::path::Path;
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::chunk::{Chunk, Fragment};
use zerohop_model::complement;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::{Error, InputError};
use zerohop_model::mapper::Mapper;
use zerohop_model::record::{
    CigarOp, Contig, FIRST, LAST, Locus, MATE_UNMAPPED, PAIRED, REVERSE, Tag, TagValue, UNMAPPED,
};

/// Bases after which a worker takes the next chunk.
pub const CHUNK_BASES: u64 = 100_000;
/// Bases of a k-mer.
const K: usize = 16;
/// Every so many bases of a read a k-mer is looked up.
const STEP: usize = 4;
/// Next segment in the template being reverse complemented.
const MATE_REVERSE: u16 = 0x20;

/// One copy of the index: what all workers of a node read.
#[derive(Debug, Clone)]
pub struct KmerAligner {
    contigs: Vec<Contig>,
    /// All contigs, one after the other.
    bases: Vec<u8>,
    /// Where each contig starts in `bases`.
    starts: Vec<usize>,
    places: HashMap<Vec<u8>, Vec<usize>>,
}

impl KmerAligner {
    /// Reads a reference, in FASTA, and indexes it.
    ///
    /// # Errors
    /// A file that cannot be read, or is no reference.
    pub fn build(reference: &Path) -> Result<Self, InputError> {
        let mut bases = Vec::new();
        let contigs = zerohop_input::reference::read(reference, |piece| {
            bases.extend(piece.bases().unwrap_or_default().to_ascii_uppercase());
        })?;
        let (mut starts, mut places, mut start) = (Vec::new(), HashMap::<Vec<u8>, Vec<usize>>::new(), 0);
        for contig in &contigs {
            let end = start + contig.length as usize;
            for (i, kmer) in bases[start..end].windows(K).enumerate() {
                places.entry(kmer.to_vec()).or_default().push(start + i);
            }
            starts.push(start);
            start = end;
        }
        Ok(KmerAligner { contigs, bases, starts, places })
    }

    /// The contig in which a read of `length` bases lies whole if it starts at `place` of all bases, and where in it.
    fn locus(&self, place: usize, length: usize) -> Option<Locus> {
        let contig = self.starts.partition_point(|&start| start <= place) - 1;
        let position = place - self.starts[contig];
        (position + length <= self.contigs[contig].length as usize)
            .then_some(Locus { contig: contig as u32, position: position as u32 })
    }
}

impl Engine for KmerAligner {
    fn program(&self) -> (&str, &str) {
        ("own-aligner", env!("CARGO_PKG_VERSION"))
    }

    fn cut(&self) -> Cut {
        // Nothing passes from read to read, so the input may be cut anywhere.
        Cut::at(CHUNK_BASES)
    }

    fn max_read_bases(&self) -> usize {
        100_000
    }

    fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    fn index_bytes(&self) -> u64 {
        (self.bases.len() + self.places.len() * (K + size_of::<Vec<usize>>() + size_of::<usize>())) as u64
    }

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(self.clone()))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        Box::new(KmerMapper { index: self, votes: HashMap::new(), turned: Vec::new() })
    }
}

/// One worker, with scratch of its own.
struct KmerMapper<'i> {
    index: &'i KmerAligner,
    /// K-mers that agree on a start of the read.
    votes: HashMap<usize, u32>,
    /// The read's reverse complement.
    turned: Vec<u8>,
}

/// Where a read lies.
#[derive(Clone, Copy)]
struct Hit {
    locus: Locus,
    is_reverse: bool,
    votes: u32,
    mismatches: usize,
}

impl Mapper for KmerMapper<'_> {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        for fragment in chunk.fragments() {
            self.fragment(&fragment, out);
            out.end_fragment();
        }
        Ok(())
    }
}

impl KmerMapper<'_> {
    fn fragment(&mut self, fragment: &Fragment<'_>, out: &mut Alignments) {
        let hits =
            [Some(fragment.first), fragment.mate].map(|read| read.map(|read| (read.seq.len(), self.best(read.seq))));
        for (mate, hit) in hits.iter().enumerate() {
            let Some((length, found)) = *hit else { continue };
            let (own, mapq) = found.map_or((None, 0), |(hit, mapq)| (Some(hit), mapq));
            let other = hits[1 - mate].map(|(_, found)| found.map(|(hit, _)| hit));
            let mut flags = flag(own.is_none(), UNMAPPED) | flag(own.is_some_and(|hit| hit.is_reverse), REVERSE);
            if let Some(other) = other {
                flags |= PAIRED | [FIRST, LAST][mate];
                flags |= flag(other.is_none(), MATE_UNMAPPED);
                flags |= flag(other.is_some_and(|hit| hit.is_reverse), MATE_REVERSE);
            }
            let alignment = Alignment {
                mate: mate as u8,
                flags,
                locus: own.map(|hit| hit.locus),
                mapq,
                mate_locus: other.flatten().map(|hit| hit.locus),
                ..Alignment::default()
            };
            let cigar = own.and_then(|_| CigarOp::new(length as u32, b'M'));
            let mismatches = own.map(|hit| Tag { key: *b"NM", value: TagValue::Int(hit.mismatches as i64) });
            out.push(alignment, cigar, mismatches);
        }
    }

    /// The place with most k-mers of a read, and its mapping quality.
    fn best(&mut self, seq: &[u8]) -> Option<(Hit, u8)> {
        self.turned.clear();
        self.turned.extend(complement::BASES.reversed(seq));
        let (mut best, mut second): (Option<Hit>, u32) = (None, 0);
        for (is_reverse, seq) in [(false, seq), (true, &self.turned)] {
            self.votes.clear();
            for (offset, kmer) in seq.windows(K).enumerate().step_by(STEP) {
                let places = self.index.places.get(kmer).into_iter().flatten();
                for start in places.filter_map(|place| place.checked_sub(offset)) {
                    *self.votes.entry(start).or_default() += 1;
                }
            }
            for (&start, &votes) in &self.votes {
                let Some(locus) = self.index.locus(start, seq.len()) else { continue };
                let reference = &self.index.bases[start..start + seq.len()];
                let mismatches = seq.iter().zip(reference).filter(|(a, b)| a != b).count();
                let hit = Hit { locus, is_reverse, votes, mismatches };
                // The order of a hash map must not show in the records.
                let rank =
                    |hit: &Hit| (hit.votes, std::cmp::Reverse((hit.is_reverse, hit.locus.contig, hit.locus.position)));
                if best.as_ref().is_none_or(|best| rank(&hit) > rank(best)) {
                    second = second.max(best.map_or(0, |best| best.votes));
                    best = Some(hit);
                } else {
                    second = second.max(votes);
                }
            }
        }
        best.map(|hit| (hit, (60 * (hit.votes - second) / hit.votes) as u8))
    }
}

fn flag(is_set: bool, flag: u16) -> u16 {
    if is_set { flag } else { 0 }
}
