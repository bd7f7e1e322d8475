//! A run on disk: sorted frames in compressed blocks, in a file without a name, and in memory where each block lies.

use crate::frame::Frame;
use crate::key::{Key, KeyRef};
use crate::run::Run;
use libdeflater::Decompressor;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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

/// A file for runs. It has no name, so nothing is left of it, whatever ends the process.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: Arc<File>,
    folder: PathBuf,
    length: u64,
}

/// Some frames of a run.
#[derive(Debug)]
pub(crate) struct Block {
    /// The key of the first.
    pub(crate) first: Key,
    /// Bytes of all.
    pub(crate) bytes: u32,
    offset: u64,
    /// Bytes on disk.
    stored: u32,
}

/// A run on disk.
#[derive(Debug)]
pub(crate) struct SpilledRun {
    file: Arc<File>,
    folder: PathBuf,
    pub(crate) blocks: Vec<Block>,
}

impl SpillFile {
    pub(crate) fn create(folder: &Path) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(folder).map_err(|source| fault(folder, source))?;
        Ok(SpillFile { file: Arc::new(file), folder: folder.to_owned(), length: 0 })
    }

    /// Writes a sorted run; says how many bytes that took, too.
    pub(crate) fn write(&mut self, run: &Run) -> Result<(SpilledRun, u64), Error> {
        let before = self.length;
        let mut compressor = BlockCompressor::new(LEVEL);
        let (mut raw, mut out, mut blocks) = (Vec::with_capacity(2 * BLOCK), Vec::with_capacity(2 * WRITE), Vec::new());
        for at in 0..run.records() {
            let (frame, ordinal) = run.frame_at(at);
            if raw.is_empty() {
                let (offset, first) = (self.length + out.len() as u64, run.key_at(at).into());
                blocks.push(Block { first, bytes: 0, offset, stored: 0 });
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
            if out.len() >= WRITE {
                self.append(&mut out)?;
            }
        }
        self.append(&mut out)?;
        let run = SpilledRun { file: Arc::clone(&self.file), folder: self.folder.clone(), blocks };
        Ok((run, self.length - before))
    }

    fn append(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.file.write_all_at(out, self.length).map_err(|source| fault(&self.folder, source))?;
        self.length += out.len() as u64;
        out.clear();
        Ok(())
    }
}

fn fault(folder: &Path, source: io::Error) -> Error {
    Error::Spill { folder: folder.to_owned(), source }
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
        while let (Some((key, _)), Some(from)) = (reader.record(), from)
            && key < from
        {
            reader.advance()?;
        }
        Ok(reader)
    }

    /// The key and the bytes of the record; none at the end.
    pub(crate) fn record(&self) -> Option<(KeyRef<'_>, &[u8])> {
        let (frame, ordinal) = Frame::stored_at(self.raw.get(self.at..)?)?;
        Some((KeyRef::new(frame.key, ordinal), frame.record))
    }

    pub(crate) fn advance(&mut self) -> Result<(), Error> {
        if let Some((frame, _)) = self.raw.get(self.at..).and_then(Frame::stored_at) {
            self.at += frame.length;
        }
        if self.at >= self.raw.len() { self.read_block() } else { Ok(()) }
    }

    fn read_block(&mut self) -> Result<(), Error> {
        (self.at, self.next) = (0, self.next + 1);
        self.raw.clear();
        if self.raw.capacity().max(self.stored.capacity()) > LARGEST_KEPT {
            (self.raw, self.stored) = (Vec::new(), Vec::new());
        }
        let Some(block) = self.run.blocks.get(self.next - 1) else { return Ok(()) };
        let of = |source| fault(&self.run.folder, source);
        self.stored.resize(block.stored as usize, 0);
        self.run.file.read_exact_at(&mut self.stored, block.offset).map_err(of)?;
        let (limit, out) = (self.stored.len(), &mut self.raw);
        inflate_chain(&self.run.folder, block.offset, &self.stored, limit, true, &mut self.decompressor, out)
            .map_err(|error| of(io::Error::other(error.what)))?;
        match self.raw.len() == block.bytes as usize {
            true => Ok(()),
            false => Err(of(io::Error::other("a temporary file does not hold what was written to it"))),
        }
    }
}
