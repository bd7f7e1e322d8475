//! The output of a sort, in parts: records out of the merge, compressed by whoever merges, and what their index says.

use crate::file_index::{FileIndex, MadePart};
use crate::format::Format;
use crate::sam_line::{flags_of, with_flag, without_flag};
use std::sync::Mutex;
use zerohop_bgzf::{BLOCK_DATA, BlockCompressor};
use zerohop_cram::record::{Fixed, set_flags};
use zerohop_cram::{Crai, Cram, CramEncoder};
use zerohop_duplicates::{Marks, Rules};
use zerohop_model::error::Error;
use zerohop_model::record::DUPLICATE;
use zerohop_model::sink::{MakePart, Parts};
use zerohop_sort::{Merger, Ordinal};

/// Parts of a sorted output.
pub struct SortedParts<'s> {
    parts: zerohop_sort::RecordParts,
    format: Format,
    /// What CRAM is encoded with.
    cram: Option<&'s Cram>,
    /// An empty index, if one is wanted.
    index: Option<FileIndex>,
    duplicates: Option<(Marks, Duplicates, Rules)>,
    made: Mutex<Vec<MadePart>>,
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
        parts: zerohop_sort::RecordParts,
        (format, cram): (Format, Option<&'s Cram>),
        index: Option<FileIndex>,
        duplicates: Option<(Marks, Duplicates, Rules)>,
    ) -> Self {
        let made = Mutex::default();
        SortedParts { parts, format, cram, index, duplicates, made }
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
        Box::new(Maker { parts: self, merger: self.parts.merger(), packer })
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
    merger: Merger<'p>,
    packer: Packer<'p>,
}

impl MakePart for Maker<'_> {
    fn make(&mut self, number: usize, mut out: Vec<u8>) -> Result<Vec<u8>, Error> {
        let Maker { parts, merger, packer } = self;
        let mut index = parts.index.as_ref().map(FileIndex::like);
        match packer {
            Packer::Lines => merger.part(number, |key, record| {
                // One that has the flag already, or has no flags, stays.
                let changed = match parts.fate(key.ordinal(), || flags_of(record)) {
                    Fate::LeftOut => return Ok(()),
                    Fate::Written => None,
                    Fate::Marked => with_flag(record, DUPLICATE),
                    Fate::Cleared => without_flag(record, DUPLICATE),
                };
                out.extend_from_slice(changed.as_deref().unwrap_or(record));
                Ok(())
            })?,
            Packer::Blocks(compressor, raw) => {
                raw.clear();
                let mut blocks = Blocks { raw, compressor, out: &mut out };
                merger.part(number, |key, record| {
                    let fate = parts.fate(key.ordinal(), || bam_flags(record));
                    if fate == Fate::LeftOut {
                        return Ok(());
                    }
                    let at = blocks.put(record, fate)?;
                    if let Some(FileIndex::Bam(index)) = &mut index {
                        index.add(record, at);
                    }
                    Ok(())
                })?;
                blocks.flush()?;
            }
            Packer::Containers(encoder, marked) => {
                merger.part(number, |key, record| match parts.fate(key.ordinal(), || bam_flags(record)) {
                    Fate::LeftOut => Ok(()),
                    Fate::Written => encoder.add(record),
                    fate @ (Fate::Marked | Fate::Cleared) => {
                        marked.clear();
                        marked.extend_from_slice(record);
                        mark(marked, fate);
                        encoder.add(marked)
                    }
                })?;
                encoder.finish(&mut out)?;
                if let Some(FileIndex::Cram(crai)) = &mut index {
                    *crai = Crai::of(&out)?;
                }
            }
        }
        let mut made = parts.made.lock().unwrap_or_else(|p| p.into_inner());
        made.push(MadePart { number, bytes: out.len() as u64, index });
        Ok(out)
    }
}

fn bam_flags(record: &[u8]) -> u16 {
    Fixed::split(record).map_or(0, |(fixed, _)| fixed.flags)
}

/// Gives a record of BAM the flag of duplicates, or takes it away.
fn mark(record: &mut [u8], fate: Fate) {
    let flags = match fate {
        Fate::Marked => bam_flags(record) | DUPLICATE,
        Fate::Cleared => bam_flags(record) & !DUPLICATE,
        Fate::Written | Fate::LeftOut => return,
    };
    set_flags(record, flags);
}

/// BGZF blocks that are being written.
struct Blocks<'b> {
    /// What the next block holds so far: less than a whole one.
    raw: &'b mut Vec<u8>,
    compressor: &'b mut BlockCompressor,
    out: &'b mut Vec<u8>,
}

impl Blocks<'_> {
    /// Writes a record; says where it begins, and where the next one does. A record begins in the block in which it
    /// ends, if it fits, as htslib writes them.
    fn put(&mut self, record: &[u8], fate: Fate) -> Result<(u64, u64), Error> {
        if self.raw.len() + record.len() > BLOCK_DATA {
            self.flush()?;
        }
        let begin = self.position();
        let start = self.raw.len();
        self.raw.extend_from_slice(record);
        mark(&mut self.raw[start..], fate);
        let whole = self.raw.len() / BLOCK_DATA * BLOCK_DATA;
        if whole > 0 {
            self.compressor.compress(&self.raw[..whole], self.out)?;
            self.raw.drain(..whole);
        }
        Ok((begin, self.position()))
    }

    fn position(&self) -> u64 {
        (self.out.len() as u64) << 16 | self.raw.len() as u64
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.compressor.compress(self.raw, self.out)?;
        self.raw.clear();
        Ok(())
    }
}
