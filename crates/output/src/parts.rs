//! The output of a sort, in parts: records out of the merge, compressed by whoever merges, and what their index says.

use crate::blocks::Blocks;
use crate::file_index::{FileIndex, MadePart};
use crate::format::Format;
use crate::keys::place;
use crate::merged::{MergedParts, PartMerger};
use crate::molecule::{put_in_bam, put_in_line};
use crate::sam_line::{flags_of, with_flag, without_flag};
use std::ops::Range;
use std::sync::Mutex;
use zerohop_bgzf::{BLOCK_DATA, BlockCompressor};
use zerohop_cram::record::{Fixed, set_flags};
use zerohop_cram::{Crai, Cram, CramEncoder};
use zerohop_duplicates::{Marks, Molecule, Rules};
use zerohop_model::error::Error;
use zerohop_model::record::DUPLICATE;
use zerohop_model::sink::{MakePart, Parts};
use zerohop_sort::Ordinal;

/// Parts of a sorted output.
pub struct SortedParts<'s> {
    parts: MergedParts,
    format: Format,
    /// What CRAM is encoded with.
    cram: Option<&'s Cram>,
    /// An empty index, if one is wanted.
    index: Option<FileIndex>,
    duplicates: Option<(Marks, Duplicates, Rules)>,
    visitors: Option<&'s dyn Visitors>,
    made: Mutex<Vec<MadePart>>,
}

/// Looks at all records of a sorted output while they are written.
pub trait Visitors: Sync {
    /// What looks at the parts that one worker makes.
    fn visitor(&self) -> Box<dyn Visit + '_>;
}

/// Looks at the records of parts, which come in any order.
pub trait Visit {
    /// Begins part `number`, which has the places from one up to another: contigs and positions, from 0. Behind all
    /// contigs come records without one.
    fn begin(&mut self, number: usize, places: Range<(u32, u32)>);

    /// Looks at a record as BAM has it, with its length before it, which is written with these `flags`.
    ///
    /// # Errors
    /// [`Error::Internal`]: one that is cut off.
    fn see(&mut self, record: &[u8], flags: u16) -> Result<(), Error>;

    /// Ends the part.
    ///
    /// # Errors
    /// [`Error::Output`]: what is found cannot be written.
    fn end(&mut self) -> Result<(), Error>;
}

/// Whether duplicates are marked or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// They get the flag 0x400.
    Mark,
    /// They are not written.
    Remove,
}

/// What is done with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Written,
    Marked,
    /// It loses the mark that the aligner gave it.
    Cleared,
    LeftOut,
}

impl<'s> SortedParts<'s> {
    pub(crate) fn new(
        parts: MergedParts,
        (format, cram): (Format, Option<&'s Cram>),
        index: Option<FileIndex>,
        duplicates: Option<(Marks, Duplicates, Rules)>,
        visitors: Option<&'s dyn Visitors>,
    ) -> Self {
        let made = Mutex::default();
        SortedParts { parts, format, cram, index, duplicates, visitors, made }
    }

    /// What is to be done with a record; `flags` are those that the aligner gave it. A mark of the aligner's own counts
    /// for samtools as one that markdup set, and Picard takes it away.
    fn fate(&self, record: Ordinal, flags: impl FnOnce() -> u16) -> Fate {
        let Some((marks, wanted, rules)) = &self.duplicates else { return Fate::Written };
        match (marks.is_marked(record), wanted, rules) {
            (true, Duplicates::Mark, _) => Fate::Marked,
            (true, Duplicates::Remove, _) => Fate::LeftOut,
            (false, ..) if flags() & DUPLICATE == 0 => Fate::Written,
            (false, _, Rules::Picard) => Fate::Cleared,
            (false, Duplicates::Mark, Rules::Samtools) => Fate::Written,
            (false, Duplicates::Remove, Rules::Samtools) => Fate::LeftOut,
        }
    }

    /// The tag of a record to be written, if records have molecules: that, or none of its own.
    fn molecule(&self, record: Ordinal) -> Option<Option<Molecule>> {
        let (marks, ..) = self.duplicates.as_ref()?;
        marks.has_molecules().then(|| marks.molecule(record))
    }

    /// How many of so many threads may make parts at the same time, for the memory that was given.
    pub fn mergers(&self, threads: usize) -> usize {
        self.parts.mergers(threads)
    }

    /// The parts that were made here, in any order.
    pub fn into_made(self) -> Vec<MadePart> {
        self.made.into_inner().unwrap_or_else(|p| p.into_inner())
    }
}

impl Parts for SortedParts<'_> {
    fn count(&self) -> usize {
        self.parts.count()
    }

    fn in_a_row(&self) -> usize {
        self.parts.in_a_row()
    }

    fn maker(&self) -> Box<dyn MakePart + '_> {
        let packer = match (self.format, self.cram) {
            (Format::Bam { level }, _) => {
                Packer::Blocks(BlockCompressor::new(level), Vec::with_capacity(2 * BLOCK_DATA))
            }
            (Format::Cram { .. }, Some(cram)) => Packer::Containers(cram.encoder(), Vec::new()),
            _ => Packer::Lines,
        };
        let visitor = self.visitors.map(|visitors| visitors.visitor());
        let molecules = self.duplicates.as_ref().map(|(marks, ..)| marks).filter(|marks| marks.has_molecules());
        let merger = self.parts.merger(molecules);
        Box::new(Maker { parts: self, merger, packer, visitor, tagged: Vec::new() })
    }
}

/// What becomes of merged records.
enum Packer<'p> {
    Lines,
    /// With what the next block holds so far.
    Blocks(BlockCompressor, Vec<u8>),
    /// With room for a record that is marked.
    Containers(CramEncoder<'p>, Vec<u8>),
}

struct Maker<'p> {
    parts: &'p SortedParts<'p>,
    merger: PartMerger<'p>,
    packer: Packer<'p>,
    visitor: Option<Box<dyn Visit + 'p>>,
    /// Room for a record with the tag of its molecule.
    tagged: Vec<u8>,
}

impl MakePart for Maker<'_> {
    fn make(&mut self, number: usize, mut out: Vec<u8>) -> Result<Vec<u8>, Error> {
        let Maker { parts, merger, packer, visitor, tagged } = self;
        let mut index = parts.index.as_ref().map(FileIndex::like);
        if let Some(visitor) = visitor {
            let place = |part: usize| parts.parts.begin(part).map(place);
            visitor.begin(number, place(number).unwrap_or((0, 0))..place(number + 1).unwrap_or((u32::MAX, 0)));
        }
        let mut see = |record: &[u8], fate: Fate| match visitor {
            Some(visitor) => visitor.see(record, flags_by(fate, bam_flags(record))),
            None => Ok(()),
        };
        match packer {
            Packer::Lines => merger.part(number, |ordinal, record| {
                // One that has the flag already, or has no flags, stays.
                let changed = match parts.fate(ordinal, || flags_of(record)) {
                    Fate::LeftOut => return Ok(()),
                    Fate::Written => None,
                    Fate::Marked => with_flag(record, DUPLICATE),
                    Fate::Cleared => without_flag(record, DUPLICATE),
                };
                let mut record = changed.as_deref().unwrap_or(record);
                if let Some(molecule) = parts.molecule(ordinal) {
                    put_in_line(record, molecule, tagged);
                    record = tagged;
                }
                out.extend_from_slice(record);
                Ok(())
            })?,
            Packer::Blocks(compressor, raw) => {
                raw.clear();
                let mut blocks = Blocks { raw, compressor, out: &mut out };
                merger.part(number, |ordinal, record| {
                    let fate = parts.fate(ordinal, || bam_flags(record));
                    if fate == Fate::LeftOut {
                        return Ok(());
                    }
                    let record = in_bam(record, parts.molecule(ordinal), tagged)?;
                    let at = blocks.put(record, |record| mark(record, fate))?;
                    if let Some(FileIndex::Bam(index)) = &mut index {
                        index.add(record, at);
                    }
                    // Behind the copy, which has brought it into the cache.
                    see(record, fate)
                })?;
                blocks.flush()?;
            }
            Packer::Containers(encoder, marked) => {
                merger.part(number, |ordinal, record| {
                    let fate = parts.fate(ordinal, || bam_flags(record));
                    if fate == Fate::LeftOut {
                        return Ok(());
                    }
                    let record = in_bam(record, parts.molecule(ordinal), tagged)?;
                    see(record, fate)?;
                    if fate == Fate::Written {
                        return encoder.add(record);
                    }
                    marked.clear();
                    marked.extend_from_slice(record);
                    mark(marked, fate);
                    encoder.add(marked)
                })?;
                encoder.finish(&mut out)?;
                if let Some(FileIndex::Cram(crai)) = &mut index {
                    *crai = Crai::of(&out)?;
                }
            }
        }
        if let Some(visitor) = visitor {
            visitor.end()?;
        }
        let mut made = parts.made.lock().unwrap_or_else(|p| p.into_inner());
        made.push(MadePart { number, bytes: out.len() as u64, index });
        Ok(out)
    }
}

/// The record as it is written: in `tagged`, if records have molecules.
fn in_bam<'r>(
    record: &'r [u8],
    molecule: Option<Option<Molecule>>,
    tagged: &'r mut Vec<u8>,
) -> Result<&'r [u8], Error> {
    let Some(molecule) = molecule else { return Ok(record) };
    put_in_bam(record, molecule, tagged)?;
    Ok(tagged)
}

fn bam_flags(record: &[u8]) -> u16 {
    Fixed::split(record).map_or(0, |(fixed, _)| fixed.flags)
}

/// The flags that a record is written with, which has these.
fn flags_by(fate: Fate, flags: u16) -> u16 {
    match fate {
        Fate::Marked => flags | DUPLICATE,
        Fate::Cleared => flags & !DUPLICATE,
        Fate::Written | Fate::LeftOut => flags,
    }
}

/// Gives a record of BAM the flag of duplicates, or takes it away.
fn mark(record: &mut [u8], fate: Fate) {
    if fate != Fate::Written {
        set_flags(record, flags_by(fate, bam_flags(record)));
    }
}
