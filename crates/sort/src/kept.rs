//! Runs that outlast the process, for others to merge: a file of blocks for all threads, and beside it a list of the
//! runs in it.
//!
//! The list has an entry for each run, which is written when the blocks are on the disk:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | length of what follows the checksum |
//! | 8 | its checksum (XXH3) |
//! | ... | the chunks of the run, each with what is noted of it |
//! | ... | the keys at which parts may begin |
//! | ... | the blocks |
//!
//! Numbers are little-endian. Before chunks, keys, blocks and bytes of any length stands how many there are.

use crate::key::{KeptKey, KeyRef, Ordinal};
use crate::spill::{Home, SpillBlock, SpillFile, SpilledRun};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;
use zerohop_model::error::Error;

/// What the names of the files begin with.
pub const KEPT: &str = "sorting.";
/// How they end: blocks, and the list.
const BLOCKS: &str = "runs";
const LIST: &str = "list";
/// What file systems say that cannot sync folders, and need not.
const NOT_FOR_FOLDERS: [ErrorKind; 3] = [ErrorKind::InvalidInput, ErrorKind::PermissionDenied, ErrorKind::Unsupported];

/// Where runs of one store are kept. Several processes may write to one folder, each under a `rank` of its own; one
/// that takes up what others have left is another `attempt`.
#[derive(Debug, Clone)]
pub struct RunFolder {
    /// The folder, which all see.
    pub folder: PathBuf,
    /// What is sorted: part of the names.
    pub kind: &'static str,
    /// Which attempt this is, from 0.
    pub attempt: usize,
    /// The number of the process.
    pub rank: usize,
}

/// A chunk, and what is noted of it.
pub(crate) type Noted = (u64, Vec<u8>);

/// The list of the runs of one process.
#[derive(Debug)]
pub(crate) struct List {
    home: Home,
    file: File,
    /// Bytes of whole entries; none any more once something could not be written.
    length: Mutex<Option<u64>>,
}

impl RunFolder {
    fn home(&self) -> Home {
        Home::Kept(self.folder.clone())
    }

    /// New files.
    pub(crate) fn create(&self) -> Result<(SpillFile, List), Error> {
        let home = self.home();
        let of = |source| home.fault(source);
        let name = format!("{KEPT}{}.{}.{}.", self.kind, self.attempt, self.rank);
        let new =
            |end| OpenOptions::new().write(true).read(true).create_new(true).open(self.folder.join(name.clone() + end));
        let (blocks, list) = (new(BLOCKS).map_err(of)?, new(LIST).map_err(of)?);
        match File::open(&self.folder).and_then(|folder| folder.sync_all()) {
            // Some file systems cannot sync folders, and need not.
            Err(error) if NOT_FOR_FOLDERS.contains(&error.kind()) => {}
            synced => synced.map_err(of)?,
        }
        let list = List { home: home.clone(), file: list, length: Mutex::new(Some(0)) };
        Ok((SpillFile::new(blocks, home), list))
    }

    /// All runs that any process has kept, but for records of chunks that were given up: those from `limits[attempt]`
    /// on. An attempt without a limit has given up none. What is noted of the chunks comes with them. It must be that
    /// of `wanted`, each once.
    pub(crate) fn read(&self, limits: &[u64], wanted: impl Iterator<Item = u64>) -> Result<Loaded, Error> {
        let home = self.home();
        let of = |source| home.fault(source);
        let mut loaded = Loaded::default();
        for entry in std::fs::read_dir(&self.folder).map_err(of)? {
            let path = entry.map_err(of)?.path();
            if let Some(attempt) = self.attempt_of(&path) {
                let limit = limits.get(attempt).copied().unwrap_or(u64::MAX);
                loaded.add(&path, &home, limit)?;
            }
        }
        match loaded.noted.keys().copied().eq(wanted) {
            true => Ok(loaded),
            false => Err(of(io::Error::other(
                "the sorted records in it are not those that were finished: begin anew with --restart",
            ))),
        }
    }

    /// The attempt that has written this list; none if it is no list, or one of something else.
    fn attempt_of(&self, path: &Path) -> Option<usize> {
        let name = path.file_name()?.to_str()?.strip_prefix(KEPT)?.strip_prefix(self.kind)?.strip_prefix('.')?;
        path.extension().filter(|end| *end == LIST)?;
        name.split('.').next()?.parse().ok()
    }
}

impl List {
    /// Enters a run whose blocks are written to `file`, once they are on the disk. One at a time, and none after a
    /// fault: the system tells it to one thread alone, and others may have lost what they wrote.
    pub(crate) fn enter(
        &self,
        file: &SpillFile,
        run: &SpilledRun,
        samples: &[KeptKey],
        chunks: &[Noted],
    ) -> Result<(), Error> {
        let body = body(run, samples, chunks);
        let head = [(body.len() as u64).to_le_bytes(), xxh3_64(&body).to_le_bytes()];
        let entry = [head.as_flattened(), &body].concat();
        let mut length = self.length.lock().unwrap_or_else(PoisonError::into_inner);
        let before = length.take().ok_or(Error::Stopped)?;
        file.sync()?;
        let written = self.file.write_all_at(&entry, before).and_then(|()| self.file.sync_data());
        written.map_err(|source| self.home.fault(source))?;
        *length = Some(before + entry.len() as u64);
        Ok(())
    }

    /// Enters nothing any more: something could not be written.
    pub(crate) fn end(&self) {
        *self.length.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// What was kept.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) runs: Vec<SpilledRun>,
    pub(crate) samples: Vec<KeptKey>,
    /// By the number of the chunk.
    pub(crate) noted: BTreeMap<u64, Vec<u8>>,
}

impl Loaded {
    /// Adds the runs of one list. An entry that was cut off is of a run that was not finished.
    fn add(&mut self, list: &Path, home: &Home, limit: u64) -> Result<(), Error> {
        let of = |source| home.fault(source);
        let bytes = std::fs::read(list).map_err(of)?;
        let mut rest = Numbers(&bytes);
        let mut blocks_file = None;
        while let Some(body) = rest.entry() {
            let broken = || of(io::Error::other(format!("{}: it cannot be read", list.display())));
            let (mut chunks, samples, blocks) = Numbers(body).run().ok_or_else(broken)?;
            chunks.retain(|(number, _)| *number < limit);
            if chunks.is_empty() {
                continue;
            }
            let file = match &blocks_file {
                Some(file) => Arc::clone(file),
                None => {
                    let open = File::open(list.with_extension(BLOCKS)).map_err(of)?;
                    Arc::clone(blocks_file.insert(Arc::new(open)))
                }
            };
            for (number, note) in chunks {
                if self.noted.insert(number, note).is_some() {
                    return Err(of(io::Error::other(format!(
                        "it has the records of chunk {number} twice: begin anew with --restart"
                    ))));
                }
            }
            self.samples.extend(samples.into_iter().filter(|key| key.get().ordinal().chunk() < limit));
            self.runs.push(SpilledRun { file, home: home.clone(), blocks, limit });
        }
        Ok(())
    }
}

/// The body of an entry.
fn body(run: &SpilledRun, samples: &[KeptKey], chunks: &[Noted]) -> Vec<u8> {
    let mut out = Vec::new();
    put_number(chunks.len() as u64, &mut out);
    for (number, note) in chunks {
        put_number(*number, &mut out);
        put_bytes(note, &mut out);
    }
    put_number(samples.len() as u64, &mut out);
    samples.iter().for_each(|key| put_key(key, &mut out));
    put_number(run.blocks.len() as u64, &mut out);
    for block in &run.blocks {
        put_key(&block.first, &mut out);
        [u64::from(block.bytes), block.offset, u64::from(block.stored)]
            .into_iter()
            .for_each(|number| put_number(number, &mut out));
    }
    out
}

fn put_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn put_key(key: &KeptKey, out: &mut Vec<u8>) {
    let key = key.get();
    put_number(key.prefix(), out);
    put_number(key.ordinal().stored(), out);
    put_bytes(key.behind_prefix(), out);
}

/// What is left to be read of a list.
struct Numbers<'b>(&'b [u8]);

impl<'b> Numbers<'b> {
    fn bytes(&mut self, count: u64) -> Option<&'b [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    /// The body of the next entry that is whole.
    fn entry(&mut self) -> Option<&'b [u8]> {
        let (length, checksum) = (self.number()?, self.number()?);
        self.bytes(length).filter(|body| xxh3_64(body) == checksum)
    }

    fn key(&mut self) -> Option<KeptKey> {
        let (prefix, ordinal, length) = (self.number()?, self.number()?, self.number()?);
        Some(KeyRef::of(prefix, self.bytes(length)?, Ordinal::of_stored(ordinal)).into())
    }

    fn run(&mut self) -> Option<(Vec<Noted>, Vec<KeptKey>, Vec<SpillBlock>)> {
        let chunks: Option<Vec<Noted>> = (0..self.number()?)
            .map(|_| {
                let (number, length) = (self.number()?, self.number()?);
                Some((number, self.bytes(length)?.to_vec()))
            })
            .collect();
        let samples: Option<Vec<KeptKey>> = (0..self.number()?).map(|_| self.key()).collect();
        let blocks: Option<Vec<SpillBlock>> = (0..self.number()?)
            .map(|_| {
                let first = self.key()?;
                let (bytes, offset, stored) = (self.number()? as u32, self.number()?, self.number()? as u32);
                Some(SpillBlock { first, bytes, offset, stored })
            })
            .collect();
        Some((chunks?, samples?, blocks?))
    }
}
