//! BGZF (SAMv1, section 4.1), both directions: a gzip file of independent members, *blocks*, of at most 64 KiB, each of
//! which says how long it is. So any thread can begin in the middle of a file, and workers compress and inflate their
//! own blocks.
//!
//! 1. [`find_block`] and [`frame`] find blocks in bytes that begin anywhere;
//! 2. [`inflate_chain`] inflates a run of them, and checks lengths and CRCs;
//! 3. [`BlockCompressor`] makes blocks, and [`END_MARKER`] ends a file.
//!
//! What it refuses to do: read or write a file, start a thread, or inflate gzip that is not BGZF.
#![forbid(unsafe_code)]

mod read;
mod write;

pub use read::{BlockFrame, find_block, frame, inflate_chain};
pub use write::BlockCompressor;

/// The longest block in bytes, compressed or inflated.
pub const MAX_BLOCK: usize = 1 << 16;

/// Data per block that is written, in bytes, as htslib has it: it fits into a block even if it cannot be compressed.
pub const BLOCK_DATA: usize = 0xff00;

/// The empty block that ends a BGZF file.
pub const END_MARKER: [u8; 28] =
    [0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 6, 0, 0x42, 0x43, 2, 0, 0x1b, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
