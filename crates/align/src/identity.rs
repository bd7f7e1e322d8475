//! What the records of a job depend on, besides its reads, reference and aligner.

use crate::job::{Job, Unaligned};
use zerohop_ranks::Identity;

/// The options of a job that its output depends on.
pub fn of_options(job: &Job) -> Identity {
    let sorting = job.output.sorting.as_ref();
    let unaligned = job.output.unaligned.as_ref();
    let unaligned = unaligned.map(|Unaligned { any_mate, .. }| {
        format!("{:?}, {}", job.output.unaligned_format(), if *any_mate { "any" } else { "both" })
    });
    Identity::new("align")
        .with("the format of the output", format!("{:?}", job.output.format()))
        .with("--shards", job.output.shards)
        .with("the read groups", job.read_groups.words())
        .with("-C", job.output.comments)
        .with("fields that are turned", format!("{:?}", job.output.directed))
        .with("--mate-tags", job.output.mate_tags)
        .with("--no-unaligned", job.output.no_unaligned)
        .with("--secondary-bases", job.output.secondary_bases)
        .with_option("--unaligned", &unaligned)
        .with_option("--sort", &sorting.map(|sorting| format!("{:?}", sorting.order)))
        .with_option(
            "how duplicates are marked",
            &sorting.and_then(|sorting| sorting.marking).map(|m| format!("{m:?}")),
        )
        .with_option("--engine-args", &job.external.engine_args)
        .with("--dna", job.external.dna)
        .with("--interleaved", job.lanes.iter().any(|lane| lane.interleaved))
        .with_option("--first", &job.first)
        .with_option("--read-length", &job.read_length)
}
