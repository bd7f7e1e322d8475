//! What can go wrong, in words for the user.

use std::fmt;
use std::path::{Path, PathBuf};

/// A fault in an input file. Reads `FILE: record N (byte B), read 'NAME': what is wrong`, without the parts not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// Number of the record in the file, from 1.
    pub record: Option<u64>,
    /// Offset in the (inflated) file, from 0.
    pub byte: Option<u64>,
    /// Name of the read.
    pub read: Option<String>,
    /// What is wrong, and what to do where that is known.
    pub what: String,
}

impl InputError {
    /// A fault of the file as a whole.
    pub fn new(file: &Path, what: impl Into<String>) -> Self {
        InputError { file: file.to_owned(), record: None, byte: None, read: None, what: what.into() }
    }

    /// The same fault, with its place: record from 1, byte from 0.
    pub fn at(mut self, record: u64, byte: u64) -> Self {
        (self.record, self.byte) = (Some(record), Some(byte));
        self
    }

    /// The same fault, with the name of the read.
    pub fn read(mut self, name: &[u8]) -> Self {
        self.read = (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned());
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        match (self.record, self.byte) {
            (Some(record), Some(byte)) => write!(f, "record {record} (byte {byte})")?,
            (None, Some(byte)) => write!(f, "byte {byte}")?,
            (Some(record), None) => write!(f, "record {record}")?,
            (None, None) => return write!(f, "{}", self.what),
        }
        if let Some(read) = &self.read {
            write!(f, ", read '{read}'")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for InputError {}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is at fault.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The output cannot be written.
    #[error("{}: cannot write: {source}", path.display())]
    Output {
        /// The output, as the user named it.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The reader of our output went away: the end of the run, not a fault.
    #[error("the reader of the output has closed it")]
    BrokenPipe,
    /// A record cannot be written in the output's format.
    #[error("read '{read}': {what}")]
    Record {
        /// Name of the read.
        read: String,
        /// What is wrong.
        what: String,
    },
    /// The engine failed on a read.
    #[error("the engine failed on read '{read}' (fragment {fragment}): {what}")]
    Engine {
        /// Name of the read that it was given last.
        read: String,
        /// Number of the fragment in its lane, from 1.
        fragment: u64,
        /// Its own message.
        what: String,
    },
    /// An instance of an external aligner died, hangs, or writes what it should not.
    #[error("instance {instance} of {program} {what}")]
    Instance {
        /// Its number, from 0.
        instance: usize,
        /// The aligner.
        program: String,
        /// What is wrong, and the last lines of its own words.
        what: String,
    },
    /// The header of an external aligner cannot be used.
    #[error("{0}")]
    Header(String),
    /// A thread of the runtime cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A fault of zerohop itself.
    #[error("internal error, please report it: {0}")]
    Internal(String),
    /// Another thread failed; this one only stopped. Never shown to the user.
    #[error("stopped because another thread failed")]
    Stopped,
}
