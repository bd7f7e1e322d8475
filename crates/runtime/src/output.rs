//! Committing: the bytes of finished chunks to their places, in the order of the input or as they come.

use crate::commit::{Commit, OverRanks, Pipe, Positioned, Submitted};
use crate::gate::{Closed, OrderGate};
use crate::grains::{ChunkPart, Grains};
use crate::local_buffer;
use crate::queue::OrderedQueue;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::sink::{Collect, OutputAccess, Sink};
use zerohop_model::spare::Spare;

/// The order of chunks in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// That of the input.
    Input,
    /// As they are finished.
    Any,
}

/// Finished chunks that a worker may hold while earlier ones are still being mapped by others. With 2, 1,024 workers
/// would wait a third of their time if one chunk of twenty takes twice the average; with 8 they lose 3 % (simulated,
/// bench/runs/2026-11-23-xeon-2cpu-cohorts).
pub const HELD_PER_WORKER: usize = 8;
/// And so many bytes of finished chunks, however many these are: long reads differ in what they take, and where one
/// takes ten seconds others go on meanwhile (simulated, bench/runs/2026-11-28-xeon-long-reads).
pub const HELD_BYTES_PER_WORKER: usize = 64 << 20;
/// Finished chunks for each worker that may wait for a pipe: a slow reader keeps the queue full.
pub const QUEUED_PER_WORKER: usize = 2;
/// Buffers that a worker keeps for later chunks. Others go back to the system when what they held is written.
const SPARE_PER_WORKER: usize = 3;
/// A buffer is too large for what waits in it if that fills less than this part.
const LARGE_BUFFER: usize = 8;

/// The output of a run.
pub struct Output<'s> {
    sink: &'s dyn Sink,
    /// Our part of the input, where several processes write.
    grains: Option<&'s Grains>,
    order: Order,
    /// Those of the records, and those beside them.
    files: Vec<Box<dyn Commit + 's>>,
    /// How many are of records.
    of_records: usize,
    /// For [`Order::Any`]: numbers are given as chunks are finished, in each file of records, and those beside them.
    next: Vec<AtomicU64>,
    /// Emptied buffers, on their way back from the writer thread.
    spare: Spare,
    /// Parts of finished chunks that each committer may hold while what is missing is not its own to do.
    held: usize,
    /// Time spent at the gates, where only one worker can be.
    gate_nanos: AtomicU64,
}

impl<'s> Output<'s> {
    /// An output for `committers`, each of which may hold `held` chunks that are finished too early; for a pipe, where
    /// one thread writes, `queued` for each of them.
    pub fn new(sink: &'s dyn Sink, order: Order, committers: usize, held: usize, queued: usize) -> Self {
        let file = |i| -> Box<dyn Commit + 's> {
            match sink.access() {
                OutputAccess::Positioned => Box::new(Positioned(OrderGate::new(sink.start(i)))),
                OutputAccess::Sequential => {
                    let most_bytes = HELD_BYTES_PER_WORKER.saturating_mul(committers);
                    Box::new(Pipe(OrderedQueue::new((queued * committers) as u64, most_bytes)))
                }
            }
        };
        Self::of((0..sink.files()).map(file).collect(), sink, order, committers, held)
    }

    /// The same, with the files beside the records that the sink has.
    #[must_use]
    pub(crate) fn with_beside(mut self) -> Self {
        // As many chunks as without these files.
        self.held = self.held.saturating_mul(1 + self.sink.beside());
        for beside in 0..self.sink.beside() {
            self.files.push(match self.grains {
                Some(grains) => Box::new(OverRanks(grains, ChunkPart::Beside(beside))),
                None => Box::new(Positioned(OrderGate::new(self.sink.start(self.of_records + beside)))),
            });
        }
        self
    }

    /// An output that several processes write together, in the order of the input.
    pub fn granted(sink: &'s dyn Sink, grains: &'s Grains, committers: usize, held: usize) -> Self {
        grains.begin((0..grains.files()).map(|file| sink.start(file)).collect());
        let file = |_| -> Box<dyn Commit + 's> { Box::new(OverRanks(grains, ChunkPart::Records)) };
        let output = Self::of((0..sink.files()).map(file).collect(), sink, Order::Input, committers, held);
        Output { grains: Some(grains), ..output }
    }

    fn of(files: Vec<Box<dyn Commit + 's>>, sink: &'s dyn Sink, order: Order, committers: usize, held: usize) -> Self {
        Output {
            sink,
            grains: None,
            order,
            next: (0..=files.len()).map(|_| AtomicU64::new(0)).collect(),
            of_records: files.len(),
            files,
            spare: Spare::new(SPARE_PER_WORKER * committers),
            held,
            gate_nanos: AtomicU64::new(0),
        }
    }

    /// Where the bytes go.
    pub fn sink(&self) -> &'s dyn Sink {
        self.sink
    }

    /// Which file the records of chunk `number` of the run go to, and what that file knows it by.
    fn place(&self, number: u64) -> (usize, u64) {
        let files = self.of_records as u64;
        let file = (number % files) as usize;
        (file, self.files[file].number(number, self.in_file(file, number / files)))
    }

    /// The same of what goes beside them, to each file there: in the same order, for mates must stay in step.
    fn places_beside(&self, number: u64) -> impl Iterator<Item = (usize, u64)> {
        let files = self.of_records..self.files.len();
        let in_file = if files.is_empty() { 0 } else { self.in_file(files.start, number) };
        files.map(move |file| (file, self.files[file].number(number, in_file)))
    }

    /// Which one of those that go to `file` a chunk is that would be the `in_order`-th in the order of the input.
    fn in_file(&self, file: usize, in_order: u64) -> u64 {
        match self.order {
            Order::Input => in_order,
            Order::Any => self.next[file].fetch_add(1, Ordering::Relaxed),
        }
    }

    /// After all was committed: writes what goes before the records, if nobody else will, for the first chunk does not
    /// exist.
    ///
    /// # Errors
    /// What the sink says.
    pub fn write_owed_header(&self, grains: &Grains) -> Result<(), Error> {
        if grains.owes_header() {
            self.sink.write_header()?;
            self.sink.write_header_beside()?;
            grains.wrote_header();
        }
        Ok(())
    }

    /// Says that no worker will commit any more.
    pub fn end(&self) {
        self.files.iter().for_each(|file| file.end());
    }

    /// Wakes all who wait, for the run failed.
    pub fn close(&self) {
        self.files.iter().for_each(|file| file.close());
    }

    /// The files that need a writer thread.
    pub fn sequential_files(&self) -> Vec<usize> {
        (0..self.files.len()).filter(|&i| self.files[i].queue().is_some()).collect()
    }

    /// The writer thread of `file`: writes what comes, in order. Returns the file's length and the time spent writing.
    ///
    /// # Errors
    /// What the sink says; [`Error::Stopped`] when the run failed.
    pub fn write_sequentially(&self, file: usize) -> Result<(u64, Duration), Error> {
        let (mut offset, mut writing) = (self.sink.start(file), Duration::ZERO);
        let Some(queue) = self.files[file].queue() else { return Ok((offset, writing)) };
        while let Some(Submitted { node, mut bytes }) = queue.take().map_err(|Closed| Error::Stopped)? {
            let started = Instant::now();
            self.sink.write_at(file, offset, &bytes)?;
            writing += started.elapsed();
            offset += bytes.len() as u64;
            bytes.clear();
            self.spare.give_back(node, bytes);
        }
        Ok((offset, writing))
    }

    /// The lengths of the files that workers wrote, after all was committed; those of the files beside the records are
    /// the last.
    pub fn positioned_lengths(&self) -> Vec<u64> {
        self.files.iter().filter_map(|file| file.length()).collect()
    }

    /// Time spent at the gates so far.
    pub fn gate_time(&self) -> Duration {
        Duration::from_nanos(self.gate_nanos.load(Ordering::Relaxed))
    }
}

/// A chunk that was submitted and not written yet.
struct HeldChunk {
    file: usize,
    number: u64,
    bytes: Vec<u8>,
}

/// Commits the bytes that one worker makes.
pub struct Committer<'o, 's> {
    output: &'o Output<'s>,
    /// What takes the chunks instead, where they are not written in the order of the input.
    collector: Option<Box<dyn Collect + 's>>,
    held: VecDeque<HeldChunk>,
    /// Bytes of them, and how many there may be, however many chunks these are.
    held_bytes: usize,
    most_held_bytes: usize,
    /// Emptied buffers that this thread wrote itself: it needs no lock for them.
    spare: Vec<Vec<u8>>,
    /// Time spent writing.
    pub writing: Duration,
    /// Time spent waiting for a turn.
    pub waiting: Duration,
    /// Bytes committed.
    pub bytes: u64,
}

impl<'o, 's> Committer<'o, 's> {
    /// A committer for one thread.
    pub fn new(output: &'o Output<'s>) -> Self {
        let (collector, most_held_bytes) = (output.sink.collector(), HELD_BYTES_PER_WORKER);
        Committer { collector, most_held_bytes, ..Self::of_parts(output) }
    }

    /// The same, for parts of what was collected.
    pub(crate) fn of_parts(output: &'o Output<'s>) -> Self {
        let (writing, waiting) = (Duration::ZERO, Duration::ZERO);
        Committer {
            output,
            collector: None,
            held: VecDeque::new(),
            held_bytes: 0,
            most_held_bytes: 0,
            spare: Vec::new(),
            writing,
            waiting,
            bytes: 0,
        }
    }

    /// An empty buffer for the next chunk.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().or_else(|| self.output.spare.take()).unwrap_or_else(local_buffer::buffer)
    }

    /// Commits the bytes of chunk `number` of the run. They are written now or, while earlier chunks are not finished,
    /// kept; when too many are kept, it waits. `tally` is what is in them.
    ///
    /// # Errors
    /// What the sink says; [`Error::Stopped`] when the run failed elsewhere.
    pub fn commit(&mut self, number: u64, bytes: Vec<u8>, tally: &Tally) -> Result<(), Error> {
        self.bytes += bytes.len() as u64;
        let started = Instant::now();
        if let Some(collector) = &mut self.collector {
            collector.add(number, &bytes)?;
            if let Some(grains) = self.output.grains {
                grains.collected(number, tally)?;
                collector.take_kept().into_iter().for_each(|number| grains.wrote(number));
            }
            self.keep(bytes);
            self.writing += started.elapsed();
            return Ok(());
        }
        self.submit(self.output.place(number), bytes, tally)
    }

    /// Commits what chunk `number` of the run adds to the files beside the records; `bytes` makes it for each of them,
    /// the first of which is 0, in a buffer that is empty. To be called behind [`Committer::commit`].
    ///
    /// # Errors
    /// As for [`Committer::commit`]; what `bytes` says.
    pub fn commit_beside(
        &mut self,
        number: u64,
        mut bytes: impl FnMut(usize, Vec<u8>) -> Result<Vec<u8>, Error>,
    ) -> Result<(), Error> {
        let output = self.output;
        for (beside, place) in output.places_beside(number).enumerate() {
            let bytes = bytes(beside, self.buffer())?;
            self.submit(place, bytes, &Tally::default())?;
        }
        Ok(())
    }

    fn submit(&mut self, (file, number): (usize, u64), bytes: Vec<u8>, tally: &Tally) -> Result<(), Error> {
        let started = Instant::now();
        let left = self.output.files[file].submit(number, bytes, tally)?;
        match left {
            None => {
                self.waiting += started.elapsed();
                Ok(())
            }
            Some(bytes) => {
                self.output.gate_nanos.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
                let bytes = self.in_no_large_buffer(bytes);
                self.held_bytes += bytes.capacity();
                self.held.push_back(HeldChunk { file, number, bytes });
                self.write_held(self.output.held, Some(number))
            }
        }
    }

    /// Writes what can be written, and waits until no more than `keep` chunks are kept, or as few bytes as may be; but
    /// not for what this worker has yet to do, which submitted chunk `last` last. (None: it submits no more, and all is
    /// written.)
    fn write_held(&mut self, keep: usize, last: Option<u64>) -> Result<(), Error> {
        while let Some(held) = self.held.front() {
            let file = &self.output.files[held.file];
            let offset = match file.try_offset(held.number) {
                Some(offset) => offset,
                None if self.held.len() <= keep => return Ok(()),
                None if last.is_some() && self.held_bytes <= self.most_held_bytes => return Ok(()),
                None if last.is_some_and(|last| !file.may_wait(held.number, last)) => return Ok(()),
                None => {
                    let started = Instant::now();
                    let offset = file.offset(held.number);
                    self.waiting += started.elapsed();
                    offset.map_err(|Closed| Error::Stopped)?
                }
            };
            let started = Instant::now();
            file.write(self.output.sink, held.file, held.number, offset, &held.bytes)?;
            self.writing += started.elapsed();
            if let Some(HeldChunk { bytes, .. }) = self.held.pop_front() {
                self.held_bytes -= bytes.capacity();
                self.keep(bytes);
            }
        }
        Ok(())
    }

    /// A few bytes that may wait for others need no buffer with room for a whole chunk: many may wait.
    fn in_no_large_buffer(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        if bytes.len() >= bytes.capacity() / LARGE_BUFFER {
            return bytes;
        }
        let alone = bytes.clone();
        self.keep(bytes);
        alone
    }

    /// Keeps a buffer for a later chunk, if it has room for one.
    fn keep(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_PER_WORKER && buffer.capacity() >= zerohop_memory::LARGE {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Writes all that is kept.
    ///
    /// # Errors
    /// As for [`Committer::commit`].
    pub fn finish(&mut self) -> Result<(), Error> {
        if let Some(collector) = &mut self.collector {
            let started = Instant::now();
            collector.finish()?;
            if let Some(grains) = self.output.grains {
                collector.take_kept().into_iter().for_each(|number| grains.wrote(number));
            }
            self.writing += started.elapsed();
        }
        self.write_held(0, None)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use zerohop_model::sink::Encoder;
    use zerohop_model::source::Grant;

    /// One file of records and two beside it.
    struct Nowhere;

    impl Sink for Nowhere {
        fn files(&self) -> usize {
            1
        }

        fn access(&self) -> OutputAccess {
            OutputAccess::Positioned
        }

        fn start(&self, _file: usize) -> u64 {
            0
        }

        fn beside(&self) -> usize {
            2
        }

        fn write_at(&self, _file: usize, _offset: u64, _bytes: &[u8]) -> Result<(), Error> {
            Ok(())
        }

        fn write_header(&self) -> Result<(), Error> {
            Ok(())
        }

        fn encoder(&self) -> Box<dyn Encoder + '_> {
            unreachable!("nothing is encoded here")
        }
    }

    #[test]
    fn a_few_bytes_that_wait_hold_no_large_buffer() {
        let output = Output::new(&Nowhere, Order::Input, 1, 8, 2);
        let mut committer = Committer::new(&output);
        let submit = |committer: &mut Committer<'_, '_>, number| {
            let mut bytes = committer.buffer();
            bytes.push(b'x');
            committer.submit((0, number), bytes, &Tally::default()).unwrap();
        };
        (1..=3).for_each(|number| submit(&mut committer, number));
        assert_eq!(committer.held.iter().map(|held| held.bytes.capacity()).collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(committer.spare.len(), 1, "one buffer went through all hands");
        submit(&mut committer, 0);
        assert!(committer.held.is_empty() && committer.spare.len() == 1);
    }

    /// Nobody knows where a grain goes before all its chunks are there, those of a cohort that goes on behind it too.
    #[test]
    fn all_chunks_of_a_grain_can_be_held_whatever_they_add_beside() {
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let grains = Grains::with_beside(1, 2);
            grains.give(0..8);
            grains.goes_on(8..20);
            let output = Output::granted(&Nowhere, &grains, 1, 2).with_beside();
            let mut committer = Committer::new(&output);
            for number in 0..20 {
                committer.commit(number, vec![0; 3], &Tally::default()).unwrap();
                committer.commit_beside(number, |_, buffer| Ok(buffer)).unwrap();
            }
            assert_eq!(grains.take_complete().len(), 1);
            grains.place(0, &[0, 0, 0]);
            committer.finish().unwrap();
            send.send(grains.take_written().len()).unwrap();
        });
        assert_eq!(receive.recv_timeout(Duration::from_secs(60)), Ok(1), "it hangs");
    }
}
