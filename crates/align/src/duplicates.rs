//! Duplicates among records that were collected: found with all workers of the plan, of all ranks, and told.

use crate::error::AlignError;
use crate::gather;
use crate::job::Job;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;
use zerohop_model::measurement::{DuplicateReport, LibraryReport};
use zerohop_model::plan::Plan;
use zerohop_output::{Decision, DuplicateCounts, FileSink, LibraryCounts, Marks, metrics_text};
use zerohop_process::{NewFile, WriteError};
use zerohop_ranks::Transport;

/// What was found.
pub struct Found {
    /// Which records are duplicates.
    pub marks: Marks,
    /// What there is to say of them.
    pub report: DuplicateReport,
    /// The file of metrics, if one is wanted.
    pub metrics: Option<Metrics>,
}

/// A file of metrics that is to be written.
pub struct Metrics {
    path: PathBuf,
    text: String,
}

impl Metrics {
    /// Writes it; it has no name yet.
    ///
    /// # Errors
    /// What the system says.
    pub fn written(&self) -> Result<NewFile, WriteError> {
        let new = NewFile::create(&self.path)?;
        new.file().write_all(self.text.as_bytes()).map_err(WriteError::of(&self.path))?;
        Ok(new)
    }
}

/// Finds the duplicates; none if they are not looked for. With ranks, all of which know the same records, each decides
/// a share of them, and all learn what was found.
///
/// # Errors
/// Temporary files that cannot be read; ranks that cannot go on together.
pub fn find(
    job: &Job,
    plan: &Plan,
    sink: &FileSink,
    ranks: Option<&dyn Transport>,
) -> Result<Option<Found>, AlignError> {
    let Some(decision) = sink.decision() else { return Ok(None) };
    let (started, mut counts) = (Instant::now(), decision.examined());
    let (rank, size) = ranks.map_or((0, 1), |ranks| (ranks.rank(), ranks.size()));
    let rows = (gather::share(decision.count(), rank, size), decision.in_a_row());
    let workers = decision.deciders(plan.workers.len());
    let mut found = DuplicateCounts::default();
    for of_row in zerohop_runtime::do_parts(plan, workers, rows, |parts| decision.decide(parts))? {
        found += of_row;
    }
    match ranks {
        None => counts += found,
        Some(ranks) => {
            gather::values(ranks, &found)?.into_iter().for_each(|found| counts += found);
            gather::marks(ranks, decision.marks())?;
        }
    }
    let libraries = named(sink, &counts);
    let path = job.output.sorting.as_ref().and_then(|sorting| sorting.metrics.clone());
    let comments = [format!("zerohop {}", env!("CARGO_PKG_VERSION")), job.command.replace('\n', " ")];
    let metrics = path.map(|path| Metrics { path, text: metrics_text(&comments, &libraries, &counts.sets) });
    let report = report(&decision, &counts, &libraries, started);
    Ok(Some(Found { marks: decision.into_marks(), report, metrics }))
}

/// The libraries of the read groups, and any other that there are reads of; one at least.
fn named(sink: &FileSink, counts: &DuplicateCounts) -> Vec<(String, LibraryCounts)> {
    let count = |number: usize| counts.libraries.get(number).copied().unwrap_or_default();
    let all = sink.libraries().iter().enumerate().map(|(number, name)| (number, (name.clone(), count(number))));
    let unused = |number: usize, counts: &LibraryCounts| {
        sink.library_of_lanes_alone() == Some(number) && *counts == LibraryCounts::default()
    };
    all.filter(|(number, (_, counts))| !unused(*number, counts)).map(|(_, library)| library).collect()
}

fn report(
    decision: &Decision,
    counts: &DuplicateCounts,
    libraries: &[(String, LibraryCounts)],
    started: Instant,
) -> DuplicateReport {
    let LibraryCounts { paired, single, barcoded, barcoded_alone, paired_duplicates, single_duplicates, .. } =
        counts.total();
    let of_library = |(name, library): &(String, LibraryCounts)| LibraryReport {
        name: name.clone(),
        pairs: library.pairs(),
        single: library.single,
        pair_duplicates: library.pair_duplicates(),
        single_duplicates: library.single_duplicates,
        optical_pairs: decision.looks_for_optical().then_some(library.optical_pairs),
        estimated_size: library.estimated_size(),
    };
    let libraries = libraries.iter().map(of_library).collect();
    let wall = started.elapsed();
    DuplicateReport { paired, single, barcoded, barcoded_alone, paired_duplicates, single_duplicates, libraries, wall }
}
