//! Whose rules say which records are duplicates.

use crate::primary::Primary;
use zerohop_model::record::{QC_FAIL, UNMAPPED};

/// Whose rules say which records are duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// `samtools markdup` (1.16), for templates.
    Samtools,
    /// `MarkDuplicates` of Picard (2.27.5), of records in the order of coordinates.
    Picard,
}

/// How duplicates are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// Whose rules say which records are duplicates.
    pub rules: Rules,
    /// Pairs whose clusters are at most so far from each other, in both directions, are optical duplicates; none are
    /// looked for if this is not given.
    pub optical_distance: Option<u32>,
    /// Whether all records of a duplicate are marked: secondary and supplementary ones and an unmapped mate, too.
    pub templates: bool,
    /// How UMIs say which templates come from one molecule: only these are duplicates of each other.
    pub umis: Option<zerohop_umi::Rules>,
}

impl Rules {
    /// Whether a primary record can be a duplicate, or have one.
    pub(crate) fn examine(self, primary: &Primary) -> bool {
        match self {
            Rules::Samtools => !primary.has(UNMAPPED | QC_FAIL),
            Rules::Picard => !primary.has(UNMAPPED),
        }
    }
}
