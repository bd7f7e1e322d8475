//! The files of an index: their names, and what can be wrong with them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The endings of the files of an index: FM-index, bases, contigs, replaced bases.
pub const ENDINGS: [&str; 4] = ["bwt.2bit.64", "pac", "ann", "amb"];
/// The ending of the names of ALT contigs, if there is such a file.
pub const ALT: &str = "alt";

/// What is wrong with an index.
#[derive(Debug, thiserror::Error)]
pub enum IndexFileError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: it is damaged, or no index of bwa-mem2 ({what}): make it again with 'zerohop index --engine bwa-mem'",
        path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// It is of another reference.
    #[error("{}: it was made from another reference, or the reference has changed since: make it anew with 'zerohop \
        index --engine bwa-mem'", path.display())]
    Stale {
        /// The FM-index.
        path: PathBuf,
    },
}

/// A file of the index of `reference`.
pub fn path(reference: &Path, ending: &str) -> PathBuf {
    let mut name = reference.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// A file that is not what it should be.
pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> IndexFileError {
    IndexFileError::Damaged { path: path.to_owned(), what: what.into() }
}

/// A file that cannot be read, for `map_err`.
pub(crate) fn unreadable(path: &Path) -> impl Fn(io::Error) -> IndexFileError + use<> {
    let path = path.to_owned();
    move |source| IndexFileError::Unreadable { path: path.clone(), source }
}

/// All of a file.
///
/// # Errors
/// What the system says.
pub(crate) fn text(path: &Path) -> Result<Vec<u8>, IndexFileError> {
    let mut text = Vec::new();
    File::open(path).and_then(|mut file| file.read_to_end(&mut text)).map_err(unreadable(path))?;
    Ok(text)
}
