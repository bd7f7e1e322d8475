//! Aligners that run as programs of their own: the processes that threads are compared with.

use crate::arm::Arm;
use crate::error::LabError;
use crate::inputs::Fragments;
use crate::process::ProcessReport;
use crate::starter::Starter;
use crate::worker::ThreadReport;
use std::path::{Path, PathBuf};
use zerohop_align::{Job, LaneSpec, Order, Replicas};

/// The least that mapping must take, as a part of what loading takes.
const SHORTEST: f64 = 0.05;

/// What came of one run.
pub(crate) struct Ran {
    /// Seconds without those of a run with as good as no reads: starting, and loading the index.
    pub(crate) mapping_s: f64,
    /// Those seconds.
    pub(crate) load_s: f64,
    pub(crate) processes: Vec<ProcessReport>,
}

/// Aligns with `engine` as `zerohop align` does, with `arm.processes` instances, `fragments` fragments for all.
///
/// # Errors
/// What it says.
pub(crate) fn run(
    engine: &str,
    reference: &Path,
    arm: &Arm,
    (all, fragments): (usize, &Fragments),
    starter: &Starter,
) -> Result<Ran, LabError> {
    // Enough for each instance to be given something.
    let load_s = align(engine, reference, arm, fragments.files(0, arm.processes, None)?, starter)?.0;
    let (wall_s, reads) = align(engine, reference, arm, fragments.files(0, all, None)?, starter)?;
    let mapping_s = wall_s - load_s;
    if mapping_s < SHORTEST * load_s {
        return Err(LabError::Asked(format!(
            "{engine} took {wall_s:.2} s, and {load_s:.2} s with as good as no reads: too little to tell, give it more \
             fragments"
        )));
    }
    let thread = ThreadReport { wall_s: mapping_s, reads, ..ThreadReport::default() };
    Ok(Ran { mapping_s, load_s, processes: vec![ProcessReport { threads: vec![thread], ..ProcessReport::default() }] })
}

/// Seconds from start to end, and reads.
fn align(
    engine: &str,
    reference: &Path,
    arm: &Arm,
    files: Vec<PathBuf>,
    starter: &Starter,
) -> Result<(f64, u64), LabError> {
    let output = starter.folder.join("out.sam");
    let mut job = Job::new(reference.to_owned(), vec![LaneSpec { interleaved: false, files }]);
    (job.engine, job.quiet) = (engine.to_owned(), true);
    (job.output.path, job.output.order) = (Some(output.clone()), Order::Any);
    (job.placement.threads, job.placement.replicas) = (Some(arm.threads), Replicas::Count(arm.processes));
    let done = zerohop_align::align(&job)?;
    std::fs::remove_file(&output).map_err(|error| LabError::file(&output, error))?;
    let nothing = || LabError::Asked(format!("{engine} said nothing: please report this"));
    let summary = done.ok_or_else(nothing)?.summary;
    Ok((summary.wall.as_secs_f64(), summary.run.tally.reads))
}
