//! One record (SAMv1, section 4.2).

use super::fields::fields;
use crate::header::without_mate_number;
use xxhash_rust::xxh3::xxh3_64;
use zerohop_model::record::{PAIRED, SECONDARY, SUPPLEMENTARY};

/// Bytes of the fields of a fixed size, with the number of bytes before them.
pub(super) const FIXED: usize = 36;
/// Bytes within which the name ends.
pub(super) const HEAD: usize = FIXED + 255;

/// What the beginning of a record says.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordHead<'t> {
    /// Bytes of the whole record.
    pub(super) size: usize,
    pub(super) flags: u16,
    /// The number of its bases.
    pub(super) bases: u32,
    /// Operations of its CIGAR.
    pub(super) operations: usize,
    /// Its name, without the zero at its end.
    pub(super) name: &'t [u8],
    /// Contigs of the record and of its mate, and their positions.
    places: [i32; 4],
}

/// What was found where a record should begin.
#[derive(Debug, Clone, Copy)]
pub(super) enum FoundRecord<'t> {
    Head(RecordHead<'t>),
    /// The bytes end before its name does.
    CutOff,
    /// The sizes of its parts contradict each other, or its name does not end.
    Damaged,
}

impl<'t> RecordHead<'t> {
    pub(super) fn read(bytes: &'t [u8]) -> FoundRecord<'t> {
        let Some(fixed) = bytes.first_chunk::<FIXED>() else { return FoundRecord::CutOff };
        let word = |at: usize| i32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let half = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
        let (name_bytes, operations) = (usize::from(fixed[12]), usize::from(half(16)));
        let (Ok(size), Ok(bases)) = (usize::try_from(word(0)), u32::try_from(word(20))) else {
            return FoundRecord::Damaged;
        };
        let size = size + 4;
        let least = FIXED + name_bytes + 4 * operations + (bases as usize).div_ceil(2) + bases as usize;
        if name_bytes == 0 || size < least {
            return FoundRecord::Damaged;
        }
        let Some(name) = bytes.get(FIXED..FIXED + name_bytes) else { return FoundRecord::CutOff };
        match name.split_last() {
            Some((0, name)) if !name.contains(&0) => {
                let places = [word(4), word(24), word(8), word(28)];
                FoundRecord::Head(RecordHead { size, flags: half(18), bases, operations, name, places })
            }
            _ => FoundRecord::Damaged,
        }
    }

    /// Whether it can be one of a file with so many contigs: more than [`RecordHead::read`] asks for.
    pub(super) fn is_likely(&self, contigs: i32) -> bool {
        let [contig, mate_contig, position, mate_position] = self.places;
        [contig, mate_contig].iter().all(|contig| (-1..contigs).contains(contig))
            && position >= -1
            && mate_position >= -1
            && !self.name.is_empty()
            && self.name.iter().all(|b| (b'!'..=b'~').contains(b))
    }

    /// Whether it is that of a read: another alignment of the same read is not.
    pub(super) fn is_read(&self) -> bool {
        self.flags & (SECONDARY | SUPPLEMENTARY) == 0
    }

    /// A number that stands for the name of a read that has a mate; 0 if it has none.
    pub(super) fn pair(&self) -> u64 {
        if self.flags & PAIRED == 0 { 0 } else { xxh3_64(without_mate_number(self.name)) | 1 }
    }
}

/// A whole record.
#[derive(Debug, Clone, Copy)]
pub(super) struct BamRecord<'t> {
    pub(super) head: RecordHead<'t>,
    pub(super) cigar: &'t [u8],
    /// Two bases a byte.
    pub(super) bases: &'t [u8],
    /// From 0, or 255 where they are missing.
    pub(super) qualities: &'t [u8],
    /// The optional fields.
    pub(super) fields: &'t [u8],
}

impl<'t> BamRecord<'t> {
    /// The record that `bytes` begin with, whose beginning is known; none if they end before it does.
    pub(super) fn of(head: RecordHead<'t>, bytes: &'t [u8]) -> Option<Self> {
        let rest = bytes.get(FIXED + head.name.len() + 1..head.size)?;
        let (cigar, rest) = rest.split_at_checked(4 * head.operations)?;
        let (bases, rest) = rest.split_at_checked((head.bases as usize).div_ceil(2))?;
        let (qualities, fields) = rest.split_at_checked(head.bases as usize)?;
        Some(BamRecord { head, cigar, bases, qualities, fields })
    }

    /// Its CIGAR, which is in a field if it has more operations than fit (SAMv1, section 4.2.2).
    pub(super) fn operations(&self) -> &'t [u8] {
        const SOFT_CLIP: u8 = 4;
        const SKIP: u8 = 3;
        if !matches!(self.cigar, [clip, _, _, _, skip, _, _, _] if clip & 15 == SOFT_CLIP && skip & 15 == SKIP) {
            return self.cigar;
        }
        let long = fields(self.fields).flatten().find(|field| field.key == *b"CG");
        long.and_then(|field| field.words()).unwrap_or(self.cigar)
    }
}
