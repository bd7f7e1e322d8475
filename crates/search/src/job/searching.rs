//! What one rank searches: its parts of the database, with every batch of the queries.

use super::SearchJob;
use super::error::JobError;
use super::instances::Instances;
use crate::check::{self, Checked};
use crate::database::Database;
use crate::error::SearchError;
use crate::fasta::{Batches, FastaReader, Limits, is_stream};
use crate::frame::Frame;
use crate::hit::Hit;
use crate::local::{Found, Search};
use crate::settings::Settings;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;
use zerohop_model::exchange::Searched;
use zerohop_model::timeline::{SearchStage, SearchTimeline};
use zerohop_process::{Identity, cache};
use zerohop_ranks::exchange::{Survivor, merge};

/// What errors call it.
const STANDARD_INPUT: &str = "standard input";

/// What the searching thread hands over: a batch, the end, or why there are no more.
pub type NextAnswers = Result<Option<Answers>, SearchError>;

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
    /// Opens the database, and checks the queries, and the parts of the database that are ours: those of rank `rank` of
    /// `size`. That may take long.
    ///
    /// # Errors
    /// A database, queries or options that cannot be used.
    pub fn new(job: &SearchJob, (rank, size): (usize, usize)) -> Result<Self, JobError> {
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
        let checked = check()?;
        let limit = job.hang_limit;
        let search = Search::new(database, settings, &name)?.with_time_limit(limit);
        let instances = Instances::new(job, &search, parts.len())?;
        instances.check_files(&parts)?;
        Ok(Searching { search, instances, limits, queries: job.queries.clone(), checked, parts })
    }

    /// What the results depend on, besides the queries; how many ranks there are is no part of it.
    pub fn identity(&self, job: &SearchJob) -> Identity {
        let manifest = self.search.database().manifest();
        let name = job.db.file_name().unwrap_or(job.db.as_os_str()).to_string_lossy();
        Identity::new("search")
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
            .with("--batch-queries", job.batch_queries)
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
    pub fn search(&self, first: u64, send: &SyncSender<NextAnswers>) -> Result<SearchDone, SearchError> {
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
            let results = Answers::of(found, self.search.settings().max_target_seqs);
            let took = begun.elapsed();
            timeline.add(SearchStage::Search, begun - started, took);
            searched.push(Searched {
                search_s: took.as_secs_f64(),
                queries: batch.queries() as u32,
                records: results.hits.len() as u32,
                result_bytes: results.text.len() as u64,
            });
            let begun = Instant::now();
            if send.send(Ok(Some(results))).is_err() {
                // The other side has failed, and says so.
                break;
            }
            timeline.add(SearchStage::WaitExchange, begun - started, begun.elapsed());
        }
        Ok(SearchDone { queries: batches.queries(), searched, timeline })
    }
}

/// What the searching thread did.
pub struct SearchDone {
    /// Queries that were read.
    pub queries: u64,
    /// Batch by batch.
    pub searched: Vec<Searched>,
    /// What it did when.
    pub timeline: SearchTimeline,
}

/// What our parts have for a batch, as one.
#[derive(Debug, Default)]
pub struct Answers {
    /// What was found, in order; offsets are those in `text`.
    pub hits: Vec<Hit>,
    /// The lines of all hits, one after the other.
    pub text: Vec<u8>,
    /// What stands between them.
    pub frame: Frame,
}

impl Answers {
    fn of(mut found: Vec<Found>, most: Option<u32>) -> Self {
        // That of any part: they are alike.
        let frame = found.first_mut().map(|found| std::mem::take(&mut found.frame)).unwrap_or_default();
        let hits: Vec<_> = found.iter().map(|found| &found.hits[..]).collect();
        let mut answers = Answers { frame, ..Answers::default() };
        let most = most.map_or(usize::MAX, |most| most as usize);
        for Survivor { list: part, number } in merge(&hits, Hit::order, most) {
            let hit = &found[part].hits[number];
            answers.hits.push(Hit { offset: answers.text.len() as u64, ..*hit });
            answers.text.extend_from_slice(found[part].lines(hit));
        }
        answers
    }

    /// What the program would write for the batch, where all parts are ours.
    pub fn framed(&self) -> Vec<u8> {
        let keys: Vec<_> = self.hits.iter().map(|hit| (hit.query, hit.key)).collect();
        let (mut framed, mut done) = (Vec::with_capacity(self.text.len()), 0);
        for (before, piece) in self.frame.pieces(&keys) {
            let at = self.hits.get(before).map_or(self.text.len(), |hit| hit.offset as usize);
            framed.extend_from_slice(&self.text[done..at]);
            framed.extend_from_slice(&piece);
            done = at;
        }
        framed.extend_from_slice(&self.text[done..]);
        framed
    }
}

/// Batches that are searched and not taken yet. Over ranks, whoever writes a batch waits for the searches of the
/// others, and its own must be able to go on meanwhile.
const AHEAD: usize = 4;
/// What is said of a search that has ended without a word.
pub const DIED: &str = "the searching thread died before the last batch: please report this";

/// Searches from batch `first` on, in a thread of its own, while `take` gets what is found.
///
/// # Errors
/// What either of them says.
pub fn search_beside<T>(
    searching: &Searching,
    first: u64,
    take: impl FnOnce(&Receiver<NextAnswers>) -> Result<T, JobError>,
) -> Result<(T, SearchDone), JobError> {
    let (send, receive) = sync_channel(AHEAD);
    let (outcome, searched) = std::thread::scope(|scope| {
        // The programs that it starts end with this thread.
        let search = || search_all(searching, first, send);
        let search = std::thread::Builder::new().name("search".into()).spawn_scoped(scope, search);
        let search = search.map_err(|error| JobError::Failed(format!("a thread cannot be started: {error}")))?;
        let outcome = take(&receive);
        if outcome.is_err() {
            // Else the other ranks, and the user, would learn of it only when the present search has ended.
            zerohop_process::end_programs();
        }
        drop(receive);
        let searched = search.join().unwrap_or_else(|_| Err(DIED.to_owned()));
        Ok::<_, JobError>((outcome, searched))
    })?;
    Ok((outcome?, searched.map_err(JobError::Failed)?))
}

/// The searching thread: searches all, and says that it is the end, or why it is.
fn search_all(searching: &Searching, first: u64, send: SyncSender<NextAnswers>) -> Result<SearchDone, String> {
    let outcome = searching.search(first, &send);
    let (last, outcome) = match outcome {
        Ok(done) => (Ok(None), Ok(done)),
        Err(error) => {
            let words = error.to_string();
            (Err(error), Err(words))
        }
    };
    // Nobody to hear it has failed already.
    let _ = send.send(last);
    outcome
}
