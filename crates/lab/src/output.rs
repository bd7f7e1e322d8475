//! Where records go: one file under a lock, one in order without, or a file per thread.

use crate::arm::{LockKind, OutputKind};
use crate::stopwatch::Stopwatch;
use std::time::Duration;
use zerohop_lab_locks::{Blocking, Lock, Queueing, Spin, TestAndSet, TestThenSet};
use zerohop_model::error::Error;
use zerohop_model::sink::Sink;
use zerohop_runtime::{Committer, HELD_PER_WORKER, Order, Output, QUEUED_PER_WORKER};

/// Bytes that are gathered under the lock before they are written, as a C library's stream would.
const BUFFER: usize = 1 << 16;

/// The output of one process.
pub(crate) trait Destination: Sync {
    /// The way of thread `thread`.
    fn way(&self, thread: usize) -> Box<dyn Way + '_>;

    /// Wakes all who wait, for the run failed.
    fn close(&self);

    /// Writes what is left; returns the length of each file.
    fn end(&self) -> Result<Vec<u64>, Error>;
}

/// One thread's way to the output.
pub(crate) trait Way {
    fn buffer(&mut self) -> Vec<u8>;
    fn commit(&mut self, number: u64, bytes: Vec<u8>) -> Result<(), Error>;
    fn finish(&mut self) -> Result<(), Error>;
    /// Time in which nobody else could use the file, as far as it is known.
    fn holding(&self) -> Duration;
}

/// The output that `kind` says; for [`OutputKind::Files`] the sink has a file per thread.
pub(crate) fn destination<'s>(
    sink: &'s dyn Sink,
    kind: OutputKind,
    lock: LockKind,
    threads: usize,
    crowded: bool,
) -> Box<dyn Destination + 's> {
    if kind == OutputKind::Ordered {
        return Box::new(Ordered(Output::new(sink, Order::Input, threads, HELD_PER_WORKER, QUEUED_PER_WORKER)));
    }
    let streams = (0..sink.files()).map(|file| Stream { file, offset: sink.start(file), buffer: Vec::new() });
    match lock {
        LockKind::Tas => shared(sink, streams, |stream| Spin::<_, TestAndSet>::new(stream, crowded)),
        LockKind::Ttas => shared(sink, streams, |stream| Spin::<_, TestThenSet>::new(stream, crowded)),
        LockKind::Futex => shared(sink, streams, Blocking::new),
        LockKind::Mcs => shared(sink, streams, |stream| Queueing::new(stream, crowded)),
    }
}

fn shared<'s, L: Lock<Stream> + 's>(
    sink: &'s dyn Sink,
    streams: impl Iterator<Item = Stream>,
    lock: impl Fn(Stream) -> L,
) -> Box<dyn Destination + 's> {
    Box::new(SharedWriter { sink, locks: streams.map(lock).collect() })
}

struct Ordered<'s>(Output<'s>);

impl Destination for Ordered<'_> {
    fn way(&self, _thread: usize) -> Box<dyn Way + '_> {
        Box::new(Committer::new(&self.0))
    }

    fn close(&self) {
        self.0.close();
    }

    fn end(&self) -> Result<Vec<u64>, Error> {
        Ok(self.0.positioned_lengths())
    }
}

impl Way for Committer<'_, '_> {
    fn buffer(&mut self) -> Vec<u8> {
        Committer::buffer(self)
    }

    fn commit(&mut self, number: u64, bytes: Vec<u8>) -> Result<(), Error> {
        Committer::commit(self, number, bytes, &zerohop_model::measurement::Tally::default())
    }

    fn finish(&mut self) -> Result<(), Error> {
        Committer::finish(self)
    }

    fn holding(&self) -> Duration {
        Duration::ZERO
    }
}

/// A file that is written from front to back.
struct Stream {
    file: usize,
    offset: u64,
    buffer: Vec<u8>,
}

impl Stream {
    fn add(&mut self, bytes: &[u8], sink: &dyn Sink) -> Result<(), Error> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER { self.flush(sink) } else { Ok(()) }
    }

    fn flush(&mut self, sink: &dyn Sink) -> Result<(), Error> {
        sink.write_at(self.file, self.offset, &self.buffer)?;
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Streams, each under a lock; thread t writes to stream t, round and round.
struct SharedWriter<'s, L> {
    sink: &'s dyn Sink,
    locks: Vec<L>,
}

impl<L: Lock<Stream>> Destination for SharedWriter<'_, L> {
    fn way(&self, thread: usize) -> Box<dyn Way + '_> {
        let lock = &self.locks[thread % self.locks.len()];
        Box::new(ToStream { sink: self.sink, lock, holding: Stopwatch::default(), spare: Vec::new() })
    }

    fn close(&self) {}

    fn end(&self) -> Result<Vec<u64>, Error> {
        self.locks.iter().map(|lock| lock.with(|stream| stream.flush(self.sink).map(|()| stream.offset))).collect()
    }
}

struct ToStream<'l, L> {
    sink: &'l dyn Sink,
    lock: &'l L,
    holding: Stopwatch,
    spare: Vec<u8>,
}

impl<L: Lock<Stream>> Way for ToStream<'_, L> {
    fn buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.spare)
    }

    fn commit(&mut self, _number: u64, mut bytes: Vec<u8>) -> Result<(), Error> {
        let (sink, holding) = (self.sink, &mut self.holding);
        self.lock.with(|stream| {
            let started = holding.start();
            let outcome = stream.add(&bytes, sink);
            holding.stop(started);
            outcome
        })?;
        bytes.clear();
        self.spare = bytes;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn holding(&self) -> Duration {
        self.holding.estimate()
    }
}
