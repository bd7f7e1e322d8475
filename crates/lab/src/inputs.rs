//! The reads of an experiment: as many as each process shall have, in files of its own, ordinary and blocked.

use crate::blocked::{self, Fit, Sidecar, block};
use crate::error::LabError;
use crate::parsing::{Parsing, deal_serially};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::source::{Deal, Emitted};
use zerohop_process::NewFile;

/// The longest read that is taken for one, in bases.
const MAX_READ_BASES: usize = 1 << 20;
/// The largest block, in bytes, if no read needs a larger one: that of Langmead et al. (2019).
pub const BLOCK_BYTES: usize = 12_288;

/// Fragments in memory, of which files of any number are made.
pub struct Fragments {
    /// The text of each file, and where each of its records ends.
    files: Vec<(Vec<u8>, Vec<usize>)>,
    folder: PathBuf,
}

impl Fragments {
    /// Reads up to `limit` fragments of one file, or of two; files will be made in `folder`. If `mixed`, every other
    /// fragment is cut to a quarter of its length.
    ///
    /// # Errors
    /// What reading says; no reads.
    pub fn read(files: &[PathBuf], limit: usize, mixed: bool, folder: &Path) -> Result<Self, LabError> {
        let mut lane = deal_serially(files, Parsing::Deferred, MAX_READ_BASES)?;
        let mut fragments = Fragments { files: vec![(Vec::new(), Vec::new()); files.len()], folder: folder.to_owned() };
        let (mut chunk, stop) = (Chunk::default(), AtomicBool::new(false));
        while let Deal::Emit(emitter) = &mut lane.deal
            && fragments.len() < limit
            && emitter.emit(&mut chunk, &stop)? == Emitted::Chunk
        {
            for ((text, ends), part) in fragments.files.iter_mut().zip(&chunk.text) {
                let quarter = mixed && ends.len() % 2 == 1;
                append(text, &part.bytes, if quarter { 4 } else { 1 });
                ends.push(text.len());
            }
            lane.parser.parse(&mut chunk)?;
        }
        if fragments.len() == 0 {
            return Err(LabError::file(&files[0], "it has no reads"));
        }
        Ok(fragments)
    }

    fn len(&self) -> usize {
        self.files.first().map_or(0, |(_, ends)| ends.len())
    }

    /// Reads per fragment.
    pub fn reads_each(&self) -> usize {
        self.files.len()
    }

    /// Files with `count` fragments from number `first` on, round and round; in blocks of at most so many bytes, with
    /// their descriptions, if that is given (more if a read is longer).
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn files(&self, first: usize, count: usize, block_bytes: Option<usize>) -> Result<Vec<PathBuf>, LabError> {
        let first = first % self.len();
        let name = |mate: usize, kind: &str| self.folder.join(format!("reads-{first}-{count}-{mate}{kind}.fq"));
        let plain: Vec<PathBuf> = (1..=self.files.len()).map(|mate| name(mate, "")).collect();
        for ((text, ends), path) in self.files.iter().zip(&plain).filter(|(_, path)| !path.exists()) {
            let new = NewFile::create(path).map_err(|error| LabError::file(path, error.source))?;
            let write = || -> std::io::Result<()> {
                let mut out = BufWriter::new(new.file());
                for number in (first..first + count).map(|number| number % self.len()) {
                    let start = if number == 0 { 0 } else { ends[number - 1] };
                    out.write_all(&text[start..ends[number]])?;
                }
                out.flush()
            };
            write().map_err(|error| LabError::file(path, error))?;
            new.complete().map_err(|error| LabError::file(path, error.source))?;
        }
        let Some(block_bytes) = block_bytes else { return Ok(plain) };
        let paths: Vec<PathBuf> = (1..=self.files.len()).map(|mate| name(mate, &format!("-{block_bytes}"))).collect();
        if !paths.iter().all(|path| Sidecar::path(path).exists()) {
            block_files(&plain, &paths, block_bytes)?;
        }
        Ok(paths)
    }
}

/// Appends a record, with its bases and qualities cut to the part `divisor` of their length.
fn append(text: &mut Vec<u8>, record: &[u8], divisor: usize) {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    for (number, line) in record.split(|&byte| byte == b'\n').enumerate() {
        let length = if number % 2 == 1 { line.len().div_ceil(divisor) } else { line.len() };
        text.extend_from_slice(&line[..length]);
        text.push(b'\n');
    }
}

/// Blocks files so that their blocks hold the same fragments.
fn block_files(plain: &[PathBuf], paths: &[PathBuf], block_bytes: usize) -> Result<(), LabError> {
    // A read that is longer than a block needs a larger one.
    let mut blockings = None;
    for times in [1, 64, 4096, 1 << 18] {
        let mut fit = Fit::new(plain.len(), block_bytes * times, None);
        for (file, input) in blocked::inputs(plain, MAX_READ_BASES)?.into_iter().enumerate() {
            input.for_each_size(|bytes| fit.add(file, bytes))?;
        }
        blockings = fit.best();
        if blockings.is_some() {
            break;
        }
    }
    let blockings = blockings.ok_or_else(|| LabError::file(&plain[0], "it has no reads that fit a block"))?;
    for ((mut input, blocking), path) in blocked::inputs(plain, MAX_READ_BASES)?.into_iter().zip(blockings).zip(paths) {
        let file = File::create(path).map_err(|error| LabError::file(path, error))?;
        let failed = |source| Error::Output { path: path.clone(), source };
        let sidecar = block(&mut input, blocking, &mut BufWriter::new(file), None, &failed)?;
        std::fs::write(Sidecar::path(path), sidecar.json()).map_err(|error| LabError::file(path, error))?;
    }
    Ok(())
}
