//! Sorts records by their keys: sorted runs, spilled where memory ends, and their merge by parts, with all threads. The
//! crate does not know what a record is, or what its key says.
//!
//! The path of a record through this crate:
//!
//! 1. An encoder writes it as a [frame](push_frame): its key, and its bytes.
//! 2. The worker that made a chunk of frames adds it to its own run ([`Collector`]), in memory of its node.
//! 3. A run that takes more than its share of the memory is sorted, compressed and written to an unnamed file. What is
//!    left at the end stays in memory, sorted.
//! 4. The keys are divided into parts ([`RecordParts`]), and whoever is free merges the next one: out of each run the
//!    records whose keys lie in it.
//!
//! Where several processes sort together, or one whose job is finished after a crash, all runs are kept in files that
//! every process reads ([`RunFolder`]), and each merges some of the parts.
//!
//! Records with equal keys come in the order of the input: by the numbers of their chunks, and in a chunk as they were
//! written. Where parts begin is chosen by the ordinals and lengths of records. So both depend on nothing but the
//! input.
//!
//! What it refuses to do: look into a record, start threads, write the output, or leave a file behind (unless it is
//! asked to keep runs), whatever ends the process.
#![forbid(unsafe_code)]

mod frame;
mod kept;
mod key;
mod merge;
mod parts;
mod run;
mod spill;
mod store;

pub use frame::push_frame;
pub use kept::{KEPT, RunFolder};
pub use key::{KeyRef, Ordinal, SeenKey};
pub use parts::{Merger, RecordParts};
pub use store::{Collector, RunStore};
