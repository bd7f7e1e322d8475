//! What is usual in runs of whole genomes, exomes and panels: figures beyond are told of, and MultiQC colours them.

/// Reads that are aligned, in percent, at least.
pub const MAPPED: f64 = 20.0;
/// Aligned reads that are duplicates, in percent, at most.
pub const DUPLICATES: f64 = 80.0;
/// Pairs whose mates are far from each other, in percent of those of which both are aligned, at most.
pub const FAR_PAIRS: f64 = 20.0;
/// Pairs of a layout that is not FR, in percent of those near each other, at most.
pub const OTHER_LAYOUT: f64 = 50.0;
/// The mean length of reads is at most so many times that which the index is for, and at least that part of it.
pub const TIMES_LENGTH: f64 = 1.5;
