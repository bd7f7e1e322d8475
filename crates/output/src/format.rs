//! Formats of records.

use zerohop_bgzf::END_MARKER;

/// The format of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text.
    Sam,
    /// Binary, compressed.
    Bam {
        /// 0 (not compressed) to 9 (smallest), as for zlib and samtools.
        level: u8,
    },
}

impl Format {
    /// What a file ends with.
    pub(crate) fn end_marker(self) -> &'static [u8] {
        match self {
            Format::Sam => b"",
            Format::Bam { .. } => &END_MARKER,
        }
    }
}
