//! Loading: the library is given names of its own for the files, so that it cannot take another index out of shared
//! memory, and nothing that it prints reaches the user.

use crate::digests::Digests;
use crate::files::{ALT, BwaIndexError, ENDINGS, path, text};
use crate::index_check;
use crate::library::{LibraryError, LibraryIndex, be_quiet, c_path};
use crate::silence;
use std::fs::metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use zerohop_process::TemporaryLink;

/// Why an index cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its files are wrong.
    #[error(transparent)]
    Files(#[from] BwaIndexError),
    /// The library cannot.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// There is no place for names.
    #[error("{}: other names of the index cannot be made there, under which it is loaded: {source}; TMPDIR names \
             another folder", folder.display())]
    Names {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The files of an index, which were looked at.
pub(crate) struct Files {
    reference: PathBuf,
    ignore_alt: bool,
}

impl Files {
    /// Looks at the files beside `reference`, with so many threads: at digests, if `zerohop index` made them.
    ///
    /// # Errors
    /// Files that are missing or wrong; a reference that has changed.
    pub(crate) fn check(reference: &Path, ignore_alt: bool, threads: usize) -> Result<Self, BwaIndexError> {
        index_check::check_alt(reference)?;
        match Digests::read(reference)? {
            Some(digests) => digests.check(reference, threads)?,
            None => index_check::check(reference, threads)?,
        }
        index_check::check_lines(reference)?;
        Ok(Files { reference: std::path::absolute(reference).unwrap_or_else(|_| reference.to_owned()), ignore_alt })
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |ending| metadata(path(&self.reference, ending)).map_or(0, |file| file.len());
        bytes(ENDINGS[0]) + bytes(ENDINGS[1])
    }

    /// The text of the file of contigs.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn contigs(&self) -> Result<Vec<u8>, BwaIndexError> {
        text(&path(&self.reference, ENDINGS[2]))
    }

    /// The text of the file of ALT contigs, if there is one and it counts.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn alternates(&self) -> Result<Vec<u8>, BwaIndexError> {
        let path = path(&self.reference, ALT);
        if self.ignore_alt || !path.exists() { Ok(Vec::new()) } else { text(&path) }
    }

    /// A copy in memory of this thread's policy, loaded with so many threads.
    ///
    /// # Errors
    /// No memory, no folder for temporary names.
    pub(crate) fn load(&self, threads: usize) -> Result<LibraryIndex, LoadError> {
        let (own, _links) =
            self.own_names().map_err(|source| LoadError::Names { folder: std::env::temp_dir(), source })?;
        silence::begin();
        be_quiet();
        // One at a time: each with all threads.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(LibraryIndex::load(&c_path(&own)?, threads)?)
    }

    /// Other names of the files, for a while.
    fn own_names(&self) -> io::Result<(PathBuf, Vec<TemporaryLink>)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let alt = (!self.ignore_alt && path(&self.reference, ALT).exists()).then_some(ALT);
        let endings: Vec<&str> = ENDINGS.into_iter().chain(alt).collect();
        let folder = std::path::absolute(std::env::temp_dir())?;
        loop {
            let own = folder.join(format!("zerohop-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
            let link = |ending: &&str| TemporaryLink::create(&path(&self.reference, ending), &path(&own, ending));
            match endings.iter().map(link).collect() {
                Ok(links) => return Ok((own, links)),
                // A process of this number was killed while it loaded.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}
