//! The beginning of a job of all ranks, or of one on record: the reads are counted by all ranks together, and what was
//! finished before is looked up.

use super::part::RankPart;
use super::{cannot_write, check, counting, failed, kept_runs, made_of};
use crate::job::{AlignError, Job, files};
use crate::open::output::SharedOutput;
use crate::run::ReadyEngine;
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::Arc;
use zerohop_input::OpenLane;
use zerohop_model::thousands::grouped;
use zerohop_process::tell;
use zerohop_ranks::journal::{self, Begin};
use zerohop_ranks::{RankShare, Transport};
use zerohop_runtime::Grains;

/// Begins. None if an earlier run had written all of it, and its files have their names now.
///
/// # Errors
/// Wrong usage, an input that cannot be read, another job's progress, ranks that see other files.
pub fn begin<'t>(
    (transport, share): (&'t dyn Transport, &RankShare),
    job: &Job,
    open: &[OpenLane],
    engine: &dyn ReadyEngine,
) -> Result<Option<RankPart<'t>>, AlignError> {
    let (cut, (workers, threads), with) = (engine.cut(), engine.takers(), engine.aligned_with());
    let path = job.output.path.clone().ok_or_else(check::no_output)?;
    // Each file is open twice: for those who write it, and for who makes it safe.
    zerohop_process::allow_more_files();
    let tables = match open.iter().all(OpenLane::is_counted) {
        true => Some(counting::count(transport, open, cut, threads)?),
        false => None,
    };
    let identity = made_of::identity(transport, job, open, cut, (&tables, threads), with)?;
    let seen = made_of::ends(open.iter().flat_map(OpenLane::paths).chain(&with.files));
    let how = Begin::asked(job.ranks.resume, job.ranks.restart);
    let Some((owner, journal, finished)) = journal::begin(transport, &path, &identity, how, &seen)? else {
        return Ok(None);
    };
    let (paths, folder) = (files::all_paths(job), journal::folder(&path));
    let partials: Vec<PathBuf> = (1..=paths.len()).map(|i| folder.join(format!("output.{i}"))).collect();
    for partial in partials.iter().filter(|_| owner.is_some()) {
        let made = OpenOptions::new().create(true).append(true).open(partial);
        made.map_err(|error| cannot_write(partial, &error))?;
    }
    if owner.is_some() {
        journal::sync_folder(&folder)?;
    }
    transport.barrier().map_err(failed)?;
    let (kept, given_up) = match &job.output.sorting {
        Some(_) => {
            let (kept, given_up) = kept_runs::begin(transport, &folder, finished.done)?;
            (Some((kept, kept_runs::header_file(&folder))), given_up)
        }
        None => (None, Vec::new()),
    };
    // What is sorted is written when all is aligned.
    let written_later = if kept.is_some() { job.output.shards } else { 0 };
    for (partial, &end) in partials.iter().zip(&finished.ends).skip(written_later) {
        journal::check_length(partial, end)?;
    }
    let reads = finished.tally.reads;
    if owner.is_some() && reads > 0 && !job.quiet {
        tell::note(&format!(
            "{}: {} reads were finished before; only the others are aligned",
            folder.display(),
            grouped(reads)
        ));
    }
    let beside = job.output.unaligned.as_ref().map_or(0, |unaligned| unaligned.paths().len());
    let grains = Grains::with_beside(job.output.shards, beside);
    let (workers, grains) = (workers as u64, Arc::new(grains));
    let output = SharedOutput { folder, partials, kept, ranks_here: share.ranks_here() };
    Ok(Some(RankPart {
        transport,
        paths,
        output,
        given_up,
        owner,
        journal,
        finished,
        tables,
        cut,
        workers,
        grains,
        dealt: None,
    }))
}
