//! Standard output: what a command is for.

pub use crate::closed::{ClosedError, check_open};

use crate::file::WriteError;
use std::io::Write;
use std::path::Path;

/// Writes to standard output.
///
/// # Errors
/// What the system says; a broken pipe, where the reader has gone away.
pub fn print(bytes: &[u8]) -> Result<(), WriteError> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(WriteError::of(Path::new("standard output")))
}
