//! Trims reads and drops bad ones as fastp 1.3.6 does, without moving a base: what stays of a read is a [`Span`].
//!
//! 1. [`Options::parse`] reads fastp's own words for its options. What cannot be done by spans, or not here, is refused
//!    by its name: correction of bases, merging of mates, barcodes, filters by index, removal of duplicates.
//! 2. The first reads say what fastp guesses ([`FirstReads`]): whether tails of G are cut off ([`has_two_colours`]) and
//!    which adapters there are ([`detect_adapter`]). [`fasta_adapters`] reads a list of them.
//! 3. A [`Trimmer`] decides on each pair or read by itself, in fastp's order:
//!
//! | step | file |
//! |---|---|
//! | fixed cuts at both ends, windows of qualities | `ends` |
//! | tails of G | `poly` |
//! | the overlap of two mates, and so the size of their insert | `overlap` |
//! | adapters: by the overlap, else by their letters; then those of a list | `adapter` |
//! | tails of any letter; the longest length | `poly` |
//! | filters: qualities, N, lengths, complexity. One bad mate drops both | `filter` |
//!
//! 4. What was done adds up to [`Counts`], and the bases before and after to [`Statistics`], cycle by cycle.
//!    [`fastp_json`] writes them as fastp's report, which MultiQC reads.
//!
//! Two texts are compared by bits, all places at once (`letters`), if they have the letters A, C, G, T and N alone and
//! not too many; else by bytes. Both ways find the same.
//!
//! The output is fastp's, byte for byte, and so are the numbers of its report with one thread
//! (bench/runs/2026-11-28-xeon-trim). These differ:
//!
//! - fastp takes S, W and D in a second mate for C, G and T, or for N: by where they stand, and by what the CPU can do.
//!   Here they are N.
//! - A blank line in a list of adapters says nothing; fastp takes it for a letter.
//!
//! What it refuses to do: read or write files, change bases, qualities or names, or start threads.
#![forbid(unsafe_code)]

mod adapter;
mod adapter_counts;
mod arguments;
mod counts;
mod cycles;
mod detect;
mod ends;
mod error;
mod fasta;
mod filter;
mod first_reads;
mod known;
mod letters;
mod options;
mod outcome;
mod overlap;
mod poly;
mod read;
mod report;
mod trimmer;

pub use adapter_counts::AdapterCounts;
pub use counts::{Amount, Counts};
pub use cycles::{Curves, Statistics};
pub use detect::{DETECTION_BASES, DETECTION_READS, DetectedAdapter, detect_adapter};
pub use error::OptionError;
pub use fasta::fasta_adapters;
pub use filter::Reason;
pub use first_reads::{FirstReads, has_two_colours};
pub use options::{
    AdapterOptions, AdapterSequence, EndOptions, LengthFilter, Options, OverlapOptions, PolyG, PolyGOptions,
    QualityFilter, Window, WindowOptions,
};
pub use outcome::{Failed, Outcome};
pub use read::{Read, Span};
pub use report::{FASTP_VERSION, fastp_json};
pub use trimmer::Trimmer;
