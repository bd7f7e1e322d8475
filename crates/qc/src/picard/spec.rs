//! How metrics of Picard are made.

use super::Capture;
use std::sync::Arc;
use zerohop_cram::ContigBases;

/// How files of Picard are made.
#[derive(Debug, Clone)]
pub struct PicardSpec {
    /// The reference.
    pub reference: Arc<ContigBases>,
    /// The regions of a capture kit, if one was used.
    pub capture: Option<Arc<Capture>>,
    /// The name of the file that they are of, without blanks.
    pub input: String,
    /// Who made them.
    pub made_by: String,
    /// How often qualities are drawn for HET_SNP_SENSITIVITY.
    pub rounds: u32,
}

impl PicardSpec {
    /// As often Picard draws them by default (SAMPLE_SIZE).
    pub const ROUNDS: u32 = 10_000;
}
