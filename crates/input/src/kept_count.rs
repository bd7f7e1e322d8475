//! Counting what stays of a lane that is dealt again: every rank reduces its share of the raw chunks, and keeps the
//! bases of each fragment that stays; one rank finds where chunks of these begin.

use crate::compact::{CompactReader, Writer};
use crate::count::chunks;
use crate::cutter::Cutting;
use crate::granted::survey;
use crate::regular::Regular;
use crate::runs::{RecordRun, RecordRuns};
use crate::saved::PlacedParts;
use crate::table::{ChunkStart, RawChunks, Table};
use crate::trimmed::{Piece, Reducer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::Cut;
use zerohop_model::error::Error;
use zerohop_model::source::{Claim, Claimed};

/// What was counted of the raw chunks of a rank, in their order.
struct Counted<'r> {
    reducer: &'r Reducer,
    /// Those that came too early; none of a raw chunk with a fault, behind which nothing counts.
    waiting: BTreeMap<u64, Option<(Piece, Vec<RecordRun>)>>,
    next: u64,
    is_faulty: bool,
    out: Writer,
}

impl Counted<'_> {
    /// Adds a piece; false if nothing more counts. Gives parts of saved reads that are to be written.
    fn add(&mut self, number: u64, piece: Option<(Piece, Vec<RecordRun>)>) -> (bool, PlacedParts) {
        let mut placed = Vec::new();
        self.waiting.insert(number, piece);
        while !self.is_faulty
            && let Some(piece) = self.waiting.remove(&self.next)
        {
            self.next += 1;
            let Some((mut piece, runs)) = piece else {
                self.is_faulty = true;
                self.out.put(0);
                break;
            };
            self.reducer.take_counts(&mut piece, &mut placed);
            self.out.put(runs.len() as u64 + 1);
            runs.into_iter().for_each(|run| run.put(&mut self.out));
        }
        (!self.is_faulty, placed)
    }
}

/// The bases of the fragments of a piece, those of both mates together.
fn runs(piece: &Piece) -> Vec<RecordRun> {
    let mut all: Vec<u64> = vec![0; piece.segments.first().map_or(0, |segment| segment.marks.starts.len())];
    for segment in &piece.segments {
        let ends = segment.marks.bases_before.iter().skip(1).chain(std::iter::once(&segment.marks.bases));
        let each = segment.marks.bases_before.iter().zip(ends).map(|(start, end)| u64::from(end - start));
        all.iter_mut().zip(each).for_each(|(bases, of_mate)| *bases += of_mate);
    }
    let mut runs: Vec<RecordRun> = Vec::new();
    for bases in all {
        match runs.last_mut() {
            Some(last) if last.bases == bases => last.records += 1,
            _ => runs.push(RecordRun { bases, records: 1 }),
        }
    }
    runs
}

/// The raw chunks that a rank counts.
fn share(table: &Table, rank: usize, ranks: usize) -> Range<u64> {
    let at = |rank: usize| (u128::from(table.chunks()) * rank as u128 / ranks as u128) as u64;
    at(rank)..at(rank + 1)
}

/// Counts the share of one of so many ranks, with so many threads.
///
/// # Errors
/// What is no fault of the input.
pub(crate) fn count(
    (files, cutting): (&[Arc<Regular>], &Cutting),
    table: &Arc<Table>,
    reducer: &Reducer,
    (rank, ranks): (usize, usize),
    threads: usize,
) -> Result<Vec<u8>, Error> {
    let share = share(table, rank, ranks);
    let counted =
        Counted { reducer, waiting: BTreeMap::new(), next: share.start, is_faulty: false, out: Writer::default() };
    if share.is_empty() {
        return Ok(counted.out.bytes);
    }
    let (survey, counted) = (survey(files, cutting, (table, &table.chunks), &share, threads), Mutex::new(counted));
    let work = || -> Result<(), Error> {
        let mut chunk = Chunk::default();
        loop {
            let claimed = survey.claim(&mut chunk);
            let number = chunk.ticket.number;
            let reduced = match claimed {
                Ok(Claimed::Chunk) => reducer.reduce(&mut chunk),
                Ok(Claimed::NotYet) => {
                    std::thread::yield_now();
                    continue;
                }
                Ok(Claimed::End { .. }) => return Ok(()),
                Err(error) => Err(error),
            };
            let piece = match reduced {
                Ok(mut piece) => {
                    let runs = runs(&piece);
                    piece.forget_text();
                    Some((piece, runs))
                }
                Err(Error::Input(_)) => None,
                Err(error) => return Err(error),
            };
            let is_faulty = piece.is_none();
            let (goes_on, placed) = counted.lock().unwrap_or_else(PoisonError::into_inner).add(number, piece);
            reducer.write(placed)?;
            if !goes_on || is_faulty {
                return Ok(());
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let died = |_| Err(Error::Internal("a thread that counts reads died".to_owned()));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(died))
    })?;
    Ok(counted.into_inner().unwrap_or_else(PoisonError::into_inner).out.bytes)
}

impl Table {
    /// With the chunks of what stays, from what all ranks have counted of the raw ones ([`OpenLane::count_kept`]).
    ///
    /// [`OpenLane::count_kept`]: crate::OpenLane::count_kept
    pub fn with_kept(self, counts: &[Vec<u8>], cut: Cut) -> Self {
        let (mut all, mut kept_before, mut kept, mut is_faulty) = (RecordRuns::default(), Vec::new(), 0, false);
        for (rank, bytes) in counts.iter().enumerate() {
            let mut from = CompactReader { bytes };
            for _ in share(&self, rank, counts.len()) {
                // Behind a fault nothing counts.
                if is_faulty {
                    break;
                }
                kept_before.push(kept);
                // Behind the last chunk that there is nothing was counted.
                let Some(runs) = from.take() else { continue };
                is_faulty = runs == 0;
                for _ in 1..runs {
                    let Some(run) = RecordRun::take(&mut from) else { break };
                    kept += run.records;
                    all.push(run);
                }
            }
        }
        let mut chunks = chunks(&[all], cut, u64::MAX, &Default::default());
        if is_faulty {
            // Who deals it finds the fault.
            let cohort = chunks.last().map_or(0, |last| last.cohort + 1);
            chunks.push(ChunkStart { fragment: kept, cohort, piece: 0 });
        }
        let mut starts = self.chunks;
        starts.truncate(kept_before.len());
        let raw = RawChunks { starts, kept_before };
        Table { chunks, raw: Some(raw), reads: kept * self.reads_per_fragment, ..self }
    }
}
