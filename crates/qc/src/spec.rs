//! How the reports of one output are made.

use crate::mosdepth::MosdepthSpec;
use std::sync::Arc;
use zerohop_cram::ContigBases;
use zerohop_model::record::Contig;

/// How the reports are made.
#[derive(Debug, Clone)]
pub struct ReportSpec {
    /// The contigs of the header.
    pub contigs: Vec<Contig>,
    /// What mosdepth is asked for.
    pub mosdepth: MosdepthSpec,
    /// What goes before the lines of samtools stats: comments.
    pub heading: String,
    /// Picard's metrics, if they are wanted.
    pub picard: Option<PicardSpec>,
}

/// How files of Picard are made.
#[derive(Debug, Clone)]
pub struct PicardSpec {
    /// The reference.
    pub reference: Arc<ContigBases>,
    /// The name of the file that they are of, without blanks.
    pub input: String,
    /// Who made them.
    pub made_by: String,
}
