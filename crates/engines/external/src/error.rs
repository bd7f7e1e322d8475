//! What can go wrong before an aligner runs.

use std::path::PathBuf;
use zerohop_process::lock::LockError;

/// Why an aligner cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExternalError {
    /// A descriptor is wrong.
    #[error("the descriptor of an engine ({origin}) is wrong: {what}")]
    Descriptor {
        /// The file, or where else it is from.
        origin: String,
        /// What is wrong.
        what: String,
    },
    /// The program is not on this machine.
    #[error(
        "{title} is not installed (no program {} is on the PATH): 'zerohop engines' lists those that are here",
        names.join(", or ")
    )]
    NotFound {
        /// The aligner.
        title: String,
        /// The names looked for.
        names: Vec<String>,
    },
    /// The index is not there.
    #[error(
        "{title} has no index of {}: {} is missing; 'zerohop align --build-index' makes it, or this command:\n  \
         {command}",
        reference.display(),
        missing.display()
    )]
    NoIndex {
        /// The aligner.
        title: String,
        /// The reference.
        reference: PathBuf,
        /// A file that is missing.
        missing: PathBuf,
        /// The command that makes it.
        command: String,
    },
    /// The index is of another reference.
    #[error(
        "{}: it was made from another reference, or the reference has changed since ({what}): make it anew with this \
         command:\n  {command}",
        index.display()
    )]
    Stale {
        /// Its first file.
        index: PathBuf,
        /// What differs.
        what: String,
        /// The command that makes it.
        command: String,
    },
    /// The index is older than its reference, and the aligner does not say of which contigs it is.
    #[error(
        "{}: it is older than the reference {}, which may have changed since: make it anew with this command:\n  \
         {command}\nIf it is of this very reference, touch(1) its files.",
        index.display(),
        reference.display()
    )]
    Older {
        /// Its first file.
        index: PathBuf,
        /// The reference.
        reference: PathBuf,
        /// The command that makes it.
        command: String,
    },
    /// The index was made with other options than those that were given.
    #[error(
        "{}: it was made with {made_with}, and --engine-args has {given}: leave that out; or remove the file if it is \
         in the way, and let --build-index make an index of the FASTA with these options",
        index.display()
    )]
    OtherOptions {
        /// The file.
        index: PathBuf,
        /// The options that differ, as it was made.
        made_with: String,
        /// The same, as they were given.
        given: String,
    },
    /// The index could not be made.
    #[error("the index of {} could not be made: {what}", reference.display())]
    Build {
        /// The reference.
        reference: PathBuf,
        /// What the indexer said.
        what: String,
    },
    /// The user's arguments for the engine cannot be used.
    #[error("--engine-args: {0}")]
    Arguments(String),
    /// The plan and the aligner do not go together.
    #[error("{0}")]
    Unsuited(String),
    /// A program under supervision ended badly.
    #[error("{what}")]
    Ended {
        /// Which one, how, and its last words.
        what: String,
        /// Its exit status; 128 + N if signal N ended it.
        status: u8,
    },
    /// A command ended badly, or something else went wrong.
    #[error("{0}")]
    Failed(String),
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl From<LockError> for ExternalError {
    fn from(LockError { path, source }: LockError) -> Self {
        ExternalError::System { what: path.display().to_string(), source }
    }
}

impl ExternalError {
    /// The process that clears away after us cannot be charged.
    pub(crate) fn uncharged(error: std::io::Error) -> Self {
        ExternalError::Failed(error.to_string())
    }

    /// A system call that failed while `what` was tried.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| ExternalError::System { what, source }
    }
}
