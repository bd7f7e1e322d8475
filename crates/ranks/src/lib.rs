//! Ranks that work on one job, on one machine or on many.
//!
//! 1. [`Ranks`] finds out which launcher has started us, and joins the others.
//! 2. [`Transport`] and [`Window`](transport::Window) are what ranks can do with one another: collectives, messages,
//!    and memory that others reach one-sided. [`Mpi`] does it with any MPI, through a small library that is loaded at
//!    run time. [`Twin`] does it with the threads of one process, so that everything is tested without MPI as well.
//! 3. Reads: [`deal`](mod@deal) deals one input to all ranks, and all of them write one output.
//! 4. Searches: the [`exchange`] of results (after H. Wang's design of one-sided search over a partitioned database)
//!    goes batch by batch. Every rank *puts* what it knows of its results (query, order, size) into memory of the
//!    others. Every rank *merges* what all have put, in the same way, and so knows without a message who *writes* the
//!    batch and at which place. That rank *gets* the bytes that survived, and the others go on with the next batch.
//! 5. The [`journal`] lists what is on disk. [`Identity`] lists what a job consists of, so that the same command can
//!    finish it.
//!
//! A self-test ([`trial`]) chooses a variant of the exchange. It uses [`made_up`] searches, as the laboratory does.
//!
//! What it refuses to do: know what a result means, or run as so many copies of one rank when a launcher has started
//! it.
#![deny(unsafe_code)]

mod back_off;
pub mod content;
pub mod deal;
mod error;
pub mod exchange;
pub mod journal;
mod launch;
pub mod made_up;
mod mpi;
mod recording;
mod share;
mod signs;
pub mod transport;
pub mod trial;
mod twin;

pub use back_off::{receive, until};
pub use error::{RankFailure, RanksError};
pub use exchange::{ExchangeError, Settings, Variant};
pub use launch::{RankCount, Ranks, build, find, host, note_if_alone};
pub use made_up::{MadeUp, Searched};
pub use mpi::{Mpi, SHIM};
pub use recording::{RecordedError, Recording, RecordingError};
pub use share::RankShare;
pub use signs::{Signs, with_signs};
pub use transport::{Reach, Transport, TransportError};
pub use twin::Twin;
pub use zerohop_process::Identity;
