//! A run on disk: sorted frames in compressed blocks, and in memory where each block lies.

use crate::frame::RecordFrame;
use crate::key::{KeptKey, KeyRef};
use crate::run::MemoryRun;
use libdeflater::Decompressor;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_bgzf::{BlockCompressor, inflate_chain};
use zerohop_model::error::Error;

/// Bytes of frames in a block. Who merges holds a block of each run.
pub(crate) const BLOCK: usize = 64 << 10;
/// Buffers for larger blocks, which hold a long record, are not kept.
const LARGEST_KEPT: usize = 4 * BLOCK;
/// What is written at once, in bytes.
const WRITE: usize = 1 << 20;
/// Level of compression, as samtools has it for its temporary files.
const LEVEL: u8 = 1;

/// A file for runs of one thread or of several.
#[derive(Debug, Clone)]
pub(crate) struct SpillFile {
    file: Arc<File>,
    home: Home,
    length: Arc<AtomicU64>,
}

/// Some frames of a run.
#[derive(Debug)]
pub(crate) struct SpillBlock {
    /// The key of the first.
    pub(crate) first: KeptKey,
    /// Bytes of all.
    pub(crate) bytes: u32,
    pub(crate) offset: u64,
    /// Bytes on disk.
    pub(crate) stored: u32,
}

/// A run on disk.
#[derive(Debug)]
pub(crate) struct SpilledRun {
    pub(crate) file: Arc<File>,
    pub(crate) home: Home,
    pub(crate) blocks: Vec<SpillBlock>,
    /// Records of this chunk and later ones are passed over.
    pub(crate) limit: u64,
}

impl SpillFile {
    /// A file without a name: nothing is left of it, whatever ends the process.
    pub(crate) fn unnamed(folder: &Path) -> Result<Self, Error> {
        let home = Home::Unnamed(folder.to_owned());
        let file = tempfile::tempfile_in(folder).map_err(|source| home.fault(source))?;
        Ok(SpillFile::new(file, home))
    }

    /// This new file.
    pub(crate) fn new(file: File, home: Home) -> Self {
        SpillFile { file: Arc::new(file), home, length: Arc::default() }
    }

    /// Writes a sorted run; says how many bytes that took, too.
    pub(crate) fn write(&self, run: &MemoryRun) -> Result<(SpilledRun, u64), Error> {
        let (mut placed, mut all) = (0, 0);
        let mut compressor = BlockCompressor::new(LEVEL);
        let (mut raw, mut out) = (Vec::with_capacity(2 * BLOCK), Vec::with_capacity(2 * WRITE));
        let mut blocks: Vec<SpillBlock> = Vec::new();
        for at in 0..run.records() {
            let (frame, ordinal) = run.frame_at(at);
            if raw.is_empty() {
                let (offset, first) = (out.len() as u64, run.key_at(at).into());
                blocks.push(SpillBlock { first, bytes: 0, offset, stored: 0 });
            }
            frame.store(ordinal, &mut raw);
            if raw.len() >= BLOCK || at + 1 == run.records() {
                let start = out.len();
                compressor.compress(&raw, &mut out)?;
                if let Some(block) = blocks.last_mut() {
                    (block.bytes, block.stored) = (raw.len() as u32, (out.len() - start) as u32);
                }
                raw.clear();
            }
            if out.len() >= WRITE || raw.is_empty() && at + 1 == run.records() {
                let begin = self.append(&out)?;
                blocks[placed..].iter_mut().for_each(|block| block.offset += begin);
                (placed, all) = (blocks.len(), all + out.len() as u64);
                out.clear();
            }
        }
        let (file, home) = (Arc::clone(&self.file), self.home.clone());
        Ok((SpilledRun { file, home, blocks, limit: u64::MAX }, all))
    }

    /// Writes bytes behind those that any thread has written; says where.
    fn append(&self, bytes: &[u8]) -> Result<u64, Error> {
        let begin = self.length.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, begin).map_err(|source| self.home.fault(source))?;
        Ok(begin)
    }

    /// Has what was written be on the disk.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(|source| self.home.fault(source))
    }
}

/// Where files of runs are.
#[derive(Debug, Clone)]
pub(crate) enum Home {
    /// In this folder, without names.
    Unnamed(PathBuf),
    /// In this folder, for others and for later.
    Kept(PathBuf),
}

impl Home {
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Home::Unnamed(folder) | Home::Kept(folder) => folder,
        }
    }

    /// What is wrong if a file there does not hold what was written to it.
    fn changed(&self) -> &'static str {
        match self {
            Home::Unnamed(_) => "a temporary file does not hold what was written to it",
            Home::Kept(_) => "a file does not hold what was written to it: begin anew with --restart",
        }
    }

    /// What the system says of a file there.
    pub(crate) fn fault(&self, source: io::Error) -> Error {
        match self.clone() {
            Home::Unnamed(folder) => Error::Spill { folder, source },
            Home::Kept(folder) => Error::Kept { folder, source },
        }
    }
}

/// A reader of a part of a run, from its first record.
pub(crate) struct SpillReader<'r> {
    run: &'r SpilledRun,
    /// The block after the one that is read.
    next: usize,
    raw: Vec<u8>,
    /// Where the record starts in it.
    at: usize,
    decompressor: Decompressor,
    stored: Vec<u8>,
}

impl<'r> SpillReader<'r> {
    /// At the first record whose key is not less than `from`.
    pub(crate) fn new(run: &'r SpilledRun, from: Option<KeyRef<'_>>) -> Result<Self, Error> {
        // The record may lie in the last block that begins before it.
        let later = from.map_or(0, |from| run.blocks.partition_point(|block| block.first.get() < from));
        let (raw, stored) = (Vec::with_capacity(2 * BLOCK), Vec::new());
        let next = later.saturating_sub(1);
        let mut reader = SpillReader { run, next, raw, at: 0, decompressor: Decompressor::new(), stored };
        reader.read_block()?;
        reader.pass_over()?;
        while let (Some((key, _)), Some(from)) = (reader.record(), from)
            && key < from
        {
            reader.advance()?;
        }
        Ok(reader)
    }

    /// The key and the bytes of the record; none at the end.
    pub(crate) fn record(&self) -> Option<(KeyRef<'_>, &[u8])> {
        let (frame, ordinal) = RecordFrame::stored_at(self.raw.get(self.at..)?)?;
        Some((KeyRef::new(frame.key, ordinal), frame.record))
    }

    pub(crate) fn advance(&mut self) -> Result<(), Error> {
        self.step()?;
        self.pass_over()
    }

    fn step(&mut self) -> Result<(), Error> {
        if let Some((frame, _)) = self.raw.get(self.at..).and_then(RecordFrame::stored_at) {
            self.at += frame.length;
        }
        if self.at >= self.raw.len() { self.read_block() } else { Ok(()) }
    }

    /// Passes over records of chunks that were given up.
    fn pass_over(&mut self) -> Result<(), Error> {
        while self.record().is_some_and(|(key, _)| key.ordinal().chunk() >= self.run.limit) {
            self.step()?;
        }
        Ok(())
    }

    fn read_block(&mut self) -> Result<(), Error> {
        (self.at, self.next) = (0, self.next + 1);
        self.raw.clear();
        if self.raw.capacity().max(self.stored.capacity()) > LARGEST_KEPT {
            (self.raw, self.stored) = (Vec::new(), Vec::new());
        }
        let Some(block) = self.run.blocks.get(self.next - 1) else { return Ok(()) };
        let of = |source| self.run.home.fault(source);
        self.stored.resize(block.stored as usize, 0);
        self.run.file.read_exact_at(&mut self.stored, block.offset).map_err(of)?;
        let (limit, out) = (self.stored.len(), &mut self.raw);
        inflate_chain(self.run.home.folder(), block.offset, &self.stored, limit, true, &mut self.decompressor, out)
            .map_err(|error| of(io::Error::other(error.what)))?;
        match self.raw.len() == block.bytes as usize {
            true => Ok(()),
            false => Err(of(io::Error::other(self.run.home.changed()))),
        }
    }
}
