//! What a session asks of an engine that is ready to run: one in our process, or programs of its own.

use crate::error::AlignError;
use crate::multi_rank::{Came, MultiRank};
use crate::summary::Told;
use crate::tuning_key::AlignedWith;
use std::time::Instant;
use zerohop_input::OpenLane;
use zerohop_model::engine::Cut;
use zerohop_model::measurement::{Comparison, RunReport};
use zerohop_model::plan::Plan;
use zerohop_output::FileSink;

/// An engine that is ready to run.
pub trait Ready {
    /// Where it wants the input cut.
    fn cut(&self) -> Cut;

    /// Threads or instances that take chunks, and threads in all.
    fn takers(&self) -> (usize, usize);

    /// What the records depend on beside reads and options.
    fn aligned_with(&self) -> &AlignedWith;

    /// Aligns all reads, or those that this rank takes, but stops at `until`.
    ///
    /// # Errors
    /// What made it fail.
    fn run(
        &mut self,
        lanes: Vec<OpenLane>,
        until: Option<Instant>,
        ranks: Option<&mut MultiRank<'_>>,
    ) -> Result<Ran, AlignError>;

    /// Whose CPUs the work is done on.
    fn plan(&self) -> &Plan;

    /// What the user should know of the run; `ranks` is how many there were.
    fn notes(&self, run: &RunReport, ranks: usize) -> Vec<String>;

    /// After the files have their names: compares the records with the aligner's own, if that is wanted.
    ///
    /// # Errors
    /// When the aligner by itself fails.
    fn compare(&self) -> Result<Option<Comparison>, AlignError>;

    /// What there is to say of it.
    fn told(self: Box<Self>, run: RunReport) -> Told;
}

/// What came of a run, before the files have their names.
pub struct Ran {
    /// What the runtime and the other ranks did.
    pub came: Came,
    /// The output, and what stands for its header; none if an aligner has said nothing.
    pub sink: Option<(FileSink, String)>,
}
