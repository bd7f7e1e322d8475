//! The second half of a run whose records are sorted: parts of the output, each made by whoever is free.

use crate::back_off::BackOff;
use crate::cohorts::Cohorts;
use crate::failure::Failure;
use crate::grains::Grains;
use crate::output::{Committer, HELD_PER_WORKER, Order, Output, QUEUED_PER_WORKER};
use crate::progress::Progress;
use crate::sync::{Mutex, lock};
use crate::threads::{Crew, join};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::plan::{Plan, WorkerPlan};
use zerohop_model::sink::{Parts, Sink};
use zerohop_model::source::{Grant, Granted};

/// The result of writing the sorted records.
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
    end: usize,
    row: usize,
}

impl Rows {
    fn new(parts: Range<usize>, row: usize) -> Self {
        Rows { next: AtomicUsize::new(parts.start), end: parts.end, row: row.max(1) }
    }

    fn take(&self) -> Option<Range<usize>> {
        let first = self.next.fetch_add(self.row, Ordering::Relaxed);
        (first < self.end).then(|| first..(first + self.row).min(self.end))
    }
}

/// The parts of an output that this process makes.
enum DealtParts<'g> {
    /// All.
    All(Rows),
    /// Those that it is given; the first that nobody has taken. Up to so many go to one worker.
    Given(&'g Grains, Mutex<u64>, usize),
}

impl DealtParts<'_> {
    /// The next ones for one worker.
    ///
    /// # Errors
    /// [`Error::Stopped`] when another process has failed.
    fn take(&self) -> Result<Option<Range<usize>>, Error> {
        let (grains, next, row) = match self {
            DealtParts::All(rows) => return Ok(rows.take()),
            DealtParts::Given(grains, next, row) => (grains, next, *row),
        };
        let mut back_off = BackOff::new();
        loop {
            let mut next = lock(next);
            match grains.granted(*next) {
                Granted::Chunks(given) => {
                    let first = given.start as usize..(given.start as usize + row).min(given.end as usize);
                    *next = first.end as u64;
                    return Ok(Some(first));
                }
                Granted::NotYet => {}
                Granted::End => return Ok(None),
                Granted::Closed => return Err(Error::Stopped),
            }
            drop(next);
            back_off.wait();
        }
    }
}

/// Has workers of the plan do `parts` of some work, `row` in a row, `workers` at most at a time.
///
/// # Errors
/// What `work` says. All threads are joined by then.
pub fn do_parts<R: Send>(
    plan: &Plan,
    workers: usize,
    (parts, row): (Range<usize>, usize),
    work: impl Fn(Range<usize>) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let (failure, output, cohorts) = (Failure::default(), OnceLock::new(), Cohorts::new(0, 0));
    let (rows, failed) = (Rows::new(parts, row), &failure);
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

/// Rows of parts for each worker that a process may be given at once, as one grain.
pub const ROWS_IN_GRAIN: usize = 2;

/// Has workers of the plan make all parts, `workers` of them at most at a time, and writes them one after the other.
/// With `grains`, several processes do it together: here those are made that are given, [`ROWS_IN_GRAIN`] rows for each
/// of these workers at once at most.
///
/// # Errors
/// What making or writing says. All threads are joined by then.
pub fn write_parts(
    parts: &dyn Parts,
    sink: &dyn Sink,
    plan: &Plan,
    workers: usize,
    grains: Option<&Grains>,
    progress: &Progress,
) -> Result<Merged, Error> {
    let started = Instant::now();
    let (workers, count, row) = (first(plan, workers), parts.count(), parts.in_a_row().max(1));
    let dealt = match grains {
        Some(grains) => DealtParts::Given(grains, Mutex::new(0), row),
        None => DealtParts::All(Rows::new(0..count, row)),
    };
    let (failure, output, cohorts) = (Failure::default(), OnceLock::new(), Cohorts::new(0, 0));
    let (held, queued) = (HELD_PER_WORKER.max(ROWS_IN_GRAIN * row), QUEUED_PER_WORKER.max(row));
    let open = || match grains {
        Some(grains) => Output::granted(sink, grains, workers.len(), held),
        None => Output::new(sink, Order::Input, workers.len(), held, queued),
    };
    let (out, failed) = (output.get_or_init(open), &failure);
    let work = || {
        let (mut maker, mut committer, mut making) = (parts.maker(), Committer::of_parts(out), Duration::ZERO);
        while let Some(row) = dealt.take()? {
            for number in row {
                if failed.stopped() {
                    return Err(Error::Stopped);
                }
                let before = Instant::now();
                let bytes = maker.make(number, committer.buffer())?;
                making += before.elapsed();
                committer.commit(number as u64, bytes, &Tally::default())?;
                progress.made_part(number, count);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_given_go_to_workers_in_rows() {
        let grains = Grains::new(1);
        let dealt = DealtParts::Given(&grains, Mutex::new(0), 2);
        grains.give(0..5);
        grains.give(9..10);
        for row in [0..2, 2..4, 4..5, 9..10] {
            assert_eq!(dealt.take().unwrap(), Some(row));
        }
        grains.end();
        assert_eq!(dealt.take().unwrap(), None);
        grains.close();
        assert!(matches!(dealt.take(), Err(Error::Stopped)));
    }

    #[test]
    fn all_parts_are_dealt_once() {
        let rows = Rows::new(3..8, 2);
        let all: Vec<_> = std::iter::from_fn(|| rows.take()).collect();
        assert_eq!(all, [3..5, 5..7, 7..8]);
    }
}
