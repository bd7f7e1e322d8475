//! Of the records with one signature, the one that stays (bam_markdup.c, bam_mark_duplicates; MarkDuplicates,
//! generateDuplicateIndexes).

use crate::counts::Counts;
use crate::marks::Marks;
use crate::optical::{self, LARGEST_SET, Location, Spot};
use crate::rules::{Rules, Search};
use crate::signature::{ChoiceFields, END, PAIR};
use std::cmp::Ordering;
use std::ops::Range;
use zerohop_sort::Ordinal;

/// Signatures with one key, one after the other; what was found in all of them.
pub(crate) struct SignatureSet<'m> {
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
    pub(crate) fn new(search: Search, marks: &'m Marks) -> Self {
        let (best, spots, found) = (Best::default(), Vec::new(), Counts::default());
        SignatureSet { search, marks, kind: END, best, pairs: 0, spots, spots_of_strand: [0; 2], found }
    }

    /// Where it marks records.
    pub(crate) fn marks(&self) -> &'m Marks {
        self.marks
    }

    /// Ends the set before, and begins one with this signature.
    pub(crate) fn begin(&mut self, kind: u8, choice: &ChoiceFields<'_>, record: Ordinal) {
        self.end();
        self.kind = kind;
        self.best.set(choice, record);
        self.note(choice);
    }

    /// Adds another signature.
    pub(crate) fn add(&mut self, choice: &ChoiceFields<'_>, record: Ordinal) {
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
        let template = template.filter(|_| self.search.templates);
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
                Rules::Picard if self.search.umis.is_some() => Location::of(choice.tie, false),
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

    /// Ends the set.
    pub(crate) fn end(&mut self) {
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

    /// Ends the last set; gives what was found in all.
    pub(crate) fn finish(mut self) -> Counts {
        self.end();
        self.found
    }
}
