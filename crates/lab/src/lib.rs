//! The laboratory measures how much threads wait for one another, and which way of exchanging search results is the
//! fastest. The program `zerohop-lab` (src/bin) is made of it.
//!
//! 1. An [`Arm`] is one way of taking reads (O, D, B, L, see [`parsing`], or zerohop's own two), one kind of lock, one
//!    kind of output, and a number of threads and processes.
//! 2. [`process::run`] runs one process of it. Every thread claims, parses, maps, encodes and commits (worker.rs), with
//!    the reader under the lock (pool.rs) and the output as the arm has it (output.rs).
//! 3. [`Store`] keeps the points that were measured, and [`present`] shows them. queueing.rs simulates what more
//!    threads would reach.
//! 4. [`exchange`] measures and simulates how ranks exchange results, and [`show_exchange`] shows what was measured.
//! 5. [`blocked`] writes FASTQ in blocks of a fixed size, which L takes, and gives the original back.
//! 6. [`cohorts`] simulates and measures workers whose engine maps in two phases.
//!
//! What it refuses to do: align for anybody. Nothing here is on the path of `zerohop align`.
#![forbid(unsafe_code)]

mod aligner;
mod arm;
pub mod blocked;
pub mod claims;
pub mod cohorts;
mod error;
pub mod exchange;
mod exchange_page;
mod experiment;
mod grid;
mod inputs;
mod output;
pub mod parsing;
mod pool;
mod present;
pub mod process;
mod queueing;
mod serial;
mod start;
mod starter;
mod stopwatch;
mod store;
pub mod summary;
pub mod synthetic;
mod worker;

pub use arm::{Arm, InputKind, LockKind, OutputKind};
pub use error::LabError;
pub use exchange_page::{ExchangeRun, exchange_runs_of, show_exchange};
pub use experiment::{Experiment, Others, Point, Scaling};
pub use grid::Grid;
pub use inputs::Fragments;
pub use present::{present, show};
pub use starter::Starter;
pub use store::{Store, points_of};
pub use worker::ThreadReport;
