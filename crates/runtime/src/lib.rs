//! The runtime: pinned workers that claim, parse, map, encode and commit chunks.
//!
//! The path of a chunk (worker.rs):
//!
//! 1. *claim*: from a source that workers deal themselves, or from the [farm](spsc), where an emitter fills the empty
//!    chunks that a worker sends it through bounded lock-free queues;
//! 2. *parse* its text, in memory of the worker's node;
//! 3. *map* it with the engine copy that the [replica map](ReplicaMap) gives the worker;
//! 4. *encode* its records;
//! 5. *commit* (commit.rs, an implementation for each order of bytes): on a regular file the [gate] assigns offsets in
//!    order and the worker writes; on a pipe an [ordered queue](queue) feeds one writer. A worker that is ahead holds
//!    [`HELD_PER_WORKER`] chunks, and more of them up to [`HELD_BYTES_PER_WORKER`], then waits.
//!
//! What takes the place of a step:
//!
//! - Where an engine needs statistics over a cohort, 3 is two phases with these between them. A worker keeps a chunk
//!   until its second phase. cohorts.rs says who does what when.
//! - Instances of an external aligner take the place of 3 (instances.rs).
//! - Where several processes align the same reads into one file, [`Grains`] says which chunks are ours and where their
//!   records go.
//! - Where records are sorted, 5 gives them to a collector of the worker's own. [`write_parts`] then makes and commits
//!   parts of all of them.
//!
//! When a thread fails, the rest stop claiming, those who wait are woken, all are joined, and the failure that comes
//! first in the input is reported.
//!
//! Intake, farm and output are public: the thread-scaling laboratory combines them with its own readers and locks.
//!
//! What it refuses to do: know FASTQ, SAM or any engine; hold an unbounded number of chunks; leave a thread behind.
#![deny(unsafe_code)]

pub mod cohorts;
pub mod gate;
mod grains;
pub mod queue;
pub mod spsc;
mod sync;

#[cfg(not(loom))]
mod at_end;
#[cfg(not(loom))]
mod back_off;
#[cfg(not(loom))]
mod commit;
#[cfg(not(loom))]
mod failure;
#[cfg(not(loom))]
mod farm;
#[cfg(not(loom))]
mod instances;
#[cfg(not(loom))]
mod intake;
#[cfg(not(loom))]
mod local_buffer;
#[cfg(not(loom))]
mod output;
#[cfg(not(loom))]
mod panics;
#[cfg(not(loom))]
mod progress;
#[cfg(not(loom))]
mod replica_map;
#[cfg(not(loom))]
mod report_share;
#[cfg(not(loom))]
mod run;
#[cfg(not(loom))]
mod sorted_parts;
#[cfg(not(loom))]
mod stages;
#[cfg(not(loom))]
mod threads;
#[cfg(not(loom))]
mod worker;

#[cfg(not(loom))]
pub use {
    at_end::AtEnd,
    failure::Failure,
    farm::{EmitterEnd, EmitterMessage, WorkerEnd, farm},
    grains::{Grains, Written},
    instances::{Dealing, Handover, LateSink},
    intake::{Input, Intake, LaneView, Taken},
    output::Order,
    output::{Committer, HELD_BYTES_PER_WORKER, HELD_PER_WORKER, Output, QUEUED_PER_WORKER},
    panics::install_hook,
    progress::Progress,
    replica_map::ReplicaMap,
    run::{Job, Mapping, Outcome, run},
    sorted_parts::{Merged, ROWS_IN_GRAIN, do_parts, write_parts},
};
