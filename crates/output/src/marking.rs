//! Duplicates: signatures travel behind the records of their chunk, and are collected beside them.
//!
//! | bytes | what |
//! |---|---|
//! | ... | the frames of the records |
//! | ... | the frames of their signatures |
//! | 8 | bytes of the first |
//! | 4 | number of the records |

use crate::keys::KeyMaker;
use crate::line::Fields;
use crate::order::SortOrder;
use zerohop_duplicates::{ChunkCounts, Primary, Signatures};
use zerohop_model::error::Error;
use zerohop_model::record::{SECONDARY, SUPPLEMENTARY};
use zerohop_model::sink::Collect;
use zerohop_sort::Collector;

/// Bytes of both numbers.
const NUMBERS: usize = 12;

/// Makes the signatures of a chunk.
pub(crate) struct Marking {
    signatures: Signatures,
    keys: KeyMaker,
    /// Records of the chunk so far.
    records: u32,
}

impl Marking {
    pub(crate) fn new() -> Self {
        let keys = KeyMaker::new(SortOrder::Coordinate);
        Marking { signatures: Signatures::default(), keys, records: 0 }
    }

    pub(crate) fn begin(&mut self) {
        self.signatures.clear();
        self.records = 0;
    }

    /// Notes a record, in the order in which they are written; `is_first` says whether it is the first of its fragment.
    pub(crate) fn note(&mut self, fields: &Fields<'_>, is_first: bool) -> Result<(), Error> {
        if is_first {
            self.signatures.begin_fragment(fields.name)?;
        }
        if fields.flags & (SECONDARY | SUPPLEMENTARY) == 0 {
            let order = self.keys.key(fields).try_into().map_or(0, u64::from_be_bytes);
            let place = (fields.place.contig, fields.place.position);
            let quality = (fields.qual, fields.seq.len());
            self.signatures.add(Primary::new(fields.flags, place, fields.cigar, quality, order, self.records));
        }
        self.records += 1;
        Ok(())
    }

    /// Appends the signatures of the chunk to its records.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let records = out.len() as u64;
        out.extend_from_slice(self.signatures.frames()?);
        out.extend_from_slice(&records.to_le_bytes());
        out.extend_from_slice(&self.records.to_le_bytes());
        Ok(())
    }
}

/// Collects records and signatures.
pub(crate) struct BothCollector<'s> {
    pub(crate) records: Collector<'s>,
    pub(crate) signatures: Collector<'s>,
    pub(crate) counts: &'s ChunkCounts,
}

impl Collect for BothCollector<'_> {
    fn add(&mut self, number: u64, bytes: &[u8]) -> Result<(), Error> {
        let cut_off = || Error::Internal("a chunk of records to be marked is cut off".to_owned());
        let (frames, numbers) = bytes.split_at_checked(bytes.len().wrapping_sub(NUMBERS)).ok_or_else(cut_off)?;
        let (records, count) = numbers.split_at(8);
        let records = records.try_into().map_or(u64::MAX, u64::from_le_bytes) as usize;
        let (records, signatures) = frames.split_at_checked(records).ok_or_else(cut_off)?;
        self.counts.add(number, count.try_into().map_or(0, u32::from_le_bytes));
        self.records.add(number, records)?;
        self.signatures.add(number, signatures)
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.records.finish()?;
        self.signatures.finish()
    }
}
