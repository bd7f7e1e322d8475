//! Which records are duplicates, as `samtools fixmate -m`, `sort` and `markdup` find them, without a second pass over
//! the records.
//!
//! 1. Where all records of a fragment are known, each primary one gives its *signatures* ([`Signatures`]): where the
//!    fragment began and ended before clipping, and how good it is;
//! 2. they are collected and sorted as records are (zerohop-sort), so that those of one place follow each other;
//! 3. of each place one fragment stays ([`Decision`]): that with the highest sum of qualities; of equal ones, that
//!    whose name comes first. The others are marked ([`Marks`]), a bit for each record;
//! 4. the merge asks for the bit of each record that it writes.
//!
//! The choice is a total order on what a signature holds. So it depends neither on threads nor on runs.
//!
//! What it refuses to do: read or write records, or start threads.
#![forbid(unsafe_code)]

mod decision;
mod marks;
mod signature;

pub use decision::{Counts, Decision};
pub use marks::{ChunkCounts, Marks};
pub use signature::{Primary, Signatures};
