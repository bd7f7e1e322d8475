//! One record (SAMv1, section 4.2).

use crate::header::without_mate_number;
use xxhash_rust::xxh3::xxh3_64;
use zerohop_cram::record::{FIXED, Fixed, long_cigar};
use zerohop_model::record::{PAIRED, is_primary};

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
        let Some((fixed, rest)) = Fixed::split(bytes) else { return FoundRecord::CutOff };
        let (name_bytes, operations) = (fixed.name_bytes, fixed.operations);
        let (Ok(size), Ok(bases)) = (usize::try_from(fixed.length), u32::try_from(fixed.bases)) else {
            return FoundRecord::Damaged;
        };
        let size = size + 4;
        let least = FIXED + name_bytes + 4 * operations + (bases as usize).div_ceil(2) + bases as usize;
        if name_bytes == 0 || size < least {
            return FoundRecord::Damaged;
        }
        let Some(name) = rest.get(..name_bytes) else { return FoundRecord::CutOff };
        match name.split_last() {
            Some((0, name)) if !name.contains(&0) => {
                let places = [fixed.contig, fixed.mate_contig, fixed.position, fixed.mate_position];
                FoundRecord::Head(RecordHead { size, flags: fixed.flags, bases, operations, name, places })
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
        is_primary(self.flags)
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

    /// Its CIGAR, which is in a field if it has more operations than fit.
    pub(super) fn operations(&self) -> &'t [u8] {
        long_cigar(self.cigar, self.fields).map_or(self.cigar, |(long, _)| long)
    }
}
