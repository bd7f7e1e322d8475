//! What one rank searches: its parts of the database, with every batch of the queries.

use super::SearchJob;
use super::error::JobError;
use super::instances::Instances;
use crate::check::{self, Checked};
use crate::database::Database;
use crate::error::SearchError;
use crate::fasta::{Batches, FastaReader, Limits, is_stream};
use crate::frame::Frame;
use crate::hit::Key;
use crate::local::{Found, Search};
use crate::merge::Merge;
use crate::settings::Settings;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::time::Instant;
use zerohop_model::exchange::Searched;
use zerohop_model::timeline::{SearchStage, SearchTimeline};
use zerohop_process::cache;
use zerohop_ranks::exchange::{self, Batch, Record};
use zerohop_ranks::{Identity, Transport, content, with_signs};

/// What errors call it.
const STANDARD_INPUT: &str = "standard input";

/// What the searching thread hands over: a batch, the end, or why there are no more.
pub type Next = Result<Option<Batch>, SearchError>;

/// What one rank searches, and how.
pub struct Searching {
    /// The program and the database.
    pub search: Search,
    /// Where the programs run.
    pub instances: Instances,
    limits: Limits,
    queries: PathBuf,
    /// What a look at all of them found; nothing of a stream.
    checked: Option<Checked>,
    /// Our parts of the database.
    parts: Vec<usize>,
}

impl Searching {
    /// Opens the database, and checks the queries and our parts. That may take long, and other ranks hear of it.
    ///
    /// # Errors
    /// A database, queries or options that cannot be used; ranks that cannot go on together.
    pub fn new(job: &SearchJob, transport: &dyn Transport) -> Result<Self, JobError> {
        let database = Database::open(&job.db)?;
        let words = job.engine_args.as_deref().unwrap_or_default();
        let words =
            shlex::split(words).ok_or_else(|| JobError::Usage("--engine-args: a quote is not closed".to_owned()))?;
        let program = database.program();
        let settings = Settings::new(program, words)?.with_format(job.format)?;
        let mut settings = settings.with_columns(job.columns.as_deref().unwrap_or("std"))?;
        if job.max_target_seqs.is_some() {
            settings = settings.with_max_target_seqs(job.max_target_seqs)?;
        }
        let (rank, size) = (transport.rank(), transport.size());
        let parts: Vec<usize> = (0..database.parts()).filter(|part| part % size == rank).collect();
        if parts.is_empty() {
            let parts = database.parts();
            return Err(JobError::Usage(format!(
                "the database has {parts} parts for {size} ranks: build it with --partitions {size}"
            )));
        }
        let limits = Limits { letters: job.batch_letters, queries: job.batch_queries };
        let name = job.db.to_string_lossy();
        let check = || (!is_stream(&job.queries)).then(|| check::check(&job.queries, &settings)).transpose();
        let checked = with_signs(transport, check)??;
        let limit = job.hang_limit;
        let search = Search::new(database, settings, &name)?.with_time_limit(limit);
        let instances = Instances::new(job, &search, parts.len())?;
        with_signs(transport, || instances.check_files(&parts))??;
        Ok(Searching { search, instances, limits, queries: job.queries.clone(), checked, parts })
    }

    /// What the results depend on; how many ranks there are is no part of it.
    ///
    /// # Errors
    /// Queries that cannot be read; ranks that cannot go on together.
    pub fn identity(&self, job: &SearchJob, transport: &dyn Transport) -> Result<Identity, JobError> {
        let manifest = self.search.database().manifest();
        let name = job.db.file_name().unwrap_or(job.db.as_os_str()).to_string_lossy();
        let identity = Identity::new("search")
            .with(
                "the database",
                format!("{name}, {} parts, content {}", manifest.parts.len(), cache::digest(manifest)),
            )
            .with("the path of the database", job.db.display())
            .with("--format", job.format)
            .with_option("--columns", &job.columns)
            .with_option("--max-target-seqs", &job.max_target_seqs)
            .with_option("--engine-args", &job.engine_args)
            .with("--batch-letters", job.batch_letters)
            .with("--batch-queries", job.batch_queries);
        if is_stream(&job.queries) {
            return Ok(identity.with("the queries", "a stream"));
        }
        let queries = content::of_files(transport, std::slice::from_ref(&job.queries), job.threads.unwrap_or(1))?;
        Ok(queries.iter().fold(identity, |identity, queries| identity.with("the queries", queries)))
    }

    /// What errors call the queries.
    fn queries_name(&self) -> &Path {
        if self.queries.as_os_str() == "-" { Path::new(STANDARD_INPUT) } else { &self.queries }
    }

    fn queries(&self) -> Result<FastaReader<Box<dyn BufRead>>, SearchError> {
        let reader = match self.queries.as_os_str() == "-" {
            true => FastaReader::inflate(std::io::stdin(), self.queries_name()),
            false => FastaReader::open(&self.queries),
        };
        reader.map(|reader| check::queries(reader, self.search.settings().program))
    }

    /// Searches our parts with every batch from number `first` on.
    ///
    /// # Errors
    /// Queries that are wrong, a program that fails.
    pub fn search(&self, first: u64, send: &SyncSender<Next>) -> Result<Done, SearchError> {
        let started = Instant::now();
        let mut batches = Batches::new(self.queries()?, self.limits);
        let (mut batch, mut searched) = (crate::fasta::Batch::default(), Vec::new());
        let mut timeline = SearchTimeline::default();
        while batches.next(&mut batch)? {
            if batch.number < first {
                continue;
            }
            if self.checked.is_none() && batch.number == 0 {
                check::check_first(&batch, self.queries_name(), self.search.settings())?;
            }
            let begun = Instant::now();
            let found = self.instances.search(&self.parts, &batch)?;
            let results = merged(found, self.search.settings().max_target_seqs);
            let took = begun.elapsed();
            timeline.add(SearchStage::Search, begun - started, took);
            searched.push(Searched {
                search_s: took.as_secs_f64(),
                queries: batch.queries() as u32,
                records: results.records.len() as u32,
                result_bytes: results.text.len() as u64,
            });
            let begun = Instant::now();
            if send.send(Ok(Some(results))).is_err() {
                // The other side has failed, and says so.
                break;
            }
            timeline.add(SearchStage::WaitExchange, begun - started, begun.elapsed());
        }
        Ok(Done { queries: batches.queries(), searched, timeline })
    }
}

/// What the searching thread did.
pub struct Done {
    /// Queries that were read.
    pub queries: u64,
    /// Batch by batch.
    pub searched: Vec<Searched>,
    /// What it did when.
    pub timeline: SearchTimeline,
}

/// What stands between results, as the exchange asks for it.
#[derive(Debug)]
struct Between(Frame);

impl exchange::Frame for Between {
    fn pieces(&self, survivors: &[(u32, Key)]) -> Vec<(usize, Vec<u8>)> {
        self.0.pieces(survivors)
    }
}

/// What our parts have for a batch, as one.
fn merged(mut found: Vec<Found>, most: Option<u32>) -> Batch {
    // That of any part: they are alike.
    let frame = found.first_mut().map(|found| std::mem::take(&mut found.frame));
    let hits: Vec<_> = found.iter().map(|found| &found.hits[..]).collect();
    let frame = frame.map(|frame| -> Box<dyn exchange::Frame> { Box::new(Between(frame)) });
    let mut batch = Batch { frame, ..Batch::default() };
    for place in Merge::new(&hits, most) {
        let hit = &found[place.part].hits[place.index];
        batch.records.push(Record { query: hit.query, key: hit.key, bytes: hit.bytes });
        batch.text.extend_from_slice(found[place.part].lines(hit));
    }
    batch
}
