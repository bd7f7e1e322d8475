//! What alignment records are made of. Field names and meanings are those of the SAM specification (SAMv1, section
//! 1.4).

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Template having several segments (0x1).
pub const PAIRED: u16 = 0x1;
/// Each segment properly aligned according to the aligner (0x2).
pub const PROPER_PAIR: u16 = 0x2;
/// Segment unmapped (0x4).
pub const UNMAPPED: u16 = 0x4;
/// Next segment unmapped (0x8).
pub const MATE_UNMAPPED: u16 = 0x8;
/// SEQ is reverse complemented (0x10).
pub const REVERSE: u16 = 0x10;
/// SEQ of the next segment is reverse complemented (0x20).
pub const MATE_REVERSE: u16 = 0x20;
/// First segment in the template (0x40).
pub const FIRST: u16 = 0x40;
/// Last segment in the template (0x80).
pub const LAST: u16 = 0x80;
/// Secondary alignment (0x100).
pub const SECONDARY: u16 = 0x100;
/// Not passing filters, such as platform/vendor quality controls (0x200).
pub const QC_FAIL: u16 = 0x200;
/// PCR or optical duplicate (0x400).
pub const DUPLICATE: u16 = 0x400;
/// Supplementary alignment (0x800).
pub const SUPPLEMENTARY: u16 = 0x800;

/// Which mate a record with such flags is of: 1 for the second of a pair, else 0.
pub fn mate(flags: u16) -> usize {
    usize::from(flags & (FIRST | LAST) == LAST)
}

/// Whether a record with such flags is that of its read, of which there is one: not a further alignment.
pub fn is_primary(flags: u16) -> bool {
    flags & (SECONDARY | SUPPLEMENTARY) == 0
}

/// What BAM has for a base quality that is missing (SAMv1, section 4.2.3).
pub const NO_QUALITY: u8 = 0xff;

/// Bases of the longest contig that SAM and BAM can name (SAMv1, section 1.3, @SQ LN): positions are signed numbers of
/// 32 bits.
pub const MAX_CONTIG_BASES: u64 = i32::MAX as u64;

/// A sequence of the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contig {
    /// Its name, a valid SN.
    pub name: String,
    /// Its length in bases.
    pub length: u64,
    /// Whether it is an alternate sequence of a place of another one (SAMv1, section 1.3, @SQ AH).
    pub is_alternate: bool,
}

impl Contig {
    /// A contig that is not an alternate sequence.
    pub fn new(name: impl Into<String>, length: u64) -> Self {
        Contig { name: name.into(), length, is_alternate: false }
    }

    /// The message if it is too long for SAM and BAM.
    pub fn too_long(&self) -> Option<String> {
        (self.length > MAX_CONTIG_BASES).then(|| {
            format!(
                "the contig '{}' has {} bases, and SAM and BAM can hold positions up to {MAX_CONTIG_BASES}: split it",
                self.name, self.length
            )
        })
    }
}

/// A CIGAR operation as BAM packs it: length << 4 | code, codes in the order `MIDNSHP=X`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CigarOp(pub u32);

impl CigarOp {
    /// The letters of the codes.
    pub const LETTERS: &'static [u8; 9] = b"MIDNSHP=X";

    /// Packs an operation; `None` for an unknown letter, or a length of 2^28 or more.
    ///
    /// ```
    /// use zerohop_model::record::CigarOp;
    /// assert_eq!(CigarOp::new(5, b'S'), Some(CigarOp(5 << 4 | 4)));
    /// ```
    pub fn new(length: u32, letter: u8) -> Option<Self> {
        let code = Self::LETTERS.iter().position(|&l| l == letter)? as u32;
        (length < 1 << 28).then_some(CigarOp(length << 4 | code))
    }

    /// Its length in bases.
    pub fn length(self) -> u32 {
        self.0 >> 4
    }

    /// Its letter: one of `MIDNSHP=X`.
    pub fn letter(self) -> u8 {
        Self::LETTERS[(self.0 & 0xf).min(8) as usize]
    }

    /// Whether it is a hard clip (H).
    pub fn is_hard_clip(self) -> bool {
        self.letter() == b'H'
    }

    /// Whether it moves along the reference.
    pub fn consumes_reference(self) -> bool {
        // M, D, N, = and X, a bit each.
        0b1_1000_1101 >> (self.0 & 0xf) & 1 == 1
    }

    /// Whether it consumes bases of the read (SEQ).
    pub fn consumes_query(self) -> bool {
        matches!(self.letter(), b'M' | b'I' | b'S' | b'=' | b'X')
    }
}

/// Bases that lie on bases of the reference (M, = and X), of a record that begins at `position`: positions there, and
/// which bases of SEQ they are.
#[inline]
pub fn aligned_bases<O: Iterator<Item = CigarOp>>(
    position: u32,
    cigar: O,
) -> impl Iterator<Item = (Range<u32>, Range<usize>)> + use<O> {
    let (mut position, mut base) = (position, 0);
    cigar.filter_map(move |op| {
        let (of_reference, of_read) = (op.consumes_reference(), op.consumes_query());
        let (from, first) = (position, base);
        position = position.saturating_add(if of_reference { op.length() } else { 0 });
        base += if of_read { op.length() as usize } else { 0 };
        (of_reference && of_read).then_some((from..position, first..base))
    })
}

/// The value of an optional field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TagValue<'a> {
    /// An integer (type `i`).
    Int(i64),
    /// Text (type `Z`).
    Text(&'a [u8]),
    /// A printable character (type `A`).
    Character(u8),
    /// Type `f`, which SAM shows with three decimals, as bwa does.
    Float(f32),
    /// Type `f`, in these digits.
    Decimal(&'a [u8]),
    /// Here the CIGAR goes (CG, of type `B`), which has more operations than a record of BAM can hold; where CIGAR
    /// stands, SAM shows what BAM has there (SAMv1, section 4.2.2). BAM has it behind all fields.
    LongCigar,
    /// Here the read group of the lane goes, if there is one: for engines whose own program writes it elsewhere than
    /// behind all other fields.
    ReadGroup,
    /// Here the comment of the read goes, if comments are copied: for engines whose own program writes fields behind
    /// it.
    Comment,
}

/// An optional field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tag<'a> {
    /// Its name: two characters, such as `NM`.
    pub key: [u8; 2],
    /// Its value.
    pub value: TagValue<'a>,
}

/// A place on the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locus {
    /// Position of the contig in the header.
    pub contig: u32,
    /// Leftmost base, from 0.
    pub position: u32,
}
