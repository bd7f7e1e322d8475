//! Loading: the library is given names of its own for the files, so that it cannot take another index out of shared
//! memory, and nothing that it prints reaches the user.

use crate::files::{ALT, ENDINGS, IndexFileError, path};
use crate::library::{Index, LibraryError, be_quiet, c_path};
use std::fs::metadata;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Why an index cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Its files are wrong.
    #[error(transparent)]
    Files(#[from] IndexFileError),
    /// The library cannot.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// There is no place for names.
    #[error("the index cannot be loaded: {0}")]
    Names(std::io::Error),
}

/// The files of an index, which were looked at.
pub(crate) struct Files {
    reference: PathBuf,
    ignore_alt: bool,
}

impl Files {
    /// Looks at the files beside `reference`.
    ///
    /// # Errors
    /// Files that are missing or wrong.
    pub(crate) fn check(reference: &Path, ignore_alt: bool) -> Result<Self, IndexFileError> {
        crate::files::check(reference)?;
        Ok(Files { reference: std::path::absolute(reference).unwrap_or_else(|_| reference.to_owned()), ignore_alt })
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |ending| metadata(path(&self.reference, ending)).map_or(0, |file| file.len());
        bytes(ENDINGS[0]) + bytes(ENDINGS[1])
    }

    /// A copy in memory of this thread's policy, loaded with so many threads.
    ///
    /// # Errors
    /// No memory, no folder for temporary names.
    pub(crate) fn load(&self, threads: usize) -> Result<Index, LoadError> {
        let folder = tempfile::Builder::new().prefix("zerohop-").tempdir().map_err(LoadError::Names)?;
        let own = folder.path().join(folder.path().file_name().unwrap_or_default());
        let alt = (!self.ignore_alt && path(&self.reference, ALT).exists()).then_some(ALT);
        for ending in ENDINGS.into_iter().chain(alt) {
            symlink(path(&self.reference, ending), path(&own, ending)).map_err(LoadError::Names)?;
        }
        be_quiet();
        Ok(Index::load(&c_path(&own)?, threads)?)
    }
}
