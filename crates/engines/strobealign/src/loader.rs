//! Index files, loaded or mapped, and checked.

use crate::file::{
    Description, FORMAT_VERSION, FileSection, IndexFileError, MAGIC, describe_seeding, index_arguments, packed_bytes,
    shown_options, unread,
};
use crate::parameters::IndexParameters;
use crate::pieces::{PIECE, share};
use crate::randstrobe::Randstrobe;
use crate::reference::Reference;
use crate::sequence::Sequence;
use crate::starts::BucketStarts;
use crate::tables::{Tables, mapped, zeroed};
use crate::{Strobealign, VERSION};
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use xxhash_rust::xxh3::xxh3_64;
use zerohop_memory::{on_huge_pages, populate};
use zerohop_model::error::Error;
use zerohop_model::index::FilePages;
use zerohop_model::record::Contig;
use zerohop_process::CutWatch;

/// What the index at `path` was made for: the canonical length of the reads, unless it is for any, and the options that
/// made it, as they are typed.
///
/// # Errors
/// As for [`Strobealign::load`].
pub fn made_for(path: &Path) -> Result<(Option<usize>, String), IndexFileError> {
    let Description { read_length, options, .. } = Loader::open(path)?.description;
    Ok(((read_length > 0).then_some(read_length), options))
}

/// The part of an index that must lie on huge pages for small ones not to count.
const NEARLY_ALL: f64 = 0.9;
/// Bytes of a section that are looked at before the others.
const LOOKED_AT_FIRST: usize = 16 << 20;

impl Strobealign {
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
        let loader = Loader::open_for(path, reference, parameters, threads)?;
        loader.engine(loader.read(threads)?, parameters, threads)
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
        let loader = Loader::open_for(copy, reference, parameters, threads)?;
        let sections = loader.map()?;
        sections.populate(threads);
        loader.engine(sections, parameters, threads)
    }

    /// The same with the tables mapped from the file, if the file cache has it on such pages. That nobody writes to it
    /// meanwhile is not promised, and so it is looked at when all is done
    /// ([`Engine::check_unchanged`](zerohop_model::engine::Engine::check_unchanged)). Who makes it shorter ends the
    /// process, which says so.
    ///
    /// # Errors
    /// As for [`Strobealign::load`].
    pub fn map(
        path: &Path,
        reference: Option<&Path>,
        parameters: &IndexParameters,
        threads: usize,
        pages: FilePages,
    ) -> Result<Option<Self>, IndexFileError> {
        let loader = Loader::open_for(path, reference, parameters, threads)?;
        let modified = loader.modified()?;
        // A file that cannot be mapped may still be read.
        let mapped = match loader.map() {
            Err(IndexFileError::Io { .. }) => return Ok(None),
            mapped => mapped?,
        };
        let watches = mapped.addresses().map(|addresses| zerohop_process::tell_if_cut(path, addresses));
        let is_usable = |bytes| pages == FilePages::Any || mapped.lie_on_huge_pages(bytes);
        // Most files that do not lie on huge pages are left alone then.
        if !is_usable(mapped.populate_some()) || !is_usable(mapped.populate(threads)) {
            return Ok(None);
        }
        let sections = loader.check(mapped, threads)?;
        let engine = loader.engine(sections, parameters, threads)?;
        Ok(Some(Strobealign { mapped: Some(MappedFile { loader, modified, _watches: watches }), ..engine }))
    }
}

/// A file that tables are mapped from.
pub(crate) struct MappedFile {
    loader: Loader,
    /// When it was written last, before it was checked.
    modified: SystemTime,
    _watches: [CutWatch; 3],
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

/// The sections as they come from a file.
struct Sections {
    sequence: Vec<u64>,
    randstrobes: Vec<Randstrobe>,
    bucket_starts: Vec<u32>,
}

impl Sections {
    fn bytes(&self) -> [&[u8]; 3] {
        [cast_slice(&self.sequence), cast_slice(&self.randstrobes), cast_slice(&self.bucket_starts)]
    }

    /// Where they lie in memory.
    fn addresses(&self) -> [Range<usize>; 3] {
        self.bytes().map(|section| section.as_ptr().addr()..section.as_ptr().addr() + section.len())
    }

    /// Asks for all pages with so many threads, so that nobody has to wait for one when reads are aligned. Says how
    /// many bytes they are.
    fn populate(&self, threads: usize) -> usize {
        self.bytes().into_iter().for_each(|section| populate(section, threads));
        self.bytes().into_iter().map(<[u8]>::len).sum()
    }

    /// The same of the first pages of each alone. (Of a file that is not in the cache, pages that are asked for here
    /// and there would keep the system from reading huge ones.)
    fn populate_some(&self) -> usize {
        let firsts = self.bytes().map(|section| &section[..section.len().min(LOOKED_AT_FIRST)]);
        firsts.into_iter().for_each(|first| populate(first, 1));
        firsts.into_iter().map(<[u8]>::len).sum()
    }

    /// Whether about so many bytes lie on huge pages. Where the system does not say, they do not.
    fn lie_on_huge_pages(&self, bytes: usize) -> bool {
        let ranges = self.addresses().map(|range| (range.start, range.len()));
        on_huge_pages(&ranges).is_ok_and(|huge| huge as f64 >= NEARLY_ALL * bytes as f64)
    }
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

    /// The same of a file that must be of this reference, and made with these parameters.
    fn open_for(
        path: &Path,
        reference: Option<&Path>,
        parameters: &IndexParameters,
        threads: usize,
    ) -> Result<Self, IndexFileError> {
        let loader = Loader::open(path)?;
        loader.check_reference(reference, threads)?;
        loader.check_parameters(parameters)?;
        Ok(loader)
    }

    /// The engine with these sections.
    fn engine(
        &self,
        sections: Sections,
        parameters: &IndexParameters,
        threads: usize,
    ) -> Result<Strobealign, IndexFileError> {
        let Sections { sequence, randstrobes, bucket_starts } = sections;
        let reference = self.reference(sequence)?;
        let tables = self.tables(randstrobes, bucket_starts)?;
        let Description { bits, filter_cutoff, .. } = self.description;
        let tables = Tables::new(parameters.seeding.clone(), bits, filter_cutoff, tables, threads)?;
        Ok(Strobealign::assemble(reference, parameters.clone(), tables))
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

    /// Maps everything.
    fn map(&self) -> Result<Sections, IndexFileError> {
        let Description { sequence, randstrobes, bucket_starts, .. } = &self.description;
        Ok(Sections {
            sequence: self.map_section(sequence)?,
            randstrobes: self.map_section(randstrobes)?,
            bucket_starts: self.map_section(bucket_starts)?,
        })
    }

    /// Checks what was mapped.
    fn check(&self, mapped: Sections, threads: usize) -> Result<Sections, IndexFileError> {
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
    let bytes = &cast_slice::<T, u8>(values)[..section.bytes as usize];
    bytes.chunks(PIECE).enumerate().map(move |(i, piece)| (section, i, piece))
}

/// The pieces of the memory of a section, with their numbers.
fn section_pieces<'s, T: Pod>(
    section: &'s FileSection,
    values: &'s mut [T],
) -> impl Iterator<Item = (&'s FileSection, usize, &'s mut [u8])> {
    // The last value may be cut off.
    let bytes = &mut cast_slice_mut::<T, u8>(values)[..section.bytes as usize];
    bytes.chunks_mut(PIECE).enumerate().map(move |(i, piece)| (section, i, piece))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReferenceBuilder;
    use crate::file::{PAGE, identify, index_path, is_index};
    use crate::options::StrobealignOptions;
    use zerohop_input::identity::FileId;
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
            let mapped = |pages| Strobealign::map(&path, Some(&fasta), &of_reads(150), threads, pages).unwrap();
            same(&mapped(FilePages::Any).unwrap(), &ours);
            // Whether it lies on huge pages depends on the system.
            if let Some(mapped) = mapped(FilePages::Huge) {
                same(&mapped, &ours);
            }
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
        let mapped = Strobealign::map(&path, None, &of_reads(150), 2, FilePages::Any).unwrap().unwrap();
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
            let mapped = Strobealign::map(&path, Some(reference), &of_reads(read_length), 2, FilePages::Any);
            let mapped = mapped.err().unwrap().to_string();
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
