//! The orders in which records can be written.

use serde::{Deserialize, Serialize};

/// An order of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SortOrder {
    /// By contig, position and strand; records without a contig come last.
    Coordinate,
    /// By the name of the read, in which numbers count as numbers (`a7` before `a12`); then first mates before second
    /// ones, and of each the primary, supplementary and secondary records.
    Name,
    /// By where the reads of a template began, their library, cell, molecule (MI) and name: what programs need that
    /// call the consensus of molecules.
    TemplateCoordinate,
}

impl SortOrder {
    /// The fields of @HD that say so (SAMv1, section 1.3).
    pub(crate) fn header_fields(self) -> &'static str {
        match self {
            SortOrder::Coordinate => "SO:coordinate",
            SortOrder::Name => "SO:queryname\tSS:queryname:natural",
            SortOrder::TemplateCoordinate => "SO:unsorted\tGO:query\tSS:unsorted:template-coordinate",
        }
    }
}
