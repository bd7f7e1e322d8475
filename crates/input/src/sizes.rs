//! How much of an input is read and surveyed at once.
//!
//! Most faults of dealing can only lie where two such parts meet. A fuzzer writes few KiB, so the parts are small for
//! it: then its inputs reach over many.

/// Bytes of a plain file that are surveyed at once: about the text of one chunk of strobealign.
pub const PLAIN_STRETCH: u64 = or_small(1 << 20);
/// Bytes of a BGZF file that are surveyed at once; FASTQ shrinks about fourfold.
pub const BGZF_STRETCH: u64 = or_small(1 << 18);
/// Bytes of a gzip file that are inflated at once.
pub const GZIP_STRETCH: u64 = or_small(1 << 18);
/// Bytes of the text of a stream that are handed on at once.
pub const SEGMENT: u64 = or_small(1 << 20);
/// Bytes of a compressed stream that are read at once.
pub(crate) const COMPRESSED_READ: usize = or_small(1 << 18) as usize;

const fn or_small(bytes: u64) -> u64 {
    if cfg!(fuzzing) { 1 << 10 } else { bytes }
}
