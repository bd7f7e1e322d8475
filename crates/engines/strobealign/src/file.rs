//! The index file: everything that a run needs, the reference too, so that no FASTA is read when it is there.
//!
//! Layout, little-endian: a first part that starts with [`MAGIC`], the format version (u32), the length of the
//! description (u32) and its XXH3 (u64), followed by the description as JSON; then three sections, each at a multiple
//! of [`PAGE`] bytes, or of a huge page, so that it can be mapped: the reference (2 bits per base, four to a byte), the
//! randstrobes (12 bytes each) and the bucket starts (4 bytes each). Each section is covered by the XXH3 of each of its
//! pieces of 8 MiB.
//!
//! A file is written under a temporary name and renamed when it is complete. It is refused when it is of another
//! version, cut off, damaged, or made from another reference than the one that lies beside it; nothing is guessed. No
//! reference need lie there.

use crate::parameters::IndexParameters;
use crate::pieces::{PIECE, share};
use crate::tables::Tables;
use crate::{Strobealign, VERSION};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use strobealign::seeding::SeedingParameters;
use xxhash_rust::xxh3::xxh3_64;
use zerohop_input::identity::FileId;
use zerohop_model::error::Error;
use zerohop_process::NewFile;

/// The first bytes of an index file.
pub const MAGIC: [u8; 8] = *b"ZHINDEX\n";
/// The version of the format of index files that this program reads and writes.
pub const FORMAT_VERSION: u32 = 3;
/// Alignment of the sections: a page of any system we know.
pub const PAGE: u64 = 1 << 16;
/// Alignment of sections of a piece or more: a huge page of x86-64. What is written together at such places lies on
/// huge pages of the file cache, where the file system has them (XFS, ext4 from Linux 6.16 on).
const HUGE_PAGE: u64 = 2 << 20;

/// Why an index file cannot be used or written. Reads `FILE: what is wrong: what to do`.
#[derive(Debug, thiserror::Error)]
pub enum IndexFileError {
    /// The file cannot be read or written.
    #[error("{}: {what}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not an index of zerohop, or it has another version.
    #[error("{}: {what}: make it anew with 'zerohop index{arguments}'", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// With which arguments, as far as they are known, a space before each.
        arguments: String,
    },
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] Error),
}

/// What identifies the FASTA at `path`, read with so many threads.
///
/// # Errors
/// When it cannot be read.
pub fn identify(path: &Path, threads: usize) -> Result<FileId, IndexFileError> {
    FileId::read(path, threads).map_err(|source| unread(path, source))
}

/// A reference that cannot be read.
pub(crate) fn unread(path: &Path, source: std::io::Error) -> IndexFileError {
    IndexFileError::Io { path: path.to_owned(), what: "cannot read", source }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileSection {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) piece_xxh3: Vec<u64>,
}

impl FileSection {
    /// The values that it has, the last of which may be cut off.
    pub(crate) fn count<T>(&self) -> usize {
        (self.bytes as usize).div_ceil(size_of::<T>())
    }
}

/// The description: all that is not in the sections.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) engine: String,
    pub(crate) engine_version: String,
    pub(crate) reference: FileId,
    /// 0: it is for reads of any length.
    pub(crate) read_length: usize,
    /// The options that the index was made with, where they are not strobealign's defaults.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) options: String,
    /// Seeding parameters in words: an engine that has others under the same version number is noticed.
    pub(crate) seeding: String,
    pub(crate) bits: u8,
    pub(crate) filter_cutoff: usize,
    pub(crate) contigs: Vec<(String, u64)>,
    pub(crate) sequence: FileSection,
    pub(crate) randstrobes: FileSection,
    pub(crate) bucket_starts: FileSection,
    /// The first buckets that start at 2^32 and its multiples, or behind them: the section has 32 bits of each start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) carries: Vec<usize>,
}

/// The name of the index file with these parameters of the reference at `path`.
pub fn index_path(path: &Path, parameters: &IndexParameters) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.zhi", parameters.name()));
    PathBuf::from(name)
}

/// Whether the file at `path` begins as an index does. One that cannot be read is reported when it is read in full.
pub fn is_index(path: &Path) -> bool {
    let mut first = MAGIC.map(|_| 0);
    // Not of a pipe, which could be read only once.
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(path).is_ok_and(|file| file.read_exact_at(&mut first, 0).is_ok()) && first == MAGIC
}

/// The arguments with which 'zerohop index' makes an index for reads of that length (0: of any), with these options; a
/// space before each.
pub(crate) fn index_arguments(read_length: usize, options: &str) -> String {
    let length = if read_length > 0 { format!(" -r {read_length}") } else { String::new() };
    let options = if options.is_empty() { String::new() } else { format!(" --engine-args '{options}'") };
    length + &options
}

/// Options as they are typed, or that there are none.
pub(crate) fn shown_options(options: &str) -> String {
    if options.is_empty() { "strobealign's defaults".to_owned() } else { format!("--engine-args '{options}'") }
}

pub(crate) fn describe_seeding(parameters: &SeedingParameters) -> String {
    format!("{:?} {:?}", parameters.syncmer, parameters.randstrobe)
}

/// An index that cannot be written.
fn unwritten(path: &Path, source: std::io::Error) -> IndexFileError {
    IndexFileError::Io { path: path.to_owned(), what: "cannot write the index", source }
}

/// Hashes and writes the sections, piece by piece, with so many threads.
struct SectionWriter<'f> {
    path: &'f Path,
    file: &'f File,
    at: u64,
    threads: usize,
}

impl SectionWriter<'_> {
    fn section(&mut self, bytes: &[u8]) -> Result<FileSection, IndexFileError> {
        let offset = self.at.next_multiple_of(if bytes.len() < PIECE { PAGE } else { HUGE_PAGE });
        let mut piece_xxh3 = vec![0; bytes.len().div_ceil(PIECE)];
        let pieces = bytes.chunks(PIECE).zip(&mut piece_xxh3).enumerate().collect();
        share(pieces, self.threads, |(i, (piece, hash)): (usize, (&[u8], &mut u64))| {
            *hash = xxh3_64(piece);
            let written = self.file.write_all_at(piece, offset + (i * PIECE) as u64);
            written.map_err(|source| unwritten(self.path, source))
        })?;
        self.at = offset + bytes.len() as u64;
        Ok(FileSection { offset, bytes: bytes.len() as u64, piece_xxh3 })
    }
}

impl Strobealign {
    /// Writes the index to `path`, with so many threads.
    ///
    /// # Errors
    /// When the file cannot be written; then none is left.
    pub fn save(&self, path: &Path, reference: &FileId, threads: usize) -> Result<u64, IndexFileError> {
        let new = NewFile::create(path).map_err(|error| unwritten(path, error.source))?;
        let bytes = self.write_file(path, new.file(), reference, threads)?;
        new.complete().map_err(|error| unwritten(path, error.source))?;
        Ok(bytes)
    }

    /// The sections go first, behind room for the description, whose length is known from a first try with no hashes
    /// wrong.
    fn write_file(&self, path: &Path, file: &File, reference: &FileId, threads: usize) -> Result<u64, IndexFileError> {
        let unwritten = |source| unwritten(path, source);
        let placeholder = self.description(reference, |bytes| FileSection {
            offset: u64::MAX,
            bytes: u64::MAX,
            piece_xxh3: vec![u64::MAX; bytes.div_ceil(PIECE)],
        });
        let room = 24 + placeholder.map_err(unwritten)?.len() as u64;
        let mut writer = SectionWriter { path, file, at: room, threads };
        let Tables { randstrobes, bucket_starts, .. } = &self.tables;
        let sequence: &[u8] = bytemuck::cast_slice(self.reference.sequence.words());
        let sequence = writer.section(&sequence[..packed_bytes(self.reference.sequence.len())])?;
        let randstrobes = writer.section(bytemuck::cast_slice(randstrobes))?;
        let bucket_starts = writer.section(bytemuck::cast_slice(bucket_starts.low()))?;
        let mut sections = [Some(sequence), Some(randstrobes), Some(bucket_starts)].into_iter();
        let empty = || FileSection { offset: 0, bytes: 0, piece_xxh3: Vec::new() };
        let json = self.description(reference, |_| sections.next().flatten().unwrap_or_else(empty));
        let json = json.map_err(unwritten)?;
        let too_long = |_| unwritten(std::io::Error::other("its contigs have more than 4 GiB of names"));
        let length = u32::try_from(json.len()).map_err(too_long)?;
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        head.extend_from_slice(&length.to_le_bytes());
        head.extend_from_slice(&xxh3_64(&json).to_le_bytes());
        head.extend_from_slice(&json);
        file.write_all_at(&head, 0).map_err(unwritten)?;
        Ok(writer.at)
    }

    fn description(
        &self,
        reference: &FileId,
        mut section: impl FnMut(usize) -> FileSection,
    ) -> std::io::Result<Vec<u8>> {
        let description = Description {
            engine: "strobealign".to_owned(),
            engine_version: VERSION.to_owned(),
            reference: reference.clone(),
            read_length: self.parameters.read_length().unwrap_or(0),
            options: self.parameters.words(),
            seeding: describe_seeding(&self.tables.parameters),
            bits: self.tables.bits,
            filter_cutoff: self.tables.filter_cutoff,
            contigs: self.reference.contigs.iter().map(|c| (c.name.clone(), c.length)).collect(),
            sequence: section(packed_bytes(self.reference.sequence.len())),
            randstrobes: section(size_of_val(&self.tables.randstrobes[..])),
            bucket_starts: section(size_of_val(self.tables.bucket_starts.low())),
            carries: self.tables.bucket_starts.carries().to_vec(),
        };
        serde_json::to_vec(&description).map_err(std::io::Error::other)
    }
}

/// Bytes of so many bases, four to a byte.
pub(crate) fn packed_bytes(bases: usize) -> usize {
    bases.div_ceil(4)
}
