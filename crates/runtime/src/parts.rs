//! The second half of a run whose records are sorted: parts of the output, each made by whoever is free.

use crate::cohorts::Cohorts;
use crate::crew::{Crew, join};
use crate::failure::Failure;
use crate::output::{Committer, HELD_PER_WORKER, Order, Output, QUEUED_PER_WORKER};
use crate::progress::Progress;
use std::ops::Range;
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

/// Parts that are dealt in rows: those that one worker does one after the other.
struct Rows {
    next: AtomicUsize,
    count: usize,
    row: usize,
}

impl Rows {
    fn new(count: usize, row: usize) -> Self {
        Rows { next: AtomicUsize::new(0), count, row: row.max(1) }
    }

    fn take(&self) -> Option<Range<usize>> {
        let first = self.next.fetch_add(self.row, Ordering::Relaxed);
        (first < self.count).then(|| first..(first + self.row).min(self.count))
    }
}

/// Has workers of the plan do `count` parts of some work, `row` in a row, `workers` at most at a time.
///
/// # Errors
/// What `work` says. All threads are joined by then.
pub fn do_parts<R: Send>(
    plan: &Plan,
    workers: usize,
    (count, row): (usize, usize),
    work: impl Fn(Range<usize>) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let (failure, output, cohorts) = (Failure::default(), OnceLock::new(), Cohorts::new(0, 0));
    let (rows, failed) = (Rows::new(count, row), &failure);
    let work = || {
        let mut done = Vec::new();
        while let Some(row) = rows.take().filter(|_| !failed.stopped()) {
            done.push(work(row)?);
        }
        Ok(done)
    };
    let done = std::thread::scope(|scope| {
        let crew = Crew { scope, failure: &failure, output: &output, cohorts: &cohorts };
        let start = |worker: &WorkerPlan| crew.start("worker", &worker.cpus, work);
        let threads: Vec<_> = first(plan, workers).iter().map(start).collect();
        threads.into_iter().filter_map(join).flatten().collect()
    });
    failure.into_result()?;
    Ok(done)
}

/// So many workers of the plan, one at least.
fn first(plan: &Plan, workers: usize) -> &[WorkerPlan] {
    &plan.workers[..plan.workers.len().min(workers.max(1))]
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
    let (workers, rows) = (first(plan, workers), Rows::new(parts.count(), parts.in_a_row()));
    let (failure, output, cohorts) = (Failure::default(), OnceLock::new(), Cohorts::new(0, 0));
    // A worker does not wait before it has made all parts of a row.
    let (held, queued) = (HELD_PER_WORKER.max(2 * rows.row), QUEUED_PER_WORKER.max(rows.row));
    let open = || Output::new(sink, Order::Input, workers.len(), held, queued);
    let (out, failed) = (output.get_or_init(open), &failure);
    let work = || {
        let (mut maker, mut committer, mut making) = (parts.maker(), Committer::of_parts(out), Duration::ZERO);
        while let Some(row) = rows.take() {
            for number in row {
                if failed.stopped() {
                    return Err(Error::Stopped);
                }
                let before = Instant::now();
                let bytes = maker.make(number, committer.buffer())?;
                making += before.elapsed();
                committer.commit(number as u64, bytes, &Tally::default())?;
                progress.made_part(rows.count);
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
