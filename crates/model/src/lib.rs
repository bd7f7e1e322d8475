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
//! What this crate refuses to do: anything. It holds no thread, no file and no knowledge of FASTQ, SAM or an aligner.
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
