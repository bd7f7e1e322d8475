//! What is wrong with an index, or with a file beside it.

use crate::parameters::IndexParameters;
use std::io;
use std::path::{Path, PathBuf};
use zerohop_model::error::{Error, InputError};
use zerohop_process::quoted;

/// Why an index cannot be used or written. Reads `FILE: what is wrong: what to do`.
#[derive(Debug, thiserror::Error)]
pub enum RammapIndexError {
    /// A file cannot be read or written.
    #[error("{}: {what}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// It is no index of ours, is damaged, or is of another reference.
    #[error("{}: {what}: make it anew: {}", path.display(), making(arguments, reference))]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// With which arguments, as far as they are known, a space before each.
        arguments: String,
        /// The reference, if it is known.
        reference: Option<PathBuf>,
    },
    /// An index of minimap2 cannot be used.
    #[error("{}: {what}: make it again with 'minimap2 -d', or give the reference in FASTA", path.display())]
    UnusableMmi {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A reference, or a list of junctions or contigs.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Too little memory, no thread.
    #[error(transparent)]
    Other(#[from] Error),
}

/// The command that makes an index.
fn making(arguments: &str, reference: &Option<PathBuf>) -> String {
    let reference = reference.as_ref().map_or("REF".to_owned(), |path| quoted(&path.to_string_lossy()));
    format!("zerohop index --engine rammap{arguments} {reference}")
}

impl RammapIndexError {
    /// With what an index of this reference, with these parameters, is made with; its own arguments count.
    pub(crate) fn of(mut self, parameters: IndexParameters, of: &Path) -> Self {
        if let RammapIndexError::Unusable { arguments, reference, .. } = &mut self {
            *reference = Some(of.to_owned());
            if arguments.is_empty() {
                *arguments = parameters.arguments();
            }
        }
        self
    }

    /// A file that cannot be read, for `map_err`.
    pub(crate) fn unread(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| RammapIndexError::Io { path: path.to_owned(), what: "cannot read", source }
    }

    /// A file that cannot be written, for `map_err`.
    pub(crate) fn unwritten(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| RammapIndexError::Io { path: path.to_owned(), what: "cannot write the index", source }
    }
}
