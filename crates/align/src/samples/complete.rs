//! The report of a sample, which says that it is complete, of what it was made, and which files were made.

use super::SampleJob;
use crate::engines::{self, key};
use crate::job::{AlignError, identity, qc};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use zerohop_model::index::Wanted;
use zerohop_process::lock::OwnLock;
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::{Identity, WriteError};
use zerohop_report::{Summary, WithFigures};

/// What is written: the summary, what the records depend on, and the files besides the report.
#[derive(Serialize)]
struct SampleReport<'a> {
    #[serde(flatten)]
    summary: WithFigures<'a>,
    made_of: Identity,
    /// Of which index, as it was when the records were there.
    made_with: Identity,
    files: Vec<MadeFile>,
}

/// What is read of it.
#[derive(Deserialize)]
struct ReadReport {
    made_of: Identity,
    /// Of which index, as it was when the records were there.
    made_with: Identity,
    files: Vec<MadeFile>,
}

/// A file of a sample.
#[derive(Serialize, Deserialize)]
struct MadeFile {
    /// Its name, in the folder of the report.
    name: String,
    bytes: u64,
}

impl MadeFile {
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
pub fn hold(sample: &SampleJob) -> Result<OwnLock, AlignError> {
    let lock = sample.report.with_file_name(format!(".{}.lock", sample.name));
    let taken = OwnLock::try_take(&lock).map_err(|error| AlignError::Failed(error.to_string()))?;
    taken.ok_or_else(|| {
        let folder = sample.report.parent().unwrap_or(Path::new("."));
        AlignError::Failed(format!("another run aligns this sample into {} now", folder.display()))
    })
}

/// What the records of a sample depend on. Files are told apart by their length and the time of their last change: all
/// of them would take long to read.
pub fn made_of(sample: &SampleJob) -> Identity {
    let job = &sample.job;
    let index = job.output.sorting.as_ref().map(|sorting| identity::index_words(sorting.index));
    let mosdepth = qc::wanted(job).map(|qc| &qc.mosdepth);
    let reports = mosdepth.map(|mosdepth| &mosdepth.words);
    let methyldackel = qc::wanted(job).and_then(|qc| Some(&qc.methyldackel.as_ref()?.words));
    let picard = qc::wanted(job).is_some_and(|qc| qc.picard.is_some());
    let stats_reference = qc::wanted(job).is_some_and(|qc| qc.stats_reference);
    let unaligned = job.output.unaligned.as_ref().map(|unaligned| unaligned.path.display().to_string());
    let identity = identity::of_options(job)
        .with("the aligner", &sample.aligner)
        .with("--no-index", job.no_index)
        .with("--order", format!("{:?}", job.output.order).to_lowercase())
        .with_option("the index of the output", &index)
        .with_option("the reports of --qc, with --mosdepth", &reports)
        .with_option("--methyldackel", &methyldackel)
        .with("--picard-metrics", picard)
        .with("--stats-reference", stats_reference)
        .with_option("the files of --unaligned", &unaligned)
        .with_option("the files of --save-trimmed", &job.saved.trimmed.as_ref().map(|path| path.display().to_string()))
        .with_option("the files of --save-failed", &job.saved.failed.as_ref().map(|path| path.display().to_string()));
    let described = job.external.engine_file.iter().map(|file| ("the description", file));
    let reads = job.lanes.iter().flat_map(|lane| &lane.files).map(|file| ("the reads", file));
    // They are all that there is of the reference then.
    let index_files = if job.reference.is_file() { Vec::new() } else { index_files(sample) };
    let index_files = index_files.iter().map(|file| ("the index", file));
    let files = std::iter::once(("the reference", &job.reference))
        .chain(described)
        .chain(reads)
        .chain(index_files)
        .chain(qc::regions(job));
    with_files(identity, files)
}

/// The same of files of the index that say more than the reference does, which is there: all those of a program, and
/// the list of alternative contigs of bwa. The program may make them in its first run, so they are looked at behind it.
fn index(sample: &SampleJob) -> Identity {
    let job = &sample.job;
    let files = match engines::embedded(&job.engine) {
        _ if !job.reference.is_file() => Vec::new(),
        None => index_files(sample),
        Some(provider) => {
            let arguments = job.external.engine_args.as_deref().unwrap_or_default();
            let mean_read_length = sample.read_length.unwrap_or(0);
            let wanted = Wanted { reference: &job.reference, mean_read_length, anew: false, arguments };
            provider.find(&wanted).map(|source| source.beside_reference()).unwrap_or_default()
        }
    };
    with_files(Identity::new("index"), files.iter().map(|file| ("the index", file)))
}

fn with_files<'f>(identity: Identity, files: impl Iterator<Item = (&'static str, &'f PathBuf)>) -> Identity {
    files.enumerate().fold(identity, |identity, (number, (what, file))| {
        identity.with(&format!("{what}, file {number}"), words(file))
    })
}

/// The files of the index, as far as they can be found.
fn index_files(sample: &SampleJob) -> Vec<PathBuf> {
    let job = &sample.job;
    let paired = job.lanes.first().is_some_and(|lane| lane.files.len() == 2 || lane.interleaved);
    let profile = key::profile(paired, sample.read_length.unwrap_or(0), job.external.engine_args.as_deref());
    let key = key::of(&job.engine, &job.external.engine_file, &job.reference, profile);
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
pub fn write(sample: &SampleJob, summary: &Summary, made_of: Identity) -> Result<(), AlignError> {
    let made = |path: PathBuf| {
        let bytes = std::fs::metadata(&path).ok()?.len();
        Some(MadeFile { name: path.file_name().and_then(OsStr::to_str)?.to_owned(), bytes })
    };
    let files = sample.outputs().into_iter().filter(|path| *path != sample.report).filter_map(made).collect();
    let report = SampleReport { summary: summary.with_figures(), made_of, made_with: index(sample), files };
    let text = serde_json::to_vec_pretty(&report);
    let text = text.map_err(|error| AlignError::Failed(error.to_string()))?;
    Ok(zerohop_process::write(&sample.report, &text)?)
}

fn read(report: &Path) -> Option<ReadReport> {
    serde_json::from_slice(&std::fs::read(report).ok()?).ok()
}

/// Refuses a file of the name of the report that zerohop has not written: it goes before there is another one.
///
/// # Errors
/// Such a file.
pub fn check_report(sample: &SampleJob) -> Result<(), AlignError> {
    let report = &sample.report;
    overwrite::replaceable(report, Kind::Json)?;
    let text = std::fs::read(report).unwrap_or_default();
    let of_zerohop = |value: serde_json::Value| value.get("schema_version").is_some();
    match text.is_empty() || serde_json::from_slice(&text).is_ok_and(of_zerohop) {
        true => Ok(()),
        false => Err(AlignError::Usage(format!(
            "{} is there and is no summary of zerohop, which sample {} is to have under this name: move it away, or \
             name another --output-dir",
            report.display(),
            sample.name
        ))),
    }
}

/// What has changed since a sample was complete; none if it never was.
pub fn changes(sample: &SampleJob) -> Option<Vec<String>> {
    let before = read(&sample.report)?;
    let changed = before.files.iter().filter(|made| !made.is_as_it_was(&sample.report));
    let changed = changed.map(|made| format!("{} is not as it was written", made.name));
    let made_of = made_of(sample).changes_since(&before.made_of);
    Some(made_of.into_iter().chain(index(sample).changes_since(&before.made_with)).chain(changed).collect())
}

/// Where the report is while the sample is aligned anew, and until that has gone well.
fn earlier(sample: &SampleJob) -> PathBuf {
    sample.report.with_file_name(format!(".{}.earlier.json", sample.name))
}

/// What earlier runs made of a sample, as their reports say, and the present one does not make again.
pub fn left_over(sample: &SampleJob) -> Vec<PathBuf> {
    let (reports, outputs) = ([earlier(sample), sample.report.clone()], sample.outputs());
    let files = reports.iter().filter_map(|report| read(report)).flat_map(|before| before.files);
    let paths = files.map(|made| made.path(&sample.report));
    paths.filter(|path| path.is_file() && !outputs.contains(path)).collect()
}

/// Takes the report away, for the files will be others; what it says of the files that are there is kept.
///
/// # Errors
/// What the system says.
pub fn forget(sample: &SampleJob) -> Result<(), AlignError> {
    match zerohop_process::give_name(&sample.report, &earlier(sample)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(WriteError::of(&sample.report)(error).into()),
        _ => Ok(()),
    }
}

/// Removes what earlier runs have left, once the sample is complete.
pub fn remove_earlier(sample: &SampleJob, left_over: &[PathBuf]) {
    remove(left_over);
    remove(&[earlier(sample)]);
}

/// Removes files that say nothing any more, as far as that can be done.
pub fn remove(files: &[PathBuf]) {
    for file in files {
        let _ = std::fs::remove_file(file);
    }
}
