//! The report of a sample, which says that it is complete, and of what it was made.

use crate::error::AlignError;
use crate::identity;
use crate::job::Job;
use crate::{output_files, sorting};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;
use zerohop_process::WriteError;
use zerohop_ranks::Identity;
use zerohop_report::Summary;

/// What is written: the summary, and what the records depend on.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    made_of: Identity,
}

/// What is read of it.
#[derive(Deserialize)]
struct Read {
    made_of: Identity,
}

/// What the records of a job depend on. Files are told apart by their length and the time of their last change: all of
/// them would take long to read.
pub fn made_of(job: &Job) -> Identity {
    let index = job.output.sorting.as_ref().map(|sorting| format!("{:?}", sorting.index));
    let identity = identity::of_options(job)
        .with("the aligner", &job.engine)
        .with("--no-index", job.no_index)
        .with_option("the index of the output", &index);
    let described = job.external.engine_file.iter().map(|file| ("the description", file));
    let reads = job.lanes.iter().flat_map(|lane| &lane.files).map(|file| ("the reads", file));
    let files = std::iter::once(("the reference", &job.reference)).chain(described).chain(reads);
    files.enumerate().fold(identity, |identity, (number, (what, file))| {
        identity.with(&format!("{what}, file {number}"), words(file))
    })
}

fn words(file: &Path) -> String {
    let state = std::fs::metadata(file).ok().and_then(|data| {
        let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{} bytes, changed {}.{:09}", data.len(), changed.as_secs(), changed.subsec_nanos()))
    });
    format!("{}, {}", file.display(), state.unwrap_or_else(|| "not there".to_owned()))
}

/// Writes the report of a complete sample; `made_of` is what it was before it was read.
///
/// # Errors
/// What the system says.
pub fn write(report: &Path, summary: &Summary, made_of: Identity) -> Result<(), AlignError> {
    let text = serde_json::to_vec_pretty(&Report { summary, made_of });
    let text = text.map_err(|error| AlignError::Failed(error.to_string()))?;
    Ok(zerohop_process::write(report, &text)?)
}

/// What has changed since a sample was complete; none if it never was, or its files are not there.
pub fn changes(job: &Job, report: &Path) -> Option<Vec<String>> {
    let Read { made_of: before } = serde_json::from_slice(&std::fs::read(report).ok()?).ok()?;
    let index = sorting::indexes(job);
    let has_index = index.is_empty() || index.iter().any(|path| path.is_file());
    let has_files =
        has_index && output_files::all_paths(job).iter().chain(sorting::metrics(job)).all(|path| path.is_file());
    has_files.then(|| made_of(job).changes_since(&before))
}

/// Takes the report away, for the files will be others.
///
/// # Errors
/// What the system says.
pub fn forget(report: &Path) -> Result<(), AlignError> {
    match std::fs::remove_file(report) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(WriteError::of(report)(error).into()),
        _ => Ok(()),
    }
}
