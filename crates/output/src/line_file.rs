//! A file of lines that come in their order.

use std::io::Write;
use std::path::Path;
use zerohop_model::error::Error;
use zerohop_process::{NewFile, WriteError};

/// What is written at once, in bytes.
const WRITE: usize = 1 << 20;

/// A file of lines, as it grows.
pub struct LineFile {
    file: NewFile,
    unwritten: Vec<u8>,
}

impl LineFile {
    /// A new file.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn create(path: &Path) -> Result<Self, Error> {
        let file = NewFile::create(path).map_err(|WriteError { path, source }| Error::Output { path, source })?;
        Ok(LineFile { file, unwritten: Vec::new() })
    }

    /// Adds lines, with their newlines.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn put(&mut self, lines: &[u8]) -> Result<(), Error> {
        self.unwritten.extend_from_slice(lines);
        if self.unwritten.len() >= WRITE { self.write() } else { Ok(()) }
    }

    /// Ends it. It gets its name when all files of a run get theirs.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn finish(mut self) -> Result<NewFile, Error> {
        self.write()?;
        Ok(self.file)
    }

    fn write(&mut self) -> Result<(), Error> {
        let written = self.file.file().write_all(&self.unwritten);
        written.map_err(|source| Error::Output { path: self.file.path().to_owned(), source })?;
        self.unwritten.clear();
        Ok(())
    }
}
