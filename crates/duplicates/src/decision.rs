//! Of the records with one signature, the one that stays (bam_markdup.c, bam_mark_duplicates).

use crate::marks::Marks;
use crate::signature::{Choice, END};
use std::cmp::Ordering;
use std::ops::Range;
use zerohop_model::error::Error;
use zerohop_sort::{Ordinal, Parts, SeenKey};

/// How many records were looked at, and marked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records whose mate is mapped, too.
    pub paired: u64,
    /// Others.
    pub single: u64,
    /// Marked records whose mate is mapped, too.
    pub paired_duplicates: u64,
    /// Others.
    pub single_duplicates: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.paired += other.paired;
        self.single += other.single;
        self.paired_duplicates += other.paired_duplicates;
        self.single_duplicates += other.single_duplicates;
    }
}

/// The choice among all signatures, part by part.
#[derive(Debug)]
pub struct Decision {
    parts: Parts,
    marks: Marks,
}

/// The record that stays, so far.
#[derive(Debug, Default)]
struct Best {
    has_mate: bool,
    score: u64,
    order: u64,
    record: Ordinal,
    name: Vec<u8>,
}

impl Best {
    fn set(&mut self, choice: &Choice<'_>, record: Ordinal) {
        (self.has_mate, self.score, self.order, self.record) = (choice.has_mate, choice.score, choice.order, record);
        self.name.clear();
        self.name.extend_from_slice(choice.name);
    }

    /// How it compares with another one; what is less stays.
    fn cmp(&self, kind: u8, choice: &Choice<'_>, record: Ordinal) -> Ordering {
        let place = (self.order, self.record).cmp(&(choice.order, record));
        let by_score = choice.score.cmp(&self.score);
        match kind {
            // A record with a mate is better than any without; several of them all stay.
            END => choice.has_mate.cmp(&self.has_mate).then(by_score).then(place),
            _ => by_score.then_with(|| self.name.as_slice().cmp(choice.name)).then(place),
        }
    }
}

impl Decision {
    /// Of these signatures. Nothing is decided yet.
    pub fn new(parts: Parts, marks: Marks) -> Self {
        Decision { parts: parts.of_groups(), marks }
    }

    /// Number of parts.
    pub fn count(&self) -> usize {
        self.parts.count()
    }

    /// How many one thread should do in a row.
    pub fn in_a_row(&self) -> usize {
        self.parts.in_a_row()
    }

    /// How many of so many threads may decide at the same time, for the memory that was given.
    pub fn deciders(&self, threads: usize) -> usize {
        self.parts.mergers(threads)
    }

    /// Decides some parts, one after the other.
    ///
    /// # Errors
    /// A temporary file that cannot be read.
    pub fn decide(&self, parts: Range<usize>) -> Result<Counts, Error> {
        let (mut merger, mut counts) = (self.parts.merger(), Counts::default());
        let (mut best, mut seen) = (Best::default(), SeenKey::default());
        for part in parts {
            merger.part(part, |key, signature| {
                let choice = Choice::read(signature)
                    .ok_or_else(|| Error::Internal("a signature of a record cannot be read".to_owned()))?;
                let (record, kind) = (key.ordinal().with_record(choice.record), key.first_byte());
                count(&mut counts, kind, choice.has_mate);
                if !seen.is_seen(&key) {
                    best.set(&choice, record);
                    return Ok(());
                }
                if kind == END && best.has_mate && choice.has_mate {
                    return Ok(());
                }
                match best.cmp(kind, &choice, record) {
                    Ordering::Greater => {
                        self.marks.mark(best.record);
                        best.set(&choice, record);
                    }
                    _ => self.marks.mark(record),
                }
                match kind {
                    END => counts.single_duplicates += 1,
                    _ => counts.paired_duplicates += 1,
                }
                Ok(())
            })?;
        }
        Ok(counts)
    }

    /// What was decided.
    pub fn into_marks(self) -> Marks {
        self.marks
    }
}

/// Each record has a signature of its end; one with a mate has another one.
fn count(counts: &mut Counts, kind: u8, has_mate: bool) {
    match (kind, has_mate) {
        (END, true) => counts.paired += 1,
        (END, false) => counts.single += 1,
        _ => {}
    }
}
