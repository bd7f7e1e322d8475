//! What can go wrong, in words for the user.

use crate::machine::Bytes;
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// Characters of a name that a message shows.
const SHOWN: usize = 80;

/// A name, or other bytes of the input, as a message shows it: control characters are escaped as in `\x1b`, and what
/// follows the first 80 characters is cut off, with `…` in its place.
pub fn shown(bytes: &[u8]) -> String {
    // A character has at most 4 bytes: these hold more than is shown.
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * (SHOWN + 1))]);
    let end = start.char_indices().nth(SHOWN).map(|(end, _)| end);
    let mut text = printable(end.map_or(&*start, |end| &start[..end])).into_owned();
    text.extend(end.map(|_| '…'));
    text
}

/// A text as a terminal can show it without being controlled by it: control characters are escaped, but for tabs and
/// line ends.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match u8::try_from(c) {
            _ if !is_harmful(c) => out.push(c),
            Ok(byte) if byte.is_ascii() => out.extend(byte.escape_ascii().map(char::from)),
            _ => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// A file of reads as messages name it: `-` is standard input.
///
/// ```
/// use zerohop_model::error::shown_path;
/// assert_eq!(shown_path("-".as_ref()), "standard input");
/// assert_eq!(shown_path("a/b.fq".as_ref()), "a/b.fq");
/// ```
pub fn shown_path(path: &Path) -> Cow<'_, str> {
    match path.to_string_lossy() {
        name if name == "-" => Cow::Borrowed("standard input"),
        name => name,
    }
}

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
        self.read = (!name.is_empty()).then(|| shown(name));
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (self.record, self.byte) {
            (Some(record), Some(byte)) => Some(format!("record {record} (byte {byte})")),
            (None, Some(byte)) => Some(format!("byte {byte}")),
            (Some(record), None) => Some(format!("record {record}")),
            (None, None) => None,
        };
        let read = self.read.as_ref().map(|read| format!("read '{}'", printable(read)));
        let parts: Vec<String> = place.into_iter().chain(read).collect();
        write!(f, "{}: {}", printable(&shown_path(&self.file)), parts.join(", "))?;
        write!(f, "{}{}", if parts.is_empty() { "" } else { ": " }, printable(&self.what))
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
    /// Records that do not fit into memory cannot be written to temporary files, or read back.
    #[error(
        "{}: temporary files for sorting: {source} (--tmp-dir names another folder; with more --sort-memory less is \
         written there)",
        folder.display()
    )]
    Spill {
        /// The folder of the files, which have no names.
        folder: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Sorted records cannot be kept for the merge, or read again, in a job of several processes or on record.
    #[error("{}: sorted records are kept there until they are merged: {source}", folder.display())]
    Kept {
        /// The folder of the files.
        folder: PathBuf,
        /// What the system said, or what is wrong.
        source: std::io::Error,
    },
    /// The reader of our output went away: the end of the run, not a fault.
    #[error("the reader of the output has closed it")]
    BrokenPipe,
    /// A record cannot be written in the output's format.
    #[error("read '{}': {}", printable(read), printable(what))]
    Record {
        /// Name of the read, as [`shown`] gives it.
        read: String,
        /// Which mate it is: 0, or 1 for the second of a pair.
        mate: usize,
        /// What is wrong.
        what: String,
    },
    /// An external aligner wrote a line that is no valid record.
    #[error("a damaged record of read '{}': {}", printable(read), printable(what))]
    Damaged {
        /// Name of the read, as far as there is one.
        read: String,
        /// What is wrong.
        what: String,
    },
    /// The engine failed on a read.
    #[error("the engine failed on read '{}' (fragment {fragment}): {}", printable(read), printable(what))]
    Engine {
        /// Name of the read that it was given last.
        read: String,
        /// Number of the fragment in its lane, from 1.
        fragment: u64,
        /// Its own message.
        what: String,
    },
    /// An instance of an external aligner died, hangs, or writes what it should not.
    #[error("instance {instance} of {program} {}", printable(what))]
    Instance {
        /// Its number, from 0.
        instance: usize,
        /// The aligner.
        program: String,
        /// What is wrong, and the last lines of its own words.
        what: String,
    },
    /// The header of an external aligner cannot be used.
    #[error("{}", printable(.0))]
    Header(String),
    /// There is not enough memory for the index.
    #[error(
        "out of memory: cannot allocate {0} for the index: allow more (ulimit -v, the memory of the job), or use fewer \
         index copies (--replicas)"
    )]
    Memory(Bytes),
    /// The index was changed while it was read.
    #[error("{}: the index was changed while reads were aligned with it: run the command again", path.display())]
    IndexChanged {
        /// The file of the index.
        path: PathBuf,
    },
    /// A thread of the runtime cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A fault of zerohop itself.
    #[error("internal error, please report it: {0}")]
    Internal(String),
    /// The run was stopped when its time was up, or by another thread that failed and says why.
    #[error("stopped before its end")]
    Stopped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_control_characters_are_escaped() {
        assert_eq!(shown(b"read/1"), "read/1");
        assert_eq!(shown(b"a\x1b[31m\x07"), "a\\x1b[31m\\x07");
        assert_eq!(shown("\u{9b}é".as_bytes()), "\\u{9b}é");
        assert_eq!(shown("é".repeat(80).as_bytes()), "é".repeat(80));
        assert_eq!(shown("é".repeat(81).as_bytes()), "é".repeat(80) + "…");
        assert_eq!(shown(&[b'x'; 70_000]), "x".repeat(80) + "…");
    }

    #[test]
    fn no_message_holds_a_control_character() {
        let input = InputError::new(Path::new("a\x1b.fq"), "what\x1b").at(1, 0).read(b"r\x1b");
        assert_eq!(input.to_string(), "a\\x1b.fq: record 1 (byte 0), read 'r\\x1b': what\\x1b");
        let (read, what, program) = ("r\x1b".to_owned(), "what\x1b\nline".to_owned(), "p".to_owned());
        let errors = [
            Error::Record { read: read.clone(), mate: 0, what: what.clone() },
            Error::Damaged { read: read.clone(), what: what.clone() },
            Error::Engine { read, fragment: 1, what: what.clone() },
            Error::Instance { instance: 0, program, what: what.clone() },
            Error::Header(what),
        ];
        for error in errors {
            assert!(error.to_string().ends_with("what\\x1b\nline"), "{error}");
        }
    }

    #[test]
    fn a_fault_without_a_place_names_the_read() {
        let fault = InputError::new(Path::new("1.fq"), "what");
        assert_eq!(fault.to_string(), "1.fq: what");
        assert_eq!(fault.read(b"r").to_string(), "1.fq: read 'r': what");
    }
}
