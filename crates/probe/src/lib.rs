//! Measures the way from the CPUs of each NUMA node to the memory of each other: latency and bandwidth, alone and in a
//! crowd.
//!
//! 1. A [`Ring`](ring) is laid on the memory of each node, and one over all of them: cache lines in one random circle,
//!    so that no prefetcher can guess the next, many times as large as the caches;
//! 2. a [`Crowd`] of pinned threads goes along it (*latency*: each load needs the one before) or reads it line after
//!    line (*bandwidth*), all from the same moment to the same moment;
//! 3. [`measure`] asks that for one thread and for all threads of every node, and then for all CPUs at once: each its
//!    own bank, all the same bank, all of them spread. The last two are what an index in one place and an interleaved
//!    index meet.
//!
//! What it refuses to do: tell caches from memory (`lmbench` does), keep its results, or draw conclusions (the plan
//! does).
#![forbid(unsafe_code)]

mod crowd;
mod map;
pub mod ring;

pub use crowd::{Crowd, Kind, Pace, ProbeError, Reader};
pub use map::{Extent, measure};
