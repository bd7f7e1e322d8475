//! Reads as they come in, and what stays of them.

use std::ops::Range;

/// A read: its bases, and a quality for each.
#[derive(Debug, Clone, Copy)]
pub struct Read<'a> {
    bases: &'a [u8],
    qualities: &'a [u8],
}

impl<'a> Read<'a> {
    /// Of bases and as many qualities, which are bytes from 33 up, as in FASTQ. Of unequal lengths the shorter one
    /// counts.
    pub fn new(bases: &'a [u8], qualities: &'a [u8]) -> Self {
        let length = bases.len().min(qualities.len()).min(u32::MAX as usize);
        Read { bases: &bases[..length], qualities: &qualities[..length] }
    }

    /// The bases.
    pub fn bases(&self) -> &'a [u8] {
        self.bases
    }

    /// Their qualities.
    pub fn qualities(&self) -> &'a [u8] {
        self.qualities
    }

    /// How many bases there are.
    pub fn len(&self) -> usize {
        self.bases.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// The part of the read that stays.
    pub fn within(&self, span: Span) -> Self {
        let range = span.range();
        match (self.bases.get(range.clone()), self.qualities.get(range)) {
            (Some(bases), Some(qualities)) => Read { bases, qualities },
            _ => Read { bases: &[], qualities: &[] },
        }
    }
}

/// Which bases of a read stay: from `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first one.
    pub start: u32,
    /// Behind the last one.
    pub end: u32,
}

impl Span {
    /// All of a read.
    pub fn whole(read: &Read<'_>) -> Self {
        Span { start: 0, end: read.len() as u32 }
    }

    /// How many bases stay.
    pub fn len(&self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As a range to index with.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Keeps so many of its first bases, at most.
    pub(crate) fn keep(&mut self, bases: usize) {
        self.end = self.start + self.len().min(bases) as u32;
    }
}
