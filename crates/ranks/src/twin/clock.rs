//! What a rank knows of the others: which of their steps came before its own, because of messages, collectives and
//! synchronisations of windows (Lamport's "happened before", as a vector clock).

/// The last step of each rank that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<u64>);

impl Clock {
    /// That of a rank that knows nothing yet, of so many.
    pub(super) fn new(ranks: usize) -> Self {
        Clock(vec![0; ranks])
    }

    /// A step of `rank` itself; its number.
    pub(super) fn step(&mut self, rank: usize) -> u64 {
        self.0[rank] += 1;
        self.0[rank]
    }

    /// Whether a step of `rank` is known.
    pub(super) fn knows(&self, rank: usize, step: u64) -> bool {
        self.0.get(rank).is_some_and(|known| *known >= step)
    }

    /// What another knows is known from now on.
    pub(super) fn learn(&mut self, other: &Clock) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(known, new)| *known = (*known).max(*new));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_know_is_learned() {
        let (mut first, mut second) = (Clock::new(2), Clock::new(2));
        let step = first.step(0);
        assert!(first.knows(0, step) && !second.knows(0, step));
        second.learn(&first);
        assert!(second.knows(0, step) && !second.knows(0, step + 1) && !second.knows(7, 1));
    }
}
