//! macOS: it has no files in memory, so they are files without a name.

use std::fs::File;
use std::io;

/// The folder in which a process finds its open files.
pub(crate) const OPEN_FILES: &str = "/dev/fd";

/// An empty file without a name, in the folder for temporary files.
pub(crate) fn in_memory() -> io::Result<File> {
    tempfile::tempfile()
}
