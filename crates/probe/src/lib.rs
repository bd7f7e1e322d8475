//! Measures latency and bandwidth from the CPUs of each NUMA node to the memory of each other, for one thread and for
//! many at once.
//!
//! 1. A [`Ring`](ring) is laid on the memory of each node, and one over all of them: cache lines in one random circle,
//!    so that no prefetcher can guess the next, many times as large as the caches.
//! 2. A [`Crowd`] of pinned threads goes along it (*latency*: each load needs the one before) or reads it line after
//!    line (*bandwidth*), all from the same moment to the same moment.
//! 3. [`measure`] does that with one thread and with all threads of every node, and then with all CPUs at once: each
//!    its own bank, all the same bank, all of them spread. An index in one place meets the second of these, an
//!    interleaved index the third.
//!
//! What it refuses to do: measure caches (`lmbench` does), keep its results, or draw conclusions (the plan does).
#![forbid(unsafe_code)]

mod crowd;
mod map;
pub mod ring;

pub use crowd::{AccessPattern, Crowd, Pace, ProbeError, ReadingThread};
pub use map::{Extent, measure};
