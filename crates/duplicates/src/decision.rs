//! Which records stay, part by part of their signatures.

use crate::counts::Counts;
use crate::marks::{ChunkCounts, Marks};
use crate::molecules::Place;
use crate::rules::Search;
use crate::set::SignatureSet;
use crate::signature::ChoiceFields;
use std::ops::Range;
use zerohop_model::error::Error;
use zerohop_sort::{RecordParts, SeenKey};

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
        let marks = Marks::new(chunks, search.umis.is_some());
        Decision { parts: parts.of_groups(), marks, examined: chunks.examined(), search }
    }

    /// How many records are of which kind; no duplicates are counted here.
    pub fn examined(&self) -> Counts {
        self.examined.clone()
    }

    /// Whether optical duplicates are counted.
    pub fn looks_for_optical(&self) -> bool {
        self.search.optical_distance.is_some()
    }

    /// How UMIs are compared, if they are.
    pub fn umis(&self) -> Option<zerohop_umi::Rules> {
        self.search.umis
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
        let mut place = self.search.umis.map(Place::new);
        for part in parts {
            merger.part(part, |key, signature| {
                let is_seen = seen.is_seen(&key);
                if let Some(place) = &mut place {
                    if !is_seen {
                        place.end(&mut set)?;
                    }
                    return place.add(signature, key.ordinal());
                }
                let choice = ChoiceFields::read(signature)
                    .ok_or_else(|| Error::Internal("a signature of a record cannot be read".to_owned()))?;
                let record = key.ordinal().with_record(choice.record);
                match is_seen {
                    true => set.add(&choice, record),
                    false => set.begin(key.first_byte(), &choice, record),
                }
                Ok(())
            })?;
        }
        if let Some(place) = &mut place {
            place.end(&mut set)?;
        }
        let mut found = set.finish();
        found.families = place.map(Place::into_families).unwrap_or_default();
        Ok(found)
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
