//! Lines of BED, sorted and compressed, with their index: a file as `bgzip` and `tabix --csi -p bed` make it.
//!
//! Who has the lines cuts them into blocks ([`BedFile::put`]); any thread compresses a block and writes it as soon as
//! those before it are written ([`BedBlock::write`]). So the file does not depend on who compresses.

use crate::index::RecordIndex;
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_bgzf::{BLOCK_DATA, BlockCompressor, END_MARKER};
use zerohop_model::error::Error;
use zerohop_model::record::Contig;
use zerohop_process::{NewFile, WriteError};

/// Level of the compression, as mosdepth has it for its largest file.
const LEVEL: u8 = 1;
/// What is written at once, in bytes.
const WRITE: usize = 1 << 20;

/// A file of BED whose lines come in.
pub struct BedFile {
    open: Lines,
    /// Blocks that were begun.
    blocks: usize,
    full: Vec<BedBlock>,
    written: Arc<Mutex<Written>>,
    /// An index of no lines.
    index: RecordIndex,
    index_file: NewFile,
    contigs: usize,
}

/// The lines of one block, whole ones.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// Contig and positions of each line that the index has, and where in the text it begins.
    indexed: Vec<(u32, Range<u32>, usize)>,
}

/// A block that nobody has compressed yet.
pub struct BedBlock {
    number: usize,
    lines: Lines,
    index: RecordIndex,
    written: Arc<Mutex<Written>>,
}

/// What is in the file, or will be soon.
struct Written {
    file: NewFile,
    index: RecordIndex,
    /// The block that comes next, and those behind it that are known.
    next: usize,
    waiting: BTreeMap<usize, (Vec<u8>, RecordIndex)>,
    /// Bytes that are in the file, and those that follow them.
    bytes: u64,
    unwritten: Vec<u8>,
}

impl BedFile {
    /// A new file, `path`, and its index beside it.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn create(path: &Path, contigs: &[Contig]) -> Result<Self, Error> {
        let index = RecordIndex::of_lines(contigs);
        let written = Written {
            file: NewFile::create(path).map_err(fault)?,
            index: index.clone(),
            next: 0,
            waiting: BTreeMap::new(),
            bytes: 0,
            unwritten: Vec::with_capacity(2 * WRITE),
        };
        Ok(BedFile {
            open: Lines::default(),
            blocks: 0,
            full: Vec::new(),
            written: Arc::new(Mutex::new(written)),
            index: index.like(),
            index_file: NewFile::create(&Self::index_path(path)).map_err(fault)?,
            contigs: contigs.len(),
        })
    }

    /// The file of the index.
    pub fn index_path(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".csi");
        name.into()
    }

    /// Adds a line that no index has: before all others.
    pub fn put_head(&mut self, line: &[u8]) {
        self.make_room(line.len());
        self.open.text.extend_from_slice(line);
    }

    /// Adds a line, with its newline, of these positions of a contig, from 0. It lies in one block if it fits, as
    /// htslib writes it.
    pub fn put(&mut self, contig: u32, positions: Range<u32>, line: &[u8]) {
        self.make_room(line.len());
        self.open.indexed.push((contig, positions, self.open.text.len()));
        self.open.text.extend_from_slice(line);
    }

    /// The blocks that are full, to be compressed and written by the caller: all, in any order.
    pub fn take_full(&mut self) -> impl Iterator<Item = BedBlock> + use<> {
        std::mem::take(&mut self.full).into_iter()
    }

    fn make_room(&mut self, bytes: usize) {
        if self.open.text.len() + bytes > BLOCK_DATA && !self.open.text.is_empty() {
            self.close();
        }
    }

    fn close(&mut self) {
        let (lines, number) = (std::mem::take(&mut self.open), self.blocks);
        self.blocks += 1;
        self.full.push(BedBlock { number, lines, index: self.index.clone(), written: Arc::clone(&self.written) });
    }

    /// Ends both files, which get their names when all files of a run get them. All blocks that were taken are written.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn finish(mut self) -> Result<[NewFile; 2], Error> {
        self.close();
        let mut compressor = bed_compressor();
        self.take_full().try_for_each(|block| block.write(&mut compressor))?;
        let BedFile { blocks, written, index_file, contigs, .. } = self;
        let written =
            Arc::into_inner(written).map(|written| written.into_inner().unwrap_or_else(PoisonError::into_inner));
        let mut written = written
            .filter(|written| written.next == blocks)
            .ok_or_else(|| Error::Internal("a block of BED was not written".to_owned()))?;
        written.unwritten.extend_from_slice(&END_MARKER);
        written.write()?;
        let index = written.index.file(contigs)?;
        let index_written = index_file.file().write_all(&index);
        index_written.map_err(|source| Error::Output { path: index_file.path().to_owned(), source })?;
        Ok([written.file, index_file])
    }
}

/// What compresses blocks of BED.
pub fn bed_compressor() -> BlockCompressor {
    BlockCompressor::new(LEVEL)
}

impl BedBlock {
    /// Compresses it, and writes it when those before it are written, be it by another thread.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn write(self, compressor: &mut BlockCompressor) -> Result<(), Error> {
        let BedBlock { number, lines: Lines { text, indexed }, mut index, written } = self;
        let mut block = Vec::new();
        compressor.compress(&text, &mut block)?;
        let ends = indexed.iter().skip(1).map(|(_, _, begin)| *begin as u64);
        // Behind the last line the next block begins.
        let ends = ends.chain([(block.len() as u64) << 16]);
        for ((contig, positions, begin), end) in indexed.iter().zip(ends) {
            let positions = positions.start.into()..positions.end.into();
            index.add_line(*contig, positions, (*begin as u64, end));
        }
        written.lock().unwrap_or_else(PoisonError::into_inner).add(number, block, index)
    }
}

impl Written {
    fn add(&mut self, number: usize, block: Vec<u8>, index: RecordIndex) -> Result<(), Error> {
        self.waiting.insert(number, (block, index));
        while let Some((block, index)) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.index.append(index, self.bytes + self.unwritten.len() as u64);
            self.unwritten.extend_from_slice(&block);
        }
        if self.unwritten.len() >= WRITE { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Error> {
        let written = self.file.file().write_all(&self.unwritten);
        written.map_err(|source| Error::Output { path: self.file.path().to_owned(), source })?;
        self.bytes += self.unwritten.len() as u64;
        self.unwritten.clear();
        Ok(())
    }
}

fn fault(WriteError { path, source }: WriteError) -> Error {
    Error::Output { path, source }
}
