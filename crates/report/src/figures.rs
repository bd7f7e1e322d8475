//! The few figures by which runs are compared.

use serde::Serialize;

/// Figures of a run; none where there is nothing to count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Reads in, all accounted for.
    pub reads: u64,
    /// Reads mapped, in percent.
    pub mapped: f64,
    /// Paired reads properly paired, in percent.
    pub proper: Option<f64>,
    /// Median insert size, in bases.
    pub insert: Option<u32>,
    /// Mapped reads that are duplicates, in percent; none without mapped reads.
    pub duplicates: Option<f64>,
    /// Different fragments in the library, estimated; none if there are several libraries.
    pub library_size: Option<u64>,
    /// N50 of long reads, in bases, to three digits.
    pub n50: Option<u64>,
    /// Columns of the alignments of long reads that do not differ, in percent.
    pub identity: Option<f64>,
    /// How often the alignments of long reads, supplementary ones too, cover the reference in the mean.
    pub coverage: Option<f64>,
    /// Reads mapped per second.
    pub reads_per_second: f64,
}
