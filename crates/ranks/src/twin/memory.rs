//! The memory of one rank in a window, as MPI's separate memory model has it: a public copy, which others reach, and a
//! private one, which the rank itself reads and writes. Only synchronisation makes them equal.

use super::accesses::{Access, Accesses};
use super::clock::Clock;
use std::collections::BTreeMap;
use std::ops::Range;

pub(super) struct Memory {
    public: Vec<u8>,
    private: Vec<u8>,
    /// What others have put, and the private copy does not have.
    arrived: Vec<Range<usize>>,
    /// What the rank has written, and the public copy does not have.
    written: Vec<Range<usize>>,
    accesses: Accesses,
    /// What those knew who changed a number, by its place.
    numbers: BTreeMap<usize, Clock>,
}

impl Memory {
    /// So many zeros.
    pub(super) fn new(bytes: usize) -> Self {
        Memory {
            public: vec![0; bytes],
            private: vec![0; bytes],
            arrived: Vec::new(),
            written: Vec::new(),
            accesses: Accesses::default(),
            numbers: BTreeMap::new(),
        }
    }

    /// Enters an access of a rank that knows `clock`.
    ///
    /// # Errors
    /// One that nothing orders before it, or beyond the window.
    pub(super) fn enter(&mut self, access: Access, clock: &Clock) -> Result<(), String> {
        if access.range.end > self.public.len() {
            return Err(format!("bytes {:?} of a window of {}", access.range, self.public.len()));
        }
        self.accesses.enter(access, clock)
    }

    /// What was put is there, in the public copy.
    pub(super) fn arrive(&mut self, offset: usize, bytes: &[u8]) {
        let range = offset..offset + bytes.len();
        self.public[range.clone()].copy_from_slice(bytes);
        self.arrived.push(range);
    }

    /// All that `rank` has put here is complete, with this step of it.
    pub(super) fn complete(&mut self, rank: usize, step: u64) {
        self.accesses.complete(rank, step);
    }

    /// What others reach.
    pub(super) fn public(&self, range: Range<usize>) -> &[u8] {
        &self.public[range]
    }

    /// What the rank itself reads.
    pub(super) fn private(&self, range: Range<usize>) -> &[u8] {
        &self.private[range]
    }

    /// The rank itself writes.
    pub(super) fn write(&mut self, offset: usize, bytes: &[u8]) {
        let range = offset..offset + bytes.len();
        self.private[range.clone()].copy_from_slice(bytes);
        self.written.push(range);
    }

    /// Others see from now on what the rank has written.
    pub(super) fn publish(&mut self) {
        for range in self.written.drain(..) {
            self.public[range.clone()].copy_from_slice(&self.private[range]);
        }
    }

    /// The rank sees from now on what others have put.
    pub(super) fn renew(&mut self) {
        for range in self.arrived.drain(..) {
            self.private[range.clone()].copy_from_slice(&self.public[range]);
        }
    }

    /// Changes a number as one, and gives what it was. Who changes it knows `clock`, and learns what those knew who
    /// changed it before.
    pub(super) fn change(&mut self, offset: usize, clock: &mut Clock, new: impl FnOnce(u64) -> u64) -> u64 {
        let place = &mut self.public[offset..offset + 8];
        let before = u64::from_ne_bytes(std::array::from_fn(|i| place[i]));
        place.copy_from_slice(&new(before).to_ne_bytes());
        let known = self.numbers.entry(offset).or_default();
        clock.learn(known);
        known.learn(clock);
        before
    }

    /// Replaces a number as one. Who replaces it learns nothing.
    pub(super) fn replace(&mut self, offset: usize, value: u64, clock: &Clock) {
        self.public[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
        self.numbers.insert(offset, clock.clone());
    }
}
