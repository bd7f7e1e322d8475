//! What can be wrong with compressed data.

use std::fmt;

/// What is wrong with compressed data, in the words of flate2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GzipFault {
    /// These bits are no deflate data (RFC 1951).
    Deflate,
    /// A member does not begin as it must (RFC 1952).
    Header,
    /// A name or a comment of a member has more than 65,535 bytes.
    LongField,
    /// The text of a member is not what was compressed.
    Checksum,
    /// The file ends inside a member.
    Truncated,
}

impl fmt::Display for GzipFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GzipFault::Deflate => "corrupt deflate stream",
            GzipFault::Header => "invalid gzip header",
            GzipFault::LongField => "gzip header field too long",
            GzipFault::Checksum => "corrupt gzip stream does not have a matching checksum",
            GzipFault::Truncated => "the compressed data end early",
        })
    }
}

impl std::error::Error for GzipFault {}
