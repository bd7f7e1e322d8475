//! Who may do what next, where an engine maps in two phases with statistics over a cohort between them.
//!
//! Workers take pieces of cohorts, do their first phases and keep what comes of them. Who finishes the last first phase
//! of a cohort combines the summaries; after that each worker does the second phases of its own pieces. There is no
//! barrier:
//!
//! - a second phase that can be done goes before another claim;
//! - until then a worker goes on claiming, pieces of this cohort or of later ones, as long as the text that is held is
//!   within a bound;
//! - beyond the bound it claims only what was dealt to it, if others have claimed what comes behind that, or if a
//!   cohort could not be completed otherwise, and waits else.
//!
//! Nobody waits for ever. Pieces are dealt in the order of the input, but the farm deals them ahead: a worker may have
//! pieces that it has not claimed. Take the first piece that is not finished.
//!
//! - If it is not claimed, and something behind it is, it was dealt to a worker that holds none, for what it holds
//!   would come before. Such a worker claims. If nothing is claimed, everybody does.
//! - If it is claimed, its cohort is the first open one. Pieces of it that are not claimed are claimed by everybody who
//!   holds no piece behind it; those in a first phase have workers who do not wait. Then its second phase can be done,
//!   and its worker does it first, and need not wait for its turn to write.
//!
//! A worker that waits for its turn to write holds a later piece of a cohort that is combined: none of these.

use crate::sync::{Condvar, Mutex, lock, wait};
use std::collections::BTreeMap;
use zerohop_model::chunk::Ticket;
use zerohop_model::engine::Cut;

/// Bytes of text for each base, about: names and qualities too.
const TEXT_PER_BASE: u64 = 3;
/// Cohorts whose text may be held in any case: while the last pieces of one are mapped, the next is begun.
const COHORTS: u64 = 2;
/// Chunks that each worker may hold in any case, where cohorts have fewer pieces than there are workers.
const CHUNKS_PER_WORKER: u64 = 4;

/// Bytes of text that may wait for statistics before workers stop claiming.
///
/// ```
/// use zerohop_model::engine::Cut;
/// assert_eq!(zerohop_runtime::cohorts::most_text(Cut::at(1000).in_pieces_of(10), 8), 3 * (2 * 1000 + 32 * 10));
/// ```
pub fn most_text(cut: Cut, workers: usize) -> u64 {
    let by_worker = (CHUNKS_PER_WORKER * workers as u64).saturating_mul(cut.chunk_bases());
    COHORTS.saturating_mul(cut.closes_at_bases).saturating_add(by_worker).saturating_mul(TEXT_PER_BASE)
}

/// Why nothing more can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The run failed.
    Closed,
    /// Pieces of a cohort were passed over: every worker has gone on behind it.
    Missing,
}

/// What a worker does next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// The second phase of its first piece, with these statistics.
    Second(T),
    /// It claims another piece.
    Claim,
    /// Nothing: the input has ended, and it holds no piece.
    Nothing,
}

/// Lane and number of a cohort.
pub type CohortId = (u32, u64);

const BEHIND_ALL: CohortId = (u32::MAX, u64::MAX);

/// The cohort that the piece with this ticket belongs to.
pub fn place(ticket: &Ticket) -> CohortId {
    (ticket.lane, ticket.cohort)
}

/// A place behind all cohorts of a lane.
pub fn behind(lane: u32) -> CohortId {
    (lane, u64::MAX)
}

/// A cohort of which a piece was claimed and not all second phases are done.
#[derive(Debug)]
struct Cohort<S, T> {
    claimed: u32,
    /// How many there are; known when the last was claimed.
    pieces: Option<u32>,
    /// By piece.
    summaries: Vec<Option<S>>,
    summarised: u32,
    statistics: Option<T>,
    finished: u32,
}

impl<S, T> Cohort<S, T> {
    fn new() -> Self {
        Cohort { claimed: 0, pieces: None, summaries: Vec::new(), summarised: 0, statistics: None, finished: 0 }
    }

    fn is_claimed(&self) -> bool {
        self.pieces == Some(self.claimed)
    }
}

#[derive(Debug)]
struct CohortsState<S, T> {
    open: BTreeMap<CohortId, Cohort<S, T>>,
    /// Bytes of text of all pieces that were claimed and are not finished.
    held: u64,
    /// The cohort of the last piece that each worker has claimed; behind all if it will claim no more.
    reached: Vec<Option<CohortId>>,
    waiting: usize,
    over: Option<Over>,
}

/// The open cohorts of a run, with summaries of type `S` and statistics of type `T`.
#[derive(Debug)]
pub struct Cohorts<S, T> {
    state: Mutex<CohortsState<S, T>>,
    moved: Condvar,
    most_text: u64,
}

impl<S, T: Clone> Cohorts<S, T> {
    /// For so many workers, which may hold so many bytes of text.
    pub fn new(workers: usize, most_text: u64) -> Self {
        let reached = vec![None; workers];
        let state = CohortsState { open: BTreeMap::new(), held: 0, reached, waiting: 0, over: None };
        Cohorts { state: Mutex::new(state), moved: Condvar::new(), most_text }
    }

    /// Changes the state, and wakes those who wait.
    fn change<R>(&self, change: impl FnOnce(&mut CohortsState<S, T>) -> R) -> R {
        let mut state = lock(&self.state);
        let result = change(&mut state);
        let anyone_waits = state.waiting > 0;
        drop(state);
        if anyone_waits {
            self.moved.notify_all();
        }
        result
    }

    /// `worker` has claimed a piece, with so many bytes of text.
    pub fn claimed(&self, worker: usize, ticket: &Ticket, text: u64) {
        self.change(|state| {
            state.held += text;
            let cohort = state.open.entry(place(ticket)).or_insert_with(Cohort::new);
            cohort.claimed += 1;
            if ticket.is_last_piece {
                cohort.pieces = Some(ticket.piece + 1);
            }
            state.has_reached(worker, place(ticket));
        });
    }

    /// The first phase of a piece is done. If it was the last of its cohort: the summaries of all, to be combined by
    /// the caller.
    pub fn summarised(&self, ticket: &Ticket, summary: S) -> Option<Vec<S>> {
        let mut state = lock(&self.state);
        let cohort = state.open.get_mut(&place(ticket))?;
        let at = ticket.piece as usize;
        if cohort.summaries.len() <= at {
            cohort.summaries.resize_with(at + 1, || None);
        }
        cohort.summaries[at] = Some(summary);
        cohort.summarised += 1;
        let is_complete = cohort.pieces == Some(cohort.summarised);
        is_complete.then(|| cohort.summaries.drain(..).flatten().collect())
    }

    /// The statistics of the cohort of `ticket` are there.
    pub fn combined(&self, ticket: &Ticket, statistics: T) {
        self.change(|state| {
            if let Some(cohort) = state.open.get_mut(&place(ticket)) {
                cohort.statistics = Some(statistics);
            }
        });
    }

    /// The second phase of a piece is done, and its text is held no more.
    pub fn finished(&self, ticket: &Ticket, text: u64) {
        self.change(|state| {
            state.held -= text;
            if let Some(cohort) = state.open.get_mut(&place(ticket)) {
                cohort.finished += 1;
                if cohort.pieces == Some(cohort.finished) {
                    state.open.remove(&place(ticket));
                }
            }
        });
    }

    /// What a worker does next that holds pieces from `first` to `last`; `ended` says that there is nothing to be
    /// claimed, `dealt` where the next piece is that was dealt to it already. Waits while that is nothing, and others
    /// work.
    ///
    /// # Errors
    /// [`Over`].
    pub fn next(
        &self,
        held: Option<(&Ticket, &Ticket)>,
        ended: bool,
        mut dealt: impl FnMut() -> Option<CohortId>,
    ) -> Result<Next<T>, Over> {
        let mut state = lock(&self.state);
        loop {
            if let Some(next) = state.next(held, ended, self.most_text)? {
                return Ok(next);
            }
            // Who claims what comes behind it wakes us: it was dealt before that.
            if !ended && dealt().is_some_and(|dealt| state.is_behind(dealt)) {
                return Ok(Next::Claim);
            }
            state.waiting += 1;
            state = wait(&self.moved, state);
            state.waiting -= 1;
        }
    }

    /// As [`Cohorts::next`] where nothing is dealt ahead, but none where that would wait: for a simulation, which has
    /// its own time.
    ///
    /// # Errors
    /// [`Over`].
    pub fn next_now(&self, held: Option<(&Ticket, &Ticket)>, ended: bool) -> Result<Option<Next<T>>, Over> {
        lock(&self.state).next(held, ended, self.most_text)
    }

    /// Whether the second phase of a piece can be done, or nothing more at all: to be asked while waiting for input.
    pub fn is_ready(&self, first: &Ticket) -> bool {
        let state = lock(&self.state);
        state.over.is_some() || state.statistics(first).is_some()
    }

    /// `worker` will claim no more.
    pub fn end(&self, worker: usize) {
        self.change(|state| state.has_reached(worker, BEHIND_ALL));
    }

    /// Lets all who wait go, for the run failed.
    pub fn close(&self) {
        self.change(|state| *state.over.get_or_insert(Over::Closed));
    }
}

impl<S, T: Clone> CohortsState<S, T> {
    /// What a worker does next; none: it waits.
    fn next(&self, held: Option<(&Ticket, &Ticket)>, ended: bool, most_text: u64) -> Result<Option<Next<T>>, Over> {
        if let Some(over) = self.over {
            return Err(over);
        }
        if let Some(statistics) = held.and_then(|(first, _)| self.statistics(first)) {
            return Ok(Some(Next::Second(statistics)));
        }
        if ended && held.is_none() {
            return Ok(Some(Next::Nothing));
        }
        let claims = !ended && (self.held < most_text || self.must_claim(held.map(|(_, last)| place(last))));
        Ok(claims.then_some(Next::Claim))
    }

    fn statistics(&self, ticket: &Ticket) -> Option<T> {
        self.open.get(&place(ticket)).and_then(|cohort| cohort.statistics.clone())
    }

    /// Whether a worker whose last piece is of cohort `last` claims beyond the bound: nothing is held, or the first
    /// cohort of which a piece is not claimed is not before its last. (If it is, another worker was dealt that piece.)
    fn must_claim(&self, last: Option<CohortId>) -> bool {
        match self.first_unclaimed() {
            Some(first) => last.is_none_or(|last| last <= first),
            None => self.open.is_empty(),
        }
    }

    /// Whether somebody has claimed what comes behind a place.
    fn is_behind(&self, place: CohortId) -> bool {
        self.reached.iter().any(|reached| *reached > Some(place))
    }

    /// The first open cohort of which a piece is not claimed.
    fn first_unclaimed(&self) -> Option<CohortId> {
        self.open.iter().find(|(_, cohort)| !cohort.is_claimed()).map(|(place, _)| *place)
    }

    /// Notes how far a worker has come. Pieces are claimed in order: what all have gone past is not claimed any more.
    fn has_reached(&mut self, worker: usize, place: CohortId) {
        self.reached[worker] = Some(place);
        if self.first_unclaimed().is_some_and(|first| self.reached.iter().all(|reached| *reached > Some(first))) {
            self.over.get_or_insert(Over::Missing);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn piece(cohort: u64, piece: u32, is_last_piece: bool) -> Ticket {
        Ticket { cohort, piece, is_last_piece, ..Ticket::default() }
    }

    #[test]
    fn second_phases_go_before_claims_and_summaries_come_in_order() {
        let cohorts = Cohorts::<u32, u32>::new(1, 100);
        let (a, b) = (piece(0, 0, false), piece(0, 1, true));
        assert_eq!(cohorts.next(None, false, || None), Ok(Next::Claim));
        cohorts.claimed(0, &b, 10);
        cohorts.claimed(0, &a, 10);
        assert_eq!(cohorts.summarised(&b, 2), None);
        assert_eq!(cohorts.next(Some((&a, &b)), false, || None), Ok(Next::Claim));
        assert_eq!(cohorts.summarised(&a, 1), Some(vec![1, 2]));
        assert!(!cohorts.is_ready(&a));
        cohorts.combined(&a, 3);
        assert!(cohorts.is_ready(&a));
        assert_eq!(cohorts.next(Some((&a, &b)), false, || None), Ok(Next::Second(3)));
        cohorts.finished(&a, 10);
        assert_eq!(cohorts.next(Some((&b, &b)), true, || None), Ok(Next::Second(3)));
        cohorts.finished(&b, 10);
        cohorts.end(0);
        assert_eq!(cohorts.next(None, true, || None), Ok(Next::Nothing));
        assert!(lock(&cohorts.state).open.is_empty());
    }

    #[test]
    fn beyond_the_bound_only_what_completes_a_cohort_is_claimed() {
        let cohorts = Cohorts::<(), ()>::new(2, 15);
        let (a, b, c) = (piece(0, 0, false), piece(0, 1, true), piece(1, 0, false));
        cohorts.claimed(0, &a, 10);
        cohorts.claimed(1, &c, 10);
        let must = |last: Option<&Ticket>| lock(&cohorts.state).must_claim(last.map(place));
        assert!(must(None) && must(Some(&a)), "cohort 0 has a piece that nobody has claimed");
        assert!(!must(Some(&c)), "that piece was dealt to the other worker");
        cohorts.claimed(0, &b, 10);
        assert!(must(Some(&a)) && must(Some(&c)), "now cohort 1 is the first with such a piece");
        cohorts.claimed(0, &piece(1, 1, true), 10);
        assert!(!must(None) && !must(Some(&c)), "all pieces are claimed");
    }

    #[test]
    fn a_cohort_that_is_never_completed_is_an_error() {
        let cohorts = Cohorts::<(), ()>::new(2, 100);
        let first = piece(0, 0, false);
        cohorts.claimed(0, &first, 1);
        assert_eq!(cohorts.summarised(&first, ()), None);
        cohorts.end(1);
        assert_eq!(cohorts.next(None, true, || None), Ok(Next::Nothing));
        cohorts.claimed(0, &piece(1, 0, false), 1);
        assert_eq!(cohorts.next(Some((&first, &first)), true, || None), Err(Over::Missing));
    }

    #[test]
    fn a_bound_that_is_no_number_is_the_largest() {
        assert_eq!(most_text(Cut::at(u64::MAX), 8), u64::MAX);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::{Arc, AtomicUsize, Ordering};

    /// Two cohorts of two pieces.
    fn ticket(number: usize) -> Ticket {
        let (cohort, piece) = (number as u64 / 2, number as u32 % 2);
        Ticket { number: number as u64, cohort, piece, is_last_piece: piece == 1, ..Ticket::default() }
    }

    /// A worker that claims by adding to `next`, and gives up at piece `fails`; returns the pieces that it finished.
    fn work(worker: usize, cohorts: &Cohorts<usize, usize>, next: &AtomicUsize, fails: usize) -> Result<usize, Over> {
        let (mut held, mut ended, mut finished) = (std::collections::VecDeque::new(), false, 0);
        loop {
            match cohorts.next(held.front().zip(held.back()), ended, || None)? {
                Next::Second(statistics) => {
                    let ticket: Ticket = held.pop_front().unwrap();
                    assert_eq!(statistics, if ticket.cohort == 0 { 1 } else { 5 }, "the sum of its pieces' numbers");
                    cohorts.finished(&ticket, 1);
                    finished += 1;
                }
                Next::Claim => {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= 4 {
                        ended = true;
                        cohorts.end(worker);
                        continue;
                    }
                    let ticket = ticket(number);
                    cohorts.claimed(worker, &ticket, 1);
                    if number == fails {
                        cohorts.close();
                        return Err(Over::Closed);
                    }
                    if let Some(summaries) = cohorts.summarised(&ticket, number) {
                        cohorts.combined(&ticket, summaries.into_iter().sum());
                    }
                    held.push_back(ticket);
                }
                Next::Nothing => return Ok(finished),
            }
        }
    }

    fn two_workers(most_text: u64, fails: usize) {
        loom::model(move || {
            let (cohorts, next) = (Arc::new(Cohorts::new(2, most_text)), Arc::new(AtomicUsize::new(0)));
            let other = {
                let (cohorts, next) = (Arc::clone(&cohorts), Arc::clone(&next));
                loom::thread::spawn(move || work(1, &cohorts, &next, fails))
            };
            let finished = [work(0, &cohorts, &next, fails), other.join().unwrap()];
            if fails == usize::MAX {
                assert_eq!(finished.map(Result::unwrap).iter().sum::<usize>(), 4);
            } else {
                assert!(finished.contains(&Err(Over::Closed)));
            }
        });
    }

    #[test]
    fn loom_cohorts_all_pieces_are_finished_with_a_bound_of_one_piece() {
        two_workers(1, usize::MAX);
    }

    #[test]
    fn loom_cohorts_all_pieces_are_finished_with_a_bound_of_a_cohort() {
        two_workers(2, usize::MAX);
    }

    /// A worker that was dealt every other piece, each a cohort of its own, and writes when it is its turn.
    fn work_in_turn(worker: usize, cohorts: &Cohorts<(), ()>, written: &(Mutex<u64>, Condvar)) {
        for number in [worker as u64, worker as u64 + 2] {
            let ticket = Ticket { number, cohort: number, is_last_piece: true, ..Ticket::default() };
            assert_eq!(cohorts.next(None, false, || Some(place(&ticket))), Ok(Next::Claim));
            cohorts.claimed(worker, &ticket, 1);
            assert!(cohorts.summarised(&ticket, ()).is_some());
            cohorts.combined(&ticket, ());
            assert_eq!(cohorts.next(Some((&ticket, &ticket)), false, || None), Ok(Next::Second(())));
            let mut next = lock(&written.0);
            while *next != number {
                next = wait(&written.1, next);
            }
            *next += 1;
            written.1.notify_all();
            drop(next);
            cohorts.finished(&ticket, 1);
        }
    }

    #[test]
    fn loom_cohorts_of_one_piece_are_finished_whoever_they_were_dealt_to() {
        loom::model(|| {
            let cohorts = Arc::new(Cohorts::new(2, 1));
            let written = Arc::new((Mutex::new(0), Condvar::new()));
            let other = {
                let (cohorts, written) = (Arc::clone(&cohorts), Arc::clone(&written));
                loom::thread::spawn(move || work_in_turn(1, &cohorts, &written))
            };
            work_in_turn(0, &cohorts, &written);
            other.join().unwrap();
        });
    }

    #[test]
    fn loom_cohorts_who_fails_wakes_the_other() {
        two_workers(1, 1);
        two_workers(1, 2);
    }
}
