//! The few figures by which runs are compared.

use crate::summary::{Summary, percent};
use serde::Serialize;
use zerohop_model::measurement::{DuplicateReport, LibraryReport};

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
    /// Mapped reads that are duplicates, in percent.
    pub duplicates: Option<f64>,
    /// Different fragments in the library, estimated; none if there are several libraries.
    pub library_size: Option<u64>,
    /// Reads mapped per second.
    pub reads_per_second: f64,
}

impl Summary {
    /// The figures of this run.
    pub fn figures(&self) -> Figures {
        let t = &self.run.tally;
        let found = self.run.sorted.as_ref().and_then(|sorted| sorted.duplicates.as_ref());
        let marked = |found: &DuplicateReport| {
            percent(found.paired_duplicates + found.single_duplicates, found.paired + found.single)
        };
        let size = |found: &DuplicateReport| match found.libraries[..] {
            [LibraryReport { estimated_size, .. }] => estimated_size,
            _ => None,
        };
        Figures {
            reads: t.reads,
            mapped: percent(t.mapped, t.reads),
            proper: (t.paired > 0).then(|| percent(t.properly_paired, t.paired)),
            insert: t.insert.quantile(0.5),
            duplicates: found.map(marked),
            library_size: found.and_then(size),
            reads_per_second: self.reads_per_second(),
        }
    }
}
