//! Sequence search over a database in parts: what one search of the whole database would give.
//!
//! 1. [`build`] cuts a FASTA file into parts of nearly equal letters or search times, each formatted by the program's
//!    own tool: a [`Database`];
//! 2. [`fasta`] reads queries and cuts them into batches;
//! 3. [`program`] is what is known of a program: its command line, and what a user may not give it;
//! 4. [`local`] searches one part with one batch, by the unmodified program, and gives [`Hit`]s: a subject of a query
//!    each, with a key that sorts as the program sorts subjects in a search of the whole database;
//! 5. [`merge`] puts the hits of all parts in that order and cuts it off where the program would;
//! 6. a [`Frame`] is what the program would write between them.
//!
//! 7. a [`job`] does it on one machine or over ranks, which exchange their hits, with one output and a journal.
//!
//! All but the job knows nothing of ranks or networks: whoever has all hits of a batch, from wherever, merges them
//! alike.
//!
//! Ties are the programs' own. diamond: E-value, then the higher raw score, then the earlier subject. BLAST: E-value
//! (all below 1e-180 are equal), then the higher raw score, then the *later* subject (`s_EvalueCompareHSPLists` in its
//! blast_hits.c). Both sort by E-values with more digits than they print. BLAST tells them in its archive format;
//! diamond's are computed ([`evalue`]). Parts are contiguous runs of the database, so that the order of subjects is the
//! order of parts, and within a part the program's own.
#![forbid(unsafe_code)]

pub mod build;
pub mod check;
mod collect;
mod cuts;
pub mod database;
mod error;
pub mod evalue;
pub mod fasta;
pub mod format;
mod frame;
mod framing;
mod hit;
pub mod job;
pub mod local;
pub mod merge;
mod names;
mod pilot;
pub mod program;
mod tool;
mod trial;
mod warnings;
mod written;

pub use database::Database;
pub use error::SearchError;
pub use fasta::{Batch, Batches};
pub use format::Format;
pub use frame::Frame;
pub use hit::{Hit, Key};
pub use local::{Found, Search};
pub use merge::{Merge, Place};
pub use pilot::Sample;
pub use program::{Installed, Program, Settings};
pub use trial::{Outcome, Times, Trial};
