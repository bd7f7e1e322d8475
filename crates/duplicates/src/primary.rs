//! A primary record, as far as duplicates go.

use zerohop_model::record::{CigarOp, NO_QUALITY, REVERSE};

/// Base qualities below do not count.
const LEAST_QUALITY: u8 = 15;

/// How good a record is for samtools (calc_score in bam_markdup.c), and what `samtools fixmate -m` writes into ms of
/// its mate. `qual` is Phred + 33, and empty where there are none for its `bases`: these count as BAM has them. (Ten
/// million bases with the highest quality make less than 2^31.)
pub fn samtools_score(qual: &[u8], bases: usize) -> u64 {
    sum_of_good(qual) + of_missing(qual, bases)
}

fn sum_of_good(qual: &[u8]) -> u64 {
    // Sums of 16 bits, many of which fit into a register.
    let good = |q: &u8| u16::from(Some(q.wrapping_sub(33)).filter(|q| *q >= LEAST_QUALITY).unwrap_or(0));
    qual.chunks(128).map(|some| u64::from(some.iter().map(good).sum::<u16>())).sum()
}

fn of_missing(qual: &[u8], bases: usize) -> u64 {
    bases.saturating_sub(qual.len()) as u64 * u64::from(NO_QUALITY)
}

/// A primary record, as far as it counts here.
#[derive(Debug, Clone)]
pub struct Primary {
    pub(crate) flags: u16,
    pub(crate) contig: i32,
    /// From 1, with what was clipped: first base, last base; and the last base as samtools computes it for a mate, and
    /// as Picard does. They differ for records that have no base on the reference (`12S`, `12I`).
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) end_as_mate: i64,
    pub(crate) end_of_picard: i64,
    /// Sum of the qualities of 15 and more.
    pub(crate) qualities: u64,
    /// How good it is for samtools: all its bases count.
    pub(crate) samtools_score: u64,
    /// Its place in the order of coordinates.
    pub(crate) order: u64,
    /// Which record of its chunk it is.
    pub(crate) record: u32,
    pub(crate) barcode: Option<Box<[u8]>>,
    pub(crate) strand: Option<ConvertedStrand>,
    pub(crate) mapq: u8,
    /// The cell that it is of.
    pub(crate) cell: Option<Box<[u8]>>,
}

/// The strand of the genome that a bisulfite read comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvertedStrand {
    /// That of the reference: its C are read as T.
    Top = 1,
    /// The other one: G of the reference are read as A.
    Bottom,
}

impl Primary {
    /// The record number `record` of its chunk; `position` is from 0, `qual` is Phred + 33, and empty where there are
    /// none for its `bases`. `order` is its key in the order of coordinates.
    pub fn new(
        flags: u16,
        (contig, position): (i32, i32),
        cigar: &[CigarOp],
        (qual, bases): (&[u8], usize),
        order: u64,
        record: u32,
    ) -> Self {
        let position = i64::from(position);
        let length = |op: &CigarOp| i64::from(op.length());
        let is_clip = |op: &&CigarOp| matches!(op.letter(), b'S' | b'H');
        let before: i64 = cigar.iter().take_while(is_clip).map(length).sum();
        let behind: i64 = cigar.iter().rev().take_while(is_clip).map(length).sum();
        let bases_of_reference: i64 = cigar.iter().filter(|op| op.consumes_reference()).map(length).sum();
        let qualities = sum_of_good(qual);
        let behind_as_mate = if bases_of_reference > 0 { behind } else { 0 };
        Primary {
            flags,
            contig,
            start: position - before + 1,
            end: position + bases_of_reference.max(1) + behind,
            end_as_mate: position + bases_of_reference + behind_as_mate,
            end_of_picard: position + bases_of_reference + behind,
            qualities,
            samtools_score: qualities + of_missing(qual, bases),
            order,
            record,
            barcode: None,
            strand: None,
            mapq: u8::MAX,
            cell: None,
        }
    }

    /// The same, of a molecule with this barcode, if it has one: those of other barcodes are no duplicates of it.
    pub fn with_barcode(mut self, barcode: Option<&[u8]>) -> Self {
        self.barcode = barcode.map(Into::into);
        self
    }

    /// The same, of a bisulfite library: those of the other strand are no duplicates of it.
    pub fn of_strand(mut self, strand: Option<ConvertedStrand>) -> Self {
        self.strand = strand;
        self
    }

    /// The same, with what else counts where templates are grouped by their UMIs: its mapping quality, and its cell.
    pub fn of_molecule(mut self, mapq: u8, cell: Option<&[u8]>) -> Self {
        (self.mapq, self.cell) = (mapq, cell.map(Into::into));
        self
    }

    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn is_reverse(&self) -> bool {
        self.has(REVERSE)
    }
}
