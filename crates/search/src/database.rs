//! A database in parts: a folder with a formatted part each, and a manifest.
//!
//! Parts are contiguous runs of the sequences, in their order, with nearly equal letters or search times. A database is
//! made under a temporary name and renamed when it is complete (crate::build), so a folder of its name is a whole
//! database.
//!
//! BLAST is told the size of the whole database by an alias file for each part (`STATS_NSEQ`, `STATS_TOTLEN`): its
//! option `-dbsize` has no number of sequences, on which the effective search space of blastn depends.

use crate::error::SearchError;
use crate::program::{Installed, Program};
use crate::trial::Trial;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use xxhash_rust::xxh3::Xxh3;

/// The form of the manifest that is written and read here.
pub(crate) const FORM: u32 = 1;

pub(crate) const MANIFEST: &str = "manifest.json";

/// How much of a file is read at a time, in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// What a database says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The form of this manifest.
    pub form: u32,
    /// The program that searches it.
    pub program: Program,
    /// The version of the program that formatted it.
    pub version: String,
    /// The FASTA file that it was made of.
    pub source: FileEntry,
    /// Sequences in all.
    pub sequences: u64,
    /// Letters in all.
    pub letters: u64,
    /// The parts, in the order of the sequences.
    pub parts: Vec<Part>,
    /// The trial that decided where it is cut, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot: Option<Pilot>,
}

/// A trial of a database, to have parts of equal search time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pilot {
    /// The queries.
    pub queries: FileEntry,
    /// Threads of the program.
    pub threads: usize,
    /// Its times, and what came of them.
    pub trial: Trial,
}

/// A part of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What its program is told, within the folder.
    pub name: String,
    /// Sequences of the database before its first.
    pub first: u64,
    /// Its sequences.
    pub sequences: u64,
    /// Their letters.
    pub letters: u64,
    /// Its files, by name.
    pub files: Vec<FileEntry>,
}

/// A file that can be told from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its name; of the source, its path as it was given.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// XXH3 (128 bits) of its bytes, in hexadecimal.
    pub xxh3: String,
}

/// A database that is complete.
#[derive(Debug, Clone, PartialEq)]
pub struct Database {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
}

impl Database {
    /// Opens a database: its manifest must be there, its files with the sizes that it says, and the program in the
    /// version that formatted it. [`Database::check_digests`] reads the files as well.
    ///
    /// # Errors
    /// [`SearchError::Database`] if it is not so; [`SearchError::NotFound`] if the program is not here.
    pub fn open(folder: &Path) -> Result<Self, SearchError> {
        let unusable = |what: String| SearchError::Database { folder: folder.to_owned(), what };
        let text = std::fs::read(folder.join(MANIFEST))
            .map_err(|e| unusable(format!("its {MANIFEST} cannot be read ({e}); make it with 'zerohop db build'")))?;
        let manifest: Manifest =
            serde_json::from_slice(&text).map_err(|e| unusable(format!("its {MANIFEST} is damaged: {e}")))?;
        if manifest.form != FORM {
            return Err(unusable(format!(
                "it has form {}, this program reads form {FORM}; make it again",
                manifest.form
            )));
        }
        // An absolute path: programs write it down, and are not always started where we are.
        let folder = folder.canonicalize().map_err(SearchError::file("found", folder))?;
        let database = Database { folder, manifest };
        for (path, entry) in database.files() {
            match path.metadata() {
                Ok(meta) if meta.len() == entry.bytes => {}
                Ok(meta) => {
                    let (name, there) = (&entry.name, meta.len());
                    return Err(unusable(format!(
                        "{name} has {there} bytes instead of {}; make it again",
                        entry.bytes
                    )));
                }
                Err(error) => return Err(unusable(format!("{} is missing ({error}); make it again", entry.name))),
            }
        }
        let (program, version) = (database.manifest.program, &database.manifest.version);
        let here = Installed::find(program)?.version;
        if here != *version {
            let name = program.name();
            return Err(unusable(format!("{name} {version} formatted it, and {name} {here} is here; make it again")));
        }
        Ok(database)
    }

    /// Reads the files of some parts, so many at a time, and compares their digests. Threads are placed as the
    /// calling one is.
    ///
    /// # Errors
    /// [`SearchError::Database`] if one is not as it was made, [`SearchError::System`] if one cannot be read.
    pub fn check_digests(&self, parts: impl IntoIterator<Item = usize>, threads: usize) -> Result<(), SearchError> {
        let parts = parts.into_iter().filter_map(|part| self.manifest.parts.get(part));
        let files: Vec<&FileEntry> = parts.flat_map(|part| &part.files).collect();
        let next = AtomicUsize::new(0);
        let check = || -> Result<(), SearchError> {
            while let Some(entry) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                if file_entry(&self.folder.join(&entry.name))?.xxh3 != entry.xxh3 {
                    let what = format!(
                        "the bytes of {} are not those that 'zerohop db build' wrote: copy this file again if the \
                         database is a copy, or build the database again",
                        entry.name
                    );
                    return Err(SearchError::Database { folder: self.folder.clone(), what });
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            // What a thread that cannot be started would have read, others read.
            let start = |_| Builder::new().spawn_scoped(scope, check).ok();
            let others: Vec<_> = (1..threads.min(files.len())).filter_map(start).collect();
            let died = |_| Err(SearchError::system("a file was not checked")(std::io::Error::other("a thread died")));
            others.into_iter().map(|thread| thread.join().unwrap_or_else(died)).fold(check(), Result::and)
        })
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The program that searches it.
    pub fn program(&self) -> Program {
        self.manifest.program
    }

    /// How many parts it has.
    pub fn parts(&self) -> usize {
        self.manifest.parts.len()
    }

    /// What the program is told of a part; nothing if there is none of that number.
    pub(crate) fn part_path(&self, part: usize) -> Option<PathBuf> {
        self.manifest.parts.get(part).map(|part| self.folder.join(&part.name))
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, &FileEntry)> {
        let files = self.manifest.parts.iter().flat_map(|part| &part.files);
        files.map(|entry| (self.folder.join(&entry.name), entry))
    }
}

/// A file whose bytes are digested as they are read.
pub(crate) struct Digesting {
    file: File,
    digest: Xxh3,
    bytes: u64,
}

impl Digesting {
    pub(crate) fn new(file: File) -> Self {
        Digesting { file, digest: Xxh3::new(), bytes: 0 }
    }

    /// What was read, as a file of this name.
    pub(crate) fn entry(&self, name: String) -> FileEntry {
        FileEntry { name, bytes: self.bytes, xxh3: format!("{:032x}", self.digest.digest128()) }
    }
}

impl Read for Digesting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.file.read(buffer)?;
        self.digest.update(&buffer[..length]);
        self.bytes += length as u64;
        Ok(length)
    }
}

/// What there is to be told of a file; its name is without folders.
pub(crate) fn file_entry(path: &Path) -> Result<FileEntry, SearchError> {
    let mut read = Digesting::new(File::open(path).map_err(SearchError::file("opened", path))?);
    let mut buffer = vec![0; BUFFER_BYTES];
    while read.read(&mut buffer).map_err(SearchError::file("read", path))? > 0 {}
    Ok(read.entry(path.file_name().unwrap_or_default().to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_database_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let told = || Database::open(folder.path()).unwrap_err().to_string();
        assert!(told().contains("make it with 'zerohop db build'"));
        std::fs::write(folder.path().join(MANIFEST), "{").unwrap();
        assert!(told().contains("is damaged"));
    }
}
