//! Formats of records, and of what is written in their place.

pub use zerohop_cram::Version as CramVersion;

/// The format of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// SAM: text.
    Sam,
    /// Binary, compressed.
    Bam {
        /// 0 (not compressed) to 9 (smallest), as for zlib and samtools.
        level: u8,
    },
    /// Binary, without the bases that are in the reference.
    Cram {
        /// The version of CRAM.
        version: CramVersion,
        /// 0 (not compressed) to 9 (smallest), as for samtools.
        level: u8,
    },
    /// Lines that the engine writes itself.
    Paf,
    /// A table, made at the end of weights that the engine writes itself.
    Abundances,
}

impl Format {
    /// Whether records are written, and not what an engine makes in their place.
    pub fn is_of_records(self) -> bool {
        !matches!(self, Format::Paf | Format::Abundances)
    }

    /// About how many bytes of records are merged and encoded together where they are sorted. A slice of CRAM has ten
    /// thousand records, and htslib tries its methods of compression on the first slices again each time.
    pub(crate) fn part_bytes(self) -> usize {
        match self {
            Format::Sam | Format::Bam { .. } | Format::Paf | Format::Abundances => 1 << 20,
            Format::Cram { .. } => 32 << 20,
        }
    }

    /// What a file ends with.
    pub(crate) fn end_marker(self) -> &'static [u8] {
        match self {
            Format::Sam | Format::Paf | Format::Abundances => b"",
            Format::Bam { .. } => &zerohop_bgzf::END_MARKER,
            Format::Cram { .. } => &zerohop_cram::END_MARKER,
        }
    }
}
