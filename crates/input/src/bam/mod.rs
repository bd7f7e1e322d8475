//! Reads in BAM (SAMv1, section 4.2), as sequencing centres keep them: not aligned yet, or aligned before.
//!
//! 1. [`BamHeader`] is what lies before the records; [`first_read`] is what the first read shows;
//! 2. [`mark`](mark::mark) finds where fragments start in a stretch of records: a read, or two mates that follow one
//!    another and have the same name; [`guess`](mark::guess) where the first record of a stretch lies, if what is
//!    before it was not looked at;
//! 3. the [`BamParser`] makes FASTQ of the records of a chunk: engines and programs get what they get of FASTQ. The
//!    optional fields go where the comment of a header line is, as text;
//! 4. [`SeenMates`] counts pairs and single reads, and finds mates that are apart.
//!
//! Of a record that was aligned before, the read is taken as it was sequenced: in its own direction, and without the
//! fields that only an aligner can know. Secondary and supplementary records are passed over.

mod fields;
mod header;
pub(crate) mod mark;
mod mates;
mod parse;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use header::{BamHeader, Beginning, First, MAGIC, first_read, name_of_first, sample};
pub(crate) use mark::ends_of_fragments;
pub(crate) use mates::{SeenMates, SingleReads};
pub(crate) use parse::{BamParser, sequences};
