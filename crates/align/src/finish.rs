//! The step *finish*: the files of a run get their names, all at once, when everything is in them.

use crate::job::{AlignError, Job};
use crate::open::output;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::{RunReport, SortReport};
use zerohop_model::sink::Sink as _;
use zerohop_output::FileSink;
use zerohop_process::{NewFile, WriteError};

/// The files of a run before they have their names.
pub struct WrittenFiles {
    /// The way to the files; none where an aligner has written no header, for there was nothing to align.
    pub sink: Option<FileSink>,
    /// A digest of the header that the engine of this process gave ([`output::header_digest`]).
    pub header: Option<String>,
    /// The length of each file that this process wrote, in bytes, before records were sorted.
    pub collected: Vec<u64>,
    /// What was merged, if records are sorted.
    pub sorted: Option<Sorted>,
    /// Other files that are wanted.
    pub beside: Vec<Metrics>,
    /// Files of reads, written.
    pub saved: Vec<NewFile>,
}

/// What was merged.
pub struct Sorted {
    /// The length of the file of records, in bytes.
    pub lengths: Vec<u64>,
    /// Times and sizes.
    pub report: SortReport,
    /// The files of metrics that are wanted, of duplicates and UMIs.
    pub metrics: Vec<Metrics>,
    /// The files of the reports.
    pub reports: Vec<Report>,
}

/// A file of a report that is written.
pub struct Report {
    /// As it is now. What it is completed to is its name, or, of a job on record, a file in the folder of that.
    pub written: NewFile,
    /// Its name.
    pub path: PathBuf,
}

/// A file of metrics that is to be written.
pub struct Metrics {
    /// Its name.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
}

impl Metrics {
    /// Writes it; it has no name yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn written(&self) -> Result<NewFile, WriteError> {
        text_file(&self.path, &self.text)
    }
}

/// A new file with this text; it has no name yet.
///
/// # Errors
/// What the system says.
pub fn text_file(path: &Path, text: &str) -> Result<NewFile, WriteError> {
    let new = NewFile::create(path)?;
    new.file().write_all(text.as_bytes()).map_err(WriteError::of(path))?;
    Ok(new)
}

impl WrittenFiles {
    /// The files of metrics and the others that are wanted, written; they are given once.
    ///
    /// # Errors
    /// What the system says.
    pub fn take_metrics(&mut self) -> Result<Vec<NewFile>, WriteError> {
        let of_sorted = self.sorted.iter().flat_map(|sorted| &sorted.metrics);
        let metrics = of_sorted.chain(&self.beside).map(Metrics::written);
        metrics.chain(std::mem::take(&mut self.saved).into_iter().map(Ok)).collect()
    }

    /// The lengths of all files, the first `of_records` of which are files of records, after all was `collected`:
    /// sorted, records have another length.
    pub fn lengths(&self, collected: &[u64], of_records: usize) -> Vec<u64> {
        match &self.sorted {
            None => collected.to_owned(),
            Some(sorted) => sorted.lengths.iter().chain(collected.iter().skip(of_records)).copied().collect(),
        }
    }
}

/// Finishes the run of one process.
///
/// # Errors
/// An engine that has written no header; what the system says: then no file has its name.
pub fn one_process(job: &Job, mut written: WrittenFiles, report: &mut RunReport) -> Result<(), AlignError> {
    let metrics = written.take_metrics()?;
    let files = written.sink.as_ref().map_or(0, |sink| sink.files());
    let lengths = written.lengths(&written.collected, files);
    let sink = written.sink.ok_or_else(|| output::no_header(job))?;
    let (sorted, reports) = match written.sorted {
        Some(Sorted { report, reports, .. }) => (Some(report), reports),
        None => (None, Vec::new()),
    };
    report.bytes_out = Bytes(
        sink.finish(&lengths, metrics.into_iter().chain(reports.into_iter().map(|report| report.written)).collect())?,
    );
    report.sorted = sorted;
    Ok(())
}
