//! The records of an output out of the merge, part by part, in the order in which they are written.

use crate::places::PlaceRecords;
use crate::template_order::PLACE;
use std::path::PathBuf;
use zerohop_duplicates::Marks;
use zerohop_model::error::Error;
use zerohop_sort::{KeyRef, Merger, Ordinal, RecordParts};

/// Parts of records that are sorted by their keys.
pub(crate) struct MergedParts {
    parts: RecordParts,
    /// Where temporary files of records of one place are, where these are in one part, and may be put in another order
    /// there.
    folder: Option<PathBuf>,
}

impl MergedParts {
    /// Records in the order of their keys.
    pub(crate) fn of_records(parts: RecordParts) -> Self {
        MergedParts { parts, folder: None }
    }

    /// Records in the order of templates; temporary files are in `folder`.
    pub(crate) fn of_places(parts: RecordParts, folder: PathBuf) -> Self {
        MergedParts { parts: parts.of_beginnings(PLACE), folder: Some(folder) }
    }

    pub(crate) fn count(&self) -> usize {
        self.parts.count()
    }

    pub(crate) fn begin(&self, part: usize) -> Option<KeyRef<'_>> {
        self.parts.begin(part)
    }

    pub(crate) fn in_a_row(&self) -> usize {
        self.parts.in_a_row()
    }

    pub(crate) fn mergers(&self, threads: usize) -> usize {
        self.parts.mergers(threads)
    }

    /// What merges parts, for one thread; where records of a place are ordered by `molecules`, if these are known.
    pub(crate) fn merger<'p>(&'p self, molecules: Option<&'p Marks>) -> PartMerger<'p> {
        let places = molecules.zip(self.folder.clone()).map(|(marks, folder)| (marks, PlaceRecords::new(folder)));
        PartMerger { merger: self.parts.merger(), places }
    }
}

/// Merges parts.
pub(crate) struct PartMerger<'p> {
    merger: Merger<'p>,
    places: Option<(&'p Marks, PlaceRecords)>,
}

impl PartMerger<'_> {
    /// Gives the records of part `part` to `each`, in order.
    ///
    /// # Errors
    /// What `each` says; a temporary file that cannot be read, or has changed.
    pub(crate) fn part(
        &mut self,
        part: usize,
        mut each: impl FnMut(Ordinal, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some((molecules, places)) = &mut self.places else {
            return self.merger.part(part, |key, record| each(key.ordinal(), record));
        };
        self.merger.part(part, |key, record| {
            if !places.is_of(&key) {
                places.give(&mut each)?;
            }
            places.add(&key, record, molecules.molecule(key.ordinal()))
        })?;
        places.give(each)
    }
}
