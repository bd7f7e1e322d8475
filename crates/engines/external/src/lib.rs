//! Aligners that run unmodified, as programs of their own, under any plan.
//!
//! 1. A [`descriptor`] has all that zerohop knows of an aligner: a file per aligner, built in or the user's.
//! 2. [`Found`] is such an aligner on this machine: its program, its version, its index (made by its own indexer if
//!    wanted).
//! 3. [`SharedIndex`] lays copies of the index into /dev/shm under the plan's policies, for processes that map it.
//! 4. [`Launch`] starts the processes. A child is born with the CPUs and the memory policy of the thread that starts
//!    it.
//! 5. Each is an [`Instance`](zerohop_model::instance::Instance). Its *feed* writes reads into its pipes. Its *drain*
//!    splits its output into records and checks them against the reads that it was given (`ledger`).
//! 6. The reaper of our process ([`zerohop_process::charge`]) clears away what we leave if we are killed.
//!
//! [`Supervision`] runs any other program under a plan, without reads.
//!
//! What it refuses to do: change an aligner, guess at its options, pass on a record whose read it was not given, or end
//! well when a read did not come back.
#![forbid(unsafe_code)]

mod arguments;
mod build;
mod bwactl;
mod clearing;
mod compare;
pub mod copies;
pub mod descriptor;
mod drain;
mod error;
mod feed;
mod found;
mod index_files;
mod launch;
mod ledger;
mod mmi;
mod original;
mod pipes;
mod process;
mod segments;
mod share;
pub mod shm;
mod supervise;
mod tool;
mod warnings;

pub use arguments::UserArguments;
pub use clearing::{charge as copies_charge, clear_own};
pub use compare::compare;
pub use descriptor::{Descriptor, all};
pub use error::ExternalError;
pub use found::{Found, FoundIndex};
pub use launch::{Launch, cut};
pub use share::SharedIndex;
pub use supervise::Supervision;
pub use tool::run_tool;
pub use warnings::warnings;
