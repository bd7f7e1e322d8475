//! One alignment by all ranks that a launcher has started, or by one that can be gone on with after a crash.
//!
//! 1. [`MultiRank::begin`]: the reads are counted by all ranks together, and what was finished before is looked up;
//! 2. [`MultiRank::deal`]: each rank deals the chunks that it takes from the counter;
//! 3. [`MultiRank::run`]: the runtime runs in threads of its own, while this one talks to the other ranks, and another
//!    enters what is written into the journal;
//! 4. [`run_parts`]: where records are sorted, the same once more for the parts of the merge, which are dealt as chunks
//!    were;
//! 5. [`MultiRank::finish`]: what all ranks did is gathered, and the files get their names.

mod check;
mod made_of;

pub use check::check;

use crate::at_end::AtEnd;
use crate::error::AlignError;
use crate::job::Job;
use crate::output_files::Shared;
use crate::tuning_key::AlignedWith;
use crate::{counting, gather, kept_runs, output_files, progress};
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};
use zerohop_input::{OpenLane, Shared as SharedInput, Table};
use zerohop_model::engine::Cut;
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::RunReport;
use zerohop_model::sink::{Parts as _, Sink};
use zerohop_model::source::{Complete, Lane};
use zerohop_output::{FileSink, SortedParts, remove_other_indexes};
use zerohop_process::tell;
use zerohop_ranks::deal::{DealError, Dealing, Dealt, Going, Local, deal};
use zerohop_ranks::journal::{self, Begin, Entry, Finished, Journal, Owner};
use zerohop_ranks::{RankShare, Transport, host};
use zerohop_report::RankSummary;
use zerohop_runtime::{Grains, Merged, Outcome, Progress, ROWS_IN_GRAIN, Written};

/// Bases that a rank takes at once, at most, if its threads do not want more. Less than a second's work for one thread:
/// the records of what is taken lie in memory until all before them are made, and memory that was never touched costs
/// more than a message.
const GRAIN_BASES: u64 = 8_000_000;
/// Bases that a rank may go on for while other ranks are behind.
const HELD_BASES: u64 = 64_000_000;
/// Smaller chunks count as if they had so many bases: each has a place in lists, whatever is in it.
const LEAST_CHUNK_BASES: u64 = 100_000;
/// Chunks for each thread that a rank takes at once, at most.
const GRAIN_CHUNKS: u64 = 2;
/// How often what is written is made safe and entered into the journal.
const SAFE: Duration = Duration::from_secs(1);
/// How often it is looked whether the run is over.
const LOOK: Duration = Duration::from_millis(20);

/// An alignment that this rank takes part in.
pub struct MultiRank<'t> {
    transport: &'t dyn Transport,
    /// The files of records, and how they are written until they are complete.
    paths: Vec<PathBuf>,
    output: Shared,
    /// Of attempts before this one: from which chunk on their sorted records do not count.
    given_up: Vec<u64>,
    owner: Option<Owner>,
    journal: Journal,
    finished: Finished,
    /// Where the chunks of each lane begin; nothing is known of inputs that must be read from front to back.
    tables: Option<Vec<Arc<Table>>>,
    cut: Cut,
    workers: u64,
    grains: Arc<Grains>,
}

/// How an alignment begins.
pub enum Begun<'t> {
    /// It is to be done, or what is left of it: together with others, or where progress is recorded, as a
    /// [`MultiRank`].
    ToDo(Option<Box<MultiRank<'t>>>),
    /// An earlier run had written all of it, and its files have their names now.
    Complete,
}

impl<'t> MultiRank<'t> {
    /// Without a transport there is nothing to begin. Else counts the reads together with the other ranks, and looks up
    /// what was finished before. `workers` are the threads, or instances, that take chunks, `threads` all that may
    /// count.
    ///
    /// # Errors
    /// Wrong usage, an input that cannot be read, another job's progress, ranks that see other files.
    pub fn begin(
        (transport, share): (Option<&'t dyn Transport>, &RankShare),
        job: &Job,
        open: &[OpenLane],
        cut: Cut,
        (workers, threads): (usize, usize),
        with: &AlignedWith,
    ) -> Result<Begun<'t>, AlignError> {
        let Some(transport) = transport else { return Ok(Begun::ToDo(None)) };
        let path = job.output.path.clone().ok_or_else(check::no_output)?;
        // Each file is open twice: for those who write it, and for who makes it safe.
        zerohop_process::allow_more_files();
        let tables = match open.iter().all(OpenLane::is_counted) {
            true => Some(counting::count(transport, open, cut, threads)?),
            false => None,
        };
        let identity = made_of::identity(transport, job, open, cut, (&tables, threads), with)?;
        let seen = made_of::ends(open.iter().flat_map(OpenLane::paths).chain(&with.files));
        let how = Begin::asked(job.ranks.resume, job.ranks.restart);
        let Some((owner, journal, finished)) = journal::begin(transport, &path, &identity, how, &seen)? else {
            return Ok(Begun::Complete);
        };
        let (paths, folder) = (output_files::all_paths(job), journal::folder(&path));
        let partials: Vec<PathBuf> = (1..=paths.len()).map(|i| folder.join(format!("output.{i}"))).collect();
        for partial in partials.iter().filter(|_| owner.is_some()) {
            let made = OpenOptions::new().create(true).append(true).open(partial);
            made.map_err(|error| cannot_write(partial, &error))?;
        }
        if owner.is_some() {
            journal::sync_folder(&folder)?;
        }
        transport.barrier().map_err(failed)?;
        let (kept, given_up) = match &job.output.sorting {
            Some(_) => {
                let (kept, given_up) = kept_runs::begin(transport, &folder, finished.done)?;
                (Some(kept), given_up)
            }
            None => (None, Vec::new()),
        };
        // What is sorted is written when all is aligned.
        let written_later = if kept.is_some() { job.output.shards } else { 0 };
        for (partial, &end) in partials.iter().zip(&finished.ends).skip(written_later) {
            journal::check_length(partial, end)?;
        }
        let reads = finished.tally.reads;
        if owner.is_some() && reads > 0 && !job.quiet {
            tell::note(&format!(
                "{}: {reads} reads were finished before; only the others are aligned",
                folder.display()
            ));
        }
        let beside = job.output.unaligned.as_ref().map_or(0, |unaligned| unaligned.paths().len());
        let grains = Grains::with_beside(job.output.shards, beside);
        let (workers, grains) = (workers as u64, Arc::new(grains));
        let output = Shared { partials, kept, ranks_here: share.ranks_here() };
        let multi_rank =
            MultiRank { transport, paths, output, given_up, owner, journal, finished, tables, cut, workers, grains };
        Ok(Begun::ToDo(Some(Box::new(multi_rank))))
    }

    /// The files, and how they are written until they are complete.
    pub fn output(&self) -> &Shared {
        &self.output
    }

    /// Of attempts before this one: from which chunk on their sorted records do not count.
    pub fn given_up(&self) -> &[u64] {
        &self.given_up
    }

    /// The chunks that were kept by any rank, in any attempt, when all are aligned: `chunks`, but for those that do not
    /// exist.
    ///
    /// # Errors
    /// Ranks that cannot go on together.
    pub fn kept_chunks(&self, chunks: u64) -> Result<impl Iterator<Item = u64> + Clone, AlignError> {
        let now = gather::values(self.transport, &self.grains.absent_chunks())?;
        let mut absent: Vec<u64> = now.into_iter().flatten().chain(self.finished.absent.iter().copied()).collect();
        absent.sort_unstable();
        Ok((0..chunks).filter(move |chunk| absent.binary_search(chunk).is_err()))
    }

    /// The way to the other ranks.
    pub fn transport(&self) -> &'t dyn Transport {
        self.transport
    }

    /// Our part of the input.
    pub fn grains(&self) -> Arc<Grains> {
        Arc::clone(&self.grains)
    }

    /// The most chunks that this rank takes at once.
    fn most(&self) -> u64 {
        (GRAIN_BASES / self.chunk_bases()).max(GRAIN_CHUNKS * self.workers).max(1)
    }

    fn chunk_bases(&self) -> u64 {
        self.cut.chunk_bases().max(LEAST_CHUNK_BASES)
    }

    /// Finished chunks that each committer may hold while other ranks are behind: two grains or more.
    pub fn held(&self) -> usize {
        let chunks = (HELD_BASES / self.chunk_bases()).max(2 * self.most());
        ((chunks / self.workers.max(1)) as usize + 1).max(zerohop_runtime::HELD_PER_WORKER)
    }

    /// The lanes, of which this rank deals what it takes.
    ///
    /// # Errors
    /// A file that has become unreadable.
    fn deal(&self, open: Vec<OpenLane>, max_read_bases: usize) -> Result<Vec<Lane>, AlignError> {
        let (shared, count) = (SharedInput::new(self.grains()), open.len() as u32);
        let (mut lanes, mut first) = (Vec::new(), 0);
        for (i, lane) in open.into_iter().enumerate() {
            let table = self.tables.as_ref().map(|tables| (Arc::clone(&tables[i]), first));
            first += table.as_ref().map_or(0, |(table, _)| table.chunks());
            let (place, workers) = ((i as u32, count), self.workers as usize);
            lanes.push(lane.deal_granted(place, self.cut, max_read_bases, workers, table, &shared)?);
        }
        Ok(lanes)
    }

    /// Runs `body`, which is to run the runtime, while this thread talks to the other ranks.
    ///
    /// # Errors
    /// What made the run fail, here or elsewhere.
    pub fn run(
        &mut self,
        body: impl FnOnce() -> Result<Outcome, Error> + Send,
    ) -> Result<(Outcome, Dealt), AlignError> {
        let first = self.finished.next;
        let dealing = Dealing {
            files: self.paths.len(),
            first,
            offsets: (first > 0).then(|| self.finished.ends.clone()),
            chunks: self.tables.as_ref().map(|tables| tables.iter().map(|table| table.chunks()).sum()),
            most: self.most(),
            ahead: self.workers,
        };
        let entered = match self.output.kept {
            Some(_) => Entered::All,
            None => Entered::BeforeTheEnd,
        };
        self.together(&dealing, &self.grains(), entered, body)
    }

    /// Deals parts of the output as chunks are dealt.
    fn run_parts(
        &mut self,
        parts: Parts,
        body: impl FnOnce(Option<&Grains>) -> Result<Merged, Error> + Send,
    ) -> Result<(Merged, Dealt), AlignError> {
        let Parts { count, row, workers } = parts;
        let (chunks, most, ahead) = (Some(count), ROWS_IN_GRAIN as u64 * row * workers, row * workers);
        let dealing = Dealing { files: 1, first: 0, offsets: None, chunks, most, ahead };
        let grains = Grains::new(1);
        self.together(&dealing, &grains, Entered::Nothing, || body(Some(&grains)))
    }

    /// Runs `body`, which does what `grains` are given, while this thread talks to the other ranks.
    fn together<R: Send>(
        &mut self,
        dealing: &Dealing,
        grains: &Grains,
        entered: Entered,
        body: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<(R, Dealt), AlignError> {
        let open = |path: &PathBuf| File::open(path).map_err(|error| cannot_write(path, &error));
        let files: Vec<File> = self.output.partials.iter().map(open).collect::<Result<_, _>>()?;
        let (journal, transport) = (&mut self.journal, self.transport);
        let (over, has_failed) = (AtomicBool::new(false), AtomicBool::new(false));
        let own = Work { grains, over: &over, failed: &has_failed };
        let body = || {
            // However this thread ends, it says so: else this rank would be dealt chunks for ever.
            let _over = AtEnd(|| {
                has_failed.fetch_or(std::thread::panicking(), Ordering::AcqRel);
                over.store(true, Ordering::Release);
            });
            body().inspect_err(|_| has_failed.store(true, Ordering::Release))
        };
        let stop = || {
            // Also where nobody holds anything and the work ends without noticing.
            has_failed.store(true, Ordering::Release);
            grains.close();
        };
        let (outcome, dealt, mut kept) = std::thread::scope(|scope| {
            let no_thread = |error: std::io::Error| {
                over.store(true, Ordering::Release);
                AlignError::Failed(format!("a thread cannot be started: {error}"))
            };
            let keeping = || keep(grains, (&mut *journal, entered), &files, &own).inspect_err(|_| stop());
            let keeper = Builder::new().name("journal".into()).spawn_scoped(scope, keeping).map_err(no_thread)?;
            let work = Builder::new().name("run".into()).spawn_scoped(scope, body).map_err(no_thread)?;
            // The other threads would wait for ever for what this one is dealt.
            let stopped = AtEnd(|| {
                if std::thread::panicking() {
                    stop();
                }
            });
            let dealt = deal(transport, dealing, &own).inspect_err(|_| grains.close());
            drop(stopped);
            let outcome = work.join().unwrap_or_else(|_| Err(Error::Internal("the thread of the run died".to_owned())));
            over.store(true, Ordering::Release);
            let kept = keeper.join().unwrap_or_else(|_| Err(std::io::Error::other("the thread that keeps it died")));
            Ok::<_, AlignError>((outcome, dealt, kept))
        })?;
        if entered == Entered::All && kept.is_ok() {
            // Others may have had us place grains after our own work was over.
            kept = enter(journal, grains.take_written());
        }
        kept.map_err(|error| cannot_write(self.journal.folder(), &error))?;
        match (outcome, dealt) {
            (Ok(outcome), Ok(dealt)) => Ok((outcome, dealt)),
            (Err(error), Ok(_) | Err(DealError::Local)) => Err(error.into()),
            // The run was only stopped because of it.
            (Err(Error::Stopped) | Ok(_), Err(error)) => Err(AlignError::Failed(error.to_string())),
            (Err(error), Err(_)) => Err(error.into()),
        }
    }

    /// Gathers what all ranks did, adds up what they counted, and gives the files their names; the first rank learns
    /// what all did. `sink` is this rank's way to the files, if it has one, and what stands for its header, if it has
    /// had records; `ends` is where the files end, as far as there was something to be written.
    ///
    /// # Errors
    /// Ranks with different headers, a file that cannot be written.
    pub fn finish(
        self,
        job: &Job,
        (sink, header): (Option<FileSink>, Option<String>),
        dealt: &Dealt,
        ends: Option<Vec<u64>>,
        (report, threads): (&mut RunReport, usize),
    ) -> Result<Option<Vec<RankSummary>>, AlignError> {
        let own = RankSummary {
            rank: self.transport.rank(),
            host: host(),
            workers: report.workers.len(),
            threads,
            grains: dealt.grains,
            tally: report.tally.clone(),
            wall: dealt.wall,
        };
        // Without records at all, the header is all there is; and the first rank knows the index.
        let sink = sink.filter(|_| ends.is_none() || self.owner.is_some());
        let own = serde_json::to_vec(&(&own, &header)).map_err(|error| AlignError::Failed(error.to_string()))?;
        // Nobody may have a file of the job open when it is cleared away.
        drop(self.journal);
        let all = self.transport.all_gather(&own).map_err(failed)?;
        let read = |text: &Vec<u8>| serde_json::from_slice::<(RankSummary, Option<String>)>(text);
        let all = all.iter().map(read).collect::<Result<Vec<_>, _>>();
        let all =
            all.map_err(|error| AlignError::Failed(format!("what a rank says of itself cannot be read: {error}")))?;
        let mut headers = all.iter().filter_map(|(_, header)| header.as_ref());
        let first = headers.next();
        if headers.any(|header| Some(header) != first) {
            let words = "the aligners of the ranks wrote different headers: do all read the same index?";
            return Err(AlignError::Failed(words.to_owned()));
        }
        report.tally = self.finished.tally.clone();
        all.iter().for_each(|(rank, _)| report.tally += &rank.tally);
        let Some(owner) = self.owner else { return Ok(None) };
        let mut ends = match (ends, &sink) {
            (Some(ends), _) => ends,
            (None, Some(sink)) => {
                sink.write_header()?;
                (0..sink.files()).map(|file| sink.start(file)).collect()
            }
            (None, None) => return Err(output_files::no_header(job)),
        };
        // Where there were no reads, nobody has begun the files beside the records.
        if let Some(sink) = &sink
            && ends.len() < self.output.partials.len()
        {
            sink.write_header_beside()?;
            ends.extend((ends.len()..self.output.partials.len()).map(|file| sink.start(file)));
        }
        report.bytes_out = Bytes(0);
        for ((partial, marker), end) in self.output.partials.iter().zip(output_files::end_markers(job)?).zip(ends) {
            report.bytes_out.0 += FileSink::end_shared(partial, marker, end)?;
        }
        let mut named: Vec<_> = self.output.partials.into_iter().zip(self.paths).collect();
        let index = sink.as_ref().and_then(|sink| Some((sink, sink.index_path()?)));
        let (paths, index_path) = (output_files::paths(job), index.as_ref().map(|(_, path)| path.as_path()));
        // Before: whatever happens from here on, no index of other records lies beside these.
        paths.iter().for_each(|path| remove_other_indexes(path, job.output.format(), index_path));
        // After the records: an index that is older is not trusted.
        if let Some((sink, path)) = index {
            let partial = journal::folder(&named[0].1).join("output.index");
            zerohop_process::write(&partial, &sink.index_bytes()?)?;
            named.push((partial, path));
        }
        drop(sink);
        owner.complete(&named)?;
        Ok(Some(all.into_iter().map(|(rank, _)| rank).collect()))
    }

    /// What the user should know of what was finished before, and of the input.
    pub fn note(&self) -> Vec<String> {
        let reads = self.finished.tally.reads;
        let before = (reads > 0).then(|| format!("{reads} reads were finished before, and were not aligned again."));
        let is_slow = self.tables.is_none() && self.transport.size() > 1;
        let slow = is_slow.then(|| {
            "Reads in plain gzip, FASTA, SAM, CRAM or interleaved files can only be read from front to back: every \
             rank read all of them. Compress them with bgzip, mates in two files, or make BAM of them ('samtools view \
             -b'), and every rank reads its own part alone."
                .to_owned()
        });
        before.into_iter().chain(slow).collect()
    }
}

/// Refuses what [`MultiRank::begin`] would refuse for the options of `job` alone: before the index is loaded and the
/// reads are counted.
///
/// # Errors
/// Another job's progress; none, where some was to be taken up.
pub fn check_options(transport: &dyn Transport, job: &Job) -> Result<(), AlignError> {
    let Some(path) = job.output.path.as_ref().filter(|_| transport.rank() == 0) else { return Ok(()) };
    let how = Begin::asked(job.ranks.resume, job.ranks.restart);
    Ok(journal::check_options(path, &crate::identity::of_options(job), how)?)
}

/// The lanes of a run, of which a rank deals what it takes, and one process all.
///
/// # Errors
/// A file that has become unreadable.
pub fn deal_lanes(
    multi_rank: Option<&MultiRank<'_>>,
    open: Vec<OpenLane>,
    cut: Cut,
    max_read_bases: usize,
    workers: usize,
) -> Result<Vec<Lane>, AlignError> {
    if let Some(multi_rank) = multi_rank {
        return multi_rank.deal(open, max_read_bases);
    }
    let deal = |(i, lane): (usize, OpenLane)| Ok(lane.deal(i as u32, cut, max_read_bases, workers)?);
    open.into_iter().enumerate().map(deal).collect()
}

/// What came of a run; and of this rank's part in it, if there are ranks.
pub type Came = (Outcome, Option<Dealt>);

/// Runs the runtime, over ranks or not; the first rank shows how far it is.
///
/// # Errors
/// What made it fail.
pub fn run(
    multi_rank: Option<&mut MultiRank<'_>>,
    shown: bool,
    progress: &Progress,
    body: impl FnOnce() -> Result<Outcome, Error> + Send,
) -> Result<Came, AlignError> {
    let shown = shown && multi_rank.as_ref().is_none_or(|multi_rank| multi_rank.transport.rank() == 0);
    let body = || progress::shown(shown, progress, body);
    match multi_rank {
        Some(multi_rank) => multi_rank.run(body).map(|(outcome, dealt)| (outcome, Some(dealt))),
        None => Ok((body()?, None)),
    }
}

/// The parts of a merge, and how they are made.
pub struct Parts {
    count: u64,
    /// How many one worker makes in a row.
    row: u64,
    workers: u64,
}

impl Parts {
    /// These, made by so many workers.
    pub fn of(parts: &SortedParts<'_>, workers: usize) -> Self {
        Parts { count: parts.count() as u64, row: parts.in_a_row() as u64, workers: workers as u64 }
    }
}

/// Makes and writes the parts of a merge, over ranks or not; the first rank shows how far it is. `body` gets the parts
/// that are this rank's, if there are ranks; then it is given where the files end, too.
///
/// # Errors
/// What made it fail.
pub fn run_parts(
    multi_rank: Option<&mut MultiRank<'_>>,
    (shown, progress): (bool, &Progress),
    parts: Parts,
    body: impl FnOnce(Option<&Grains>) -> Result<Merged, Error> + Send,
) -> Result<(Merged, Option<Vec<u64>>), AlignError> {
    let shown = shown && multi_rank.as_ref().is_none_or(|multi_rank| multi_rank.transport.rank() == 0);
    let body = |grains: Option<&Grains>| progress::shown(shown, progress, || body(grains));
    match multi_rank {
        Some(multi_rank) => multi_rank.run_parts(parts, body).map(|(merged, dealt)| (merged, dealt.ends)),
        None => Ok((body(None)?, None)),
    }
}

fn failed(error: impl std::fmt::Display) -> AlignError {
    AlignError::Failed(error.to_string())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> AlignError {
    AlignError::Failed(format!("{}: cannot be written: {error}", path.display()))
}

/// What is entered into the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entered {
    /// What is written before the run is over: after a run that went well the whole is complete.
    BeforeTheEnd,
    /// All: what was collected is merged then.
    All,
    /// Nothing: a merge that was interrupted is begun again.
    Nothing,
}

/// What is written is made safe, and then entered, until this rank's work is over. In the end it is made safe in any
/// case, and so learned if it cannot be: some disks say only then that they are full.
fn keep(
    grains: &Grains,
    (journal, entered): (&mut Journal, Entered),
    files: &[File],
    work: &Work<'_>,
) -> std::io::Result<()> {
    loop {
        let started = Instant::now();
        while started.elapsed() < SAFE && work.going() == Going::On {
            std::thread::sleep(LOOK);
        }
        let going = work.going();
        let written = grains.take_written();
        if going == Going::Done || entered != Entered::Nothing && !written.is_empty() {
            files.iter().try_for_each(File::sync_data)?;
        }
        let is_entered = entered == Entered::All || entered == Entered::BeforeTheEnd && going != Going::Done;
        if is_entered && !written.is_empty() {
            enter(journal, written)?;
        }
        if going != Going::On {
            return Ok(());
        }
    }
}

fn enter(journal: &mut Journal, written: Vec<Written>) -> std::io::Result<()> {
    let entry = |Written { chunks, done, absent, offsets, bytes, tally }: Written| Entry {
        batch: chunks.start,
        count: chunks.end - chunks.start,
        done: Some(done).filter(|done| *done > chunks.end),
        absent,
        offsets,
        bytes,
        tally: Some(tally),
    };
    journal.enter(&written.into_iter().map(entry).collect::<Vec<_>>())
}

/// This rank's own work, for who deals.
struct Work<'a> {
    grains: &'a Grains,
    over: &'a AtomicBool,
    failed: &'a AtomicBool,
}

impl Local for Work<'_> {
    fn ahead(&self) -> u64 {
        self.grains.ahead()
    }

    fn give(&self, chunks: Range<u64>) {
        self.grains.give(chunks);
    }

    fn end(&self) {
        self.grains.end();
    }

    fn take_complete(&self) -> Vec<Complete> {
        self.grains.take_complete()
    }

    fn place(&self, chunk: u64, offsets: &[u64]) {
        self.grains.place(chunk, offsets);
    }

    fn input_end(&self) -> Option<u64> {
        self.grains.input_end()
    }

    fn going(&self) -> Going {
        match (self.over.load(Ordering::Acquire), self.failed.load(Ordering::Acquire)) {
            (true, true) => Going::Failed,
            (true, false) => Going::Done,
            (false, _) => Going::On,
        }
    }
}

#[cfg(test)]
mod tests;
