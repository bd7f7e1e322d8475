//! Bases of records that may count at their places, part by part. Which of them do depends on the records before them:
//! on mates that cover the same place, and on how many have been counted there.
//!
//! The bases of a part wait until it is known what reaches into it from the parts before ([`Pileup::reaching`]).

use crate::codec::{put, put_ascending, take, take_ascending};
use crate::depth::{Place, place};
use crate::record::Record;
use xxhash_rust::xxh3::xxh3_64;

/// Bases of the records of one part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pileup {
    pub(super) records: Vec<Piled>,
    pub(super) blocks: Vec<Block>,
    /// What they are good for.
    pub(super) bases: Vec<u8>,
}

/// A record, and where its blocks end in [`Pileup::blocks`]. Of its name there is a hash: that two names at one place
/// have the same one is as good as impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piled {
    pub(super) name: u64,
    /// Where it begins: its first block may begin later.
    pub(super) start: Place,
    pub(super) blocks_end: usize,
}

/// Bases that lie side by side on the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) start: Place,
    /// Where they end in [`Pileup::bases`].
    pub(super) bases_end: usize,
}

/// A block with its bases.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockBases<'p> {
    pub(super) start: Place,
    pub(super) bases: &'p [u8],
}

impl BlockBases<'_> {
    pub(super) fn end(&self) -> Place {
        self.start + self.bases.len() as Place
    }
}

impl Pileup {
    /// Adds a record: of each block its positions, and what its bases are good for.
    pub(super) fn begin(&mut self, contig: u32, record: &Record<'_>) {
        let start = place(contig, record.position.max(0) as u32);
        self.records.push(Piled { name: xxh3_64(record.name), start, blocks_end: self.blocks.len() });
    }

    /// Adds a block of the last record; gives its bases.
    #[inline]
    pub(super) fn block(&mut self, contig: u32, start: u32, bases: impl Iterator<Item = u8>) -> &[u8] {
        let from = self.bases.len();
        self.bases.extend(bases);
        self.blocks.push(Block { start: place(contig, start), bases_end: self.bases.len() });
        if let Some(record) = self.records.last_mut() {
            record.blocks_end = self.blocks.len();
        }
        &self.bases[from..]
    }

    pub(super) fn blocks_of(&self, record: usize) -> impl Iterator<Item = BlockBases<'_>> + Clone {
        let from = record.checked_sub(1).map_or(0, |before| self.records[before].blocks_end);
        (from..self.records[record].blocks_end).map(|number| {
            let from = number.checked_sub(1).map_or(0, |before| self.blocks[before].bases_end);
            let Block { start, bases_end } = self.blocks[number];
            BlockBases { start, bases: &self.bases[from..bases_end] }
        })
    }

    /// Adds to `reaching` those of its records that reach behind `end`.
    pub(crate) fn reaching(&self, end: Place, reaching: &mut Pileup) {
        for (number, record) in self.records.iter().enumerate() {
            if self.blocks_of(number).any(|block| block.end() > end) {
                for BlockBases { start, bases } in self.blocks_of(number) {
                    reaching.bases.extend_from_slice(bases);
                    reaching.blocks.push(Block { start, bases_end: reaching.bases.len() });
                }
                reaching.records.push(Piled { blocks_end: reaching.blocks.len(), ..*record });
            }
        }
    }

    /// Writes it, for [`Self::read`].
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        put(out, self.records.len() as u64);
        for Piled { name, start, blocks_end } in &self.records {
            [*name, *start, *blocks_end as u64].into_iter().for_each(|number| put(out, number));
        }
        put_ascending(out, self.blocks.iter().map(|block| block.bases_end as u64));
        self.blocks.iter().for_each(|block| put(out, block.start));
        put(out, self.bases.len() as u64);
        out.extend_from_slice(&self.bases);
    }

    /// Reads one; none if it is damaged.
    pub(crate) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut pileup = Pileup::default();
        for _ in 0..take(from)? {
            let (name, start, blocks_end) = (take(from)?, take(from)?, take(from)? as usize);
            pileup.records.push(Piled { name, start, blocks_end });
        }
        for bases_end in take_ascending(from)? {
            pileup.blocks.push(Block { start: 0, bases_end: bases_end as usize });
        }
        for block in &mut pileup.blocks {
            block.start = take(from)?;
        }
        let length = take(from)? as usize;
        let (bases, rest) = from.split_at_checked(length)?;
        pileup.bases = bases.to_vec();
        *from = rest;
        let Pileup { records, blocks, .. } = &pileup;
        let is_whole = records.is_sorted_by_key(|record| (record.start, record.blocks_end))
            && records.last().is_none_or(|record| record.blocks_end <= blocks.len())
            && blocks.is_sorted_by_key(|block| block.bases_end)
            && blocks.last().is_none_or(|block| block.bases_end <= bases.len())
            && blocks.iter().all(|block| block.start < Place::MAX / 2);
        // Nor does a block begin before its record.
        let begins = |at: usize| pileup.blocks_of(at).all(|block| block.start >= records[at].start);
        (is_whole && (0..records.len()).all(begins)).then_some(pileup)
    }
}
