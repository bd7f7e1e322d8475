//! The index file: everything that a run needs, the reference too, so that no FASTA is read when it is there.
//!
//! Layout, little-endian: a first part that starts with [`MAGIC`], the format version (u32), the length of the
//! description (u32) and its XXH3 (u64), followed by the description as JSON; then three sections, each at a multiple
//! of [`PAGE`] bytes so that it can be mapped: the reference (2 bits per base, four to a byte), the randstrobes (12
//! bytes each) and the bucket starts (4 bytes each). Each section is covered by the XXH3 of each of its pieces of 8
//! MiB.
//!
//! A file is written under a temporary name and renamed when it is complete. It is refused when it is of another
//! version, cut off, damaged, or made from another reference than the one that lies beside it; nothing is guessed. No
//! reference need lie there.

use crate::parameters::IndexParameters;
use crate::pieces::{PIECE, share};
use crate::randstrobe::Randstrobe;
use crate::reference::Reference;
use crate::sequence::Sequence;
use crate::starts::BucketStarts;
use crate::tables::{Tables, mapped, zeroed};
use crate::{Strobealign, VERSION};
use bytemuck::Pod;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use strobealign::seeding::SeedingParameters;
use xxhash_rust::xxh3::xxh3_64;
use zerohop_input::identity::FileId;
use zerohop_model::error::Error;
use zerohop_model::record::Contig;
use zerohop_process::NewFile;

/// The first bytes of an index file.
pub const MAGIC: [u8; 8] = *b"ZHINDEX\n";
/// The version of the format of index files that this program reads and writes.
pub const FORMAT_VERSION: u32 = 3;
/// Alignment of the sections: a page of any system we know.
pub const PAGE: u64 = 1 << 16;

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
fn unread(path: &Path, source: std::io::Error) -> IndexFileError {
    IndexFileError::Io { path: path.to_owned(), what: "cannot read", source }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileSection {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    piece_xxh3: Vec<u64>,
}

impl FileSection {
    /// The values that it has, the last of which may be cut off.
    fn count<T>(&self) -> usize {
        (self.bytes as usize).div_ceil(size_of::<T>())
    }
}

/// The description: all that is not in the sections.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    engine: String,
    engine_version: String,
    reference: FileId,
    /// 0: it is for reads of any length.
    read_length: usize,
    /// The options that the index was made with, where they are not strobealign's defaults.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    options: String,
    /// Seeding parameters in words: an engine that has others under the same version number is noticed.
    seeding: String,
    bits: u8,
    filter_cutoff: usize,
    contigs: Vec<(String, u64)>,
    sequence: FileSection,
    randstrobes: FileSection,
    bucket_starts: FileSection,
    /// The first buckets that start at 2^32 and its multiples, or behind them: the section has 32 bits of each start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    carries: Vec<usize>,
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

/// What the index at `path` was made for: the canonical length of the reads, unless it is for any, and the options that
/// made it, as they are typed.
///
/// # Errors
/// As for [`Strobealign::load`].
pub fn made_for(path: &Path) -> Result<(Option<usize>, String), IndexFileError> {
    let Description { read_length, options, .. } = Loader::open(path)?.description;
    Ok(((read_length > 0).then_some(read_length), options))
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

fn describe_seeding(parameters: &SeedingParameters) -> String {
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
        let offset = self.at.next_multiple_of(PAGE);
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

    /// Loads the index at `path` with `threads` threads, into memory of the calling thread's placement.
    ///
    /// # Errors
    /// When the file cannot be read, is of another version, cut off or damaged, was made with other
    /// parameters, or from another FASTA than that at `reference`, if one is given; too little memory.
    pub fn load(
        path: &Path,
        reference: Option<&Path>,
        parameters: &IndexParameters,
        threads: usize,
    ) -> Result<Self, IndexFileError> {
        Strobealign::load_with(&Loader::open(path)?, reference, parameters, threads, Loader::read)
    }

    /// The same of a copy of an index file that lies in memory (`resident::fill`): its tables are mapped, not read, and
    /// not checked again.
    ///
    /// # Errors
    /// As for [`Strobealign::load`].
    pub(crate) fn attach(
        copy: &Path,
        reference: Option<&Path>,
        parameters: &IndexParameters,
        threads: usize,
    ) -> Result<Self, IndexFileError> {
        Strobealign::load_with(&Loader::open(copy)?, reference, parameters, threads, Loader::map)
    }

    /// The same with the tables mapped from the file. That nobody writes to it meanwhile is not promised, and so it is
    /// looked at when all is done ([`Engine::check_unchanged`](zerohop_model::engine::Engine::check_unchanged)). Who
    /// makes it shorter ends the process.
    ///
    /// # Errors
    /// As for [`Strobealign::load`].
    pub fn map(
        path: &Path,
        reference: Option<&Path>,
        parameters: &IndexParameters,
        threads: usize,
    ) -> Result<Self, IndexFileError> {
        let loader = Loader::open(path)?;
        let modified = loader.modified()?;
        let engine = Strobealign::load_with(&loader, reference, parameters, threads, Loader::map_and_check)?;
        Ok(Strobealign { mapped: Some(MappedFile { loader, modified }), ..engine })
    }

    fn load_with(
        loader: &Loader,
        reference: Option<&Path>,
        parameters: &IndexParameters,
        threads: usize,
        get: impl FnOnce(&Loader, usize) -> Result<Sections, IndexFileError>,
    ) -> Result<Self, IndexFileError> {
        loader.check_reference(reference, threads)?;
        loader.check_parameters(parameters)?;
        let Sections { sequence, randstrobes, bucket_starts } = get(loader, threads)?;
        let reference = loader.reference(sequence)?;
        let tables = loader.tables(randstrobes, bucket_starts)?;
        let Description { bits, filter_cutoff, .. } = loader.description;
        let tables = Tables::new(parameters.seeding.clone(), bits, filter_cutoff, tables, threads)?;
        Ok(Strobealign::assemble(reference, parameters.clone(), tables))
    }
}

/// A file that tables are mapped from.
pub(crate) struct MappedFile {
    loader: Loader,
    /// When it was written last, before it was checked.
    modified: SystemTime,
}

impl MappedFile {
    /// Where somebody has written to it, or set its time, every byte is looked at again.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        let is_unchanged = self.loader.modified().is_ok_and(|modified| modified == self.modified);
        match is_unchanged || self.loader.is_whole() {
            true => Ok(()),
            false => Err(Error::IndexChanged { path: self.loader.path.clone() }),
        }
    }
}

/// Bytes of so many bases, four to a byte.
fn packed_bytes(bases: usize) -> usize {
    bases.div_ceil(4)
}

/// The sections as they come from a file.
struct Sections {
    sequence: Vec<u64>,
    randstrobes: Vec<Randstrobe>,
    bucket_starts: Vec<u32>,
}

pub(crate) struct Loader {
    path: PathBuf,
    file: File,
    /// All that comes before the sections: what says which version of what it is, and the description.
    pub(crate) head: Vec<u8>,
    description: Description,
}

impl Loader {
    fn unusable(&self, what: impl Into<String>) -> IndexFileError {
        let Description { read_length, options, .. } = &self.description;
        let arguments = index_arguments(*read_length, options);
        IndexFileError::Unusable { path: self.path.clone(), what: what.into(), arguments }
    }

    fn io(&self, source: std::io::Error) -> IndexFileError {
        IndexFileError::Io { path: self.path.clone(), what: "cannot read the index", source }
    }

    pub(crate) fn open(path: &Path) -> Result<Self, IndexFileError> {
        let io = |source| IndexFileError::Io { path: path.to_owned(), what: "cannot read the index", source };
        let unusable = |what: &str| {
            let (what, arguments) = (what.to_owned(), String::new());
            IndexFileError::Unusable { path: path.to_owned(), what, arguments }
        };
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut head = [0; 24];
        file.read_exact_at(&mut head, 0).map_err(|_| unusable("it is not an index of zerohop, or it is truncated"))?;
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if head[..8] != MAGIC {
            return Err(unusable("it is not an index of zerohop"));
        }
        if word(8) != FORMAT_VERSION {
            let what = format!("it has version {} of the format, and this zerohop reads {FORMAT_VERSION}", word(8));
            return Err(unusable(&what));
        }
        // Asked for before any memory is: the length may be what is damaged.
        if length < 24 + u64::from(word(12)) {
            return Err(unusable("it is truncated"));
        }
        let mut json = vec![0; word(12) as usize];
        file.read_exact_at(&mut json, 24).map_err(|_| unusable("it is truncated"))?;
        if xxh3_64(&json) != u64::from(word(16)) | u64::from(word(20)) << 32 {
            return Err(unusable("its description is damaged"));
        }
        let description: Description =
            serde_json::from_slice(&json).map_err(|_| unusable("its description is damaged"))?;
        if (description.engine.as_str(), description.engine_version.as_str()) != ("strobealign", VERSION) {
            return Err(unusable("it was made by another engine, or by another version of it"));
        }
        let Description { sequence, randstrobes, bucket_starts, .. } = &description;
        for section in [sequence, randstrobes, bucket_starts] {
            if section.offset.checked_add(section.bytes).is_none_or(|end| end > length) {
                return Err(unusable("it is truncated"));
            }
        }
        let contigs = description.contigs.iter();
        let mut contigs = contigs.map(|(name, length)| Contig::new(name, *length));
        if let Some(what) = contigs.find_map(|contig| contig.too_long()) {
            return Err(unusable(&what));
        }
        Ok(Loader { path: path.to_owned(), file, head: [&head[..], &json].concat(), description })
    }

    pub(crate) fn sections(&self) -> [&FileSection; 3] {
        let Description { sequence, randstrobes, bucket_starts, .. } = &self.description;
        [sequence, randstrobes, bucket_starts]
    }

    /// Refuses an index that was made with other parameters, or by other code.
    fn check_parameters(&self, wanted: &IndexParameters) -> Result<(), IndexFileError> {
        let Description { read_length, options, seeding, .. } = &self.description;
        let (wanted_length, wanted_options) = (wanted.read_length().unwrap_or(0), wanted.words());
        let what = if *options != wanted_options {
            format!("it was made with {}, not with {}", shown_options(options), shown_options(&wanted_options))
        } else if *read_length != wanted_length || *seeding != describe_seeding(&wanted.seeding) {
            "it was made with other parameters".to_owned()
        } else {
            return Ok(());
        };
        let arguments = index_arguments(wanted_length, &wanted_options);
        Err(IndexFileError::Unusable { path: self.path.clone(), what, arguments })
    }

    /// Reads piece `i` of a section and checks it.
    pub(crate) fn read_piece(&self, section: &FileSection, i: usize, into: &mut [u8]) -> Result<(), IndexFileError> {
        let offset = section.offset + (i * PIECE) as u64;
        let read = self.file.read_exact_at(into, offset);
        read.map_err(|source| self.io(source))?;
        self.check_piece(section, i, into)
    }

    /// Checks that these bytes are piece `i` of a section.
    fn check_piece(&self, section: &FileSection, i: usize, piece: &[u8]) -> Result<(), IndexFileError> {
        if section.piece_xxh3.get(i) == Some(&xxh3_64(piece)) {
            return Ok(());
        }
        let start = section.offset + (i * PIECE) as u64;
        let end = start + piece.len() as u64;
        Err(self.unusable(format!("it is damaged between bytes {start} and {end}")))
    }

    /// When the file was written last.
    fn modified(&self) -> Result<SystemTime, IndexFileError> {
        self.file.metadata().and_then(|metadata| metadata.modified()).map_err(|source| self.io(source))
    }

    /// Whether every byte that means anything is as it was written.
    fn is_whole(&self) -> bool {
        let mut piece = Vec::new();
        self.sections().into_iter().all(|section| {
            (0..(section.bytes as usize).div_ceil(PIECE)).all(|i| {
                piece.resize((section.bytes as usize - i * PIECE).min(PIECE), 0);
                self.read_piece(section, i, &mut piece).is_ok()
            })
        })
    }

    /// Refuses an index that was made from another FASTA than this one, if one is given.
    pub(crate) fn check_reference(&self, reference: Option<&Path>, threads: usize) -> Result<(), IndexFileError> {
        let Some(reference) = reference else { return Ok(()) };
        match self.description.reference.is_of(reference, threads).map_err(|source| unread(reference, source))? {
            true => Ok(()),
            false => Err(self.unusable("it was made from another reference, or the reference has changed since")),
        }
    }

    /// Reads everything. All memory is taken by the calling thread, so it is placed where that one wants it.
    fn read(&self, threads: usize) -> Result<Sections, IndexFileError> {
        let Description { sequence: bases, randstrobes: seeds, bucket_starts: starts, .. } = &self.description;
        // The readers are the first to write it.
        let mut sequence = zeroed(bases.count::<u64>())?;
        let mut randstrobes = zeroed(seeds.count::<Randstrobe>())?;
        let mut bucket_starts = zeroed(starts.count::<u32>())?;
        let all = section_pieces(bases, &mut sequence).chain(section_pieces(seeds, &mut randstrobes));
        let all = all.chain(section_pieces(starts, &mut bucket_starts)).collect();
        share(all, threads, |(section, i, piece)| self.read_piece(section, i, piece))?;
        Ok(Sections { sequence, randstrobes, bucket_starts })
    }

    /// Maps everything. The pages are asked for by all threads, so that nobody has to wait for one when reads are
    /// aligned.
    fn map(&self, threads: usize) -> Result<Sections, IndexFileError> {
        let Description { sequence, randstrobes, bucket_starts, .. } = &self.description;
        let sections = Sections {
            sequence: self.map_section(sequence)?,
            randstrobes: self.map_section(randstrobes)?,
            bucket_starts: self.map_section(bucket_starts)?,
        };
        zerohop_memory::populate(bytemuck::cast_slice(&sections.sequence), threads);
        zerohop_memory::populate(bytemuck::cast_slice(&sections.randstrobes), threads);
        zerohop_memory::populate(bytemuck::cast_slice(&sections.bucket_starts), threads);
        Ok(sections)
    }

    /// Maps everything and checks it.
    fn map_and_check(&self, threads: usize) -> Result<Sections, IndexFileError> {
        let mapped = self.map(threads)?;
        let Description { sequence, randstrobes, bucket_starts, .. } = &self.description;
        let all = section_bytes(sequence, &mapped.sequence).chain(section_bytes(randstrobes, &mapped.randstrobes));
        let all = all.chain(section_bytes(bucket_starts, &mapped.bucket_starts)).collect();
        share(all, threads, |(section, i, piece)| self.check_piece(section, i, piece))?;
        Ok(mapped)
    }

    /// A section as a mapping, or, where it is too small for one, read.
    fn map_section<T: Pod>(&self, section: &FileSection) -> Result<Vec<T>, IndexFileError> {
        match mapped(&self.file, section.offset, section.count::<T>()) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            other => return other.map_err(|source| self.io(source)),
        }
        let mut values = zeroed(section.count::<T>())?;
        section_pieces(section, &mut values).try_for_each(|(section, i, piece)| self.read_piece(section, i, piece))?;
        Ok(values)
    }

    /// The two tables, if they fit together.
    fn tables(
        &self,
        randstrobes: Vec<Randstrobe>,
        bucket_starts: Vec<u32>,
    ) -> Result<(Vec<Randstrobe>, BucketStarts), IndexFileError> {
        let Description { bits, carries, .. } = &self.description;
        let starts = bucket_starts.len();
        let bucket_starts = BucketStarts::new(bucket_starts, carries.clone());
        let is_consistent = (8..=31).contains(bits)
            && starts == (1 << bits) + 1
            && carries.len() == randstrobes.len() >> u32::BITS
            && bucket_starts.end() == Some(randstrobes.len());
        if !is_consistent {
            return Err(self.unusable("its tables do not fit together"));
        }
        Ok((randstrobes, bucket_starts))
    }

    fn reference(&self, sequence: Vec<u64>) -> Result<Reference, IndexFileError> {
        let contig = |(name, length): &(String, u64)| Contig::new(name, *length);
        let contigs: Vec<Contig> = self.description.contigs.iter().map(contig).collect();
        let total = contigs.iter().try_fold(0u64, |total, contig| total.checked_add(contig.length));
        let bytes = self.description.sequence.bytes;
        let Some(total) = total.filter(|&total| bytes == packed_bytes(total as usize) as u64) else {
            return Err(self.unusable("its reference does not fit its contigs"));
        };
        let sequence = Sequence::from_words(sequence, total as usize);
        Reference::new(sequence, contigs).map_err(|error| self.unusable(error.to_string()))
    }
}

/// The pieces of a section that is there, with their numbers.
fn section_bytes<'s, T: Pod>(
    section: &'s FileSection,
    values: &'s [T],
) -> impl Iterator<Item = (&'s FileSection, usize, &'s [u8])> {
    // What is behind the last value is not of the section.
    let bytes = &bytemuck::cast_slice::<T, u8>(values)[..section.bytes as usize];
    bytes.chunks(PIECE).enumerate().map(move |(i, piece)| (section, i, piece))
}

/// The pieces of the memory of a section, with their numbers.
fn section_pieces<'s, T: Pod>(
    section: &'s FileSection,
    values: &'s mut [T],
) -> impl Iterator<Item = (&'s FileSection, usize, &'s mut [u8])> {
    // The last value may be cut off.
    let bytes = &mut bytemuck::cast_slice_mut::<T, u8>(values)[..section.bytes as usize];
    bytes.chunks_mut(PIECE).enumerate().map(move |(i, piece)| (section, i, piece))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReferenceBuilder;
    use crate::options::StrobealignOptions;
    use zerohop_model::engine::Engine;

    fn engine(length: usize) -> Strobealign {
        let mut random = fastrand::Rng::with_seed(3);
        let mut builder = ReferenceBuilder::default();
        builder.push(&(0..length).map(|_| b"ACGTN"[random.usize(..5)]).collect::<Vec<u8>>());
        let contigs = vec![Contig::new("a", 1001), Contig::new("b", length as u64 - 1001)];
        Strobealign::build(builder.build(contigs).unwrap(), &of_reads(150), 2, |_| {}).unwrap()
    }

    fn of_reads(length: usize) -> IndexParameters {
        IndexParameters::of_reads(length)
    }

    fn with(options: &str) -> IndexParameters {
        IndexParameters::new(&StrobealignOptions::parse(options).unwrap(), 150).unwrap()
    }

    fn same(one: &Strobealign, other: &Strobealign) {
        assert!(one.tables.randstrobes == other.tables.randstrobes);
        assert!(one.tables.bucket_starts == other.tables.bucket_starts);
        assert_eq!(one.tables.filter_cutoff, other.tables.filter_cutoff);
        assert_eq!(one.contigs(), other.contigs());
        assert!(one.reference.sequence == other.reference.sequence);
    }

    /// Of several pieces, the last of which is not full.
    #[test]
    fn a_copy_is_what_it_was_copied_from() {
        let ours = engine(8_000_001);
        assert!(size_of_val(&ours.tables.randstrobes[..]) > 2 * PIECE);
        for threads in [1, 2, 5] {
            same(&ours.copy(threads).unwrap(), &ours);
        }
    }

    /// A file beside `path`, and what identifies it.
    fn reference(path: &Path, text: &str) -> (PathBuf, FileId) {
        let path = path.with_extension(text);
        std::fs::write(&path, text).unwrap();
        let id = identify(&path, 1).unwrap();
        (path, id)
    }

    #[test]
    fn what_is_loaded_is_what_was_saved() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, path) = (engine(1_234_567), dir.path().join("x.zhi"));
        let (fasta, id) = reference(&path, "fa");
        let bytes = ours.save(&path, &id, 2).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), bytes);
        assert!(is_index(&path) && !is_index(&fasta) && !is_index(dir.path()));
        assert_eq!(made_for(&path).unwrap(), (Some(150), String::new()));
        assert!(Strobealign::load(&path, None, &of_reads(150), 3).is_ok(), "the reference is in the index");
        for threads in [1, 2, 7] {
            same(&Strobealign::load(&path, Some(&fasta), &of_reads(150), threads).unwrap(), &ours);
            same(&Strobealign::map(&path, Some(&fasta), &of_reads(150), threads).unwrap(), &ours);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn an_index_knows_its_parameters() {
        let dir = tempfile::tempdir().unwrap();
        let (reference_path, base) = (dir.path().join("ref.fa"), engine(20_000).reference);
        let (_, id) = reference(&reference_path, "fa");
        for (options, name) in [
            ("-k 22 -f 0.5", "ref.fa.r150.k22.f0.5.zhi"),
            ("-b 9", "ref.fa.r150.b9.zhi"),
            ("-P noisy", "ref.fa.noisy.zhi"),
        ] {
            let (parameters, path) = (with(options), index_path(&reference_path, &with(options)));
            assert_eq!(path.file_name().unwrap(), name);
            Strobealign::build(base.clone(), &parameters, 2, |_| {}).unwrap().save(&path, &id, 2).unwrap();
            assert!(Strobealign::load(&path, None, &parameters, 2).is_ok());
            assert_eq!(made_for(&path).unwrap(), (parameters.read_length(), options.to_owned()));
            let error = Strobealign::load(&path, None, &of_reads(150), 2).err().unwrap().to_string();
            let said = format!("it was made with --engine-args '{options}', not with strobealign's defaults");
            assert!(error.contains(&said), "{error}");
            let error = Strobealign::load(&path, None, &with("-f 0.25"), 2).err().unwrap().to_string();
            assert!(error.contains(&format!("'{options}', not with --engine-args '-f 0.25'")), "{error}");
        }
    }

    #[test]
    fn a_mapped_file_that_has_changed_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.zhi");
        let (_, id) = reference(&path, "fa");
        engine(60_000).save(&path, &id, 1).unwrap();
        let mapped = Strobealign::map(&path, None, &of_reads(150), 2).unwrap();
        assert!(mapped.check_unchanged().is_ok());
        // Its time alone.
        let file = File::options().read(true).write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(mapped.check_unchanged().is_ok());
        // Another file in its place: the one that is read is still there.
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "another").unwrap();
        assert!(mapped.check_unchanged().is_ok());
        file.write_all_at(&[bytes[bytes.len() - 1] ^ 1], bytes.len() as u64 - 1).unwrap();
        let error = mapped.check_unchanged().unwrap_err().to_string();
        assert!(error.ends_with("the index was changed while reads were aligned with it: run the command again"));
    }

    #[test]
    fn every_kind_of_wrong_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, path) = (engine(50_000), dir.path().join("x.zhi"));
        let ((own, id), (other_fasta, _)) = (reference(&path, "x"), reference(&path, "yy"));
        ours.save(&path, &id, 2).unwrap();
        let good = std::fs::read(&path).unwrap();
        let refused = |bytes: &[u8], reference: &str, read_length| {
            std::fs::write(&path, bytes).unwrap();
            let reference = if reference == "x" { &own } else { &other_fasta };
            let error = Strobealign::load(&path, Some(reference), &of_reads(read_length), 2).err().unwrap().to_string();
            let mapped = Strobealign::map(&path, Some(reference), &of_reads(read_length), 2).err().unwrap().to_string();
            assert_eq!(mapped, error);
            error.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
        };
        // Before its description is read, and behind that.
        let (unknown, again) = (": make it anew with 'zerohop index'", ": make it anew with 'zerohop index -r 150'");
        let other = "it was made from another reference, or the reference has changed since";
        assert_eq!(refused(&good, "y", 150), format!("{other}{again}"));
        assert_eq!(
            refused(&good, "x", 250),
            "it was made with other parameters: make it anew with 'zerohop index -r 250'"
        );
        assert_eq!(refused(&good[..good.len() - 1], "x", 150), format!("it is truncated{unknown}"));
        assert_eq!(refused(b"short", "x", 150), format!("it is not an index of zerohop, or it is truncated{unknown}"));
        let changed = |at: usize| {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            bytes
        };
        assert_eq!(refused(&changed(0), "x", 150), format!("it is not an index of zerohop{unknown}"));
        let version = "it has version 2 of the format, and this zerohop reads 3";
        assert_eq!(refused(&changed(8), "x", 150), format!("{version}{unknown}"));
        assert_eq!(refused(&changed(100), "x", 150), format!("its description is damaged{unknown}"));
        let mut longer = good.clone();
        longer[15] = 0x0f;
        assert_eq!(refused(&longer, "x", 150), format!("it is truncated{unknown}"));
        // Forged, checksum and all: lengths of contigs that are too long, or do not fit the reference.
        let end = 24 + u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
        let json = String::from_utf8(good[24..end].to_vec()).unwrap();
        let forged = |contigs: &str| {
            let json = json.replace(r#"["a",1001],["b",48999]"#, contigs);
            let mut forged = good.clone();
            forged[24..24 + json.len()].copy_from_slice(json.as_bytes());
            forged[12..16].copy_from_slice(&(json.len() as u32).to_le_bytes());
            forged[16..24].copy_from_slice(&xxh3_64(json.as_bytes()).to_le_bytes());
            forged
        };
        let unfit = "its reference does not fit its contigs";
        assert_eq!(refused(&forged(r#"["a",1001],["b",49003]"#), "x", 150), format!("{unfit}{again}"));
        for length in [1u64 << 31, u64::MAX] {
            let long = format!(
                "the contig 'a' has {length} bases, and SAM and BAM can hold positions up to 2147483647: split it"
            );
            let forged = forged(&format!(r#"["a",{length}],["b",50001]"#));
            assert_eq!(refused(&forged, "x", 150), format!("{long}{unknown}"));
        }
        // Every section, at its start and at its end.
        for at in [PAGE as usize, 2 * PAGE as usize, good.len() - 1] {
            assert!(refused(&changed(at), "x", 150).starts_with("it is damaged between bytes"), "{at}");
        }
    }
}
