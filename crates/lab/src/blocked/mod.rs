//! Blocked FASTQ: blocks of a fixed number of bytes with a fixed number of reads each, so that a reader takes a block
//! without looking at it (the L parsing of Langmead et al., Bioinformatics 2019).
//!
//! 1. [`fit`](Fit) finds the number of reads per block that needs the least padding, and the bytes that it takes;
//! 2. [`block`] writes the blocks, plain or each as BGZF members of its own, and says in a [`Sidecar`] what it wrote;
//! 3. [`restore`] gives the original bytes back, and checks all that the sidecar says.
//!
//! **Padding** is spaces at the end of the `+` line of a block's last read, which aligners skip
//! (crates/lab/docs/blocked.md says which programs do not). The study padded the header line: that is a comment, which
//! `-C` of bwa and others copy into their output. Spaces that stood there before are counted in the sidecar, so that
//! the original comes back byte for byte.

mod fit;
mod restore;
mod sidecar;
mod take;
mod write;

pub use fit::{Blocking, Fit};
pub use restore::restore;
pub use sidecar::{Coding, Sidecar};
pub(crate) use take::{BlockParser, BlockTaker};
pub use write::{BlockInput, Compress, block, inputs};

/// Lines of a read.
const LINES: usize = 4;

/// Data per BGZF member, as htslib has it.
const MEMBER_DATA: usize = 0xff00;

/// BGZF members of a block of so many bytes.
pub(crate) fn members(block_bytes: usize) -> usize {
    block_bytes.div_ceil(MEMBER_DATA)
}

/// Where padding goes: the end of the `+` line of the last of the records in `text`, each of four lines with their
/// ends.
fn padding_place(text: &[u8]) -> usize {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let plus_end = memchr::memrchr(b'\n', body).unwrap_or(0);
    if plus_end > 0 && text[plus_end - 1] == b'\r' { plus_end - 1 } else { plus_end }
}

/// The number of spaces right before `place`.
fn spaces_before(text: &[u8], place: usize) -> usize {
    text[..place].iter().rev().take_while(|&&byte| byte == b' ').count()
}

/// The digest of a file is the sum of these over its blocks, so that blocks can be checked in any order.
fn block_digest(number: u64, block: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(block, number)
}

#[cfg(test)]
mod tests;
