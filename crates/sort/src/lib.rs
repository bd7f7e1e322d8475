//! Records in another order than they come: sorted runs, spilled where memory ends, and their merge by parts, with all
//! threads. What a record is, and what its key says, is not known here.
//!
//! The path of a record through this crate:
//!
//! 1. an encoder writes it as a [frame](push_frame): its key, and its bytes;
//! 2. the worker that made a chunk of frames adds it to its own run ([`Collector`]), in memory of its node;
//! 3. a run that takes more than its share of the memory is sorted, compressed and written to an unnamed file; what
//!    is left at the end stays in memory, sorted;
//! 4. the keys are divided into parts ([`Parts`]), and whoever is free merges the next one: out of each
//!    run the records whose keys lie in it.
//!
//! Where several processes sort together, or one that may be taken up after a crash, all runs are kept in files that
//! every process reads ([`Kept`]), and each merges some of the parts.
//!
//! Records with equal keys come in the order of the input: that of the numbers of their chunks, and in a chunk as they
//! were written. Where parts begin is chosen by the ordinals and lengths of records. So both depend on nothing but the
//! input.
//!
//! What it refuses to do: look into a record, start threads, write the output, or leave a file behind, whatever ends
//! the process, unless it is asked to keep runs.
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
pub use kept::{KEPT, Kept};
pub use key::{KeyRef, Ordinal, SeenKey};
pub use parts::{Merger, Parts};
pub use store::{Collector, Store};
