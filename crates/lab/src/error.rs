//! What can go wrong in an experiment.

use std::path::PathBuf;
use zerohop_align::AlignError;
use zerohop_model::error::{Error, InputError};

/// Why an experiment ended.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// In our own process.
    #[error(transparent)]
    Run(#[from] Error),
    /// An alignment.
    #[error(transparent)]
    Align(#[from] AlignError),
    /// A file of the experiment.
    #[error("{}: {what}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A process that was started.
    #[error("{command}: {what}")]
    Process {
        /// Its command.
        command: String,
        /// What it did, with its last words.
        what: String,
    },
    /// What was asked for cannot be.
    #[error("{0}")]
    Asked(String),
}

impl From<InputError> for LabError {
    fn from(error: InputError) -> Self {
        LabError::Run(error.into())
    }
}

impl LabError {
    /// A file that cannot be read or written.
    pub(crate) fn file(path: &std::path::Path, what: impl ToString) -> Self {
        LabError::File { path: path.to_owned(), what: what.to_string() }
    }
}
