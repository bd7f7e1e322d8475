//! Where strobealign's index comes from: a file beside the reference, or the reference itself.

use crate::file::{identify, index_path, is_index, read_length};
use crate::resident;
use crate::{CHUNK_BASES, Reference, ReferenceBuilder, Strobealign, VERSION, canonical_read_length};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use zerohop_model::engine::Engine;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, OnStart, Resident, Wanted};
use zerohop_model::machine::Bytes;

/// Bytes of the index per base, with some to spare (measured: 4.0 to 4.1).
const INDEX_BYTES_PER_BASE: f64 = 4.2;
/// Bases per byte of gzip: FASTA shrinks about fourfold.
const BASES_PER_GZIP_BYTE: f64 = 4.0;
/// The part of an estimate that an index has at least: lines end, and some FASTA shrinks less.
const SURE_OF_ESTIMATE: f64 = 0.6;

/// strobealign.
#[derive(Debug, Clone, Copy)]
pub struct Provider;

impl IndexProvider for Provider {
    fn engine(&self) -> (&str, &str) {
        ("strobealign", VERSION)
    }

    fn has_read_length(&self) -> bool {
        true
    }

    fn has_resident(&self) -> bool {
        true
    }

    fn canonical_read_length(&self, mean_bases: usize) -> usize {
        canonical_read_length(mean_bases)
    }

    fn chunk_bases(&self) -> u64 {
        CHUNK_BASES
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        Ok(Box::new(Source::find(wanted)?))
    }

    fn path(&self, reference: &Path, mean_read_length: usize) -> Option<PathBuf> {
        Some(index_path(reference, canonical_read_length(mean_read_length)))
    }

    fn save(&self, reference: &Path, mean_read_length: usize, threads: usize) -> Result<Bytes, IndexError> {
        let read_length = canonical_read_length(mean_read_length);
        let id = identify(reference, threads).map_err(failed)?;
        let engine = build(reference, read_length, threads, Box::new(|| ()))?;
        engine.save(&index_path(reference, read_length), &id, read_length).map(Bytes).map_err(failed)
    }
}

/// An index file, or the reference that the index is built from.
struct Source {
    reference: PathBuf,
    mean_read_length: usize,
    file: Option<PathBuf>,
    /// Whether the FASTA is there.
    has_fasta: bool,
    bytes: u64,
}

impl Source {
    fn find(wanted: &Wanted<'_>) -> Result<Self, IndexError> {
        let Wanted { reference, mean_read_length, anew, .. } = *wanted;
        let length = |path: &Path| std::fs::metadata(path).map(|m| m.len());
        let is_index = is_index(reference);
        if is_index {
            check_given(wanted)?;
        }
        let beside = index_path(reference, canonical_read_length(mean_read_length));
        let file = match is_index {
            true => Some(reference.to_owned()),
            false => Some(beside).filter(|path| !anew && path.exists()),
        };
        let has_fasta = !is_index && reference.exists();
        let bytes = match &file {
            Some(path) => length(path).unwrap_or(0),
            None => {
                let bases_per_byte = if is_gzip(reference) { BASES_PER_GZIP_BYTE } else { 1.0 };
                (length(reference).unwrap_or(0) as f64 * bases_per_byte * INDEX_BYTES_PER_BASE) as u64
            }
        };
        Ok(Source { reference: reference.to_owned(), mean_read_length, file, has_fasta, bytes })
    }

    /// The FASTA, if it is there.
    fn fasta(&self) -> Option<&Path> {
        Some(&*self.reference).filter(|_| self.has_fasta)
    }
}

impl IndexSource for Source {
    fn file(&self) -> &Path {
        self.file.as_deref().unwrap_or(&self.reference)
    }

    fn is_built(&self) -> bool {
        self.file.is_none()
    }

    fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }

    fn least_bytes(&self) -> Bytes {
        let least = if self.file.is_some() { 1.0 } else { SURE_OF_ESTIMATE };
        Bytes((self.bytes as f64 * least) as u64)
    }

    fn note(&self) -> Option<String> {
        let file = self.file.as_deref().filter(|file| !self.has_fasta && *file != self.reference)?;
        Some(format!(
            "{} is not there: {} holds the reference, too, and was used without it.",
            self.reference.display(),
            file.display()
        ))
    }

    fn resident(&self) -> Option<&dyn Resident> {
        self.file.as_ref().map(|_| self as &dyn Resident)
    }

    fn make(&self, threads: usize, on_start: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        let read_length = canonical_read_length(self.mean_read_length);
        if let Some(path) = &self.file {
            return Ok(Box::new(Strobealign::load(path, self.fasta(), read_length, threads).map_err(failed)?));
        }
        Ok(Box::new(build(&self.reference, read_length, threads, on_start)?))
    }
}

/// Only of a file: [`IndexSource::resident`].
impl Resident for Source {
    fn engine(&self) -> &str {
        "strobealign"
    }

    fn file(&self) -> &Path {
        IndexSource::file(self)
    }

    fn check(&self, threads: usize) -> Result<(), IndexError> {
        resident::check(IndexSource::file(self), self.fasta(), threads).map_err(failed)
    }

    fn fill(&self, copy: &File, threads: usize) -> Result<(), IndexError> {
        resident::fill(IndexSource::file(self), copy, threads).map_err(failed)
    }

    fn is_copy(&self, copy: &Path) -> bool {
        resident::same_description(IndexSource::file(self), copy)
    }

    fn attach(&self, copy: &Path, threads: usize) -> Result<Box<dyn Engine>, IndexError> {
        let read_length = canonical_read_length(self.mean_read_length);
        Ok(Box::new(Strobealign::attach(copy, self.fasta(), read_length, threads).map_err(failed)?))
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> IndexError {
    IndexError::Failed(Box::new(error))
}

/// Looks whether an index that was given in place of the reference is one for reads of this mean length.
fn check_given(wanted: &Wanted<'_>) -> Result<(), IndexError> {
    let (index, mean) = (wanted.reference.display(), wanted.mean_read_length);
    if wanted.anew {
        return Err(IndexError::Usage(format!("{index} is an index: --no-index needs the reference in FASTA")));
    }
    let made_for = read_length(wanted.reference).map_err(failed)?;
    if made_for == canonical_read_length(mean) {
        return Ok(());
    }
    Err(IndexError::failed(format!(
        "{index}: it is an index for reads of about {made_for} bases, and these have {mean}: give the reference in \
         FASTA, or use the index all the same with -r {made_for}"
    )))
}

/// Whether a file starts as gzip does. One that cannot be read is reported when it is read in full.
fn is_gzip(path: &Path) -> bool {
    let mut first = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == [0x1f, 0x8b]
}

fn read_reference(path: &Path) -> Result<Reference, IndexError> {
    let mut builder = ReferenceBuilder::default();
    let contigs = zerohop_input::reference::read(path, |piece| builder.take(piece)).map_err(failed)?;
    builder.build(contigs).map_err(|e| IndexError::failed(format!("{}: {e}", path.display())))
}

fn build(path: &Path, read_length: usize, threads: usize, on_start: OnStart) -> Result<Strobealign, IndexError> {
    Strobealign::build(read_reference(path)?, read_length, threads, move |_| on_start()).map_err(failed)
}
