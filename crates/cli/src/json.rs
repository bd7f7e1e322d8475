//! JSON for the user and for other programs.

use crate::failure::Failure;
use serde::Serialize;
use std::path::Path;

/// A value as text, with a line end.
///
/// # Errors
/// A value that has no JSON form.
pub fn text(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map(|text| text + "\n").map_err(|error| Failure::Other(error.to_string()))
}

/// Writes a value to a file, which is there as a whole or not at all.
///
/// # Errors
/// A value that has no JSON form, a file that cannot be written.
pub fn write(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    Ok(zerohop_process::write(path, text(value)?.as_bytes())?)
}
