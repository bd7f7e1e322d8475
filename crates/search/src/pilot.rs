//! A sample of queries, by which search times of parts are found out.

use crate::build::Sampling;
use crate::check;
use crate::database::{Database, FileEntry, file_entry};
use crate::error::SearchError;
use crate::fasta::{Batch, Batches, FastaReader, Limits, is_stream};
use crate::local::Search;
use crate::program::Program;
use crate::settings::Settings;
use std::path::Path;
use std::time::{Duration, Instant};

/// A sample of typical queries.
#[derive(Debug)]
pub struct Sample {
    queries: FileEntry,
    batches: Vec<Batch>,
    threads: usize,
}

impl Sample {
    /// The queries in a file, which `program` with so many threads searches for.
    ///
    /// # Errors
    /// As for [`FastaReader::next`]; [`SearchError::Arguments`] if there are none, or if they are in no regular file.
    pub fn read(path: &Path, program: Program, limits: Limits, threads: usize) -> Result<Self, SearchError> {
        if is_stream(path) {
            let words = "it is not a regular file, and the queries of a pilot are read twice; give a file";
            return Err(SearchError::Arguments(format!("{}: {words}.", path.display())));
        }
        let mut reader = Batches::new(check::queries(FastaReader::open(path)?, program), limits);
        let (mut batches, mut batch) = (Vec::new(), Batch::default());
        while reader.next(&mut batch)? {
            batches.push(std::mem::take(&mut batch));
        }
        match batches.is_empty() {
            true => Err(SearchError::Arguments(format!("{} has no queries to try the parts with.", path.display()))),
            false => Ok(Sample { queries: file_entry(path)?, batches, threads }),
        }
    }
}

impl Sampling for Sample {
    fn queries(&self) -> FileEntry {
        self.queries.clone()
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn time(&mut self, database: &Database, part: usize) -> Result<Duration, SearchError> {
        let settings = Settings::new(database.program(), Vec::new())?.with_threads(self.threads);
        let search = Search::new(database.clone(), settings, "")?;
        let started = Instant::now();
        for batch in &self.batches {
            search.part(part, batch)?;
        }
        Ok(started.elapsed())
    }
}
