//! Lines of BED, sorted and compressed, with their index: a file as `bgzip` and `tabix --csi -p bed` make it.

use crate::blocks::Blocks;
use crate::index::RecordIndex;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use zerohop_bgzf::{BLOCK_DATA, BlockCompressor, END_MARKER};
use zerohop_model::error::Error;
use zerohop_model::record::Contig;
use zerohop_process::{NewFile, WriteError};

/// Level of the compression, as mosdepth has it for its largest file.
const LEVEL: u8 = 1;
/// What is written at once, in bytes.
const WRITE: usize = 1 << 20;

/// A file of BED that is being written.
pub struct BedFile {
    file: NewFile,
    index_file: NewFile,
    index: RecordIndex,
    contigs: usize,
    compressor: BlockCompressor,
    raw: Vec<u8>,
    /// Blocks that are not written yet, and where they begin in the file.
    blocks: Vec<u8>,
    written: u64,
}

impl BedFile {
    /// A new file, `path`, and its index beside it.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn create(path: &Path, contigs: &[Contig]) -> Result<Self, Error> {
        Ok(BedFile {
            file: NewFile::create(path).map_err(fault)?,
            index_file: NewFile::create(&Self::index_path(path)).map_err(fault)?,
            index: RecordIndex::of_lines(contigs),
            contigs: contigs.len(),
            compressor: BlockCompressor::new(LEVEL),
            raw: Vec::with_capacity(2 * BLOCK_DATA),
            blocks: Vec::with_capacity(2 * WRITE),
            written: 0,
        })
    }

    /// The file of the index.
    pub fn index_path(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".csi");
        name.into()
    }

    /// Adds a line that no index has: before all others.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn put_head(&mut self, line: &[u8]) -> Result<(), Error> {
        let BedFile { compressor, raw, blocks, .. } = self;
        Blocks { raw, compressor, out: blocks }.put(line, |_| ()).map(|_| ())
    }

    /// Adds a line, with its newline, of these positions of a contig, from 0.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn put(&mut self, contig: u32, positions: Range<u32>, line: &[u8]) -> Result<(), Error> {
        let BedFile { compressor, raw, blocks, .. } = self;
        let (begin, end) = Blocks { raw, compressor, out: blocks }.put(line, |_| ())?;
        let behind = |at: u64| at + (self.written << 16);
        self.index.add_line(contig, positions.start.into()..positions.end.into(), (behind(begin), behind(end)));
        if self.blocks.len() >= WRITE { self.write() } else { Ok(()) }
    }

    /// Ends both files, which get their names when all files of a run get them.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn finish(mut self) -> Result<[NewFile; 2], Error> {
        let BedFile { compressor, raw, blocks, .. } = &mut self;
        Blocks { raw, compressor, out: blocks }.flush()?;
        self.blocks.extend_from_slice(&END_MARKER);
        self.write()?;
        let index = self.index.file(self.contigs)?;
        let written = self.index_file.file().write_all(&index);
        written.map_err(|source| Error::Output { path: self.index_file.path().to_owned(), source })?;
        Ok([self.file, self.index_file])
    }

    fn write(&mut self) -> Result<(), Error> {
        let written = self.file.file().write_all(&self.blocks);
        written.map_err(|source| Error::Output { path: self.file.path().to_owned(), source })?;
        self.written += self.blocks.len() as u64;
        self.blocks.clear();
        Ok(())
    }
}

fn fault(WriteError { path, source }: WriteError) -> Error {
    Error::Output { path, source }
}
