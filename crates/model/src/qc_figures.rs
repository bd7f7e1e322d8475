//! What reports of the records found, in numbers that tables and pictures are made of.

use serde::{Deserialize, Serialize};

/// What was found in the records of one output. Where it says nothing else, primary records count, as in
/// `samtools stats`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct QcFigures {
    /// Reads.
    pub reads: u64,
    /// Their bases.
    pub bases: u64,
    /// Bases that CIGARs place on the reference.
    pub mapped_bases: u64,
    /// Edits, by the records (NM). Their share of `mapped_bases` is the error rate of `samtools stats`.
    pub edits: u64,
    /// The contigs with the most bases, in the order of the header.
    pub contigs: Vec<ContigDepth>,
    /// How many contigs there are.
    pub all_contigs: u64,
    /// Their bases.
    pub reference_bases: u64,
    /// Bases of each window of the reference, but for the last one of a contig.
    pub window_bases: u64,
    /// By depth from 0: places of the reference that mosdepth counts so deep. The last one stands for all deeper ones.
    pub places: Vec<u64>,
    /// By insert size from 0, in bases: pairs. The last one stands for all larger ones.
    pub inserts: Vec<u64>,
    /// By the share of G and C, from 0 to 100 %: reads. A short one is spread over all percents next to its share.
    pub gc: Vec<u64>,
    /// By mapping quality from 0: reads that are mapped and no duplicates.
    pub mapq: Vec<u64>,
    /// Of first reads, and of last ones, by cycle: the mean quality.
    pub quality: [Vec<f64>; 2],
    /// The same: the share of bases on the reference that are another one, up to the first intron; empty where
    /// `samtools stats` has no reference.
    #[serde(default)]
    pub mismatches: [Vec<f64>; 2],
}

/// How deep a contig is covered, by what mosdepth counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContigDepth {
    /// Its name.
    pub name: String,
    /// Its length in bases.
    pub length: u64,
    /// The mean depth of its places.
    pub depth: f64,
    /// The mean depth of each of its windows.
    pub windows: Vec<f64>,
}
