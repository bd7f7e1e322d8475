//! Ranks that work on one job, on one machine or on many.
//!
//! 1. [`Ranks`] finds out which launcher has started us, and joins the others.
//! 2. [`Transport`] and [`Window`](transport::Window) are what ranks can do with one another: collectives, messages,
//!    and memory that others reach one-sided. [`Mpi`] does it with any MPI, through a small library that is loaded at
//!    run time. [`Twin`] does it with the threads of one process, so that everything is tested without MPI as well.
//! 3. Reads: [`deal`](mod@deal) deals one input to all ranks, and all of them write one output.
//! 4. Searches: the [`exchange`] of results goes batch by batch. Every rank *sends* the others what it knows of its
//!    results (query, order, size). Every rank *merges* what all have sent, in the same way, and so knows without a
//!    further message who *writes* the batch and at which place. That rank *fetches* the bytes that survived, and the
//!    others go on with the next batch.
//! 5. The [`journal`] lists what is on disk. [`Identity`] lists what a job consists of, so that the same command can
//!    finish it.
//!
//! The exchange goes by messages. The laboratory (crates/lab) runs the same one by H. Wang's one-sided puts, behind the
//! traits [`Rounds`](exchange::Rounds) and [`Carrier`](exchange::Carrier).
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
mod mpi;
mod share;
mod signs;
pub mod transport;
mod twin;
pub mod values;

pub use back_off::{receive, wait_for};
pub use error::{RankFailure, RanksError};
pub use exchange::{ExchangeError, Settings};
pub use launch::{RankCount, Ranks, build, find, host, note_if_alone};
pub use mpi::{Mpi, SHIM};
pub use share::RankShare;
pub use signs::{Signs, with_signs};
pub use transport::{Reach, Transport, TransportError};
pub use twin::Twin;
pub use values::values;
pub use zerohop_process::Identity;
