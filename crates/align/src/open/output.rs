//! The output: opened with its header, under names that it has until it is complete.

use crate::job::{AlignError, Job, files, qc, sorting};
use std::path::PathBuf;
use std::sync::Arc;
use zerohop_input::reference;
use zerohop_model::error::Error;
use zerohop_output::{FileSink, Format, Header, KeptRuns, OutputSpec, Program};
use zerohop_process::{WriteError, cache};

/// An output that other ranks write as well, or a later run may.
#[derive(Debug, Clone)]
pub struct SharedOutput {
    /// Where all lies that belongs to the job, until it is complete.
    pub folder: PathBuf,
    /// The files under the names that they have until they are complete.
    pub partials: Vec<PathBuf>,
    /// Where sorted records are kept until they are merged, if they are sorted, and the file for the header.
    pub kept: Option<(KeptRuns, PathBuf)>,
    /// Ranks that share what memory is free, this one too.
    pub ranks_here: usize,
}

/// Opens the output, with this header: that of this process, or one that is `shared`.
///
/// # Errors
/// What the system says.
pub fn open(job: &Job, header: Header, shared: Option<&SharedOutput>) -> Result<FileSink, Error> {
    qc::check_targets(job, &header.contigs)?;
    let (path, shards, comments) = (job.output.path.clone(), job.output.shards, job.output.comments);
    let lane_groups = job.read_groups.of_lanes.clone();
    let (ranks, kept) = shared.map_or((1, None), |shared| (shared.ranks_here, shared.kept.clone()));
    // That of any rank will do: they may differ only in what their aligners say of themselves.
    if let Some((_, path)) = kept.as_ref().filter(|(_, path)| !path.exists()) {
        cache::write(path, &header).map_err(|WriteError { path, source }| Error::Output { path, source })?;
    }
    let kept = kept.map(|(kept, _)| kept);
    let sorting = job.output.sorting.as_ref();
    let sorting = sorting.map(|wanted| sorting::spec(job, wanted, ranks * job.at_a_time, kept)).transpose()?;
    let format = job.output.format();
    let reference = match format {
        Format::Cram { .. } => {
            let reference = reference::for_cram(&job.reference, true)?;
            Some(Arc::new(reference.found_at(job.output.reference_uri.clone())))
        }
        Format::Sam | Format::Bam { .. } | Format::Paf | Format::Abundances => None,
    };
    let (directed, mate_tags) = (job.output.directed.clone(), job.output.mate_tags);
    let (shows_unaligned, secondary_bases) = (!job.output.no_unaligned, job.output.secondary_bases);
    let unaligned = files::unaligned(job).map_err(|error| Error::Internal(error.to_string()))?;
    let spec = OutputSpec {
        path,
        shards,
        format,
        reference,
        header,
        lane_groups,
        comments,
        directed,
        mate_tags,
        shows_unaligned,
        unaligned,
        secondary_bases,
        sorting,
    };
    match shared {
        Some(shared) => FileSink::share(spec, &shared.partials),
        None => FileSink::create(spec),
    }
}

/// Stands for a header, but for the programs that it names: their command lines may differ from process to process.
pub fn header_digest(header: &Header) -> String {
    let text = header.text();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("@PG") && !line.starts_with("@CO")).collect();
    cache::digest(&lines)
}

/// An aligner that has said nothing, for there was nothing to be aligned.
pub fn no_header(job: &Job) -> AlignError {
    AlignError::Failed(format!("{} wrote no header, for there were no reads: there is nothing to write", job.engine))
}

/// zerohop itself, for @PG.
pub fn zerohop(job: &Job) -> Program {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Program { name: "zerohop".to_owned(), version, description: None, command_line: Some(job.command.clone()) }
}
