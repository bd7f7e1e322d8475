//! Alignment records as files: SAM text, BAM or CRAM, in one file, in shards, or down a pipe.
//!
//! The path of a record through this crate:
//!
//! 1. A worker's encoder makes a line of text of it, or BAM's binary form, in a buffer of the worker's own. Names,
//!    bases and qualities come from the chunk, the read group from the lane, all else from the engine's alignments. A
//!    line of SAM that another program wrote is checked, then copied or translated.
//! 2. At the end of a chunk a BAM encoder compresses the chunk into BGZF blocks that no other chunk shares.
//! 3. The runtime has the bytes written at their place by [`FileSink`].
//! 4. [`FileSink::finish`] writes BAM's end marker and gives the files their names.
//!
//! Where records are sorted, step 2 gives each its key (`keys`), step 3 collects them (zerohop-sort), and a further
//! step merges, compresses and indexes them, part by part ([`SortedParts`]).
//!
//! Reads that were not aligned go to files beside those of the records ([`Unaligned`]), one, or one per mate. A chunk
//! adds bytes to each of them, each file has a gate of its own, and all get their names together. Over ranks a grain
//! says how many bytes it adds to each file.
//!
//! What the header says of earlier programs (@PG, @CO) is [`History`]. It is known before a read is dealt, so the
//! parser can give the PG of a record a new ID where two inputs have the same. The header of an external aligner comes
//! later: there its own programs get the new ID, and the PG of its records with them.
//!
//! What it refuses to do: start threads, or leave a file that looks complete after a failure.
#![forbid(unsafe_code)]

mod bam;
mod bed;
mod bins;
mod blocks;
mod doubts;
mod encoder;
mod engine_text;
mod file_index;
mod files;
mod format;
mod header;
mod header_line;
mod history;
mod index;
mod keys;
mod libraries;
mod line_file;
mod marking;
mod mate_tags;
mod mates;
mod merged;
mod molecule;
mod order;
mod parts;
mod places;
mod read_group;
mod records;
mod sam;
mod sam_line;
mod spec;
mod tags;
mod template_order;
mod unaligned;

pub use bed::{BedBlock, BedFile, bed_compressor};
pub use file_index::MadePart;
pub use files::{FileSink, index_path, paths, remove_other_indexes, shard_path};
pub use format::{CramVersion, Format};
pub use header::{Header, HeaderError, Program};
pub use history::{History, Renamed};
pub use index::IndexFormat;
pub use line_file::LineFile;
pub use marking::{Barcode, Marking};
pub use order::SortOrder;
pub use parts::{Duplicates, SortedParts, Visit, Visitors};
pub use read_group::{ReadGroup, ReadGroupError};
pub use spec::{KeptRuns, OutputSpec, Sorting, WriteIndex, end_markers};
pub use tags::Comments;
pub use unaligned::{ReadsFormat, Unaligned};
pub use zerohop_duplicates::{
    Counts as DuplicateCounts, Decision, LibraryCounts, Marks, Rules, Search, UmiRules, UmiStrategy, metrics_text,
};
pub use zerohop_sort::KEPT;
