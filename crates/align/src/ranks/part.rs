//! What this rank does of a job: its part of the chunks, of the merge, and of what all learn in the end.

use super::together::EnteredWhen;
use super::{finish, gather, kept_runs};
use crate::finish::WrittenFiles;
use crate::job::{AlignError, Job};
use crate::open::output::{self, SharedOutput};
use crate::run::{MergeBody, PartsToMake, RunBody, RunPart};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use zerohop_input::{OpenLane, Shared as SharedInput, Table};
use zerohop_model::engine::Cut;
use zerohop_model::measurement::{RunReport, SortReport};
use zerohop_model::source::Lane;
use zerohop_model::thousands::grouped;
use zerohop_output::{DuplicateCounts, FileSink, MadePart, Marks};
use zerohop_ranks::deal::{Dealing, Dealt};
use zerohop_ranks::journal::{Finished, Journal, Owner};
use zerohop_ranks::{Transport, values};
use zerohop_report::RankSummary;
use zerohop_runtime::{Grains, Merged, Outcome, ROWS_IN_GRAIN};

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
/// What this rank does of a job that was begun.
pub struct RankPart<'t> {
    pub(super) transport: &'t dyn Transport,
    /// The files of records, and how they are written until they are complete.
    pub(super) paths: Vec<PathBuf>,
    pub(super) output: SharedOutput,
    /// Of attempts before this one: from which chunk on their sorted records do not count.
    pub(super) given_up: Vec<u64>,
    pub(super) owner: Option<Owner>,
    pub(super) journal: Journal,
    pub(super) finished: Finished,
    /// Where the chunks of each lane begin; nothing is known of inputs that must be read from front to back.
    pub(super) tables: Option<Vec<Arc<Table>>>,
    pub(super) cut: Cut,
    pub(super) workers: u64,
    pub(super) grains: Arc<Grains>,
    /// What was dealt, once all is aligned.
    pub(super) dealt: Option<Dealt>,
}

impl RankPart<'_> {
    /// The chunks that were kept by any rank, in any attempt, when all are aligned: `chunks`, but for those that do not
    /// exist.
    ///
    /// # Errors
    /// Ranks that cannot go on together.
    fn kept_chunks(&self, chunks: u64) -> Result<impl Iterator<Item = u64> + Clone, AlignError> {
        let now = values(self.transport, &self.grains.absent_chunks())?;
        let mut absent: Vec<u64> = now.into_iter().flatten().chain(self.finished.absent.iter().copied()).collect();
        absent.sort_unstable();
        Ok((0..chunks).filter(move |chunk| absent.binary_search(chunk).is_err()))
    }

    /// The most chunks that this rank takes at once.
    fn most(&self) -> u64 {
        (GRAIN_BASES / self.chunk_bases()).max(GRAIN_CHUNKS * self.workers).max(1)
    }

    fn chunk_bases(&self) -> u64 {
        self.cut.chunk_bases().max(LEAST_CHUNK_BASES)
    }

    /// What was dealt to all ranks.
    pub(super) fn dealt(&self) -> Result<&Dealt, AlignError> {
        let not_run = || AlignError::Failed("the run was not dealt to the ranks: please report this".to_owned());
        self.dealt.as_ref().ok_or_else(not_run)
    }
}

impl RunPart for RankPart<'_> {
    fn shows_progress(&self) -> bool {
        self.transport.rank() == 0
    }

    fn deal(&self, open: Vec<OpenLane>, _: Cut, max_read_bases: usize, _: usize) -> Result<Vec<Lane>, AlignError> {
        let grains: Arc<Grains> = Arc::clone(&self.grains);
        let (shared, count) = (SharedInput::new(grains), open.len() as u32);
        let (mut lanes, mut first) = (Vec::new(), 0);
        for (i, lane) in open.into_iter().enumerate() {
            let table = self.tables.as_ref().map(|tables| (Arc::clone(&tables[i]), first));
            first += table.as_ref().map_or(0, |(table, _)| table.chunks());
            let (place, workers) = ((i as u32, count), self.workers as usize);
            lanes.push(lane.deal_granted(place, self.cut, max_read_bases, workers, table, &shared)?);
        }
        Ok(lanes)
    }

    fn output(&self) -> Option<&SharedOutput> {
        Some(&self.output)
    }

    fn grains(&self) -> Option<Arc<Grains>> {
        Some(Arc::clone(&self.grains))
    }

    /// Two grains or more, while other ranks are behind.
    fn held(&self) -> usize {
        let chunks = (HELD_BASES / self.chunk_bases()).max(2 * self.most());
        ((chunks / self.workers.max(1)) as usize + 1).max(zerohop_runtime::HELD_PER_WORKER)
    }

    fn run(&mut self, body: RunBody<'_>) -> Result<Outcome, AlignError> {
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
            Some(_) => EnteredWhen::All,
            None => EnteredWhen::BeforeTheEnd,
        };
        let grains = Arc::clone(&self.grains);
        let (outcome, dealt) = self.together(&dealing, &grains, entered, body)?;
        self.dealt = Some(dealt);
        Ok(outcome)
    }

    /// What all ranks have kept, in all attempts, with the header that one of them has kept.
    fn collected(&mut self, job: &Job, own: Option<FileSink>) -> Result<FileSink, AlignError> {
        drop(own);
        let (_, header) = self.output.kept.as_ref().ok_or_else(|| output::no_header(job))?;
        let header = kept_runs::header(self.transport, header)?.ok_or_else(|| output::no_header(job))?;
        let sink = output::open(job, header, Some(&self.output))?;
        // Each rank and attempt has left a file or two.
        zerohop_process::allow_more_files();
        sink.take_up(&self.given_up, self.kept_chunks(self.dealt()?.chunks)?)?;
        Ok(sink)
    }

    fn own(&self, count: usize) -> Range<usize> {
        gather::share(count, self.transport.rank(), self.transport.size())
    }

    fn found(&self, own: DuplicateCounts, marks: &Marks) -> Result<Vec<DuplicateCounts>, AlignError> {
        let all = values(self.transport, &own)?;
        gather::marks(self.transport, marks)?;
        Ok(all)
    }

    /// Deals the parts as chunks are dealt.
    fn merge(&mut self, parts: PartsToMake, body: MergeBody<'_>) -> Result<Merged, AlignError> {
        let PartsToMake { count, row, workers } = parts;
        let (chunks, most, ahead) = (Some(count), ROWS_IN_GRAIN as u64 * row * workers, row * workers);
        let dealing = Dealing { files: 1, first: 0, offsets: None, chunks, most, ahead };
        let grains = Grains::new(1);
        let (mut merged, dealt) = self.together(&dealing, &grains, EnteredWhen::Nothing, || body(Some(&grains)))?;
        merged.lengths = dealt.ends.unwrap_or(merged.lengths);
        Ok(merged)
    }

    /// The parts of all ranks, on the first, and the times of the workers of all; what they spilled every rank knows.
    fn gather(&self, made: Vec<MadePart>, own: SortReport) -> Result<(Vec<MadePart>, SortReport), AlignError> {
        let made = gather::values_at_first(self.transport, &made)?.into_iter().flatten().collect();
        let all: Vec<(Duration, Duration)> = values(self.transport, &(own.making, own.writing))?;
        let sum = |time: fn(&(Duration, Duration)) -> Duration| all.iter().map(time).sum();
        Ok((made, SortReport { making: sum(|times| times.0), writing: sum(|times| times.1), ..own }))
    }

    fn place(&self) -> (usize, usize) {
        (self.transport.rank(), self.transport.size())
    }

    fn at_first(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, AlignError> {
        gather::at_first(self.transport, own)
    }

    /// What was finished before, and what of the input makes it slow.
    fn notes(&self) -> Vec<String> {
        let reads = self.finished.tally.reads;
        let before =
            (reads > 0).then(|| format!("{} reads were finished before, and were not aligned again.", grouped(reads)));
        let is_slow = self.tables.is_none() && self.transport.size() > 1;
        let slow = is_slow.then(|| {
            "Reads in plain gzip, FASTA, SAM, CRAM or interleaved files can only be read from front to back: every \
             rank read all of them. Compress them with bgzip, mates in two files, or make BAM of them ('samtools view \
             -b'), and every rank reads its own part alone."
                .to_owned()
        });
        before.into_iter().chain(slow).collect()
    }

    fn finish(
        self: Box<Self>,
        job: &Job,
        written: WrittenFiles,
        report: &mut RunReport,
        threads: usize,
    ) -> Result<Option<Vec<RankSummary>>, AlignError> {
        finish::finish(*self, job, written, report, threads)
    }
}
