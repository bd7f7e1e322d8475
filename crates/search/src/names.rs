//! Whether two sequences have the same name, in little memory: a database may have a billion of them.
//!
//! Of each name 128 bits and the number of its record are noted. What does not fit is sorted and written to a
//! temporary file, run after run; at the end the runs are merged, and equal names meet.

use crate::error::SearchError;
use crate::tool::scratch_file;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Names that are held in memory: 24 MiB of them.
const MOST_HELD: usize = 1 << 20;
/// Names of one run that are read at a time: 48 KiB of them, so that the thousand runs of a billion names need 48 MiB.
const READ_AT_ONCE: usize = 1 << 11;
/// Bytes of a name on disk.
const BYTES: usize = 24;

/// A name by its digest, and the number of its record, from 1.
type Name = ([u64; 2], u64);

/// The names of all records so far.
#[derive(Debug)]
pub(crate) struct Names {
    /// Where temporary files go.
    folder: PathBuf,
    most_held: usize,
    held: Vec<Name>,
    records: u64,
    /// Sorted runs, one behind the other, and where each ends, in names.
    spilled: Option<File>,
    ends: Vec<u64>,
}

impl Names {
    /// None yet; temporary files go to `folder`, 24 bytes for each name.
    pub(crate) fn new(folder: &Path) -> Self {
        Names {
            folder: folder.to_owned(),
            most_held: MOST_HELD,
            held: Vec::new(),
            records: 0,
            spilled: None,
            ends: Vec::new(),
        }
    }

    /// Notes the name of the next record.
    pub(crate) fn add(&mut self, name: &[u8]) -> Result<(), SearchError> {
        if self.held.len() == self.most_held {
            self.spill()?;
        }
        self.records += 1;
        let digest = xxh3_128(name);
        self.held.push(([(digest >> 64) as u64, digest as u64], self.records));
        Ok(())
    }

    /// Writes what is held as a run.
    fn spill(&mut self) -> Result<(), SearchError> {
        self.held.sort_unstable();
        let file = match self.spilled.take() {
            Some(file) => file,
            None => scratch_file(&self.folder)?,
        };
        let mut out = BufWriter::new(&file);
        let mut write = || {
            for ([high, low], record) in &self.held {
                for number in [high, low, record] {
                    out.write_all(&number.to_be_bytes())?;
                }
            }
            out.flush()
        };
        write().map_err(fault(&self.folder))?;
        drop(out);
        self.ends.push(self.ends.last().unwrap_or(&0) + self.held.len() as u64);
        self.held.clear();
        self.spilled = Some(file);
        Ok(())
    }

    /// The numbers of two records that have the same name, of those of which the second comes first; none if there
    /// are none.
    pub(crate) fn twice(mut self) -> Result<Option<(u64, u64)>, SearchError> {
        let mut found: Option<(u64, u64)> = None;
        let mut before: Option<Name> = None;
        let mut see = |name: Name| {
            if let Some((_, first)) = before.filter(|before| before.0 == name.0) {
                found =
                    Some(found.map_or((first, name.1), |found| if name.1 < found.1 { (first, name.1) } else { found }));
            }
            before = Some(name);
        };
        if self.spilled.is_none() {
            self.held.sort_unstable();
            self.held.into_iter().for_each(see);
            return Ok(found);
        }
        self.spill()?;
        let Some(file) = &self.spilled else { return Ok(None) };
        self.held = Vec::new();
        let starts = std::iter::once(&0).chain(&self.ends);
        let mut runs: Vec<NamesRun> =
            starts.zip(&self.ends).map(|(&next, &end)| NamesRun { file, next, end, read: Vec::new() }).collect();
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next().map_err(fault(&self.folder))?.map(|name| Reverse((name, number))));
        }
        while let Some(Reverse((name, number))) = heads.pop() {
            see(name);
            if let Some(run) = runs.get_mut(number) {
                heads.extend(run.next().map_err(fault(&self.folder))?.map(|name| Reverse((name, number))));
            }
        }
        Ok(found)
    }
}

fn fault(folder: &Path) -> impl FnOnce(std::io::Error) -> SearchError + use<> {
    SearchError::system(format!("a temporary file in {} cannot be written or read", folder.display()))
}

/// A sorted run on disk.
struct NamesRun<'f> {
    file: &'f File,
    /// What is not read yet, in names.
    next: u64,
    end: u64,
    /// What is read, the last first.
    read: Vec<Name>,
}

impl NamesRun<'_> {
    fn next(&mut self) -> std::io::Result<Option<Name>> {
        if self.read.is_empty() && self.next < self.end {
            let count = (self.end - self.next).min(READ_AT_ONCE as u64);
            let mut bytes = vec![0; count as usize * BYTES];
            self.file.read_exact_at(&mut bytes, self.next * BYTES as u64)?;
            self.next += count;
            for name in bytes.chunks_exact(BYTES).rev() {
                let number = |at: usize| Some(u64::from_be_bytes(*name.get(at..)?.first_chunk()?));
                let numbers = number(0).zip(number(8)).zip(number(16));
                let ((high, low), record) = numbers.ok_or(ErrorKind::UnexpectedEof)?;
                self.read.push(([high, low], record));
            }
        }
        Ok(self.read.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn twice(names: &[String], most_held: usize) -> Option<(u64, u64)> {
        let folder = tempfile::tempdir().unwrap();
        let mut all = Names { most_held, ..Names::new(folder.path()) };
        for name in names {
            all.add(name.as_bytes()).unwrap();
            assert!(all.held.len() <= most_held && all.held.capacity() <= 2 * most_held.max(4));
        }
        assert_eq!(all.spilled.is_some(), names.len() > most_held);
        all.twice().unwrap()
    }

    proptest! {
        #[test]
        fn it_finds_what_a_table_finds(numbers in prop::collection::vec(0u32..60, 0..40), most_held in 1usize..50) {
            let names: Vec<String> = numbers.iter().map(u32::to_string).collect();
            let (mut first, mut expected) = (HashMap::new(), None);
            for (record, name) in (1..).zip(&names) {
                let before = *first.entry(name).or_insert(record);
                if before != record && expected.is_none() {
                    expected = Some(record);
                }
            }
            let found = twice(&names, most_held);
            prop_assert_eq!(found.map(|(_, second)| second), expected);
            if let Some((one, other)) = found {
                prop_assert!(one < other && names[one as usize - 1] == names[other as usize - 1]);
            }
        }
    }

    #[test]
    fn runs_longer_than_what_is_read_at_once_are_merged() {
        let mut names: Vec<String> = (0..3 * READ_AT_ONCE).map(|number| number.to_string()).collect();
        assert_eq!(twice(&names, READ_AT_ONCE + 7), None);
        names.push("5".to_owned());
        assert_eq!(twice(&names, READ_AT_ONCE + 7), Some((6, names.len() as u64)));
    }
}
