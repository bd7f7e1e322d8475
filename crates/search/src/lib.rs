//! Sequence search over a database in parts, with the lines of one search of the whole database.
//!
//! 1. [`build`] cuts a FASTA file into parts of nearly equal letters or search times. The program's own tool formats
//!    each: a [`Database`].
//! 2. [`fasta`] reads queries and cuts them into batches; [`check`] reads all of them before the first search.
//! 3. [`program`] has what zerohop knows of a program, [`options`] which of its options a user may give, [`settings`]
//!    its command line.
//! 4. [`local`] searches one part with one batch, by the unmodified program, and gives [`Hit`]s: a subject of a query
//!    each, with a key that sorts as the program sorts subjects in a search of the whole database.
//! 5. [`merge`](zerohop_ranks::exchange::merge), by which ranks merge, too, puts the hits of all parts in that order,
//!    and cuts it off where the program would.
//! 6. A [`Frame`] is what the program would write between them.
//! 7. A [`job`] does it on one machine or over ranks, which exchange their hits, with one output and a journal.
//!
//! Only the job knows ranks and networks. Whoever has all hits of a batch merges them alike.
//!
//! Ties are the programs' own. diamond: E-value, then the higher raw score, then the earlier subject. BLAST: E-value
//! (all below 1e-180 are equal), then the higher raw score, then the *later* subject (`s_EvalueCompareHSPLists` in its
//! blast_hits.c). Both sort by E-values with more digits than they print. BLAST tells them in its archive format;
//! diamond's are computed ([`evalue`]). Parts are contiguous runs of the database, so that the order of subjects is the
//! order of parts, and within a part the program's own.
//!
//! What it refuses to do: pass on an option whose effect on a subject depends on what else is in its part, print a line
//! that the program would not print for the whole database (docs/distributed.md lists the exceptions that are known),
//! or search with files that differ from their digests.
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
mod names;
pub mod options;
mod pilot;
pub mod program;
mod ranks;
pub mod scoring;
pub mod settings;
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
pub use pilot::Sample;
pub use program::{Installed, Program};
pub use settings::Settings;
pub use trial::{Outcome, Times, Trial};

use job::{JobError, SearchJob};

/// Does a search job: over ranks or on record, or as one process that writes to standard output.
///
/// # Errors
/// Whatever goes wrong, on any rank: then all of them end, and what is finished stays for the same job to take up.
pub fn search(job: &SearchJob) -> Result<(), JobError> {
    let checked = job::check(job);
    if job.output.is_some() || job.ranks.is_some() {
        return ranks::search(job, checked);
    }
    checked?;
    job::one::search(job)
}
