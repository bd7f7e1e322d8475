//! Duplicates: signatures travel behind the records of their chunk, and are collected beside them.
//!
//! | bytes | what |
//! |---|---|
//! | ... | the frames of the records |
//! | ... | the frames of their signatures |
//! | ... | how many records were counted |
//! | 8 | bytes of the first |
//! | 8 | bytes of the second |
//! | 4 | number of the records |

use crate::keys::coordinate;
use crate::libraries::Libraries;
use crate::parts::Duplicates;
use crate::sam_line::Fields;
use zerohop_duplicates::{ChunkCounts, ConvertedStrand, NamedFragment, Primary, Search, Signatures};
use zerohop_model::error::Error;
use zerohop_model::record::{UNMAPPED, is_primary};
use zerohop_model::sink::Collect;
use zerohop_sort::Collector;

/// Bytes of the numbers.
const NUMBERS: usize = 20;
/// Fields of a name before the barcode, as Illumina's programs write it: machine, run, flow cell, lane, tile, x, y.
const FIELDS_BEFORE_BARCODE: usize = 7;

/// The tag of the cell that a read is of (SAM tags, CB).
const CELL: [u8; 2] = *b"CB";

/// How duplicates are looked for, and whether they are marked or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marking {
    /// Whether they are marked or left out.
    pub duplicates: Duplicates,
    /// How they are looked for.
    pub search: Search,
    /// Where the barcode of a molecule is, if there are barcodes: duplicates have the same.
    pub barcode: Option<Barcode>,
}

/// Where the barcode of a molecule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barcode {
    /// In this optional field, which holds text.
    Tag([u8; 2]),
    /// In the name of the read, behind the seventh colon.
    Name,
}

impl Barcode {
    /// That of a record; `text_of` says what is in an optional field.
    fn of<'a>(self, name: &'a [u8], text_of: &dyn Fn([u8; 2]) -> Option<&'a [u8]>) -> Option<&'a [u8]> {
        match self {
            Barcode::Tag(tag) => text_of(tag),
            Barcode::Name => name.splitn(FIELDS_BEFORE_BARCODE + 1, |&byte| byte == b':').nth(FIELDS_BEFORE_BARCODE),
        }
    }
}

/// The strand of the genome that a bisulfite read comes from, as Bismark (XG) and bwameth.py (YD) write it.
fn strand<'a>(text_of: &dyn Fn([u8; 2]) -> Option<&'a [u8]>) -> Option<ConvertedStrand> {
    match (text_of(*b"XG"), text_of(*b"YD")) {
        (Some(b"CT"), _) | (None, Some(b"f")) => Some(ConvertedStrand::Top),
        (Some(b"GA"), _) | (None, Some(b"r")) => Some(ConvertedStrand::Bottom),
        _ => None,
    }
}

/// Makes the signatures of a chunk.
pub(crate) struct Signer<'h> {
    signatures: Signatures,
    barcode: Option<Barcode>,
    has_umis: bool,
    libraries: &'h Libraries,
    /// Those of the lane.
    library: u16,
    read_group: u16,
    /// Records of the chunk so far.
    records: u32,
}

impl<'h> Signer<'h> {
    pub(crate) fn new(marking: &Marking, libraries: &'h Libraries) -> Self {
        Signer {
            signatures: Signatures::new(marking.search),
            barcode: marking.barcode,
            has_umis: marking.search.umis.is_some(),
            libraries,
            library: 0,
            read_group: 0,
            records: 0,
        }
    }

    pub(crate) fn begin(&mut self, lane: usize) {
        self.signatures.clear();
        (self.library, self.read_group) = self.libraries.of_lane(lane);
        self.records = 0;
    }

    /// Notes a record, in the order in which they are written; `is_first` says whether it is the first of its fragment,
    /// and `text_of` what is in an optional field.
    pub(crate) fn note<'a>(
        &mut self,
        fields: &Fields<'a>,
        is_first: bool,
        text_of: &dyn Fn([u8; 2]) -> Option<&'a [u8]>,
    ) -> Result<(), Error> {
        if is_first {
            let own = text_of(*b"RG").and_then(|id| self.libraries.of_group(id));
            let (library, read_group) = own.unwrap_or((self.library, self.read_group));
            self.signatures.begin_fragment(NamedFragment { name: fields.name, library, read_group })?;
        }
        if is_primary(fields.flags) {
            let order = u64::from_be_bytes(coordinate(fields));
            let place = (fields.place.contig, fields.place.position);
            let quality = (fields.qual, fields.seq.len());
            let primary = Primary::new(fields.flags, place, fields.cigar, quality, order, self.records);
            let barcode = self.barcode.and_then(|barcode| barcode.of(fields.name, text_of));
            let primary = match self.has_umis {
                true => primary.of_molecule(fields.mapq, text_of(CELL)),
                false => primary,
            };
            self.signatures.add(primary.with_barcode(barcode).of_strand(strand(text_of)));
        } else {
            self.signatures.count_other(fields.flags & UNMAPPED == 0);
        }
        self.records += 1;
        Ok(())
    }

    /// Appends the signatures of the chunk to its records.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        let (records, signatures) = (out.len() as u64, self.signatures.frames()?);
        out.extend_from_slice(signatures);
        let signatures = signatures.len() as u64;
        self.signatures.put_counts(out);
        out.extend_from_slice(&records.to_le_bytes());
        out.extend_from_slice(&signatures.to_le_bytes());
        out.extend_from_slice(&self.records.to_le_bytes());
        Ok(())
    }
}

/// What [`Signer::end`] wrote.
struct Signed<'b> {
    records: &'b [u8],
    signatures: &'b [u8],
    counts: &'b [u8],
    number_of_records: u32,
}

impl<'b> Signed<'b> {
    fn read(bytes: &'b [u8]) -> Option<Self> {
        let (parts, numbers) = bytes.split_at_checked(bytes.len().checked_sub(NUMBERS)?)?;
        let long = |at: usize| Some(u64::from_le_bytes(numbers[at..at + 8].try_into().ok()?) as usize);
        let (records, rest) = parts.split_at_checked(long(0)?)?;
        let (signatures, counts) = rest.split_at_checked(long(8)?)?;
        let number_of_records = u32::from_le_bytes(numbers[16..].try_into().ok()?);
        Some(Signed { records, signatures, counts, number_of_records })
    }
}

/// Collects records and signatures.
pub(crate) struct BothCollector<'s> {
    pub(crate) records: Collector<'s>,
    pub(crate) signatures: Collector<'s>,
    pub(crate) counts: &'s ChunkCounts,
    /// Whether runs are kept for other processes, with the counts.
    pub(crate) keeps: bool,
}

impl BothCollector<'_> {
    /// Adds a chunk that is to be kept: records and signatures, or none of them.
    fn keep(&mut self, number: u64, signed: &Signed<'_>) -> Result<(), Error> {
        if !self.records.has_room(signed.records.len()) || !self.signatures.has_room(signed.signatures.len()) {
            self.records.spill()?;
            self.signatures.spill()?;
        }
        self.records.put(number, signed.records, &[])?;
        let note = [&signed.number_of_records.to_le_bytes(), signed.counts].concat();
        self.signatures.put(number, signed.signatures, &note)
    }
}

/// Takes up the counts of a chunk that was kept.
pub(crate) fn take_up(number: u64, note: &[u8], all: &ChunkCounts) -> Result<(), Error> {
    let cut_off = || Error::Internal("the counts of a chunk are cut off".to_owned());
    let (records, counts) = note.split_first_chunk().ok_or_else(cut_off)?;
    all.add(number, u32::from_le_bytes(*records), counts);
    Ok(())
}

impl Collect for BothCollector<'_> {
    fn add(&mut self, number: u64, bytes: &[u8]) -> Result<(), Error> {
        let cut_off = || Error::Internal("a chunk of records to be marked is cut off".to_owned());
        let signed = Signed::read(bytes).ok_or_else(cut_off)?;
        if self.keeps {
            return self.keep(number, &signed);
        }
        let Signed { records, signatures, counts, number_of_records } = signed;
        self.counts.add(number, number_of_records, counts);
        self.records.add(number, records)?;
        self.signatures.add(number, signatures)
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.records.finish()?;
        self.signatures.finish()
    }

    fn take_kept(&mut self) -> Vec<u64> {
        // Those of the records are the same.
        self.records.take_kept();
        self.signatures.take_kept()
    }
}
