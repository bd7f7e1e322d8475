//! The second half of a run whose records are sorted: parts of the output, each made by whoever is free.

use crate::cohorts::Cohorts;
use crate::crew::{Crew, join};
use crate::failure::Failure;
use crate::output::{Committer, HELD_PER_WORKER, Order, Output, QUEUED_PER_WORKER};
use crate::progress::Progress;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::plan::{Plan, WorkerPlan};
use zerohop_model::sink::{Parts, Sink};

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Merged {
    /// The length of each output file.
    pub lengths: Vec<u64>,
    /// How long it took.
    pub wall: Duration,
    /// Time that all workers spent making parts.
    pub making: Duration,
    /// Time that they spent writing, or waiting for their turn.
    pub writing: Duration,
}

/// Has workers of the plan make all parts, `workers` of them at most at a time, and writes them one after the other.
///
/// # Errors
/// What making or writing says. All threads are joined by then.
pub fn write_parts(
    parts: &dyn Parts,
    sink: &dyn Sink,
    plan: &Plan,
    workers: usize,
    progress: &Progress,
) -> Result<Merged, Error> {
    let started = Instant::now();
    let workers = &plan.workers[..plan.workers.len().min(workers.max(1))];
    let (failure, output, cohorts) = (Failure::default(), OnceLock::new(), Cohorts::new(0, 0));
    // A worker does not wait before it has made all parts of a row.
    let row = parts.in_a_row();
    let (held, queued) = (HELD_PER_WORKER.max(2 * row), QUEUED_PER_WORKER.max(row));
    let open = || Output::new(sink, Order::Input, workers.len(), held, queued);
    let (out, next, failed) = (output.get_or_init(open), AtomicUsize::new(0), &failure);
    let work = || {
        let (mut maker, mut committer, mut making) = (parts.maker(), Committer::of_parts(out), Duration::ZERO);
        loop {
            let first = next.fetch_add(row, Ordering::Relaxed);
            if first >= parts.count() {
                break;
            }
            for number in first..(first + row).min(parts.count()) {
                if failed.stopped() {
                    return Err(Error::Stopped);
                }
                let before = Instant::now();
                let bytes = maker.make(number, committer.buffer())?;
                making += before.elapsed();
                committer.commit(number as u64, bytes, &Tally::default())?;
                progress.made_part(parts.count());
            }
        }
        committer.finish()?;
        Ok((making, committer.writing + committer.waiting))
    };
    let (times, written) = std::thread::scope(|scope| {
        let crew = Crew { scope, failure: &failure, output: &output, cohorts: &cohorts };
        let writers = crew.start_writers(&plan.helper_cpus);
        let start = |worker: &WorkerPlan| crew.start("merger", &worker.cpus, work);
        let threads: Vec<_> = workers.iter().map(start).collect();
        let times: Vec<(Duration, Duration)> = threads.into_iter().filter_map(join).collect();
        out.end();
        (times, writers.into_iter().filter_map(join).collect::<Vec<_>>())
    });
    failure.into_result()?;
    let lengths = match written.is_empty() {
        true => out.positioned_lengths(),
        false => written.into_iter().map(|(length, _)| length).collect(),
    };
    let sum = |time: fn(&(Duration, Duration)) -> Duration| times.iter().map(time).sum();
    Ok(Merged { lengths, wall: started.elapsed(), making: sum(|times| times.0), writing: sum(|times| times.1) })
}
