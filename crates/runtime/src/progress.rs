//! What anyone may look at while a run goes on.

use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_model::measurement::Tally;

/// How far a run is. Written by the workers, read by whoever shows it.
#[derive(Debug, Default)]
pub struct Progress {
    reads: AtomicU64,
    bases: AtomicU64,
    /// The part of the input that was dealt, in millionths.
    millionths: AtomicU64,
    /// Parts of a sorted output, and how many of them are made.
    parts: AtomicU64,
    made: AtomicU64,
}

impl Progress {
    /// Reads that were mapped so far.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Bases of these reads.
    pub fn bases(&self) -> u64 {
        self.bases.load(Ordering::Relaxed)
    }

    /// The part of all input that was dealt so far, 0 to 1, if it is known. Lanes count alike.
    pub fn dealt(&self) -> Option<f64> {
        let millionths = self.millionths.load(Ordering::Relaxed);
        (millionths > 0).then_some(millionths as f64 / 1e6)
    }

    /// The part of a sorted output that was made so far, 0 to 1, once that has begun.
    pub fn made(&self) -> Option<f64> {
        let made = self.made.load(Ordering::Relaxed);
        (made > 0).then(|| made as f64 / self.parts.load(Ordering::Relaxed).max(made) as f64)
    }

    /// Part `number` was made. Parts before it were, or nearly: here or by other processes.
    pub(crate) fn made_part(&self, number: usize, of: usize) {
        self.parts.store(of as u64, Ordering::Relaxed);
        self.made.fetch_max(number as u64 + 1, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, Tally { reads, bases, .. }: &Tally) {
        self.reads.fetch_add(*reads, Ordering::Relaxed);
        self.bases.fetch_add(*bases, Ordering::Relaxed);
    }

    pub(crate) fn set_dealt(&self, lane: usize, lanes: usize, share: Option<f64>) {
        if let Some(share) = share {
            let all = (lane as f64 + share.clamp(0.0, 1.0)) / lanes as f64;
            self.millionths.fetch_max((all * 1e6) as u64, Ordering::Relaxed);
        }
    }
}
