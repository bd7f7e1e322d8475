//! The step *run*, and who takes part in it: a [`ReadyEngine`], and the [`Processes`] of the job, each with its
//! [`RunPart`]. What one process alone does stands here; what ranks do, in `ranks/`, which other modules do not know.

use crate::finish::{self, WrittenFiles};
use crate::job::{AlignError, Job};
use crate::open::output::{self, SharedOutput};
use crate::plan::tuning_key::AlignedWith;
use crate::tell::{EngineTold, progress};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use zerohop_input::OpenLane;
use zerohop_model::engine::Cut;
use zerohop_model::error::Error;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::measurement::{Comparison, RunReport, SortReport};
use zerohop_model::plan::Plan;
use zerohop_model::source::Lane;
use zerohop_output::{DuplicateCounts, FileSink, MadePart, Marks};
use zerohop_report::RankSummary;
use zerohop_runtime::{Grains, Merged, Outcome, Progress};

/// An engine that is ready to run: one in our process, or programs of its own.
pub trait ReadyEngine {
    /// Where it wants the input cut.
    fn cut(&self) -> Cut;

    /// Threads or instances that take chunks, and threads in all.
    fn takers(&self) -> (usize, usize);

    /// What the records depend on beside reads and options.
    fn aligned_with(&self) -> &AlignedWith;

    /// Aligns all reads, or those that this process takes, but stops at `until`.
    ///
    /// # Errors
    /// What made it fail.
    fn run(
        &mut self,
        lanes: Vec<OpenLane>,
        until: Option<Instant>,
        part: &mut dyn RunPart,
    ) -> Result<EngineRan, AlignError>;

    /// Whose CPUs the work is done on.
    fn plan(&self) -> &Plan;

    /// What the user should know of the run of so many processes.
    fn notes(&self, run: &RunReport, processes: usize) -> Vec<String>;

    /// After the files have their names: compares the records with the aligner's own, if that is wanted.
    ///
    /// # Errors
    /// When the aligner by itself fails.
    fn compare(&self) -> Result<Option<Comparison>, AlignError>;

    /// What there is to say of it.
    fn told(self: Box<Self>, run: RunReport) -> EngineTold;
}

/// What came of a run, before the files have their names.
pub struct EngineRan {
    /// What the runtime did.
    pub outcome: Outcome,
    /// The output, and a digest of its header; none if an aligner has written no header.
    pub sink: Option<(FileSink, String)>,
}

/// What a process may use of its machine.
pub trait MachineShare: Sync {
    /// The machine, with the limits of this process.
    ///
    /// # Errors
    /// What the system says.
    fn machine(&self) -> Result<Machine, AlignError>;

    /// What the user should know of so many index copies, of so many bytes each, in every process of the machine.
    ///
    /// # Errors
    /// More than its memory.
    fn weigh(&self, machine: &Machine, copies: usize, each: Bytes) -> Result<Option<String>, AlignError>;

    /// What the user should know of the share.
    fn note(&self) -> Option<String>;

    /// Whether this process says what it waits for: of several, none does.
    fn tells(&self) -> bool;
}

/// All that the system lets this process use.
pub struct WholeMachine;

impl MachineShare for WholeMachine {
    fn machine(&self) -> Result<Machine, AlignError> {
        Ok(zerohop_topology::detect()?)
    }

    fn weigh(&self, _: &Machine, _: usize, _: Bytes) -> Result<Option<String>, AlignError> {
        Ok(None)
    }

    fn note(&self) -> Option<String> {
        None
    }

    fn tells(&self) -> bool {
        true
    }
}

/// The processes that do one job together.
pub trait Processes {
    /// How many there are.
    fn count(&self) -> usize;

    /// Which of them this one is, from 0.
    fn rank(&self) -> usize;

    /// What this one may use of its machine.
    fn share(&self) -> &dyn MachineShare;

    /// Refuses what [`Processes::begin`] would refuse for the options of `job` alone: before the index is loaded and
    /// the reads are counted.
    ///
    /// # Errors
    /// Another job's progress; none, where some was to be taken up.
    fn check_options(&self, job: &Job) -> Result<(), AlignError>;

    /// Begins the job with this engine. None if an earlier run had written all of it, and its files have their names
    /// now.
    ///
    /// # Errors
    /// An input that cannot be read, another job's progress, processes that see other files.
    fn begin(
        &self,
        job: &Job,
        lanes: &[OpenLane],
        engine: &dyn ReadyEngine,
    ) -> Result<Option<Box<dyn RunPart + '_>>, AlignError>;
}

/// What the runtime is to do.
pub type RunBody<'b> = Box<dyn FnOnce() -> Result<Outcome, Error> + Send + 'b>;
/// The making and writing of sorted parts: those that are dealt to this process, or all.
pub type MergeBody<'b> = Box<dyn FnOnce(Option<&Grains>) -> Result<Merged, Error> + Send + 'b>;

/// The parts of sorted output, to be dealt.
#[derive(Debug, Clone, Copy)]
pub struct PartsToMake {
    /// How many there are.
    pub count: u64,
    /// How many one worker makes in a row.
    pub row: u64,
    /// Workers of this process.
    pub workers: u64,
}

/// What one process does of a job.
pub trait RunPart {
    /// Whether this process is the one that shows how far the job is.
    fn shows_progress(&self) -> bool;

    /// The lanes, of which this process deals what it takes.
    ///
    /// # Errors
    /// A file that has become unreadable.
    fn deal(
        &self,
        open: Vec<OpenLane>,
        cut: Cut,
        max_read_bases: usize,
        workers: usize,
    ) -> Result<Vec<Lane>, AlignError>;

    /// The output, if other processes write it, too, or a later run may.
    fn output(&self) -> Option<&SharedOutput>;

    /// The chunks that this process is granted, if it does not do all.
    fn grains(&self) -> Option<Arc<Grains>>;

    /// Finished chunks that each committer may hold, at least.
    fn held(&self) -> usize;

    /// Runs the runtime.
    ///
    /// # Errors
    /// What made the run fail, here or elsewhere.
    fn run(&mut self, body: RunBody<'_>) -> Result<Outcome, AlignError>;

    /// The output with all records that were collected, to be merged.
    ///
    /// # Errors
    /// No header; files that cannot be read.
    fn collected(&mut self, job: &Job, sink: Option<FileSink>) -> Result<FileSink, AlignError>;

    /// Which of so many things this process decides.
    fn own(&self, count: usize) -> Range<usize>;

    /// Duplicates of all processes: how many each has found, and the marks of all, where this one has marked its own.
    ///
    /// # Errors
    /// Processes that cannot go on together.
    fn found(&self, own: DuplicateCounts, marks: &Marks) -> Result<Vec<DuplicateCounts>, AlignError>;

    /// Has parts made and written. The lengths of the files are those of all processes.
    ///
    /// # Errors
    /// What made it fail, here or elsewhere.
    fn merge(&mut self, parts: PartsToMake, body: MergeBody<'_>) -> Result<Merged, AlignError>;

    /// The parts that all processes have made, for whoever writes the index, and their times.
    ///
    /// # Errors
    /// Processes that cannot go on together.
    fn gather(&self, made: Vec<MadePart>, report: SortReport) -> Result<(Vec<MadePart>, SortReport), AlignError>;

    /// Which process this is, from 0, and of how many.
    fn place(&self) -> (usize, usize);

    /// What every process gives, in their order, for the first; the others get nothing. Nobody gets it before all have
    /// given theirs.
    ///
    /// # Errors
    /// Processes that cannot go on together.
    fn at_first(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, AlignError>;

    /// What the user should know.
    fn notes(&self) -> Vec<String>;

    /// Gives the files their names, and adds to `report` what all processes, this one of so many threads, have done:
    /// one of them learns what each did. None on the others.
    ///
    /// # Errors
    /// No header, or different ones; a file that cannot be written.
    fn finish(
        self: Box<Self>,
        job: &Job,
        written: WrittenFiles,
        report: &mut RunReport,
        threads: usize,
    ) -> Result<Option<Vec<RankSummary>>, AlignError>;
}

/// One process does all.
pub struct OneProcess<'s> {
    /// What it may use.
    pub share: &'s dyn MachineShare,
}

impl Processes for OneProcess<'_> {
    fn count(&self) -> usize {
        1
    }

    fn rank(&self) -> usize {
        0
    }

    fn share(&self) -> &dyn MachineShare {
        self.share
    }

    fn check_options(&self, _: &Job) -> Result<(), AlignError> {
        Ok(())
    }

    fn begin(&self, _: &Job, _: &[OpenLane], _: &dyn ReadyEngine) -> Result<Option<Box<dyn RunPart + '_>>, AlignError> {
        Ok(Some(Box::new(WholeRun)))
    }
}

/// All of a run.
struct WholeRun;

impl RunPart for WholeRun {
    fn shows_progress(&self) -> bool {
        true
    }

    fn deal(
        &self,
        open: Vec<OpenLane>,
        cut: Cut,
        max_read_bases: usize,
        workers: usize,
    ) -> Result<Vec<Lane>, AlignError> {
        let deal = |(number, lane): (usize, OpenLane)| Ok(lane.deal(number as u32, cut, max_read_bases, workers)?);
        open.into_iter().enumerate().map(deal).collect()
    }

    fn output(&self) -> Option<&SharedOutput> {
        None
    }

    fn grains(&self) -> Option<Arc<Grains>> {
        None
    }

    fn held(&self) -> usize {
        0
    }

    fn run(&mut self, body: RunBody<'_>) -> Result<Outcome, AlignError> {
        Ok(body()?)
    }

    fn collected(&mut self, job: &Job, sink: Option<FileSink>) -> Result<FileSink, AlignError> {
        sink.ok_or_else(|| output::no_header(job))
    }

    fn own(&self, count: usize) -> Range<usize> {
        0..count
    }

    fn found(&self, own: DuplicateCounts, _: &Marks) -> Result<Vec<DuplicateCounts>, AlignError> {
        Ok(vec![own])
    }

    fn merge(&mut self, _: PartsToMake, body: MergeBody<'_>) -> Result<Merged, AlignError> {
        Ok(body(None)?)
    }

    fn gather(&self, made: Vec<MadePart>, report: SortReport) -> Result<(Vec<MadePart>, SortReport), AlignError> {
        Ok((made, report))
    }

    fn place(&self) -> (usize, usize) {
        (0, 1)
    }

    fn at_first(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, AlignError> {
        Ok(vec![own])
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    fn finish(
        self: Box<Self>,
        job: &Job,
        written: WrittenFiles,
        report: &mut RunReport,
        _: usize,
    ) -> Result<Option<Vec<RankSummary>>, AlignError> {
        finish::one_process(job, written, report)?;
        Ok(Some(Vec::new()))
    }
}

/// Runs the runtime, and shows how far it is, unless the job is quiet.
///
/// # Errors
/// What made it fail.
pub fn run(
    part: &mut dyn RunPart,
    quiet: bool,
    progress: &Progress,
    body: impl FnOnce() -> Result<Outcome, Error> + Send,
) -> Result<Outcome, AlignError> {
    let shown = !quiet && part.shows_progress();
    part.run(Box::new(move || progress::shown(shown, progress, body)))
}
