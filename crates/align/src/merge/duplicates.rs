//! Duplicates among records that were collected: found with all workers of the plan, of all ranks, and told.

use crate::finish::Metrics;
use crate::job::sorting::{self, OfMetrics};
use crate::job::{AlignError, Job};
use crate::run::RunPart;
use std::time::Instant;
use zerohop_model::measurement::{DuplicateReport, LibraryReport, UmiReport};
use zerohop_model::plan::Plan;
use zerohop_output::{Decision, DuplicateCounts, FileSink, LibraryCounts, Marks, UmiRules, metrics_text};

/// What was found.
pub struct FoundDuplicates {
    /// Which records are duplicates.
    pub marks: Marks,
    /// What there is to say of them.
    pub report: DuplicateReport,
    /// The files of metrics that are wanted.
    pub metrics: Vec<Metrics>,
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
    let metrics = metrics(job, &counts, &libraries);
    let report = report(&decision, &counts, &libraries, started);
    Ok(Some(FoundDuplicates { marks: decision.into_marks(), report, metrics }))
}

/// The files of metrics that are wanted.
fn metrics(job: &Job, counts: &DuplicateCounts, libraries: &[(String, LibraryCounts)]) -> Vec<Metrics> {
    let comments = [format!("zerohop {}", env!("CARGO_PKG_VERSION")), job.command.replace('\n', " ")];
    let text = |of: OfMetrics| match of {
        OfMetrics::Duplicates => metrics_text(&comments, libraries, &counts.sets),
        OfMetrics::FamilySizes => counts.families.text(),
        OfMetrics::Grouping => counts.grouping().text(),
    };
    sorting::metrics(job).map(|(of, path)| Metrics { path, text: text(of) }).collect()
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
    let umis = decision.umis().map(|rules| umi_report(rules, counts));
    DuplicateReport {
        paired,
        single,
        barcoded,
        barcoded_alone,
        paired_duplicates,
        single_duplicates,
        libraries,
        umis,
        wall,
    }
}

fn umi_report(rules: UmiRules, counts: &DuplicateCounts) -> UmiReport {
    let LibraryCounts { grouped, without_umi, not_passing_filter, poor_alignment, no_calls, too_short, .. } =
        counts.total();
    UmiReport {
        rules: sorting::umi_words(rules),
        families: counts.families.iter().collect(),
        grouped,
        without_umi,
        not_passing_filter,
        poor_alignment,
        no_calls,
        too_short,
    }
}
