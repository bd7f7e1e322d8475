//! The report of a sample, which says that it is complete, of what it was made, and which files were made.

use super::Ready;
use crate::error::AlignError;
use crate::identity;
use crate::tuning_key::{Profile, TuningKey};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use zerohop_process::WriteError;
use zerohop_process::lock::OwnLock;
use zerohop_ranks::Identity;
use zerohop_report::Summary;

/// What is written: the summary, what the records depend on, and the files besides the report.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    made_of: Identity,
    files: Vec<Made>,
}

/// What is read of it.
#[derive(Deserialize)]
struct Read {
    made_of: Identity,
    files: Vec<Made>,
}

/// A file of a sample.
#[derive(Serialize, Deserialize)]
struct Made {
    /// Its name, in the folder of the report.
    name: String,
    bytes: u64,
}

impl Made {
    fn path(&self, report: &Path) -> PathBuf {
        // Whatever a report says, no file elsewhere is meant.
        report.with_file_name(Path::new(&self.name).file_name().unwrap_or_default())
    }

    fn is_as_it_was(&self, report: &Path) -> bool {
        std::fs::metadata(self.path(report)).is_ok_and(|now| now.len() == self.bytes)
    }
}

/// Keeps other runs from a sample.
///
/// # Errors
/// Another run that has it now; what the system says.
pub fn hold(sample: &Ready) -> Result<OwnLock, AlignError> {
    let lock = sample.report.with_file_name(format!(".{}.lock", sample.name));
    let taken = OwnLock::try_take(&lock).map_err(|error| AlignError::Failed(error.to_string()))?;
    taken.ok_or_else(|| {
        let folder = sample.report.parent().unwrap_or(Path::new("."));
        AlignError::Failed(format!("another run aligns this sample into {} now", folder.display()))
    })
}

/// What the records of a sample depend on. Files are told apart by their length and the time of their last change: all
/// of them would take long to read.
pub fn made_of(sample: &Ready) -> Identity {
    let job = &sample.job;
    let index = job.output.sorting.as_ref().map(|sorting| identity::index_words(sorting.index));
    let identity = identity::of_options(job)
        .with("the aligner", &sample.aligner)
        .with("--no-index", job.no_index)
        .with("--order", format!("{:?}", job.output.order).to_lowercase())
        .with_option("the index of the output", &index);
    let described = job.external.engine_file.iter().map(|file| ("the description", file));
    let reads = job.lanes.iter().flat_map(|lane| &lane.files).map(|file| ("the reads", file));
    let index_files = index_files(sample);
    let index_files = index_files.iter().map(|file| ("the index", file));
    let files = std::iter::once(("the reference", &job.reference)).chain(described).chain(reads).chain(index_files);
    files.enumerate().fold(identity, |identity, (number, (what, file))| {
        identity.with(&format!("{what}, file {number}"), words(file))
    })
}

/// The files of the index, where they are all that there is of the reference.
fn index_files(sample: &Ready) -> Vec<PathBuf> {
    let job = &sample.job;
    if job.reference.is_file() {
        return Vec::new();
    }
    let paired = job.lanes.first().is_some_and(|lane| lane.files.len() == 2 || lane.interleaved);
    let profile = Profile::new(paired, sample.read_length.unwrap_or(0), job.external.engine_args.as_deref());
    let key = TuningKey::of(&job.engine, &job.external.engine_file, &job.reference, profile);
    key.map(|key| key.files).unwrap_or_default()
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
pub fn write(sample: &Ready, summary: &Summary, made_of: Identity) -> Result<(), AlignError> {
    let made = |path: PathBuf| {
        let bytes = std::fs::metadata(&path).ok()?.len();
        Some(Made { name: path.file_name().and_then(OsStr::to_str)?.to_owned(), bytes })
    };
    let files = sample.outputs().into_iter().filter(|path| *path != sample.report).filter_map(made).collect();
    let text = serde_json::to_vec_pretty(&Report { summary, made_of, files });
    let text = text.map_err(|error| AlignError::Failed(error.to_string()))?;
    Ok(zerohop_process::write(&sample.report, &text)?)
}

fn read(sample: &Ready) -> Option<Read> {
    serde_json::from_slice(&std::fs::read(&sample.report).ok()?).ok()
}

/// What has changed since a sample was complete; none if it never was.
pub fn changes(sample: &Ready) -> Option<Vec<String>> {
    let Read { made_of: before, files } = read(sample)?;
    let changed = files.iter().filter(|made| !made.is_as_it_was(&sample.report));
    let changed = changed.map(|made| format!("{} is not as it was written", made.name));
    Some(made_of(sample).changes_since(&before).into_iter().chain(changed).collect())
}

/// What an earlier run made of a sample, as its report says, and the present one does not make again.
pub fn left_over(sample: &Ready) -> Vec<PathBuf> {
    let (files, outputs) = (read(sample).map(|before| before.files).unwrap_or_default(), sample.outputs());
    let paths = files.iter().map(|made| made.path(&sample.report));
    paths.filter(|path| path.is_file() && !outputs.contains(path)).collect()
}

/// Takes the report away, for the files will be others.
///
/// # Errors
/// What the system says.
pub fn forget(sample: &Ready) -> Result<(), AlignError> {
    match std::fs::remove_file(&sample.report) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(WriteError::of(&sample.report)(error).into()),
        _ => Ok(()),
    }
}

/// Removes files that say nothing any more, as far as that can be done.
pub fn remove(files: &[PathBuf]) {
    for file in files {
        let _ = std::fs::remove_file(file);
    }
}
