//! JSON for the user and for other programs.

use crate::file::{self, WriteError};
use serde::Serialize;
use std::path::Path;

/// A value as indented text, with a line end.
///
/// # Errors
/// A value that has no JSON form, such as a path that is not UTF-8.
pub fn text(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(|text| text + "\n")
}

/// Writes a value to a file, which is there as a whole or not at all.
///
/// # Errors
/// A value that has no JSON form, a file that cannot be written.
pub fn write(path: &Path, value: &impl Serialize) -> Result<(), WriteError> {
    let text = text(value).map_err(|error| WriteError::of(path)(std::io::Error::other(error)))?;
    file::write(path, text.as_bytes())
}
