//! What one of several processes does of an input that all of them align: runs of chunks (*grains*) that it was given,
//! and where their records go in the output that all of them write: one file, or chunk after chunk in turn to some; and
//! where in files beside these, if there are some, to each of which every chunk adds something of its own.
//!
//! - Who deals asks which chunks are ours ([`Grant`]).
//! - Who commits says how long each chunk's records are, and learns where they go: behind those of the chunks before it
//!   in the grain and the same file, once it is known where the grain goes. What goes beside them likewise.
//! - Who talks to the other processes gives grains ([`Grains::give`]), is told of complete ones
//!   ([`Grains::take_complete`]), says where they go ([`Grains::place`]), and is told which are written
//!   ([`Grains::take_written`]).
//!
//! A cohort in pieces is whole: it is done with the grain that its first piece is of. So a grain may end behind the
//! chunks that were given, and begin later.
//!
//! A mutex around a few numbers per chunk; nobody reads, maps or writes under it.

use crate::gate::Closed;
use crate::sync::{Condvar, Mutex, lock, wait};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::source::{Complete, Grant, Granted};

/// A grain whose records are all written.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The chunks, as they were given.
    pub chunks: Range<u64>,
    /// Where the last cohort ends that begins in them: behind them, or with them.
    pub done: u64,
    /// Chunks of it that do not exist, because the input ended.
    pub absent: Vec<u64>,
    /// Where what they add begins in each file; those beside the records are the last.
    pub offsets: Vec<u64>,
    /// Bytes of it in each file.
    pub bytes: Vec<u64>,
    /// Counts of their reads.
    pub tally: Tally,
}

/// What a chunk adds to the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkPart {
    /// Records, to one of the files that these are dealt to.
    Records,
    /// What goes to a file beside them, the first of which is 0.
    Beside(usize),
}

impl ChunkPart {
    /// Its place among the parts of a chunk.
    fn index(self) -> usize {
        match self {
            ChunkPart::Records => 0,
            ChunkPart::Beside(file) => 1 + file,
        }
    }
}

/// The files of one [`ChunkPart`], and what the chunks of a grain add to them.
#[derive(Debug)]
struct Added {
    /// Lengths of what the chunks add, as far as they are known.
    lengths: Vec<Option<u64>>,
    /// Where it begins behind that of the first one in the file, as far as all before it are known.
    begins: Vec<u64>,
    /// Bytes of it in each file: chunk `i` goes to file `i` modulo their number.
    bytes: Vec<u64>,
}

impl Added {
    fn new(chunks: u64, files: usize) -> Self {
        Added { lengths: vec![None; chunks as usize], begins: Vec::new(), bytes: vec![0; files] }
    }

    /// Adds up lengths, of which the first is that of chunk `first`.
    fn add_up(&mut self, first: u64) {
        while let Some(&Some(bytes)) = self.lengths.get(self.begins.len()) {
            let file = self.file_of(first + self.begins.len() as u64);
            self.begins.push(self.bytes[file]);
            self.bytes[file] += bytes;
        }
    }

    fn file_of(&self, number: u64) -> usize {
        (number % self.bytes.len() as u64) as usize
    }

    fn is_complete(&self) -> bool {
        self.begins.len() == self.lengths.len()
    }
}

/// A grain that is not written yet.
#[derive(Debug)]
struct OpenGrain {
    /// As they were given.
    chunks: Range<u64>,
    /// Those that are done here: whole cohorts.
    own: Range<u64>,
    /// By [`ChunkPart`].
    added: Vec<Added>,
    /// Where it goes in each file.
    offsets: Option<Vec<u64>>,
    /// Parts of chunks.
    unwritten: u64,
    absent: Vec<u64>,
    tally: Tally,
}

impl OpenGrain {
    /// `files` says how many files each part has.
    fn new(chunks: Range<u64>, files: &[usize]) -> Self {
        let count = chunks.end - chunks.start;
        OpenGrain {
            own: chunks.clone(),
            chunks,
            added: files.iter().map(|&files| Added::new(count, files)).collect(),
            offsets: None,
            unwritten: count * files.len() as u64,
            absent: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// Leaves what lies before chunk `first` to others, before any length is known.
    fn begin_at(&mut self, first: u64) {
        let left = first.min(self.own.end).saturating_sub(self.own.start);
        self.own.start += left;
        for added in &mut self.added {
            added.lengths.drain(..left as usize);
            self.unwritten -= left;
            added.add_up(self.own.start);
        }
    }

    /// Takes what lies before chunk `end` as well.
    fn end_at(&mut self, end: u64) {
        let more = end.saturating_sub(self.own.end);
        self.own.end += more;
        for added in &mut self.added {
            added.lengths.extend((0..more).map(|_| None));
            self.unwritten += more;
        }
    }

    /// Enters the length of a part of a chunk, by its place among the parts, if there is such a part.
    fn enter(&mut self, part: usize, number: u64, bytes: u64) {
        if let Some(added) = self.added.get_mut(part) {
            added.lengths[(number - self.own.start) as usize] = Some(bytes);
            added.add_up(self.own.start);
        }
    }

    /// Whether the length of a chunk's records is not known.
    fn is_unknown(&self, number: u64) -> bool {
        self.added[ChunkPart::Records.index()].lengths[(number - self.own.start) as usize].is_none()
    }

    fn is_complete(&self) -> bool {
        self.added.iter().all(Added::is_complete)
    }

    /// Bytes in each file.
    fn bytes(&self) -> Vec<u64> {
        self.added.iter().flat_map(|added| added.bytes.iter().copied()).collect()
    }

    /// Where a part of a chunk goes, if it is known.
    fn offset(&self, part: ChunkPart, number: u64) -> Option<u64> {
        let added = self.added.get(part.index())?;
        let begin = added.begins.get((number - self.own.start) as usize)?;
        let before: usize = self.added[..part.index()].iter().map(|added| added.bytes.len()).sum();
        Some(self.offsets.as_ref()?.get(before + added.file_of(number))? + begin)
    }
}

#[derive(Debug, Default)]
struct GrainsState {
    /// Output files, by [`ChunkPart`].
    files: Vec<usize>,
    /// Given and not asked for to their ends.
    queue: VecDeque<Range<u64>>,
    /// Chunks before this one are being dealt.
    dealt: u64,
    /// Chunks before this one are done with grains that were given before it was.
    beyond: u64,
    /// No more grains come.
    ended: bool,
    closed: bool,
    /// The input ends before this chunk.
    input_end: Option<u64>,
    /// Bytes that go before what chunks add in each file, once that is known.
    header: Option<Vec<u64>>,
    /// Chunk 0 is ours and does not exist: no committer of it will write what goes before it.
    owes_header: bool,
    open: BTreeMap<u64, OpenGrain>,
    complete: Vec<Complete>,
    /// The complete grain of chunk 0, as long as the header is not known.
    first: Option<Complete>,
    written: Vec<Written>,
    /// Chunks of this process that do not exist.
    absent: Vec<u64>,
}

/// The grains of one process.
#[derive(Debug)]
pub struct Grains {
    state: Mutex<GrainsState>,
    /// Something was placed, or the run has failed.
    placed: Condvar,
}

impl Grains {
    /// For an output of so many files of records; not none.
    pub fn new(files: usize) -> Self {
        Grains::of(vec![files])
    }

    /// The same, with so many more files beside them.
    pub fn with_beside(files: usize, beside: usize) -> Self {
        Grains::of([vec![files], vec![1; beside]].concat())
    }

    fn of(files: Vec<usize>) -> Self {
        Grains { state: Mutex::new(GrainsState { files, ..GrainsState::default() }), placed: Condvar::new() }
    }

    /// How many files there are, those beside the records too.
    pub(crate) fn files(&self) -> usize {
        lock(&self.state).files.iter().sum()
    }

    /// Chunks that were given and are not being dealt yet.
    pub fn ahead(&self) -> u64 {
        let state = lock(&self.state);
        state.queue.iter().map(|chunks| chunks.end.saturating_sub(chunks.start.max(state.dealt))).sum()
    }

    /// Gives a grain, behind all that were given before; not an empty one.
    pub fn give(&self, chunks: Range<u64>) {
        let mut state = lock(&self.state);
        let (start, beyond) = (chunks.start, state.beyond);
        let open = OpenGrain::new(chunks.clone(), &state.files);
        state.open.insert(start, open);
        state.queue.push_back(chunks);
        state.begin_at(start, beyond);
        if let Some(end) = state.input_end {
            state.leave_out(&(end..u64::MAX));
        }
    }

    /// Says that no more grains come.
    pub fn end(&self) {
        lock(&self.state).ended = true;
    }

    /// The first chunk that the input does not have, once that was found.
    pub fn input_end(&self) -> Option<u64> {
        lock(&self.state).input_end
    }

    /// The chunks that were given and do not exist, so far.
    pub fn absent_chunks(&self) -> Vec<u64> {
        lock(&self.state).absent.clone()
    }

    /// The grains that became complete since the last call.
    pub fn take_complete(&self) -> Vec<Complete> {
        std::mem::take(&mut lock(&self.state).complete)
    }

    /// Says where in each file what the grain adds goes that begins with `chunk`. A grain that is not ours, or is of no
    /// chunk, is passed over.
    pub fn place(&self, chunk: u64, offsets: &[u64]) {
        let mut state = lock(&self.state);
        if let Some(open) = state.open.get_mut(&chunk) {
            open.offsets = Some(offsets.to_vec());
        }
        state.let_go(chunk);
        drop(state);
        self.placed.notify_all();
    }

    /// The grains that became written since the last call.
    pub fn take_written(&self) -> Vec<Written> {
        std::mem::take(&mut lock(&self.state).written)
    }

    /// Ends the run, for it has failed, here or elsewhere: nothing more is granted, and all who wait are woken.
    pub fn close(&self) {
        lock(&self.state).closed = true;
        self.placed.notify_all();
    }

    /// Says how many bytes go before what chunks add in each file; before any chunk is submitted.
    pub(crate) fn begin(&self, header: Vec<u64>) {
        let mut state = lock(&self.state);
        let first = state.first.take().map(|grain| Complete { header: Some(header.clone()), ..grain });
        state.header = Some(header);
        state.complete.extend(first);
    }

    /// Says that a part of a chunk has so many bytes, of the reads in `tally`.
    ///
    /// # Errors
    /// A chunk that was never given.
    pub(crate) fn submit(&self, part: ChunkPart, number: u64, bytes: u64, tally: &Tally) -> Result<(), Error> {
        match lock(&self.state).submit(part, number, bytes, tally) {
            true => Ok(()),
            false => Err(Error::Internal(format!(
                "chunk {number} was never given: has a file of reads changed while it was read?"
            ))),
        }
    }

    /// Says that the records of a chunk were collected: they go to the output later, with others. [`Grains::wrote`]
    /// says that they are safe.
    ///
    /// # Errors
    /// A chunk that was never given.
    pub(crate) fn collected(&self, number: u64, tally: &Tally) -> Result<(), Error> {
        self.submit(ChunkPart::Records, number, 0, tally)
    }

    /// Whether what goes before the records is still to be written: chunk 0 was given, and turned out not to exist.
    pub(crate) fn owes_header(&self) -> bool {
        lock(&self.state).owes_header
    }

    /// Says that it was written, into all files.
    pub(crate) fn wrote_header(&self) {
        lock(&self.state).owes_header = false;
        self.wrote(0);
    }

    /// Says that this process will never know what goes before the records, for it has had none.
    pub(crate) fn no_header(&self) {
        let mut state = lock(&self.state);
        let first = state.first.take();
        state.complete.extend(first);
    }

    /// Where a part of a chunk goes, if it is known.
    pub(crate) fn try_fetch(&self, part: ChunkPart, number: u64) -> Option<u64> {
        lock(&self.state).offset(part, number)
    }

    /// Whether chunk `other` is done with the grain that `number` is done with: the place of the one is not known
    /// before the length of the other is.
    pub(crate) fn is_with(&self, number: u64, other: u64) -> bool {
        lock(&self.state).grain_of(number).is_some_and(|open| open.own.contains(&other))
    }

    /// Waits for the place of a part of a chunk.
    ///
    /// # Errors
    /// [`Closed`] when the run fails before.
    pub(crate) fn fetch(&self, part: ChunkPart, number: u64) -> Result<u64, Closed> {
        let mut state = lock(&self.state);
        loop {
            if let Some(offset) = state.offset(part, number) {
                return Ok(offset);
            }
            if state.closed {
                return Err(Closed);
            }
            state = wait(&self.placed, state);
        }
    }

    /// Says that a part of a chunk is at its place.
    pub(crate) fn wrote(&self, number: u64) {
        let mut state = lock(&self.state);
        if let Some(open) = state.grain_of(number) {
            open.unwritten -= 1;
            let start = open.chunks.start;
            state.let_go(start);
        }
    }
}

impl GrainsState {
    /// The grain that a chunk is done with.
    fn grain_of(&mut self, number: u64) -> Option<&mut OpenGrain> {
        self.open.range_mut(..=number).rev().map(|(_, open)| open).find(|open| open.own.contains(&number))
    }

    /// Leaves chunks of the grain that begins with `start` to others, those before `first`.
    fn begin_at(&mut self, start: u64, first: u64) {
        if let Some(open) = self.open.get_mut(&start).filter(|open| open.own.start < first && !open.own.is_empty()) {
            open.begin_at(first);
            self.tell_if_complete(start);
        }
    }

    fn tell_if_complete(&mut self, start: u64) {
        let Some(open) = self.open.get(&start).filter(|open| open.is_complete()) else { return };
        let (chunks, bytes, header) = (open.chunks.clone(), open.bytes(), self.header.clone());
        match (start == 0, header) {
            (true, None) => self.first = Some(Complete { chunks, bytes, header: None }),
            (is_first, header) => self.complete.push(Complete { chunks, bytes, header: header.filter(|_| is_first) }),
        }
    }

    fn submit(&mut self, part: ChunkPart, number: u64, bytes: u64, tally: &Tally) -> bool {
        let Some(open) = self.grain_of(number) else { return false };
        open.tally += tally;
        open.enter(part.index(), number, bytes);
        let start = open.chunks.start;
        self.tell_if_complete(start);
        true
    }

    /// Enters that a chunk of ours does not exist.
    fn enter_absent(&mut self, number: u64) {
        let Some(open) = self.grain_of(number) else { return };
        open.absent.push(number);
        // What does not exist need not be written; but the grain of chunk 0 is when what goes before all is.
        open.unwritten -= open.added.len() as u64 - u64::from(number == 0);
        (0..open.added.len()).for_each(|part| open.enter(part, number, 0));
        let start = open.chunks.start;
        self.owes_header |= number == 0;
        self.absent.push(number);
        self.tell_if_complete(start);
    }

    fn offset(&mut self, part: ChunkPart, number: u64) -> Option<u64> {
        self.grain_of(number)?.offset(part, number)
    }

    /// Moves the grain that begins with `start` to those that are written, if it is.
    fn let_go(&mut self, start: u64) {
        if self.open.get(&start).is_none_or(|open| open.unwritten > 0 || open.offsets.is_none()) {
            return;
        }
        let Some(open) = self.open.remove(&start) else { return };
        let bytes = open.bytes();
        if let OpenGrain { chunks, own, absent, offsets: Some(offsets), tally, .. } = open {
            let done = own.end.max(chunks.end);
            self.written.push(Written { chunks, done, absent, offsets, bytes, tally });
        }
    }

    /// These chunks do not exist: what was given of them is complete without.
    fn leave_out(&mut self, chunks: &Range<u64>) {
        let of_grain = |open: &OpenGrain| {
            let own = open.own.start.max(chunks.start)..open.own.end.min(chunks.end);
            own.filter(|number| open.is_unknown(*number)).collect::<Vec<u64>>()
        };
        let left_out: Vec<u64> = self.open.values().flat_map(of_grain).collect();
        left_out.into_iter().for_each(|number| self.enter_absent(number));
    }
}

impl Grant for Grains {
    fn granted(&self, from: u64) -> Granted {
        let mut state = lock(&self.state);
        if state.closed {
            return Granted::Closed;
        }
        while state.queue.front().is_some_and(|chunks| chunks.end <= from) {
            state.queue.pop_front();
        }
        match state.queue.front().cloned() {
            Some(chunks) => {
                state.dealt = chunks.end;
                Granted::Chunks(chunks.start.max(from)..chunks.end)
            }
            None if state.ended => Granted::End,
            None => Granted::NotYet,
        }
    }

    fn absent(&self, chunks: Range<u64>) {
        let mut state = lock(&self.state);
        if chunks.end == u64::MAX {
            state.input_end = Some(chunks.start);
            // Who has come to the end in a cohort asks for no more grains: those before it lie behind.
            state.dealt = state.dealt.max(chunks.start);
        }
        state.leave_out(&chunks);
    }

    fn begun_before(&self, chunks: Range<u64>) {
        let mut state = lock(&self.state);
        let grain = state.open.range(..=chunks.start).next_back().map(|(start, _)| *start);
        if let Some(start) = grain {
            state.begin_at(start, chunks.end);
        }
    }

    fn goes_on(&self, chunks: Range<u64>) {
        let mut state = lock(&self.state);
        let Some(open) = chunks.start.checked_sub(1).and_then(|last| state.grain_of(last)) else { return };
        open.end_at(chunks.end);
        let behind = open.chunks.end;
        state.beyond = chunks.end;
        let behind: Vec<u64> = state.open.range(behind..).map(|(start, _)| *start).collect();
        for start in behind {
            state.begin_at(start, chunks.end);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::Arc;

    #[test]
    fn loom_a_worker_learns_its_place() {
        loom::model(|| {
            let grains = Arc::new(Grains::new(1));
            grains.give(4..5);
            let worker = Arc::clone(&grains);
            let worker = loom::thread::spawn(move || {
                worker.submit(ChunkPart::Records, 4, 10, &Tally::default()).unwrap();
                assert_eq!(worker.fetch(ChunkPart::Records, 4), Ok(17));
                worker.wrote(4);
            });
            grains.place(4, &[17]);
            worker.join().unwrap();
            assert_eq!((grains.take_complete().len(), grains.take_written().len()), (1, 1));
        });
    }
}
