//! The files of a job, opened: lanes of reads (here), with what their headers say ([`carried`]), and the output
//! ([`output`]), once its header is known; the files of trimmed reads ([`saved`]).

mod carried;
pub mod output;
pub mod saved;

use crate::job::{AlignError, Job};
use zerohop_input::OpenLane;
use zerohop_model::error::shown_path;

/// Files of reads that a system surely lets a process have open, with all others.
const MANY_FILES: usize = 100;

/// Opens the lanes. Gives the job with what their headers say of the reads, too.
///
/// # Errors
/// Files that cannot be read; what [`carried::complete`] refuses.
pub fn open(job: &Job) -> Result<(Job, Vec<OpenLane>), AlignError> {
    // Pipes stay open until they are read.
    if job.lanes.iter().map(|lane| lane.files.len()).sum::<usize>() > MANY_FILES {
        zerohop_process::allow_more_files();
    }
    let open = |lane| {
        let lane = OpenLane::open_with(lane, Some(&job.reference))?.first(job.first);
        let lane = lane.with_barcodes(&job.barcodes)?;
        Ok(match &job.trimming {
            Some(trimming) => lane.with_trimming(trimming)?,
            None => lane,
        })
    };
    let lanes: Vec<OpenLane> = job.lanes.iter().map(open).collect::<Result<_, AlignError>>()?;
    lanes.iter().try_for_each(OpenLane::check_ends)?;
    carried::complete(job, lanes)
}

/// The notes of the lanes, and one on each lane without reads, if there are others.
pub fn notes(lanes: &[OpenLane]) -> Vec<String> {
    let is_alone = lanes.iter().all(OpenLane::is_empty);
    let empty = lanes.iter().enumerate().filter(|(_, lane)| !is_alone && lane.is_empty());
    let words = |(at, lane): (usize, &OpenLane)| {
        let paths: Vec<_> = lane.paths().map(|path| shown_path(path)).collect();
        format!("Lane {} ({}) has no reads.", at + 1, paths.join(", "))
    };
    lanes.iter().flat_map(|lane| lane.notes.clone()).chain(empty.map(words)).collect()
}
