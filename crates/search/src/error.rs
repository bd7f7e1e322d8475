//! What can go wrong.

use std::path::{Path, PathBuf};

/// Why a search, or the making of a database, came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A program is not on this machine.
    #[error("{program} is not on the PATH; install it ({package} on Debian and Ubuntu)")]
    NotFound {
        /// The program.
        program: &'static str,
        /// Where it is from.
        package: &'static str,
    },
    /// A FASTA file is wrong.
    #[error("{}, record {record}, byte {byte}: {what}", file.display())]
    Fasta {
        /// The file.
        file: PathBuf,
        /// Number of the record, from 1.
        record: u64,
        /// Where the record begins, from 0.
        byte: u64,
        /// What is wrong.
        what: String,
    },
    /// The database cannot be made.
    #[error("no database can be made of {}: {what}", file.display())]
    Build {
        /// The FASTA file.
        file: PathBuf,
        /// Why not.
        what: String,
    },
    /// The database cannot be used.
    #[error("the database {} cannot be used: {what}", folder.display())]
    Database {
        /// Its folder.
        folder: PathBuf,
        /// Why not.
        what: String,
    },
    /// Something that the user gave for the program cannot be passed on.
    #[error("{0}")]
    Arguments(String),
    /// A program ended badly.
    #[error("{program} {what}")]
    Failed {
        /// The program.
        program: String,
        /// How it ended, and its last words.
        what: String,
    },
    /// What a program wrote cannot be understood.
    #[error("{program} wrote what cannot be understood, in line {line} of its output: {what}")]
    Output {
        /// The program.
        program: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A program has done nothing for long, and was ended.
    #[error("{program} has done nothing for {} s: it hangs, and was ended", limit.as_secs())]
    Idle {
        /// Its name.
        program: String,
        /// How long.
        limit: std::time::Duration,
    },
    /// A program was ended because the search has failed elsewhere.
    #[error("{program} was ended: the search has failed elsewhere")]
    Unwanted {
        /// Its name.
        program: String,
    },
    /// A program has not come to its end, although it works, and was ended.
    #[error(
        "{program} has not ended after {} s, the limit of --hang-limit, and was ended: give a longer limit, \
         or smaller batches (--batch-letters)",
        limit.as_secs()
    )]
    TooLong {
        /// Its name.
        program: String,
        /// How long it may take for a batch in a part.
        limit: std::time::Duration,
    },
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl SearchError {
    /// A system call that failed while `what` was tried.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| SearchError::System { what, source }
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(verb: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        Self::system(format!("{} cannot be {verb}", path.display()))
    }
}
