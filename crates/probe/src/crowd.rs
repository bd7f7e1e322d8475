//! Threads that read memory at the same time.

use crate::ring::{LINE, Ring};
use std::hint::black_box;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::machine::CpuId;
use zerohop_topology::TopologyError;

/// Loads, or lines, between two looks at whether time is up.
const STRIDE: usize = 2048;

/// How memory is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessPattern {
    /// Each load needs the one before, in random order.
    Chase,
    /// One line after the other.
    Stream,
}

/// One thread: its CPU, and what it reads.
#[derive(Debug, Clone, Copy)]
pub struct ReadingThread<'r> {
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
    /// A thread could not be started.
    #[error("a thread that measures memory cannot be started: {0}; allow more processes (ulimit -u, pids.max)")]
    Thread(String),
    /// A thread came to an early end.
    #[error("a thread that measures memory panicked: please report this")]
    Panicked,
    /// There is no CPU or no memory to measure.
    #[error("there is nothing to measure: no node has both CPUs and memory for this process")]
    Nothing,
}

/// Threads that start together.
#[derive(Debug)]
pub struct Crowd<'r> {
    readers: Vec<ReadingThread<'r>>,
}

impl<'r> Crowd<'r> {
    /// A crowd of these threads.
    pub fn new(readers: Vec<ReadingThread<'r>>) -> Self {
        Crowd { readers }
    }

    /// Lets all of them read for `time`.
    ///
    /// # Errors
    /// A thread that cannot be started or pinned: then nothing was measured.
    pub fn read(&self, kind: AccessPattern, time: Duration) -> Result<Pace, ProbeError> {
        // All wait until this is let go, which happens also if one of them cannot be started.
        let (gate, over) = (RwLock::new(()), AtomicBool::new(false));
        let count = self.readers.len();
        let read = |(number, reader): (usize, ReadingThread<'_>)| {
            let pinned = zerohop_topology::pin_current_thread(&[reader.cpu]);
            drop(gate.read());
            pinned.map(|()| lines_until(&over, kind, reader.ring, number as f64 / count as f64))
        };
        let read = &read;
        let outcomes = std::thread::scope(|scope| {
            let closed = gate.write();
            let begin =
                |task: (usize, ReadingThread<'r>)| std::thread::Builder::new().spawn_scoped(scope, move || read(task));
            // After the first failure no further thread is tried.
            let threads: std::io::Result<Vec<_>> = self.readers.iter().copied().enumerate().map(begin).collect();
            let none = threads.is_err();
            over.store(none, Ordering::Relaxed);
            drop(closed);
            if !none {
                std::thread::sleep(time);
                over.store(true, Ordering::Relaxed);
            }
            let join = |thread: std::thread::ScopedJoinHandle<'_, Result<(u64, Duration), TopologyError>>| {
                let outcome = thread.join().map_err(|_| ProbeError::Panicked)?;
                Ok::<_, ProbeError>(outcome?)
            };
            let threads = threads.map_err(|error| ProbeError::Thread(error.to_string()))?;
            threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
        })?;
        let line_ns = outcomes.iter().map(|(lines, took)| took.as_nanos() as f64 / *lines as f64).sum::<f64>();
        let gb_s = outcomes.iter().map(|(lines, took)| (lines * LINE as u64) as f64 / took.as_nanos() as f64).sum();
        Ok(Pace { line_ns: line_ns / count as f64, gb_s })
    }
}

/// Reads until it is over; gives the lines read, and the time.
fn lines_until(over: &AtomicBool, kind: AccessPattern, ring: &Ring, part: f64) -> (u64, Duration) {
    let (mut line, mut lines) = (ring.at(part), 0);
    let started = Instant::now();
    loop {
        line = match kind {
            AccessPattern::Chase => black_box(ring.follow(line, STRIDE)),
            AccessPattern::Stream => {
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
