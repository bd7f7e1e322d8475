//! Where results go: into one file, at a place that all ranks know.

use crate::fasta::is_stream;
use crate::job::searching::Searching;
use crate::job::{JobError, SearchJob};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use zerohop_process::{cache, file_ends, tell};
use zerohop_ranks::exchange::Output;
use zerohop_ranks::journal::{self, Begin, Entry, Journal, Owner};
use zerohop_ranks::{Transport, content};

/// Where results go; the batch to begin with, and where its results go there.
pub type Opened = (Results, (u64, u64));

/// Where results go: a file that all ranks write to, under another name until it is complete. One of them owns the job.
pub struct Results {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    journal: Journal,
    owner: Option<Owner>,
}

impl Results {
    /// Opens it; also gives the batch to begin with, and where its results go. None if an earlier run had written all
    /// of it.
    ///
    /// # Errors
    /// Another job's progress; a file that cannot be opened.
    pub fn open(job: &SearchJob, searching: &Searching, transport: &dyn Transport) -> Result<Option<Opened>, JobError> {
        let none = || JobError::Usage("--ranks, --resume and --restart need an output file (-o)".to_owned());
        let path = job.output.as_ref().ok_or_else(none)?;
        let (mut identity, is_stream) = (searching.identity(job), is_stream(&job.queries));
        let of_queries = match is_stream {
            true => vec!["a stream".to_owned()],
            false => content::of_files(transport, std::slice::from_ref(&job.queries), job.threads.unwrap_or(1))?,
        };
        for queries in &of_queries {
            identity = identity.with("the queries", queries);
        }
        let how = match Begin::asked(job.resume, job.restart) {
            // Nobody knows whether it is the same stream.
            Begin::Any if is_stream => Begin::Anew,
            how => how,
        };
        // What is read of a stream here would be missing from the queries.
        let ends = if is_stream { None } else { file_ends(&job.queries).ok() };
        let seen = cache::digest(&ends);
        let Some((owner, journal, finished)) = journal::begin(transport, path, &identity, how, &seen)? else {
            return Ok(None);
        };
        let begin = (finished.next, finished.ends.first().copied().unwrap_or(0));
        if begin.0 > 0 && job.record.is_some() {
            return Err(JobError::Usage(format!(
                "{}: {} batches were finished before, and --record needs all of them: begin anew with --restart",
                journal.folder().display(),
                begin.0
            )));
        }
        if begin.0 > 0 && owner.is_some() && !job.quiet {
            let folder = journal.folder().display();
            tell::note(&format!("{folder}: {} batches were finished before; only the others are searched", begin.0));
        }
        let partial = journal.folder().join("output");
        let fault = |error: std::io::Error| JobError::Failed(format!("{}: cannot write: {error}", partial.display()));
        // What is to be gone on with must be there.
        if begin.0 == 0 {
            OpenOptions::new().create(true).truncate(false).write(true).open(&partial).map_err(fault)?;
            // A batch may be entered only when the file that has it keeps its name after a crash.
            journal::sync_folder(journal.folder())?;
        }
        let file = zerohop_process::open_shared(&partial).map_err(fault)?;
        journal::check_length(&partial, begin.1)?;
        Ok(Some((Results { file, path: path.clone(), journal, partial, owner }, begin)))
    }

    /// All ranks have written: the file is complete.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(self, end: u64, transport: &dyn Transport) -> Result<(), JobError> {
        let Results { file, partial, path, journal, owner } = self;
        let fault = |error: std::io::Error| JobError::Failed(format!("{}: cannot write: {error}", path.display()));
        transport.barrier().map_err(|error| JobError::Failed(error.to_string()))?;
        if owner.is_some() {
            file.set_len(end).and_then(|()| file.sync_all()).map_err(fault)?;
        }
        // Files that are open anywhere would keep the folder from going, on some file systems.
        drop((file, journal));
        transport.barrier().map_err(|error| JobError::Failed(error.to_string()))?;
        Ok(owner.map_or(Ok(()), |owner| owner.complete(&[(partial, path)]))?)
    }
}

impl Output for Results {
    fn write(&mut self, batch: u64, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all_at(bytes, offset)?;
        self.file.sync_data()?;
        let (offsets, bytes) = (vec![offset], vec![bytes.len() as u64]);
        self.journal.enter(&[Entry { batch, count: 1, done: None, absent: Vec::new(), offsets, bytes, tally: None }])
    }
}
