//! Finds duplicates among records as `samtools markdup` or Picard's MarkDuplicates do, without a second pass over the
//! records.
//!
//! 1. Where all records of a fragment are known, each primary one gives its *signatures* ([`Signatures`]): where the
//!    fragment began and ended before clipping, and how good it is.
//! 2. They are collected and sorted as records are (zerohop-sort), so that those of one place follow each other.
//! 3. Of each place one fragment stays ([`Decision`]): that with the highest sum of qualities; of equal ones, that
//!    whose name comes first, or whose place on the flow cell does ([`Rules`]). The others are marked ([`Marks`]), a
//!    bit for each record, and counted by library ([`Counts`]).
//!    With UMIs ([`Search::umis`]) one fragment stays of each molecule of the place, and all records of a fragment
//!    learn from which molecule they come ([`Molecule`]).
//! 4. The merge asks for the bit of each record that it writes. [`metrics_text`] writes what was counted.
//!
//! The choice is a total order on what a signature holds. So it depends neither on threads nor on runs.
//!
//! What it refuses to do: read or write records, or start threads.
#![forbid(unsafe_code)]

mod counts;
mod decision;
mod marks;
mod metrics;
mod molecules;
mod optical;
mod picard;
mod primary;
mod rules;
mod samtools;
mod set;
mod signature;
mod template;

pub use counts::{Counts, LibraryCounts, Sets};
pub use decision::Decision;
pub use marks::{ChunkCounts, Marks, Molecule};
pub use metrics::metrics_text;
pub use primary::{ConvertedStrand, Primary, samtools_score};
pub use rules::{Rules, Search};
pub use signature::{NamedFragment, Signatures};
pub use zerohop_umi::{ExactWithEdits, FamilySizes, GroupingCounts, Rules as UmiRules, Strategy as UmiStrategy};
