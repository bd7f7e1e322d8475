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
//! An aligner that is a program of its own takes the place of 3, as an [`instance::Instance`]: reads go into it, and
//! SAM comes out.
//!
//! [`plan::Plan`] says which worker runs where on a [`machine::Machine`] and which index copy it reads.
//! [`measurement::RunReport`] has the times and counts of a run.
//!
//! Records have the fields, flags and tags of SAM ([`alignment`], [`record`], [`directed`], [`complement`]), because
//! engines, encoders and the input all need them. [`spare`] keeps used buffers for the threads of a node.
//!
//! What it refuses to do: start threads, open files, read or write FASTQ, SAM or BAM, or know one aligner from another.
#![forbid(unsafe_code)]

pub mod aligned_bases;
pub mod alignment;
pub mod buckets;
pub mod chunk;
pub mod complement;
pub mod directed;
pub mod engine;
pub mod error;
pub mod exchange;
pub mod htsjdk;
pub mod index;
pub mod instance;
pub mod machine;
pub mod mapper;
pub mod measurement;
pub mod memory_map;
pub mod methylation;
pub mod plan;
pub mod qc_figures;
pub mod read_lengths;
pub mod record;
pub mod sink;
pub mod source;
pub mod spare;
pub mod thousands;
pub mod timeline;
pub mod tuning;
