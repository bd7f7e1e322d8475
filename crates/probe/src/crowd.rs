//! Threads that read memory at the same time.

use crate::ring::{LINE, Ring};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::machine::CpuId;
use zerohop_topology::TopologyError;

/// Loads, or lines, between two looks at whether time is up.
const STRIDE: usize = 2048;

/// How memory is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Each load needs the one before, in random order.
    Chase,
    /// Line after line.
    Stream,
}

/// One thread: its CPU, and what it reads.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'r> {
    /// Where it runs.
    pub cpu: CpuId,
    /// What it reads, from a place of its own on.
    pub ring: &'r Ring,
}

/// What a crowd reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Nanoseconds per line and thread, on average.
    pub line_ns: f64,
    /// GB/s of all threads together.
    pub gb_s: f64,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A thread could not be pinned.
    #[error(transparent)]
    Pin(#[from] TopologyError),
    /// A thread could not be started, or came to an early end.
    #[error("a measuring thread could not be run: {0}")]
    Thread(String),
    /// There is no CPU or no memory to measure.
    #[error("there is nothing to measure: no node has both CPUs and memory for this process")]
    Nothing,
}

/// Threads that start together.
#[derive(Debug)]
pub struct Crowd<'r> {
    readers: Vec<Reader<'r>>,
}

impl<'r> Crowd<'r> {
    /// These threads.
    pub fn new(readers: Vec<Reader<'r>>) -> Self {
        Crowd { readers }
    }

    /// Lets all of them read for `time`.
    ///
    /// # Errors
    /// A thread that cannot be started or pinned: then nothing was measured.
    pub fn read(&self, kind: Kind, time: Duration) -> Result<Pace, ProbeError> {
        let (start, over) = (Barrier::new(self.readers.len() + 1), AtomicBool::new(false));
        let count = self.readers.len();
        let read = |(number, reader): (usize, Reader<'_>)| {
            // Nobody must be left waiting at the barrier: it is passed also by who could not be pinned.
            let pinned = zerohop_topology::pin_current_thread(&[reader.cpu]);
            start.wait();
            pinned.map(|()| lines_until(&over, kind, reader.ring, number as f64 / count as f64))
        };
        let read = &read;
        let outcomes = std::thread::scope(|scope| {
            let begin = |task: (usize, Reader<'r>)| std::thread::Builder::new().spawn_scoped(scope, move || read(task));
            let threads: Vec<_> = self.readers.iter().copied().enumerate().map(begin).collect();
            if let Some(error) = threads.iter().find_map(|thread| thread.as_ref().err()) {
                let words = error.to_string();
                over.store(true, Ordering::Relaxed);
                // In place of those who are not there, so that the others can go on and end.
                for _ in threads.iter().filter(|thread| thread.is_err()) {
                    let start = &start;
                    scope.spawn(move || start.wait());
                }
                start.wait();
                return Err(ProbeError::Thread(words));
            }
            start.wait();
            std::thread::sleep(time);
            over.store(true, Ordering::Relaxed);
            let join = |thread: std::io::Result<std::thread::ScopedJoinHandle<'_, Result<(u64, Duration), _>>>| {
                let thread = thread.map_err(|error| ProbeError::Thread(error.to_string()))?;
                let outcome = thread.join().map_err(|_| ProbeError::Thread("it panicked".to_owned()))?;
                Ok::<_, ProbeError>(outcome?)
            };
            threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
        })?;
        let line_ns = outcomes.iter().map(|(lines, took)| took.as_nanos() as f64 / *lines as f64).sum::<f64>();
        let gb_s = outcomes.iter().map(|(lines, took)| (lines * LINE as u64) as f64 / took.as_nanos() as f64).sum();
        Ok(Pace { line_ns: line_ns / count as f64, gb_s })
    }
}

/// Reads until it is over; gives the lines read, and the time.
fn lines_until(over: &AtomicBool, kind: Kind, ring: &Ring, part: f64) -> (u64, Duration) {
    let (mut line, mut lines) = (ring.at(part), 0);
    let started = Instant::now();
    loop {
        line = match kind {
            Kind::Chase => black_box(ring.follow(line, STRIDE)),
            Kind::Stream => {
                black_box(ring.read(line, STRIDE));
                ring.behind(line, STRIDE)
            }
        };
        lines += STRIDE as u64;
        if over.load(Ordering::Relaxed) {
            return (lines, started.elapsed());
        }
    }
}
