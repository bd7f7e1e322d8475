//! CRAM (CRAMv3), as htslib encodes it. Each worker makes containers of its own records.
//!
//! 1. a [`CramReferenceBuilder`] takes the reference line by line, and notes where its contigs lie; [`Cram::new`] makes
//!    what a file begins with: the header with M5 and UR;
//! 2. a worker's [`CramEncoder`] takes records as BAM has them, and makes whole containers of a run of them, which no
//!    other run shares. What it makes depends on these records alone;
//! 3. the containers of all runs, one after the other, and [`END_MARKER`] are a file;
//! 4. [`Crai`] is its index, from the headers of the containers.
//!
//! All encoders share the reference. htslib loads a contig when it is first needed, and frees it when none needs it.
//! Where records do not come in the order of coordinates, it keeps all contigs.
//!
//! The counter of records in containers begins again with each run: no worker knows how many records came before it.
//! Readers use it only to make up names, and here names are kept.
//!
//! Reads come out of SAM and CRAM the other way: [`as_bam`] has htslib read them in a process without rights, which is
//! this program again ([`convert_if_asked`]), and gives BAM. [`record`] says how one record lies in it.
//!
//! What it refuses to do: write a file, or encode with another reference than the FASTA that was given. Only reading
//! starts threads and a process; it may look for a reference where samtools does, because CRAM needs one.
#![deny(unsafe_code)]

mod bam;
mod causes;
mod convert;
mod crai;
mod encoder;
mod hts;
mod md5;
mod numbers;
pub mod record;
mod reference;
mod scheme;
mod slices;
mod system;

pub use bam::{Unreadable, as_bam, convert_if_asked};
pub use convert::ReadReference;
pub use crai::Crai;
pub use encoder::{Cram, CramEncoder, RecordOrder, Version};
pub use reference::{ContigBases, CramReference, CramReferenceBuilder, LinePlace};

/// The container that ends a file (CRAMv3, section 9).
pub const END_MARKER: [u8; 38] = [
    0x0f, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xe0, 0x45, 0x4f, 0x46, 0, 0, 0, 0, 1, 0, 5, 0xbd, 0xd9, 0x4f, 0, 1,
    0, 6, 6, 1, 0, 1, 0, 1, 0, 0xee, 0x63, 0x01, 0x4b,
];
