//! Where the index comes from: a file beside the reference, one of minimap2, or the reference itself.

use crate::build::IndexParts;
use crate::error::RammapIndexError;
use crate::file::{self, IndexFile};
use crate::mmi::{self, Mmi};
use crate::options::RammapOptions;
use crate::parameters::IndexParameters;
use crate::{CHUNK_BASES, NAME, Rammap, VERSION};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_input::identity::FileId;
use zerohop_input::reference::{check_file, estimated_bases};
use zerohop_model::engine::Engine;
use zerohop_model::index::{
    IndexError, IndexProvider, IndexSource, MakingCost, MakingNews, OnStart, Product, SavedIndex, Told, Wanted,
};
use zerohop_model::machine::Bytes;

/// Bytes of an index per base of the reference, with k-mers in windows of ten (measured: 4.5); the bases alone take
/// half a byte, and minimizers are the rarer the larger the window.
const BYTES_PER_BASE: f64 = 4.6;
const OF_BASES: f64 = 0.5;
/// What making an index takes beside it: hashes and positions of all minimizers, 16 bytes each.
const MAKING_PER_INDEX: f64 = 1.8;
/// What an index takes in memory of what minimap2's file has (measured: 1.55).
const MEMORY_PER_MMI: f64 = 1.6;
/// The part of an estimate that an index has at least.
const SURE_OF_ESTIMATE: f64 = 0.5;

/// Finds, makes and loads the index of rammap.
#[derive(Debug, Clone, Copy)]
pub struct Provider;

impl IndexProvider for Provider {
    fn engine(&self) -> (&str, &str) {
        (NAME, VERSION)
    }

    fn aligns_pairs(&self) -> bool {
        false
    }

    fn takes_arguments(&self) -> bool {
        true
    }

    fn product(&self, arguments: &str) -> Result<Product, IndexError> {
        Ok(RammapOptions::parse(arguments).map_err(IndexError::usage)?.product)
    }

    fn chunk_bases(&self) -> u64 {
        CHUNK_BASES
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        Ok(Box::new(RammapIndexSource::find(wanted)?))
    }

    fn path(&self, wanted: &Wanted<'_>) -> Result<Option<PathBuf>, IndexError> {
        let options = RammapOptions::parse(wanted.arguments).map_err(IndexError::usage)?;
        Ok(Some(options.index.path(wanted.reference)))
    }

    fn save(&self, wanted: &Wanted<'_>, threads: usize, told: Told<'_>) -> Result<SavedIndex, IndexError> {
        let options = RammapOptions::parse(wanted.arguments).map_err(IndexError::usage)?;
        let reference = wanted.reference;
        check_file(reference).map_err(IndexError::failed)?;
        let unread = RammapIndexError::unread(reference);
        let id = FileId::read(reference, threads).map_err(|error| IndexError::failed(unread(error)))?;
        let parts = IndexParts::build(reference, options.index, threads, &|| (), told).map_err(IndexError::failed)?;
        told(MakingNews::Step("writing it"));
        let saved = file::save(parts, &options.index.path(reference), id);
        saved.map(SavedIndex::built).map_err(IndexError::failed)
    }
}

/// Where the index is.
enum From {
    /// It is built from the reference.
    Reference,
    /// It is in a file of ours; and whether the reference is there.
    File { file: Box<IndexFile>, has_fasta: bool },
    /// It is in a file of minimap2.
    Mmi(Box<Mmi>),
}

/// An index that was found, or will be built.
struct RammapIndexSource {
    /// What the user named.
    reference: PathBuf,
    file: PathBuf,
    options: Arc<RammapOptions>,
    from: From,
    bytes: u64,
}

impl RammapIndexSource {
    fn find(wanted: &Wanted<'_>) -> Result<Self, IndexError> {
        let options = RammapOptions::parse(wanted.arguments).map_err(IndexError::usage)?;
        let reference = wanted.reference;
        check_file(reference).map_err(IndexError::failed)?;
        let beside = options.index.path(reference);
        let (file, from, bytes) = if mmi::is_mmi(reference) {
            let mmi = Mmi::open(reference).map_err(IndexError::failed)?;
            let bytes = mmi.length() as f64 * MEMORY_PER_MMI;
            (reference.to_owned(), From::Mmi(Box::new(mmi)), bytes as u64)
        } else if is_index(reference) {
            let file = IndexFile::open(reference).map_err(IndexError::failed)?;
            let bytes = file.memory();
            (reference.to_owned(), From::File { file: Box::new(file), has_fasta: false }, bytes)
        } else if beside.exists() && !wanted.anew {
            let file =
                IndexFile::open(&beside).map_err(|error| IndexError::failed(error.of(options.index, reference)))?;
            let (bytes, has_fasta) = (file.memory(), reference.exists());
            (beside, From::File { file: Box::new(file), has_fasta }, bytes)
        } else {
            let bytes = estimated_bases(reference) as f64 * bytes_per_base(options.index);
            (reference.to_owned(), From::Reference, bytes as u64)
        };
        Ok(RammapIndexSource { reference: reference.to_owned(), file, options: Arc::new(options), from, bytes })
    }

    /// What it was made with, if it is made.
    fn made_with(&self) -> Option<IndexParameters> {
        match &self.from {
            From::Reference => None,
            From::File { file, .. } => Some(file.parameters()),
            From::Mmi(mmi) => Some(mmi.parameters()),
        }
    }
}

/// About how many bytes an index takes for each base.
fn bytes_per_base(IndexParameters { w, .. }: IndexParameters) -> f64 {
    // Of w k-mers in a row 2 / (w + 1) are minimizers (Roberts et al. 2004); 10 is the window of the measurement.
    OF_BASES + (BYTES_PER_BASE - OF_BASES) * 11.0 / (w as f64 + 1.0)
}

/// Whether the file at `path` begins as an index of ours does.
fn is_index(path: &Path) -> bool {
    let mut first = file::MAGIC.map(|_| 0);
    // Not of a pipe, which could be read only once.
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(path).is_ok_and(|file| file.read_exact_at(&mut first, 0).is_ok()) && first == file::MAGIC
}

impl IndexSource for RammapIndexSource {
    fn file(&self) -> &Path {
        &self.file
    }

    fn files(&self) -> Vec<PathBuf> {
        std::iter::once(&self.file).chain(self.options.files.all()).cloned().collect()
    }

    fn beside_reference(&self) -> Vec<PathBuf> {
        self.options.files.all().cloned().collect()
    }

    fn is_built(&self) -> bool {
        matches!(self.from, From::Reference)
    }

    fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }

    fn least_bytes(&self) -> Bytes {
        let part = if matches!(self.from, From::File { .. }) { 1.0 } else { SURE_OF_ESTIMATE };
        Bytes((self.bytes as f64 * part) as u64)
    }

    fn making(&self) -> MakingCost {
        let memory = Bytes((self.bytes as f64 * MAKING_PER_INDEX) as u64);
        MakingCost { memory, least_memory: self.least_bytes(), disk: self.bytes() }
    }

    fn note(&self) -> Option<String> {
        let file = self.file.display();
        let other = self.made_with().filter(|made| *made != self.options.index).map(|made| {
            format!(
                "{file}: this index was made with {}, not with {}; its own were used, as minimap2 does.",
                made.words(),
                self.options.index.words()
            )
        });
        let without = match &self.from {
            From::File { has_fasta: false, .. } if self.file != self.reference => Some(format!(
                "{} is not there: {file} holds the reference, too, and was used without it.",
                self.reference.display()
            )),
            From::Mmi(_) => Some(format!(
                "{file}: this index is minimap2's: some damage to it would go unseen. 'zerohop index --engine {NAME}' \
                 makes one with digests from the FASTA."
            )),
            _ => None,
        };
        match [other, without].into_iter().flatten().collect::<Vec<_>>().join(" ") {
            none if none.is_empty() => None,
            notes => Some(notes),
        }
    }

    fn make(&self, threads: usize, on_start: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        let failed = |error: RammapIndexError| IndexError::failed(error);
        let (index, bytes, contigs) = match &self.from {
            From::Reference => {
                let parts = IndexParts::build(&self.reference, self.options.index, threads, &*on_start, &|_| ());
                let parts = parts.map_err(IndexError::failed)?;
                let contigs = parts.contigs.clone();
                let (index, bytes) = parts.index().map_err(IndexError::failed)?;
                (index, bytes, contigs)
            }
            From::File { file, has_fasta } => {
                let unusable = |error: RammapIndexError| match *has_fasta {
                    true => failed(error.of(file.parameters(), &self.reference)),
                    false => failed(error),
                };
                if *has_fasta {
                    file.check_reference(&self.reference, threads).map_err(unusable)?;
                }
                (file.load().map_err(unusable)?, file.memory(), file.contigs())
            }
            From::Mmi(mmi) => {
                let (index, bytes) = mmi.load().map_err(failed)?;
                (index, bytes, mmi.contigs().to_vec())
            }
        };
        let engine = Rammap::new(index, bytes, contigs, Arc::clone(&self.options));
        Ok(Box::new(engine.map_err(IndexError::failed)?))
    }
}
