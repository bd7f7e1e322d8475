//! Where alignment records go: SAM text or BAM, in one file, in shards, or down a pipe.
//!
//! The path of a record through this crate:
//!
//! 1. a worker's encoder makes a line of text of it, or BAM's binary form, in a buffer of the worker's own: names,
//!    bases and qualities come from the chunk, all else from the engine's alignments, and the read group from the lane;
//!    what an aligner that is a program of its own wrote comes as a line of SAM instead, which is checked, then copied
//!    or translated;
//! 2. at the end of a chunk a BAM encoder compresses the chunk into BGZF blocks that no other chunk shares;
//! 3. the runtime has the bytes written at their place by [`FileSink`];
//! 4. [`FileSink::finish`] writes BAM's end marker and gives the files their names.
//!
//! Where records are sorted, step 2 gives each its key (`keys`), step 3 collects them (zerohop-sort), and a third step
//! merges, compresses and indexes them, part by part ([`SortedParts`]).
//!
//! What it refuses to do: start threads, or leave a file that looks complete after a failure.
#![forbid(unsafe_code)]

mod bam;
mod encoder;
mod file_index;
mod files;
mod format;
mod header;
mod header_line;
mod history;
mod index;
mod keys;
mod libraries;
mod line;
mod marking;
mod mates;
mod order;
mod parts;
mod read_group;
mod records;
mod sam;
mod spec;
mod tags;
mod text;
mod unaligned;

pub use file_index::MadePart;
pub use files::{FileSink, index_fasta, index_path, paths, remove_other_indexes, shard_path};
pub use format::{CramVersion, Format};
pub use header::{Header, HeaderError, Program};
pub use history::{History, Renamed};
pub use index::IndexFormat;
pub use marking::{Barcode, Marking};
pub use order::SortOrder;
pub use parts::{Duplicates, SortedParts};
pub use read_group::{ReadGroup, ReadGroupError};
pub use spec::{KeptRuns, OutputSpec, Sorting, WriteIndex, end_markers};
pub use tags::Comments;
pub use unaligned::{ReadsFormat, Unaligned};
pub use zerohop_duplicates::{Counts as DuplicateCounts, Decision, LibraryCounts, Marks, Rules, Search, metrics_text};
pub use zerohop_sort::KEPT;
