//! What a job on record is made of: another one does not go on with it.

use crate::job::{AlignError, Job, qc};
use crate::plan::tuning_key::AlignedWith;
use std::path::PathBuf;
use std::sync::Arc;
use zerohop_input::{OpenLane, Table};
use zerohop_model::engine::Cut;
use zerohop_output::Format;
use zerohop_process::{Identity, cache, file_ends};
use zerohop_ranks::{Transport, content};

/// What the records depend on. Of reads that are counted the text counts, of other files all bytes: a change in the
/// middle is another job.
///
/// # Errors
/// A file that cannot be read; ranks that cannot go on together.
pub(super) fn identity(
    transport: &dyn Transport,
    job: &Job,
    open: &[OpenLane],
    cut: Cut,
    (tables, threads): (&Option<Vec<Arc<Table>>>, usize),
    with: &AlignedWith,
) -> Result<Identity, AlignError> {
    let external = &job.external;
    let mut identity = crate::job::identity::of_options(job)
        .with("the aligner", &with.engine)
        .with("the kind of reads", &with.reads)
        .with("bases of a chunk", cut.chunk_bases())
        .with_option("bases of a cohort in pieces", &cut.piece_bases.map(|_| cut.closes_at_bases));
    let reports = qc::wanted(job);
    let regions: Vec<PathBuf> = qc::regions(job).map(|(_, file)| file.clone()).collect();
    let regions = content::of_files(transport, &regions, threads)?;
    identity = identity
        .with_option("--qc, with --mosdepth", &reports.map(|qc| &qc.mosdepth.words))
        .with_option("--methyldackel", &reports.and_then(|qc| Some(&qc.methyldackel.as_ref()?.words)))
        .with("--picard-metrics", reports.is_some_and(|qc| qc.picard.is_some()))
        .with("--stats-reference", reports.is_some_and(|qc| qc.stats_reference));
    let described = content::of_files(transport, &external.engine_file, threads)?;
    let index = content::of_files(transport, &with.files, threads)?;
    let files: Vec<Vec<PathBuf>> = open.iter().map(|lane| lane.paths().cloned().collect()).collect();
    let reads = match tables {
        Some(tables) => counted(&files, tables)?,
        None => content::of_files(transport, &files.concat(), threads)?,
    };
    let fasta = match job.output.format() {
        Format::Cram { .. } => content::of_files(transport, std::slice::from_ref(&job.reference), threads)?,
        Format::Sam | Format::Bam { .. } | Format::Paf | Format::Abundances => Vec::new(),
    };
    let adapters = job.trimming.as_ref().and_then(|trimming| trimming.options.adapters.as_ref()?.fasta.clone());
    let adapters = content::of_files(transport, adapters.as_slice(), threads)?;
    let described = [
        ("--engine-file", described),
        ("the adapters, file", adapters),
        ("the index, file", index),
        ("the reference of CRAM, file", fasta),
        ("the regions of reports, file", regions),
    ];
    for (kind, files) in described.into_iter().chain([("the reads, file", reads)]) {
        for (number, file) in files.iter().enumerate() {
            identity = identity.with(&format!("{kind} {}", number + 1), file);
        }
    }
    Ok(identity)
}

/// What stands for files of reads that were counted.
fn counted(files: &[Vec<PathBuf>], tables: &[Arc<Table>]) -> Result<Vec<String>, AlignError> {
    let contents = tables.iter().flat_map(|table| table.contents());
    let words = |(path, content): (&PathBuf, &u64)| {
        let bytes =
            std::fs::metadata(path).map_err(|error| AlignError::Failed(format!("{}: {error}", path.display())))?.len();
        Ok(content::words(path, bytes, *content))
    };
    files.iter().flatten().zip(contents).map(words).collect()
}

/// What this rank sees of files: of those that all ranks should see, all see the same.
pub(super) fn ends<'p>(files: impl Iterator<Item = &'p PathBuf>) -> String {
    cache::digest(&files.map(|path| file_ends(path).ok()).collect::<Vec<_>>())
}
