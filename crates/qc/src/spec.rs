//! How the reports of one output are made.

use crate::methyldackel::MethylDackel;
use crate::mosdepth::MosdepthSpec;
use crate::picard::PicardSpec;
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
    /// The reference for `samtools stats`, as with `-r`, if that is wanted.
    pub stats_reference: Option<Arc<ContigBases>>,
    /// Picard's metrics, if they are wanted.
    pub picard: Option<PicardSpec>,
    /// What MethylDackel extracts, if that is wanted.
    pub methyldackel: Option<MethylDackel>,
}
