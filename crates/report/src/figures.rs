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
    /// Reads mapped per second.
    pub reads_per_second: f64,
}
