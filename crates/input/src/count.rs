//! Counting a lane in parallel: every rank looks at its share of each file, a stretch at a time, and keeps the bases of
//! each record and nothing else; one rank adds that up in the order of the input and finds where chunks begin
//! ([`Table`]).
//!
//! Reads are mostly of one length, so the bases of a stretch's records are kept as runs: a few bytes. Where they are
//! not, they are two bytes a record ([`RecordRuns`]), on the rank that counts it and on the one that adds up.

use crate::barcodes::Barcodes;
use crate::compact::{CompactReader, Writer};
use crate::content::StretchStart;
use crate::cutter::UnitPlace;
use crate::regular::{Front, Regular, Stretch};
use crate::runs::{RecordRun, RecordRuns};
use crate::segment::RecordMarks;
use crate::table::{Before, ChunkStart, Table};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};
use zerohop_model::engine::Cut;
use zerohop_model::error::InputError;

/// What was counted of a stretch, before it is known what lies before it.
#[derive(Debug, Clone, PartialEq)]
struct Count {
    guess: StretchStart,
    after: StretchStart,
    /// Of BAM: what stands for the name of the first read ([`Marked::opening`](crate::content::Marked)).
    opening: u64,
    /// Offsets in the file of the first byte that was read, and of the first one behind.
    range: (u64, u64),
    /// Reads that begin in it.
    reads: u64,
    /// Bytes of text.
    text: u64,
    /// Bases before the first record that begins here; all of them if none does.
    open: u64,
    /// The records that begin here; of the last one only what lies here.
    runs: Vec<RecordRun>,
    /// How many of them begin where only line ends follow, and whether there is nothing else here: at the end of a file
    /// they are none.
    blank: u64,
    is_blank: bool,
    /// Stands for the text, with names and qualities.
    digest: u64,
}

impl Count {
    fn new(stretch: &Stretch) -> Self {
        let RecordMarks { starts, bases_before, bases, .. } = &stretch.marked.marks;
        let ends = bases_before.iter().skip(1).chain(std::iter::once(bases));
        let mut runs = Vec::new();
        for (start, end) in bases_before.iter().zip(ends).take(starts.len()) {
            push(&mut runs, RecordRun { bases: u64::from(end - start), records: 1 });
        }
        let is_text = matches!(stretch.guess, StretchStart::Lines(_));
        let is_empty_line = |b: &u8| is_text && matches!(b, b'\n' | b'\r');
        let text_end = stretch.text.iter().rposition(|b| !is_empty_line(b)).map_or(0, |last| last + 1);
        Count {
            guess: stretch.guess,
            after: stretch.marked.after,
            opening: stretch.marked.opening,
            range: stretch.range,
            reads: u64::from(stretch.marked.marks.records),
            text: stretch.text.len() as u64,
            open: u64::from(bases_before.first().copied().unwrap_or(*bases)),
            runs,
            blank: starts.iter().rev().take_while(|&&start| start as usize >= text_end).count() as u64,
            is_blank: text_end == 0,
            digest: xxh3_64(&stretch.text),
        }
    }

    fn write(&self, out: &mut Writer) {
        let (start, end) = self.range;
        self.guess.put(out);
        self.after.put(out);
        let sizes = [start, end - start, self.text, self.open, self.blank, u64::from(self.is_blank)];
        sizes.into_iter().chain([self.opening, self.reads, self.digest]).for_each(|number| out.put(number));
        out.put(self.runs.len() as u64);
        self.runs.iter().for_each(|run| run.put(out));
    }

    fn read(from: &mut CompactReader<'_>) -> Option<Self> {
        let (guess, after) = (StretchStart::take(from)?, StretchStart::take(from)?);
        let [start, length, text, open] = [from.take()?, from.take()?, from.take()?, from.take()?];
        let (blank, is_blank) = (from.take()?, from.take()? == 1);
        let [opening, reads, digest, runs] = [from.take()?, from.take()?, from.take()?, from.take()?];
        let runs = (0..runs).map(|_| RecordRun::take(from)).collect::<Option<_>>()?;
        Some(Count {
            guess,
            after,
            opening,
            range: (start, start.checked_add(length)?),
            reads,
            text,
            open,
            runs,
            blank,
            is_blank,
            digest,
        })
    }

    /// Makes good that it was counted as if it started in another state, if that can be done without its text.
    fn correct(mut self, state: StretchStart) -> Option<Self> {
        if self.guess == state {
            return Some(self);
        }
        let open = self.guess.goes_on_with(state)?;
        match self.runs.first_mut() {
            None => self.after = self.after.with_open(open),
            // Its first read goes on with the fragment before.
            Some(first) if open != 0 && open == self.opening => {
                first.records -= 1;
                self.open += first.bases;
                self.runs.retain(|run| run.records > 0);
            }
            Some(_) => {}
        }
        Some(self)
    }
}

/// Adds to a list of runs.
fn push(runs: &mut Vec<RecordRun>, run: RecordRun) {
    match runs.last_mut() {
        Some(last) if last.bases == run.bases => last.records += run.records,
        _ => runs.push(run),
    }
}

/// Counts the share of `rank` of `ranks` in each of `files`, with so many threads. A stretch that cannot be read is
/// left to whoever adds up: it may have been tried from a wrong place.
pub(crate) fn count(files: &[Regular], rank: usize, ranks: usize, threads: usize) -> Vec<u8> {
    let mut out = Writer::default();
    for file in files {
        let (share, done) = (share(file, rank, ranks), Mutex::new(Vec::new()));
        let next = AtomicU64::new(share.start);
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(|| {
                    let mut text = Vec::new();
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= share.end {
                            return;
                        }
                        let counted = match file.survey(index, None, std::mem::take(&mut text)) {
                            Ok(stretch) => {
                                let counted = Count::new(&stretch);
                                text = stretch.text;
                                written(Some(&counted))
                            }
                            Err(_) => written(None),
                        };
                        done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((index, counted));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        done.sort_unstable_by_key(|(index, _)| *index);
        out.bytes.reserve_exact(done.iter().map(|(_, counted)| counted.len()).sum());
        done.into_iter().for_each(|(_, counted)| out.bytes.extend_from_slice(&counted));
    }
    out.bytes
}

/// What the other ranks get of a stretch: whether it was counted, and its counts.
fn written(counted: Option<&Count>) -> Vec<u8> {
    let mut out = Writer::default();
    out.put(u64::from(counted.is_some()));
    counted.into_iter().for_each(|counted| counted.write(&mut out));
    // There are many, and they are kept.
    out.bytes.shrink_to_fit();
    out.bytes
}

/// The stretches of a file that a rank counts.
fn share(file: &Regular, rank: usize, ranks: usize) -> Range<u64> {
    let at = |rank: usize| (u128::from(file.stretches()) * rank as u128 / ranks as u128) as u64;
    at(rank)..at(rank + 1)
}

/// Adds up what all ranks have counted.
///
/// # Errors
/// A stretch that cannot be read.
pub(crate) fn add_up(
    files: &[Regular],
    counts: &[Vec<u8>],
    cut: Cut,
    first: Option<u64>,
    barcodes: &Barcodes,
) -> Result<Table, InputError> {
    let mut readers: Vec<CompactReader<'_>> = counts.iter().map(|bytes| CompactReader { bytes }).collect();
    let (mut starts, mut lengths, mut contents) = (Vec::new(), Vec::new(), Vec::new());
    let first = first.unwrap_or(u64::MAX);
    let mut fragments = first;
    for file in files {
        let mut sum = Sum::new(file);
        for (rank, from) in readers.iter_mut().enumerate() {
            for index in share(file, rank, counts.len()) {
                // Bytes that are no counts are as good as none: then it is counted here.
                let counted = from.take().filter(|&is_there| is_there == 1).and_then(|_| Count::read(from));
                sum.add(file, index, counted)?;
            }
        }
        contents.push(sum.content.digest());
        fragments = fragments.min(sum.place.record.saturating_sub(sum.blank));
        let (before, runs) = sum.end();
        starts.push(before);
        lengths.push(runs);
    }
    let reads_per_fragment: u64 = files.iter().map(Regular::reads_per_fragment).sum();
    let reads = if files.is_empty() { 0 } else { fragments * reads_per_fragment };
    let chunks = chunks(&lengths, cut, first, barcodes);
    Ok(Table { files: starts, chunks, raw: None, reads, reads_per_fragment, contents })
}

/// What was added up of a file.
struct Sum {
    front: Front,
    place: UnitPlace,
    reads: u64,
    starts: Vec<Before>,
    /// All records so far but the last one, which may go on.
    runs: RecordRuns,
    open: Option<u64>,
    /// Records behind the last byte so far that is no line end.
    blank: u64,
    /// Of the digests of all stretches.
    content: Xxh3,
}

impl Sum {
    fn new(file: &Regular) -> Self {
        let (front, place, content) = (file.start(), UnitPlace::default(), Xxh3::new());
        Sum { front, place, reads: 0, starts: Vec::new(), runs: RecordRuns::default(), open: None, blank: 0, content }
    }

    fn add(&mut self, file: &Regular, index: u64, counted: Option<Count>) -> Result<(), InputError> {
        let is_right = |counted: &Count| file.is_read_right(index, &self.front, counted.range.0);
        let counted = match counted.filter(is_right).and_then(|counted| counted.correct(self.front.state)) {
            Some(counted) => counted,
            None => Count::new(&file.survey(index, Some(self.front), Vec::new())?),
        };
        self.content.update(&counted.digest.to_le_bytes());
        self.starts.push(Before { front: self.front, place: self.place, reads: self.reads });
        self.reads += counted.reads;
        self.front = Front { state: counted.after, block: counted.range.1 };
        let records: u64 = counted.runs.iter().map(|run| run.records).sum();
        let bases: u64 = counted.runs.iter().map(|run| run.records * run.bases).sum();
        self.blank = if counted.is_blank { self.blank } else { 0 } + counted.blank;
        self.place.record += records;
        self.place.bases += counted.open + bases;
        self.place.byte += counted.text;
        // Bases before the first record of a file would be no record's: the cutter finds that out.
        self.open = self.open.map(|open| open + counted.open);
        let mut runs = counted.runs;
        let Some(last) = runs.last_mut() else { return Ok(()) };
        // The last record that begins here may go on in the next stretch.
        let open = last.bases;
        last.records -= 1;
        if let Some(bases) = self.open.replace(open) {
            self.runs.push(RecordRun { bases, records: 1 });
        }
        runs.into_iter().filter(|run| run.records > 0).for_each(|run| self.runs.push(run));
        Ok(())
    }

    /// The records of the whole file.
    fn end(mut self) -> (Vec<Before>, RecordRuns) {
        if let Some(bases) = self.open {
            self.runs.push(RecordRun { bases, records: 1 });
        }
        (self.starts, self.runs)
    }
}

/// Where all chunks begin, from the bases of the records of one file, or of two in step. Where two files do not end
/// together there is a chunk more, in which that is found.
pub(crate) fn chunks(files: &[RecordRuns], cut: Cut, first: u64, barcodes: &Barcodes) -> Vec<ChunkStart> {
    let mut left: Vec<_> = files.iter().map(|runs| runs.iter().peekable()).collect();
    let (mut chunks, mut next_start, mut bases) = (Vec::new(), ChunkStart::default(), 0);
    // Of the open cohort, in the pieces before.
    let mut cohort_bases = 0;
    let (mut is_open, mut fragment) = (false, 0);
    while fragment < first {
        let next: Vec<Option<RecordRun>> = left.iter_mut().map(|runs| runs.peek().copied()).collect();
        let Some(runs) = next.iter().copied().collect::<Option<Vec<RecordRun>>>().filter(|runs| !runs.is_empty())
        else {
            if !is_open && next.iter().any(Option::is_some) {
                chunks.push(next_start);
            }
            break;
        };
        if !is_open {
            chunks.push(next_start);
            bases = 0;
        }
        let closes_at = cut.next_chunk_closes_at(cohort_bases);
        let bases_of = |(file, run): (usize, &RecordRun)| barcodes.template_bases(file, run.bases, 1);
        let each: u64 = runs.iter().enumerate().map(bases_of).sum();
        let alike = runs.iter().map(|run| run.records).min().unwrap_or(0).min(first - fragment);
        // As many of these as the chunk takes.
        let taken =
            (closes_at - bases).checked_div(each).map_or(alike, |_| (closes_at - bases).div_ceil(each).min(alike));
        (fragment, bases) = (fragment + taken, bases + taken * each);
        is_open = bases < closes_at;
        if !is_open {
            let ChunkStart { cohort, piece, .. } = next_start;
            cohort_bases += bases;
            next_start = match cohort_bases < cut.closes_at_bases {
                true => ChunkStart { fragment, cohort, piece: piece + 1 },
                false => ChunkStart { fragment, cohort: cohort + 1, piece: 0 },
            };
            if next_start.piece == 0 {
                cohort_bases = 0;
            }
        }
        for runs in &mut left {
            if let Some(run) = runs.peek_mut() {
                run.records -= taken;
                if run.records == 0 {
                    runs.next();
                }
            }
        }
    }
    chunks
}
