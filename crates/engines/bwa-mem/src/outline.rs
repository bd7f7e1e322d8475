//! The smallest index that the library loads, of one base: an object of the library that then reads an index elsewhere.

use crate::files::ENDINGS;
use crate::fm;
use crate::library::LibraryIndex;
use crate::load::{LoadError, load_named};
use crate::own_names::OwnNames;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// The files of the outline, in memory, in the order of their endings.
pub(crate) struct Outline([File; 4]);

impl Outline {
    /// New ones.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn new() -> Result<Self, LoadError> {
        let mut fm = vec![0; fm::index_bytes(1) as usize];
        // One base and its complement are three suffixes.
        fm[0] = 3;
        let files: [&[u8]; 4] = [&fm, &[0, 0], b"1 1 11\n0 x (null)\n0 1 0\n", b"1 1 0\n"];
        let file = |bytes| {
            let mut file = File::from(rustix::fs::memfd_create(c"bwa-mem", rustix::fs::MemfdFlags::CLOEXEC)?);
            file.write_all(bytes)?;
            Ok(file)
        };
        let [fm, pac, ann, amb] =
            files.map(|bytes| file(bytes).map_err(|source: io::Error| LoadError::Outline(source)));
        Ok(Outline([fm?, pac?, ann?, amb?]))
    }

    /// The file of the FM-index.
    pub(crate) fn fm(&self) -> PathBuf {
        by_number(&self.0[0])
    }

    /// Loads it.
    ///
    /// # Errors
    /// No folder for temporary files, no memory.
    pub(crate) fn load(&self) -> Result<LibraryIndex, LoadError> {
        let named = self.0.iter().zip(ENDINGS).map(|(file, ending)| (by_number(file), ending.to_owned()));
        load_named(&OwnNames::link(&named.collect::<Vec<_>>())?, None, 1)
    }
}

/// A path to an open file.
fn by_number(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
