//! Records of one place in the order of templates (template_order.rs), once it is known from which molecules they come.

use crate::template_order::PLACE;
use std::ops::Range;
use std::path::PathBuf;
use zerohop_duplicates::Molecule;
use zerohop_model::error::Error;
use zerohop_sort::{KeyRef, Ordinal, RunStore, push_frame};

/// Bytes of records of one place that are held in memory. A place with more is sorted in temporary files.
const MOST_BYTES: usize = if cfg!(test) { 1 << 8 } else { 16 << 20 };
/// About how many bytes are merged at a time, of what lies there.
const TOGETHER: usize = 1 << 20;
/// Bytes of an ordinal before a record there.
const ORDINAL: usize = 8 + 4;

/// Records of one place, until all of them are known.
#[derive(Debug)]
pub(crate) struct PlaceRecords {
    /// Where temporary files are.
    folder: PathBuf,
    place: Vec<u8>,
    /// How many there are of it.
    count: u64,
    bytes: Vec<u8>,
    records: Vec<PlaceRecord>,
    /// Those that are not in memory any more, and how often some were put there.
    spilled: Option<(RunStore, u64)>,
}

#[derive(Debug)]
struct PlaceRecord {
    /// Its cell, its molecule, and its number in the place.
    key: Vec<u8>,
    ordinal: Ordinal,
    range: Range<usize>,
}

impl PlaceRecords {
    pub(crate) fn new(folder: PathBuf) -> Self {
        PlaceRecords { folder, place: Vec::new(), count: 0, bytes: Vec::new(), records: Vec::new(), spilled: None }
    }

    /// Whether a record is of this place; any is if there are no records.
    pub(crate) fn is_of(&self, key: &KeyRef<'_>) -> bool {
        self.count == 0 || key.bytes().take(PLACE).eq(self.place.iter().copied())
    }

    /// Adds a record, which comes from this molecule. Those of a place come in the order of their names.
    ///
    /// # Errors
    /// [`Error::Spill`].
    pub(crate) fn add(&mut self, key: &KeyRef<'_>, record: &[u8], molecule: Option<Molecule>) -> Result<(), Error> {
        if self.count == 0 {
            self.place.clear();
            self.place.extend(key.bytes().take(PLACE));
        }
        // Those of one molecule stay in the order in which they come.
        let mut own: Vec<u8> = key.bytes().skip(PLACE).take_while(|byte| *byte != 0).collect();
        own.push(0);
        if let Some(molecule) = molecule {
            Molecule { strand: None, ..molecule }.put(&mut own);
        }
        own.push(0);
        own.extend_from_slice(&self.count.to_be_bytes());
        self.count += 1;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.records.push(PlaceRecord { key: own, ordinal: key.ordinal(), range: start..self.bytes.len() });
        if self.bytes.len() > MOST_BYTES { self.spill() } else { Ok(()) }
    }

    /// Gives `each` the records in their order, and forgets them.
    ///
    /// # Errors
    /// What `each` says; [`Error::Spill`].
    pub(crate) fn give(&mut self, mut each: impl FnMut(Ordinal, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.count = 0;
        if self.spilled.is_some() {
            self.spill()?;
            return self.give_spilled(each);
        }
        self.records.sort_by(|a, b| a.key.cmp(&b.key));
        let given = self.records.iter().try_for_each(|record| each(record.ordinal, &self.bytes[record.range.clone()]));
        self.records.clear();
        self.bytes.clear();
        given
    }

    /// Puts what is in memory into temporary files.
    fn spill(&mut self) -> Result<(), Error> {
        let PlaceRecords { folder, bytes, records, spilled, .. } = self;
        let mut frames = Vec::with_capacity(bytes.len() + bytes.len() / 4);
        for PlaceRecord { key, ordinal, range } in records.drain(..) {
            push_frame(&mut frames, &key, |out| {
                out.extend_from_slice(&ordinal.chunk().to_le_bytes());
                out.extend_from_slice(&ordinal.in_chunk().to_le_bytes());
                out.extend_from_slice(&bytes[range]);
                Ok(())
            })?;
        }
        bytes.clear();
        let (store, times) = spilled.get_or_insert_with(|| (RunStore::new(0, folder.clone()), 0));
        let mut collector = store.collector();
        collector.put(*times, &frames, &[])?;
        *times += 1;
        collector.spill()
    }

    fn give_spilled(&mut self, mut each: impl FnMut(Ordinal, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let Some((store, _)) = self.spilled.take() else { return Ok(()) };
        let parts = store.parts(TOGETHER);
        let mut merger = parts.merger();
        for part in 0..parts.count() {
            merger.part(part, |_, stored| {
                let unreadable = || Error::Internal("a record of a place cannot be read".to_owned());
                let (ordinal, record) = stored.split_first_chunk::<ORDINAL>().ok_or_else(unreadable)?;
                let [a, b, c, d, e, f, g, h, in_chunk @ ..] = *ordinal;
                let first = Ordinal::first_of(u64::from_le_bytes([a, b, c, d, e, f, g, h])).ok_or_else(unreadable)?;
                each(first.with_record(u32::from_le_bytes(in_chunk)), record)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_of_a_place_come_by_cell_and_molecule_also_from_temporary_files(
            records in prop::collection::vec(("[ab]?", prop::option::of(0u64..30), 0usize..40), 1..60),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut place = PlaceRecords::new(folder.path().to_owned());
            // As keys have them: by cell, then by name.
            let mut records = records;
            records.sort_by(|a, b| a.0.cmp(&b.0));
            for round in 0..2 {
                let mut wanted = Vec::new();
                for (number, (cell, molecule, length)) in records.iter().enumerate() {
                    let key = [&[7; PLACE][..], cell.as_bytes(), &[0], &(number as u32).to_be_bytes()].concat();
                    let ordinal = Ordinal::first_of(number as u64 / 7).unwrap().with_record(number as u32);
                    let molecule = molecule.map(|number| Molecule { number, strand: None });
                    let record = vec![number as u8; *length];
                    prop_assert!(place.is_of(&KeyRef::new(&key, ordinal)));
                    place.add(&KeyRef::new(&key, ordinal), &record, molecule).unwrap();
                    // Numbers are text for samtools.
                    let text = molecule.map(|molecule| molecule.number.to_string()).unwrap_or_default();
                    wanted.push((cell.clone(), text, number, ordinal, record));
                }
                wanted.sort();
                let mut found = Vec::new();
                place.give(|ordinal, record| { found.push((ordinal, record.to_vec())); Ok(()) }).unwrap();
                let wanted: Vec<_> = wanted.into_iter().map(|(_, _, _, ordinal, record)| (ordinal, record)).collect();
                prop_assert_eq!(&found, &wanted, "round {}", round);
            }
        }
    }
}
