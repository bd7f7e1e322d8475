//! Reads from files and pipes, as chunks of whole fragments that are cut where the engine wants them cut.
//!
//! The path of a read through this crate:
//!
//! 1. [`OpenLane::open`] looks at the content of a lane's files: plain, gzip or BGZF; FASTQ, FASTA or BAM. SAM and CRAM
//!    become BAM on the way.
//! 2. [`mean_read_length`] samples the first reads, for the index depends on their length.
//! 3. [`OpenLane::deal`] chooses how they are dealt. Regular files of FASTQ (plain, gzip or BGZF), and BAM in BGZF, are
//!    dealt by a *survey*, which the workers do themselves, without a lock. Anything else (pipes, interleaved, FASTA)
//!    is dealt by an *emitter*, with a thread per input that inflates ahead. Pieces of plain gzip are inflated before
//!    it is known what comes before them, and become a *chain*.
//! 4. Either way *segments* of inflated text are marked (where records start, how many bases lie before each). The
//!    *cutter* bisects these marks for the ends of chunks, and keeps two files in step by record number.
//! 5. A chunk's text is copied into memory of the worker that will map it.
//! 6. The *parser* finds the reads in that text, in place, and checks every byte of them. Of BAM it makes FASTQ first.
//!
//! Where several processes align the same reads ([`OpenLane::deal_granted`]), each deals the chunks that it was
//! granted. Files that can be read at any place are first *counted*, by all of them together ([`OpenLane::count`]), so
//! that each can begin with any chunk ([`Table`]). Of other files each process reads all, and passes over what is not
//! its own.
//!
//! Of reads that are trimmed only what stays is dealt: raw chunks are *reduced*, and go through steps 4 to 6 again as
//! FASTQ (trimmed.rs). So are interleaved reads and BAM with a [`ReadStructure`].
//!
//! Who deals reads in another way takes the text of the files ([`OpenLane::into_texts`]) and the parser
//! ([`fastq_parser`]) by themselves, as the laboratory does. For indexes, [`mod@reference`] reads a reference, and
//! [`identity`] tells whether an index still fits it.
//!
//! Line ends are looked for twice: in 4, before anybody knows where chunks end, and in 6, in memory of the worker,
//! whose cache holds them then. To hand over the places of all lines would take memory of as many numbers.
//!
//! What it refuses to do: guess at damaged input (every fault is an error that names file, record, byte and read), keep
//! more than a few segments per worker in memory, start threads for regular files, or know what is done with the reads.
#![forbid(unsafe_code)]

mod bam;
mod barcodes;
mod bisulfite;
mod chain;
mod compact;
mod content;
mod count;
mod cutter;
mod deal;
mod errors;
mod garbage;
mod granted;
mod gzip;
mod header;
pub mod identity;
mod kept;
mod kept_count;
mod lane;
mod lasting;
mod modifications;
mod open;
mod parse;
mod per_base;
pub mod reference;
mod regular;
mod runs;
mod sam;
mod sample;
mod saved;
mod seen;
mod segment;
pub mod sizes;
mod stream;
mod survey;
mod table;
mod text;
mod trimmed;
mod trimming;
mod turn;

pub use barcodes::Barcodes;
pub use bisulfite::{BisulfiteLibrary, ConvertedReads, UnknownLibrary};
pub use errors::read_fault;
pub use granted::Shared;
pub use gzip::inflated;
pub use lane::{Carried, OpenLane};
pub use open::WhenRead;
pub use parse::{PairsAlone, fastq_parser};
pub use sam::convert_if_asked;
pub use sample::mean_read_length;
pub use saved::{SavedFile, SavedReads};
pub use table::Table;
pub use trimming::{Trimmed, Trimming};
pub use zerohop_trim::{
    Counts as TrimCounts, OptionError as TrimOptionError, Options as TrimOptions, Reason as TrimReason,
};
pub use zerohop_umi::{ReadStructure, StructureError};

use std::path::PathBuf;

/// The files of one lane, as the user named them; `-` is standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneSpec {
    /// One file, or two with the mates in step.
    pub files: Vec<PathBuf>,
    /// One file in which mates follow one another.
    pub interleaved: bool,
}
