//! Of the records with one signature, the one that stays (bam_markdup.c, bam_mark_duplicates; MarkDuplicates,
//! generateDuplicateIndexes).

use crate::counts::Counts;
use crate::marks::{ChunkCounts, Marks};
use crate::optical::{self, LARGEST_SET, Location, Spot};
use crate::rules::{Rules, Search};
use crate::signature::{ChoiceFields, END, PAIR};
use std::cmp::Ordering;
use std::ops::Range;
use zerohop_model::error::Error;
use zerohop_sort::{Ordinal, RecordParts, SeenKey};

/// The choice among all signatures, part by part.
#[derive(Debug)]
pub struct Decision {
    parts: RecordParts,
    marks: Marks,
    examined: Counts,
    search: Search,
}

impl Decision {
    /// Of these signatures, and the chunks that they are of. Nothing is decided yet.
    pub fn new(parts: RecordParts, chunks: &ChunkCounts, search: Search) -> Self {
        Decision { parts: parts.of_groups(), marks: Marks::new(chunks), examined: chunks.examined(), search }
    }

    /// How many records are of which kind; no duplicates are counted here.
    pub fn examined(&self) -> Counts {
        self.examined.clone()
    }

    /// Whether optical duplicates are counted.
    pub fn looks_for_optical(&self) -> bool {
        self.search.optical_distance.is_some()
    }

    /// How many parts there are to decide.
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

    /// Decides some parts, one after the other. Gives what was found in them: duplicates, and sets of pairs.
    ///
    /// # Errors
    /// A temporary file that cannot be read.
    pub fn decide(&self, parts: Range<usize>) -> Result<Counts, Error> {
        let (mut merger, mut seen) = (self.parts.merger(), SeenKey::default());
        let mut set = SignatureSet::new(self.search, &self.marks);
        for part in parts {
            merger.part(part, |key, signature| {
                let choice = ChoiceFields::read(signature)
                    .ok_or_else(|| Error::Internal("a signature of a record cannot be read".to_owned()))?;
                let record = key.ordinal().with_record(choice.record);
                match seen.is_seen(&key) {
                    true => set.add(&choice, record),
                    false => set.begin(key.first_byte(), &choice, record),
                }
                Ok(())
            })?;
        }
        Ok(set.finish())
    }

    /// The marks of all records that were decided so far.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// The marks of all records.
    pub fn into_marks(self) -> Marks {
        self.marks
    }
}

/// Signatures with one key, one after the other; what was found in all of them.
struct SignatureSet<'m> {
    search: Search,
    marks: &'m Marks,
    kind: u8,
    best: Best,
    /// Pairs so far.
    pairs: u64,
    /// Where they are, if optical duplicates are looked for.
    spots: Vec<Spot>,
    /// How many there are on each strand.
    spots_of_strand: [usize; 2],
    found: Counts,
}

/// The record that stays, so far.
#[derive(Debug, Default)]
struct Best {
    has_mate: bool,
    score: i64,
    tie: Vec<u8>,
    order: u64,
    record: Ordinal,
    mate: Option<u32>,
    template: Option<Range<u32>>,
    library: u16,
}

impl Best {
    fn set(&mut self, choice: &ChoiceFields<'_>, record: Ordinal) {
        (self.has_mate, self.score, self.order) = (choice.has_mate, choice.score, choice.order);
        (self.record, self.mate, self.library) = (record, choice.mate, choice.library);
        self.template.clone_from(&choice.template);
        self.tie.clear();
        self.tie.extend_from_slice(choice.tie);
    }

    /// How it compares with another one; what is less stays. A record with a mate is better than any without.
    fn cmp(&self, choice: &ChoiceFields<'_>, record: Ordinal) -> Ordering {
        let place = (self.order, self.record).cmp(&(choice.order, record));
        let quality = (choice.has_mate, choice.score).cmp(&(self.has_mate, self.score));
        quality.then_with(|| self.tie.as_slice().cmp(choice.tie)).then(place)
    }
}

impl<'m> SignatureSet<'m> {
    fn new(search: Search, marks: &'m Marks) -> Self {
        let (best, spots, found) = (Best::default(), Vec::new(), Counts::default());
        SignatureSet { search, marks, kind: END, best, pairs: 0, spots, spots_of_strand: [0; 2], found }
    }

    /// Ends the set before, and begins one with this signature.
    fn begin(&mut self, kind: u8, choice: &ChoiceFields<'_>, record: Ordinal) {
        self.end();
        self.kind = kind;
        self.best.set(choice, record);
        self.note(choice);
    }

    /// Adds another signature.
    fn add(&mut self, choice: &ChoiceFields<'_>, record: Ordinal) {
        self.note(choice);
        // Ends of pairs are no duplicates of each other.
        if self.kind == END && self.best.has_mate && choice.has_mate {
            return;
        }
        match self.best.cmp(choice, record) {
            Ordering::Greater => {
                let Best { record: worse, mate, library, .. } = self.best;
                let template = self.best.template.take();
                self.mark(worse, (mate, template), library);
                self.best.set(choice, record);
            }
            _ => self.mark(record, (choice.mate, choice.template.clone()), choice.library),
        }
    }

    /// Marks a record and those that are marked with it: its mate, or all of its template.
    fn mark(&mut self, record: Ordinal, (mate, template): (Option<u32>, Option<Range<u32>>), library: u16) {
        let counts = self.found.library(library);
        match self.kind {
            PAIR => counts.paired_duplicates += 1 + u64::from(mate.is_some()),
            _ => counts.single_duplicates += 1,
        }
        self.marks.mark(record);
        let others = mate.into_iter().chain(template.into_iter().flatten());
        others.for_each(|other| self.marks.mark(record.with_record(other)));
    }

    /// Counts a pair, and where it is.
    fn note(&mut self, choice: &ChoiceFields<'_>) {
        if !choice.stands_for_pair {
            return;
        }
        self.pairs += 1;
        if self.search.optical_distance.is_some() {
            let location = match self.search.rules {
                Rules::Samtools => Location::of(choice.tie, true),
                Rules::Picard => Location::of_bytes(choice.tie),
            };
            let &ChoiceFields { first_is_reverse, read_group, library, .. } = choice;
            // Of a set that is not looked at, no more is kept than says so.
            let of_strand = &mut self.spots_of_strand[usize::from(first_is_reverse)];
            *of_strand += 1;
            if *of_strand <= LARGEST_SET + 1 {
                self.spots.push(Spot { first_is_reverse, read_group, library, location });
            }
        }
    }

    fn end(&mut self) {
        if self.pairs > 0 {
            let mut optical = 0;
            if let Some(distance) = self.search.optical_distance.filter(|_| self.pairs > 1) {
                for (library, pairs) in optical::count(&mut self.spots, distance) {
                    self.found.library(library).optical_pairs += pairs;
                    optical += pairs;
                }
            }
            self.found.add_set(self.pairs, optical);
        }
        self.pairs = 0;
        self.spots.clear();
        self.spots_of_strand = [0; 2];
    }

    fn finish(mut self) -> Counts {
        self.end();
        self.found
    }
}
