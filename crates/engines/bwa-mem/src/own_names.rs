//! Other names of the files of an index, for as long as the library reads them.

use crate::files::path;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_process::TemporaryLink;

/// There is no place for names.
#[derive(Debug, thiserror::Error)]
#[error("{}: other names of the index cannot be made there, under which it is loaded: {source}; TMPDIR names another \
         folder", folder.display())]
pub struct NamesError {
    folder: PathBuf,
    source: io::Error,
}

/// Names that nobody else has, in the folder for temporary files.
pub(crate) struct OwnNames {
    prefix: PathBuf,
    _links: Vec<TemporaryLink>,
}

impl OwnNames {
    /// A name for each of these files, which ends as is said.
    ///
    /// # Errors
    /// No folder for temporary files.
    pub(crate) fn link(files: &[(PathBuf, String)]) -> Result<Self, NamesError> {
        OwnNames::try_link(files).map_err(|source| NamesError { folder: std::env::temp_dir(), source })
    }

    fn try_link(files: &[(PathBuf, String)]) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let folder = std::path::absolute(std::env::temp_dir())?;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let prefix = folder.join(format!("zerohop-{}-{number}", std::process::id()));
            let link = |(file, ending): &(PathBuf, String)| TemporaryLink::create(file, &path(&prefix, ending));
            match files.iter().map(link).collect() {
                Ok(links) => return Ok(OwnNames { prefix, _links: links }),
                // A process of this number was killed while it loaded.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// What they begin with.
    pub(crate) fn prefix(&self) -> &Path {
        &self.prefix
    }
}
