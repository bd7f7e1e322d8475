//! The index that there is: files beside the reference, as `zerohop index --engine bwa-mem`, bwa-mem2 and bwa write
//! them.

use crate::cohorts::LibraryCohorts;
use crate::digests::Digests;
use crate::files::{ALT, ENDINGS, IndexKind, option, path};
use crate::from_bwa::{self, BwaIndex};
use crate::kept::{self, NewCopy};
use crate::library::{LibraryIndex, LibraryOptions};
use crate::load::{Files, LoadError};
use crate::options::BwaMemOptions;
use crate::{BwaMem, NAME, contigs};
use std::fs::{File, metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_input::reference::estimated_bases;
use zerohop_model::engine::Engine;
use zerohop_model::index::{IndexError, IndexSource, MakingCost, OnStart, Resident};
use zerohop_model::machine::Bytes;
use zerohop_model::record::Contig;
use zerohop_process::quoted;

/// The part of the memory for making an index that is surely wanted anew: some has the allocator set aside, and that
/// counts against `ulimit -v` already.
const SURE_OF_MEMORY: f64 = 0.8;

/// What an index is made of.
pub(crate) enum IndexFrom {
    /// It is to be made of the reference.
    Reference,
    /// Files of the form that the library reads.
    Files,
    /// Those of bwa; files of the other form are there, too, but older.
    Bwa { index: Arc<BwaIndex>, are_others_older: bool },
}

impl IndexFrom {
    /// What is beside the reference: files of the library's form, unless those of bwa are newer.
    ///
    /// # Errors
    /// None that is complete.
    pub(crate) fn find(reference: &Path, kind: IndexKind) -> Result<Self, IndexError> {
        if kind == IndexKind::Bisulfite {
            return IndexFrom::files(reference, kind);
        }
        let modified = |path: &Path| metadata(path).and_then(|file| file.modified()).ok();
        let fm = path(reference, ENDINGS[0]);
        let Some(prefix) = from_bwa::prefix(reference) else { return IndexFrom::files(reference, kind) };
        if fm.exists() && modified(&fm) >= modified(&path(&prefix, from_bwa::ENDINGS[0])) {
            return IndexFrom::files(reference, kind);
        }
        match BwaIndex::open(&prefix) {
            Ok(index) => Ok(IndexFrom::Bwa { index: Arc::new(index), are_others_older: fm.exists() }),
            // bwa may be writing it now.
            Err(_) if fm.exists() => IndexFrom::files(reference, kind),
            Err(error) => Err(IndexError::Missing(error.to_string())),
        }
    }

    fn files(reference: &Path, kind: IndexKind) -> Result<Self, IndexError> {
        match kind.files(reference).iter().find(|path| !path.exists()) {
            None => Ok(IndexFrom::Files),
            Some(missing) => Err(IndexError::Missing(format!(
                "{}: it does not exist: make the index with 'zerohop index --engine {NAME}{} {}'",
                missing.display(),
                option(missing),
                quoted(&reference.to_string_lossy())
            ))),
        }
    }
}

/// An index that was found, or is to be made.
pub(crate) struct BwaMemIndexSource {
    pub(crate) reference: PathBuf,
    pub(crate) file: PathBuf,
    pub(crate) options: BwaMemOptions,
    pub(crate) bytes: u64,
    pub(crate) from: IndexFrom,
}

impl IndexSource for BwaMemIndexSource {
    fn file(&self) -> &Path {
        &self.file
    }

    fn files(&self) -> Vec<PathBuf> {
        if let IndexFrom::Bwa { index, .. } = &self.from {
            return index.files();
        }
        let kind = self.options.index();
        let others = [path(&self.reference, ALT), Digests::path(&self.reference, kind)];
        kind.files(&self.reference).into_iter().chain(others).filter(|file| file.exists()).collect()
    }

    fn beside_reference(&self) -> Vec<PathBuf> {
        let prefix = match &self.from {
            IndexFrom::Bwa { index, .. } => index.prefix(),
            _ => &self.reference,
        };
        Some(path(prefix, ALT)).into_iter().filter(|file| file.exists()).collect()
    }

    fn is_built(&self) -> bool {
        matches!(self.from, IndexFrom::Reference)
    }

    fn is_to_be_saved(&self) -> bool {
        !matches!(self.from, IndexFrom::Files)
    }

    fn bytes(&self) -> Bytes {
        Bytes(self.bytes)
    }

    fn making(&self) -> MakingCost {
        let disk = Bytes(self.bytes);
        // From bwa's index, if there is one, it is made within the memory that it takes itself.
        let kind = self.options.index();
        let of_bwa = kind == IndexKind::Plain
            && from_bwa::prefix(&self.reference).is_some_and(|prefix| BwaIndex::open(&prefix).is_ok());
        let memory = if of_bwa { disk } else { Bytes(kind.building_bytes(estimated_bases(&self.reference))) };
        let least_memory = Bytes((memory.0 as f64 * SURE_OF_MEMORY) as u64);
        MakingCost { memory, least_memory, disk }
    }

    fn note(&self) -> Option<String> {
        let (file, reference) = (self.file.display(), quoted(&self.reference.to_string_lossy()));
        match &self.from {
            IndexFrom::Files if !Digests::path(&self.reference, self.options.index()).exists() => Some(format!(
                "{file}: another program made this index: there are no digests beside it, so some damage to it would \
                 go unseen. 'zerohop index --engine {NAME}' makes one with digests."
            )),
            IndexFrom::Bwa { are_others_older, .. } => {
                let other = path(&self.reference, ENDINGS[0]);
                let older = match are_others_older {
                    true => format!("{} is older than it, and was not used. ", other.display()),
                    false => String::new(),
                };
                Some(format!(
                    "{file}: this index is bwa's, and every run converts it. {older}'zerohop index --engine {NAME} \
                     {reference}' writes one that is only read."
                ))
            }
            IndexFrom::Files | IndexFrom::Reference => None,
        }
    }

    fn make(&self, threads: usize, _on_start: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        let ignore_alt = self.options.ignore_alt;
        let files = match &self.from {
            IndexFrom::Reference => {
                let words = format!("--no-index: {NAME} always reads its index from files");
                return Err(IndexError::Usage(words));
            }
            IndexFrom::Files => Files::check(&self.reference, self.options.index(), ignore_alt, threads),
            IndexFrom::Bwa { index, .. } => Files::check_bwa(index, &self.reference, ignore_alt),
        };
        let files = files.map_err(IndexError::failed)?;
        let index = files.load(threads).map_err(IndexError::failed)?;
        self.engine(files, index, threads)
    }

    fn resident(&self) -> Option<&dyn Resident> {
        matches!(self.from, IndexFrom::Files).then_some(self)
    }
}

impl BwaMemIndexSource {
    fn new_copy(&self, threads: usize) -> Result<NewCopy, IndexError> {
        NewCopy::of(&self.reference, self.options.index(), threads).map_err(|error| self.not_copied(error))
    }

    /// With the name of the index, which the library does not tell.
    fn not_copied(&self, error: LoadError) -> IndexError {
        match error {
            LoadError::Library(error) => IndexError::failed(format!("{}: {error}", self.file.display())),
            other => IndexError::failed(other),
        }
    }

    /// The engine with an index that was loaded.
    fn engine(&self, files: Files, index: LibraryIndex, threads: usize) -> Result<Box<dyn Engine>, IndexError> {
        let alternates = files.alternates().map_err(IndexError::failed)?;
        let alternates = contigs::alternates(&alternates);
        let contig = |(name, length): (String, u64)| {
            let is_alternate = alternates.contains(name.as_bytes());
            Contig { name, length, is_alternate }
        };
        let contigs = index.contigs().into_iter().map(contig).collect();
        let comments = match self.options.contig_comments {
            true => contigs::comments(&files.contigs().map_err(IndexError::failed)?),
            false => Vec::new(),
        };
        let settings = LibraryOptions::new(&self.options).map_err(IndexError::failed)?;
        let (options, cohorts) = (self.options.clone(), Arc::new(LibraryCohorts::default()));
        let (files, comments) = (Arc::new(files), Arc::new(comments));
        Ok(Box::new(BwaMem { files, index, contigs, comments, options, settings, threads, cohorts }))
    }
}

/// Only of files of the library's form: [`IndexSource::resident`].
impl Resident for BwaMemIndexSource {
    fn engine(&self) -> &str {
        NAME
    }

    fn file(&self) -> &Path {
        &self.file
    }

    fn files(&self) -> Vec<PathBuf> {
        IndexSource::files(self)
    }

    fn bytes(&self, threads: usize) -> Result<u64, IndexError> {
        Ok(self.new_copy(threads)?.bytes())
    }

    fn check(&self, threads: usize) -> Result<(), IndexError> {
        // Here and not when it is filled: an index that is damaged has no length.
        let kind = self.options.index();
        Files::check(&self.reference, kind, false, threads).map(drop).map_err(IndexError::failed)
    }

    fn cost_of_small_pages(&self) -> &'static str {
        // bench/runs/2026-11-29-xeon-kept
        "a tenth (100 Mb) to over a third (1 Gb) more time"
    }

    fn fill(&self, copy: &File, threads: usize) -> Result<(), IndexError> {
        self.new_copy(threads)?.fill(copy).map_err(|error| self.not_copied(error))
    }

    fn is_copy(&self, copy: &Path) -> bool {
        kept::is_copy(copy, &self.reference, self.options.index())
    }

    fn attach(&self, copy: &Path, threads: usize) -> Result<Box<dyn Engine>, IndexError> {
        let (kind, ignore_alt) = (self.options.index(), self.options.ignore_alt);
        if let Some(digests) = Digests::read(&self.reference, kind).map_err(IndexError::failed)? {
            digests.check_reference(&self.reference, kind, threads).map_err(IndexError::failed)?;
        }
        let index = kept::attach(copy, kind, (ignore_alt, threads)).map_err(IndexError::failed)?;
        self.engine(Files::unchecked(&self.reference, kind, ignore_alt), index, threads)
    }
}
