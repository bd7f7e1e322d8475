//! Duplicates among records that were collected: found with all workers of the plan, of all ranks, and told.

use crate::finish::Metrics;
use crate::job::{AlignError, Job};
use crate::run::RunPart;
use std::time::Instant;
use zerohop_model::measurement::{DuplicateReport, LibraryReport};
use zerohop_model::plan::Plan;
use zerohop_output::{Decision, DuplicateCounts, FileSink, LibraryCounts, Marks, metrics_text};

/// What was found.
pub struct FoundDuplicates {
    /// Which records are duplicates.
    pub marks: Marks,
    /// What there is to say of them.
    pub report: DuplicateReport,
    /// The file of metrics, if one is wanted.
    pub metrics: Option<Metrics>,
}

/// Finds the duplicates; none if they are not looked for. Of several processes, all of which know the same records,
/// each decides a share of them, and all learn what was found.
///
/// # Errors
/// Temporary files that cannot be read; processes that cannot go on together.
pub fn find(
    job: &Job,
    plan: &Plan,
    sink: &FileSink,
    part: &dyn RunPart,
) -> Result<Option<FoundDuplicates>, AlignError> {
    let Some(decision) = sink.decision() else { return Ok(None) };
    let (started, mut counts) = (Instant::now(), decision.examined());
    let rows = (part.own(decision.count()), decision.in_a_row());
    let workers = decision.deciders(plan.workers.len());
    let mut found = DuplicateCounts::default();
    for of_row in zerohop_runtime::do_parts(plan, workers, rows, |parts| decision.decide(parts))? {
        found += of_row;
    }
    part.found(found, decision.marks())?.into_iter().for_each(|found| counts += found);
    let libraries = named(sink, &counts);
    let path = job.output.sorting.as_ref().and_then(|sorting| sorting.metrics.clone());
    let comments = [format!("zerohop {}", env!("CARGO_PKG_VERSION")), job.command.replace('\n', " ")];
    let metrics = path.map(|path| Metrics { path, text: metrics_text(&comments, &libraries, &counts.sets) });
    let report = report(&decision, &counts, &libraries, started);
    Ok(Some(FoundDuplicates { marks: decision.into_marks(), report, metrics }))
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
