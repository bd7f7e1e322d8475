//! UMIs: where they are in reads, and which templates come from one molecule, as `fgbio GroupReadsByUmi` 4.1 says.
//!
//! 1. A [`ReadStructure`] (`8M+T`) says which bases of a read are a UMI, and which are template.
//! 2. Templates of one place (equal ends, strands, library, cell) are collected by the caller. Those with N in their
//!    UMI are dropped ([`has_no_call`]).
//! 3. A [`Grouper`] finds the distinct UMIs of the place, and joins those that differ by errors ([`Rules`]). Each
//!    template gets the number of its molecule within the place, and with paired UMIs its strand ([`Assignment`]).
//! 4. [`FamilySizes`] and [`GroupingCounts`] sum up what was found, and write fgbio's tables of it.
//!
//! A place with few UMIs compares each with each. With many, all that a UMI can become by the edits is looked up in a
//! table: 36 variants of 12 bases with 1 edit, 630 with 2. So as soon as there are more UMIs than variants of one, time
//! and memory are linear in their number, whatever they are.
//!
//! fgbio and fgumi 0.9.0 differ in three cases:
//!
//! - Small letters are capitals, as in fgumi. fgbio's strategies adjacency and paired tell them apart.
//! - Letters other than A, C, G and T are letters as others are, as in fgbio. fgumi joins no UMIs that have any.
//! - Hyphens in UMIs that are not paired are letters, too, as in fgbio. fgumi leaves them out.
//!
//! What it refuses to do: read or write records, find places, or start threads.
#![forbid(unsafe_code)]

mod distinct;
mod families;
mod grouper;
mod key;
mod rules;
mod structure;
mod template;
mod variants;

pub use families::{FamilySizes, GroupingCounts};
pub use grouper::{Assignment, Grouper, Strand};
pub use rules::{ExactWithEdits, LeastBases, Rules, Strategy, has_no_call};
pub use structure::{ReadLengthError, ReadStructure, SegmentKind, Spans, StructureError, StructureFault};
pub use template::{TemplateUmi, UmiError};
