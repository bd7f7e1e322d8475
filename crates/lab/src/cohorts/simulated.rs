//! Workers that follow the runtime's rules, in simulated time.
//!
//! Claiming, parsing and writing cost nothing here. What can make a worker wait is all there: the bound of text that is
//! held, statistics that are not there yet, and records whose place in the output is not known, since earlier ones are
//! not made (a worker keeps [`HELD_PER_WORKER`] such chunks).

use crate::cohorts::Case;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;
use zerohop_model::chunk::Ticket;
use zerohop_model::engine::Cut;
use zerohop_runtime::HELD_PER_WORKER;
use zerohop_runtime::cohorts::{Cohorts, Next, Over, most_text};

/// Bases of a piece, and bytes of its text: FASTQ has two and a half for each base.
const PIECE_BASES: u64 = 500_000;
const PIECE_TEXT: u64 = PIECE_BASES * 5 / 2;

/// What came of a simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulated {
    /// From the first claim to the last record.
    pub makespan: Duration,
    /// The most pieces that were claimed and not finished at one time.
    pub most_held: usize,
}

/// What a worker is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Busy {
    First(u64),
    Combine(u64),
    Second(u64),
}

/// A worker.
#[derive(Default)]
struct SimulatedWorker {
    /// Pieces that wait for their second phase.
    held: VecDeque<u64>,
    /// Pieces whose records are made and have no place in the output yet.
    unwritten: VecDeque<u64>,
    /// A piece whose records are made; it is held until not too many are unwritten.
    committing: Option<u64>,
    ended: bool,
}

struct Simulation<'c> {
    case: &'c Case,
    rules: Cohorts<(), ()>,
    workers: Vec<SimulatedWorker>,
    /// When who is no longer busy.
    events: BinaryHeap<Reverse<(Duration, usize, Busy)>>,
    idle: Vec<usize>,
    next_piece: u64,
    /// Pieces whose records are made; all before `first_unmade`.
    made: Vec<bool>,
    first_unmade: u64,
    held: usize,
    most_held: usize,
}

/// Simulates a run.
///
/// # Errors
/// [`Over::Missing`] if the rules lost a piece.
pub fn simulate(case: &Case) -> Result<Simulated, Over> {
    let pieces = case.cohorts * u64::from(case.pieces);
    let cut = Cut::at(PIECE_BASES * u64::from(case.pieces)).in_pieces_of(PIECE_BASES);
    let mut simulation = Simulation {
        case,
        rules: Cohorts::new(case.workers, most_text(cut, case.workers)),
        workers: (0..case.workers).map(|_| SimulatedWorker::default()).collect(),
        events: BinaryHeap::new(),
        idle: (0..case.workers).collect(),
        next_piece: 0,
        made: vec![false; pieces as usize],
        first_unmade: 0,
        held: 0,
        most_held: 0,
    };
    simulation.run()
}

impl Simulation<'_> {
    fn run(&mut self) -> Result<Simulated, Over> {
        let mut now = Duration::ZERO;
        loop {
            // What one begins can be what another waits for.
            while self.begin(now)? {}
            let Some(Reverse((then, worker, busy))) = self.events.pop() else { break };
            now = then;
            self.end(now, worker, busy);
        }
        match self.first_unmade == self.made.len() as u64 {
            true => Ok(Simulated { makespan: now, most_held: self.most_held }),
            false => Err(Over::Missing),
        }
    }

    fn ticket(&self, piece: u64) -> Ticket {
        let (cohort, number) = (piece / u64::from(self.case.pieces), (piece % u64::from(self.case.pieces)) as u32);
        let is_last_piece = number + 1 == self.case.pieces;
        Ticket { number: piece, cohort, piece: number, is_last_piece, ..Ticket::default() }
    }

    /// Gives all who are idle something to do, as far as there is anything; says whether there was.
    fn begin(&mut self, now: Duration) -> Result<bool, Over> {
        let mut began = false;
        for worker in std::mem::take(&mut self.idle) {
            match self.next(worker)? {
                Some((time, busy)) => {
                    self.events.push(Reverse((now + time, worker, busy)));
                    began = true;
                }
                None => self.idle.push(worker),
            }
        }
        Ok(began)
    }

    /// What a worker does next, and for how long.
    fn next(&mut self, number: usize) -> Result<Option<(Duration, Busy)>, Over> {
        self.write(number);
        if self.workers[number].committing.is_some() {
            return Ok(None);
        }
        loop {
            let SimulatedWorker { held, ended, .. } = &self.workers[number];
            let held = held.front().zip(held.back()).map(|(first, last)| (self.ticket(*first), self.ticket(*last)));
            let held = held.as_ref().map(|(first, last)| (first, last));
            match self.rules.next_now(held, *ended)? {
                None | Some(Next::Nothing) => return Ok(None),
                Some(Next::Second(())) => {
                    let piece = self.workers[number].held.pop_front();
                    return Ok(piece.map(|piece| (self.case.costs.second(piece), Busy::Second(piece))));
                }
                Some(Next::Claim) if self.next_piece < self.made.len() as u64 => {
                    let piece = self.next_piece;
                    self.next_piece += 1;
                    self.rules.claimed(number, &self.ticket(piece), PIECE_TEXT);
                    self.held += 1;
                    self.most_held = self.most_held.max(self.held);
                    return Ok(Some((self.case.costs.first(piece), Busy::First(piece))));
                }
                Some(Next::Claim) => {
                    self.workers[number].ended = true;
                    self.rules.end(number);
                }
            }
        }
    }

    /// Lets go what has its place in the output.
    fn write(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        while worker.unwritten.front().is_some_and(|piece| *piece < self.first_unmade) {
            worker.unwritten.pop_front();
        }
        if worker.unwritten.len() <= HELD_PER_WORKER
            && let Some(piece) = worker.committing.take()
        {
            self.rules.finished(&self.ticket(piece), PIECE_TEXT);
            self.held -= 1;
        }
    }

    /// A worker is done with something.
    fn end(&mut self, now: Duration, number: usize, busy: Busy) {
        match busy {
            Busy::First(piece) => {
                let is_last = self.rules.summarised(&self.ticket(piece), ()).is_some();
                self.workers[number].held.push_back(piece);
                if is_last {
                    let event = (now + self.case.costs.combine, number, Busy::Combine(piece));
                    return self.events.push(Reverse(event));
                }
            }
            Busy::Combine(piece) => self.rules.combined(&self.ticket(piece), ()),
            Busy::Second(piece) => {
                self.made[piece as usize] = true;
                while self.made.get(self.first_unmade as usize) == Some(&true) {
                    self.first_unmade += 1;
                }
                self.workers[number].unwritten.push_back(piece);
                self.workers[number].committing = Some(piece);
            }
        }
        self.idle.push(number);
    }
}

/// The same work as most aligners do it: all workers take pieces of one cohort, and wait for one another behind each
/// phase.
pub fn with_barriers(case: &Case) -> Duration {
    let pieces = |cohort: u64| cohort * u64::from(case.pieces)..(cohort + 1) * u64::from(case.pieces);
    let both = |cohort| {
        let first = shared_out(case.workers, pieces(cohort).map(|piece| case.costs.first(piece)));
        let second = shared_out(case.workers, pieces(cohort).map(|piece| case.costs.second(piece)));
        first + case.costs.combine + second
    };
    (0..case.cohorts).map(both).sum()
}

/// The same work if one worker does all of a cohort.
pub fn with_whole_cohorts(case: &Case) -> Duration {
    let pieces = u64::from(case.pieces);
    let all = |cohort: u64| {
        let piece = |piece| case.costs.first(piece) + case.costs.second(piece);
        (cohort * pieces..(cohort + 1) * pieces).map(piece).sum::<Duration>() + case.costs.combine
    };
    shared_out(case.workers, (0..case.cohorts).map(all))
}

/// How long it takes if whoever is free takes the next.
fn shared_out(workers: usize, times: impl Iterator<Item = Duration>) -> Duration {
    let mut free: BinaryHeap<Reverse<Duration>> = (0..workers).map(|_| Reverse(Duration::ZERO)).collect();
    let mut end = Duration::ZERO;
    for time in times {
        let Some(Reverse(start)) = free.pop() else { break };
        free.push(Reverse(start + time));
        end = end.max(start + time);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cohorts::Costs;
    use proptest::prelude::*;

    fn costs() -> impl Strategy<Value = Costs> {
        let time = |most| (0u64..most).prop_map(Duration::from_micros);
        (time(1000), time(1000), time(50), 0.0..1.5).prop_map(|(first, second, combine, spread)| Costs {
            first,
            second,
            combine,
            spread,
        })
    }

    fn case() -> impl Strategy<Value = Case> {
        (1usize..40, 0u64..30, 1u32..30, costs()).prop_map(|(workers, cohorts, pieces, costs)| Case {
            workers,
            cohorts,
            pieces,
            costs,
        })
    }

    proptest! {
        #[test]
        fn all_is_done_in_no_less_time_than_it_takes_and_not_later_than_by_one(case in case()) {
            let simulated = simulate(&case).unwrap();
            let work = case.work();
            let slack = Duration::from_nanos(1000);
            prop_assert!(simulated.makespan + slack >= work / case.workers as u32);
            prop_assert!(simulated.makespan <= work + slack);
            if case.workers == 1 {
                prop_assert_eq!(simulated.makespan, work);
            }
            let longest = (0..case.cohorts * u64::from(case.pieces))
                .map(|piece| case.costs.first(piece) + case.costs.second(piece)).max().unwrap_or_default();
            prop_assert!(simulated.makespan >= longest);
        }

        /// Two cohorts, and four pieces of each worker, whose text has five sixths of the bytes that are reckoned.
        #[test]
        fn what_is_held_is_bounded(case in case()) {
            let bound = (2 * case.pieces as usize + 4 * case.workers) * 6 / 5 + 1;
            // A piece beyond the bound completes a cohort.
            let beyond = case.workers + case.pieces as usize;
            prop_assert!(simulate(&case).unwrap().most_held <= bound + beyond);
        }
    }

    #[test]
    fn barriers_and_whole_cohorts_are_what_they_say() {
        let second = Duration::from_secs(1);
        let costs = Costs { first: 3 * second, second, combine: Duration::ZERO, spread: 0.0 };
        let case = Case { workers: 4, cohorts: 3, pieces: 5, costs };
        assert_eq!(with_barriers(&case), 3 * (2 * 3 + 2) * second);
        assert_eq!(with_whole_cohorts(&case), 5 * 4 * second);
        assert_eq!(case.work(), 3 * 5 * 4 * second);
    }
}
