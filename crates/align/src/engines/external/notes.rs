//! What the user should know of the records of an aligner that is a program of its own.

use crate::job::Job;
use std::path::PathBuf;
use zerohop_engine_external::descriptor::{Descriptor, SameRecords};
use zerohop_engine_external::warnings;
use zerohop_model::measurement::RunReport;
use zerohop_runtime::Dealing;

/// What the instances of this process warned of.
pub fn warned(name: &str, run: &RunReport) -> Vec<String> {
    let logs: Vec<PathBuf> =
        run.instances.iter().filter_map(|instance| instance.log.as_ref().map(PathBuf::from)).collect();
    let (warnings, more) = warnings(&logs);
    let mut notes: Vec<String> = warnings.iter().map(|warning| format!("{name} says: {warning}")).collect();
    if more > 0 {
        notes.push(format!("{name} has {more} further lines of warnings: --logs DIR keeps all that it says."));
    }
    notes
}

/// What is to be said where records depend on which instance had the read: of several, of which other ranks have some
/// if `ranks`; `changed` if they were replaced by others.
pub fn varying(job: &Job, descriptor: &Descriptor, (instances, ranks): (usize, bool), changed: bool) -> Option<String> {
    let title = &descriptor.title;
    let what = match descriptor.contract.same_records {
        SameRecords::Free => return None,
        SameRecords::WithDna if has_dna_options(job, descriptor) => return None,
        SameRecords::WithDna => "(what it has learnt from earlier reads; not with --dna)",
        SameRecords::Batch | SameRecords::Unknown => {
            "(the choice between equally good places, and what follows from it)"
        }
    };
    if instances == 1 && !ranks && !changed {
        return None;
    }
    let same = match () {
        _ if ranks => "For the same records in every run, do without ranks, with --deal static or --replicas 1.",
        _ if changed => "For the same records in every run, do without --plan auto.",
        _ if job.external.deal == Dealing::Static => {
            "Every run with --deal static and as many instances gives these; --replicas 1 gives those of the aligner \
             by \
             itself."
        }
        _ => {
            "For the same records in every run, use --deal static with as many instances; --replicas 1 gives those of \
             the aligner by itself."
        }
    };
    Some(format!("Some records of {title} {what} depend on which process had the reads. {same}"))
}

/// Whether the aligner gets its options for DNA, by `--dna` or from the user.
fn has_dna_options(job: &Job, descriptor: &Descriptor) -> bool {
    let words = job.external.engine_args.as_deref().unwrap_or_default();
    job.external.dna || descriptor.dna.option.iter().all(|option| words.split_whitespace().any(|word| word == option))
}
