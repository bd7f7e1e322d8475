//! A record of BAM, as the reports look at it.

use std::ops::Range;
use zerohop_cram::record::{Field, Fixed, long_cigar};
use zerohop_model::record::{
    CigarOp, DUPLICATE, FIRST, LAST, MATE_REVERSE, MATE_UNMAPPED, PAIRED, PROPER_PAIR, QC_FAIL, REVERSE, SECONDARY,
    SUPPLEMENTARY, UNMAPPED, aligned_bases,
};

/// How BAM codes C, G, and a base that was not called: N.
pub(crate) const BASE_C: u8 = 2;
pub(crate) const BASE_G: u8 = 4;
pub(crate) const NO_CALL: u8 = 15;

/// A record, taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Record<'r> {
    /// FLAG, as the record is written.
    pub flags: Flags,
    /// The number of its contig, from 0, or -1.
    pub contig: i32,
    /// Its position, from 0, or -1.
    pub position: i32,
    /// Its mapping quality.
    pub mapq: u8,
    /// The number of its mate's contig, from 0, or -1.
    pub mate_contig: i32,
    /// Its mate's position, from 0, or -1.
    pub mate_position: i32,
    /// TLEN.
    pub template_length: i32,
    /// Its name.
    pub name: &'r [u8],
    cigar: &'r [u8],
    /// How many bases it has.
    pub bases: usize,
    /// Its bases, two in a byte, as BAM has them.
    pub sequence: &'r [u8],
    /// A byte for each base; all 0xff if it has no qualities.
    pub qualities: &'r [u8],
    fields: &'r [u8],
}

/// FLAG of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags(pub u16);

/// Which read of its fragment a record is of, by its flags: a read that has no mate is a first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOrder {
    /// The first, or the only one.
    First,
    /// The last.
    Last,
    /// Both, as neither end of a longer template.
    Both,
    /// Neither: it is not known.
    Neither,
}

impl ReadOrder {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::First, Self::Last, Self::Both, Self::Neither];
}

impl Flags {
    /// Whether it has one of these.
    pub fn any(self, flags: u16) -> bool {
        self.0 & flags != 0
    }

    pub(crate) fn is_paired(self) -> bool {
        self.any(PAIRED)
    }

    pub(crate) fn is_mapped(self) -> bool {
        !self.any(UNMAPPED)
    }

    pub(crate) fn is_mate_mapped(self) -> bool {
        !self.any(MATE_UNMAPPED)
    }

    pub(crate) fn is_proper(self) -> bool {
        self.any(PROPER_PAIR)
    }

    pub(crate) fn is_reverse(self) -> bool {
        self.any(REVERSE)
    }

    pub(crate) fn is_mate_reverse(self) -> bool {
        self.any(MATE_REVERSE)
    }

    pub(crate) fn is_first(self) -> bool {
        self.any(FIRST)
    }

    pub(crate) fn is_last(self) -> bool {
        self.any(LAST)
    }

    pub(crate) fn is_secondary(self) -> bool {
        self.any(SECONDARY)
    }

    pub(crate) fn is_supplementary(self) -> bool {
        self.any(SUPPLEMENTARY)
    }

    pub(crate) fn is_duplicate(self) -> bool {
        self.any(DUPLICATE)
    }

    pub(crate) fn failed_filters(self) -> bool {
        self.any(QC_FAIL)
    }

    pub(crate) fn order(self) -> ReadOrder {
        match (self.is_paired(), self.is_first(), self.is_last()) {
            (false, ..) | (true, true, false) => ReadOrder::First,
            (true, false, true) => ReadOrder::Last,
            (true, true, true) => ReadOrder::Both,
            (true, false, false) => ReadOrder::Neither,
        }
    }
}

impl<'r> Record<'r> {
    /// The record that `bytes` are, with its length before it, and with other flags than those in it; none if it is cut
    /// off.
    #[inline]
    pub fn new(bytes: &'r [u8], flags: u16) -> Option<Self> {
        let (fixed, rest) = Fixed::split(bytes)?;
        let bases = usize::try_from(fixed.bases).ok()?;
        let (name, rest) = rest.split_at_checked(fixed.name_bytes)?;
        let (cigar, rest) = rest.split_at_checked(4 * fixed.operations)?;
        let (sequence, rest) = rest.split_at_checked(bases.div_ceil(2))?;
        let (qualities, fields) = rest.split_at_checked(bases)?;
        let cigar = long_cigar(cigar, fields).map_or(cigar, |(long, _)| long);
        Some(Record {
            flags: Flags(flags),
            contig: fixed.contig,
            position: fixed.position,
            mapq: fixed.mapq,
            mate_contig: fixed.mate_contig,
            mate_position: fixed.mate_position,
            template_length: fixed.template_length,
            name: name.strip_suffix(b"\0").unwrap_or(name),
            cigar,
            bases,
            sequence,
            qualities,
            fields,
        })
    }

    /// The operations of its CIGAR.
    #[inline]
    pub fn cigar(&self) -> impl Iterator<Item = CigarOp> + use<'r> {
        self.cigar.chunks_exact(4).map(|op| CigarOp(u32::from_le_bytes([op[0], op[1], op[2], op[3]])))
    }

    /// Its bases that lie on bases of the reference (M, = and X): positions there, and which bases they are.
    #[inline]
    pub(crate) fn aligned(&self) -> impl Iterator<Item = (Range<u32>, Range<usize>)> + use<'r> {
        aligned_bases(self.position.max(0) as u32, self.cigar())
    }

    /// Its bases as BAM codes them, one in a byte.
    #[inline]
    pub(crate) fn unpack(&self, codes: &mut Vec<u8>) {
        codes.resize(2 * self.sequence.len(), 0);
        for (two, packed) in codes.as_chunks_mut::<2>().0.iter_mut().zip(self.sequence) {
            *two = (u16::from(packed >> 4) | u16::from(packed & 15) << 8).to_le_bytes();
        }
        codes.truncate(self.bases);
    }

    /// Its bases, with those that were hard-clipped.
    pub(crate) fn length(&self) -> usize {
        self.bases + self.cigar().filter(|op| op.is_hard_clip()).map(|op| op.length() as usize).sum::<usize>()
    }

    /// From its position up to its end on the reference; one base at least.
    pub(crate) fn span(&self) -> Range<u32> {
        let start = self.position.max(0) as u32;
        let of_reference = self.cigar().filter(|op| op.consumes_reference()).map(|op| op.length());
        let bases = of_reference.fold(0, u32::saturating_add);
        start..start.saturating_add(bases.max(1))
    }

    /// Its optional fields.
    pub fn fields(&self) -> impl Iterator<Item = Field<'r>> + use<'r> {
        let mut fields = self.fields;
        std::iter::from_fn(move || {
            let (field, rest) = Field::split(fields)?;
            fields = rest;
            Some(field)
        })
    }

    /// RG: its read group.
    pub(crate) fn read_group(&self) -> Option<&'r [u8]> {
        self.fields().find(|field| field.key == *b"RG" && field.kind == b'Z').map(|field| field.value)
    }

    /// NM: how many edits it is away from the reference.
    pub fn edits(&self) -> Option<i64> {
        self.fields().find(|field| field.key == *b"NM").and_then(integer)
    }
}

/// The value of a field that is an integer.
pub(crate) fn integer(field: Field<'_>) -> Option<i64> {
    Some(match (field.kind, field.value) {
        (b'C', &[a]) => a.into(),
        (b'c', &[a]) => (a as i8).into(),
        (b'S', &[a, b]) => u16::from_le_bytes([a, b]).into(),
        (b's', &[a, b]) => i16::from_le_bytes([a, b]).into(),
        (b'I', &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]).into(),
        (b'i', &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]).into(),
        _ => return None,
    })
}
