//! The vocabulary of zerohop: plain data, and the traits that join the crates. It imports none of them.
//!
//! The main path in five calls, and the trait that each belongs to:
//!
//! 1. *claim*: [`source::Claim`] gives a worker the text of a [`chunk::Chunk`] (or [`source::Emit`] gives it to the
//!    farm, which deals it to a worker);
//! 2. *parse*: [`source::Parse`] finds the reads in that text, in place;
//! 3. *map*: [`mapper::Mapper`] aligns them: [`alignment::Alignments`];
//! 4. *encode*: a [`sink::Encoder`] makes SAM text or BAM blocks of the chunk and its alignments;
//! 5. *commit*: the runtime puts the bytes at their place through a [`sink::Sink`].
//!
//! An aligner that is a program of its own stands at 3 as an [`instance::Instance`]: reads go into it, and SAM comes
//! out.
//!
//! [`plan::Plan`] says how that is laid over a [`machine::Machine`], [`measurement::RunReport`] what came of it.
//!
//! Records have the fields, flags and tags of SAM ([`alignment`], [`record`], [`directed`]), for engines, encoders and
//! the input speak of them. [`spare`] keeps used buffers for the threads of a node.
//!
//! What this crate refuses to do: start threads, open files, read or write FASTQ, SAM or BAM, or know one aligner from
//! another.
#![forbid(unsafe_code)]

pub mod alignment;
pub mod chunk;
pub mod directed;
pub mod engine;
pub mod error;
pub mod exchange;
pub mod index;
pub mod instance;
pub mod machine;
pub mod mapper;
pub mod measurement;
pub mod memory_map;
pub mod plan;
pub mod record;
pub mod sink;
pub mod source;
pub mod spare;
pub mod timeline;
pub mod tuning;
