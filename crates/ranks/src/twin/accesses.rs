//! Accesses to the memory of one rank in a window, and whether synchronisation orders those that meet.
//!
//! MPI leaves undefined what comes of a put and a load (or of any two accesses of which one writes) of the same bytes,
//! unless the first is complete and its rank has told the second's so. Most often it goes well, so a test of the
//! outcome alone would not see it.

use super::clock::Clock;
use std::ops::Range;

/// An access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Access {
    /// The rank that does it.
    pub(super) by: usize,
    /// What it is called, for messages.
    pub(super) call: &'static str,
    pub(super) range: Range<usize>,
    pub(super) writes: bool,
    /// The step of that rank with which it was complete; none while it is under way.
    pub(super) complete: Option<u64>,
}

impl Access {
    fn meets(&self, other: &Access) -> bool {
        let overlap = self.range.start < other.range.end && other.range.start < self.range.end;
        overlap && (self.writes || other.writes)
    }

    /// Whether it comes before what a rank does that knows `clock`.
    fn is_before(&self, clock: &Clock) -> bool {
        self.complete.is_some_and(|step| clock.knows(self.by, step))
    }

    /// Whether what meets `earlier` meets this as well.
    fn stands_for(&self, earlier: &Access) -> bool {
        let is_within = self.range.start <= earlier.range.start && earlier.range.end <= self.range.end;
        is_within && (self.writes || !earlier.writes && earlier.by == self.by)
    }
}

/// The last accesses to all bytes.
#[derive(Debug, Default)]
pub(super) struct Accesses(Vec<Access>);

impl Accesses {
    /// Enters one, of a rank that knows `clock`.
    ///
    /// # Errors
    /// An earlier one of the same bytes that nothing orders before it, in words.
    pub(super) fn enter(&mut self, access: Access, clock: &Clock) -> Result<(), String> {
        let unordered = self.0.iter().find(|earlier| earlier.meets(&access) && !earlier.is_before(clock));
        if let Some(earlier) = unordered {
            return Err(format!(
                "nothing orders it after the {} of rank {}, of bytes {:?} of the window, which it meets",
                earlier.call, earlier.by, earlier.range
            ));
        }
        self.0.retain(|earlier| !access.stands_for(earlier));
        self.0.push(access);
        Ok(())
    }

    /// All that `rank` has under way is complete, with this step.
    pub(super) fn complete(&mut self, rank: usize, step: u64) {
        let under_way = self.0.iter_mut().filter(|access| access.by == rank && access.complete.is_none());
        under_way.for_each(|access| access.complete = Some(step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(by: usize, range: Range<usize>, writes: bool, complete: Option<u64>) -> Access {
        Access { by, call: if writes { "put" } else { "read" }, range, writes, complete }
    }

    #[test]
    fn what_meets_must_be_ordered() {
        let (mut all, mut first, mut second) = (Accesses::default(), Clock::new(2), Clock::new(2));
        all.enter(access(0, 0..8, true, None), &first).unwrap();
        all.enter(access(1, 8..16, false, Some(second.step(1))), &second).unwrap();
        let read = access(1, 4..5, false, Some(second.step(1)));
        assert!(all.enter(read.clone(), &second).unwrap_err().contains("put of rank 0, of bytes 0..8"), "under way");
        all.complete(0, first.step(0));
        assert!(all.enter(read.clone(), &second).is_err(), "complete, and rank 1 was not told");
        second.learn(&first);
        all.enter(read, &second).unwrap();
        assert!(all.enter(access(0, 0..5, true, None), &first).unwrap_err().contains("read of rank 1"));
        first.learn(&second);
        all.enter(access(0, 0..5, true, None), &first).unwrap();
        assert!(all.enter(access(0, 0..5, true, None), &first).is_err(), "two puts of one epoch");
    }

    #[test]
    fn what_another_stands_for_is_forgotten() {
        let (mut all, mut clock) = (Accesses::default(), Clock::new(1));
        for round in 0..1000 {
            all.enter(access(0, 0..8 + round % 50, round % 2 == 0, Some(clock.step(0))), &clock).unwrap();
        }
        assert!(all.0.len() < 100, "{}", all.0.len());
    }
}
