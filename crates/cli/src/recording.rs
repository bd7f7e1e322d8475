//! What a search did, batch by batch and rank by rank, in a file: to be replayed by `zerohop bench search`.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;
use zerohop_process::json;
use zerohop_ranks::Recording;

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    schema_version: u32,
    /// What was recorded.
    command: String,
    #[serde(flatten)]
    recording: Recording,
}

const SCHEMA_VERSION: u32 = 1;

/// Writes one, of this command.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, recording: Recording) -> Result<(), Failure> {
    let command = crate::command_line();
    Ok(json::write(path, &Recorded { schema_version: SCHEMA_VERSION, command, recording })?)
}

/// Reads one.
///
/// # Errors
/// A file that cannot be read, is none of these, or makes no sense.
pub fn read(path: &Path) -> Result<Recording, Failure> {
    let fault = |what: String| Failure::Other(format!("{}: {what}", path.display()));
    let text = std::fs::read(path).map_err(|error| fault(format!("cannot be read: {error}")))?;
    let none = |error| fault(format!("this is no recording that 'zerohop search --record' made: {error}"));
    let recorded: Recorded = serde_json::from_slice(&text).map_err(none)?;
    if recorded.schema_version != SCHEMA_VERSION {
        let version = recorded.schema_version;
        return Err(fault(format!("a recording of version {version}, and {SCHEMA_VERSION} is needed: record it anew")));
    }
    recorded.recording.check().map_err(|error| fault(format!("the recording cannot be used: {error}")))?;
    Ok(recorded.recording)
}
