//! An aligner of one's own under zerohop's runtime. `engine.rs` is all that an author writes: an [`Engine`] (the index,
//! and how the input is cut) and its mapper (a chunk of reads in, alignments out). Reading, workers, order and SAM are
//! the runtime's.
//!
//! It aligns by counting k-mers, without gaps, and is a toy: see the engines of zerohop for real ones, and
//! [`zerohop_model::phases`] for those that need statistics over a batch of reads.
#![forbid(unsafe_code)]

mod engine;

pub use engine::KmerAligner;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use zerohop_model::engine::Engine;
use zerohop_model::error::Error;
use zerohop_model::plan::{HugePages, Pages, Placement, Plan, WorkerPlan};
use zerohop_reads::{LaneSpec, OpenLane};
use zerohop_runtime::{HELD_PER_WORKER, Job, Mapping, Order, Outcome, Progress, Shelf};
use zerohop_sinks::{FileSink, Format, Header, OutputSpec, Program};

/// Aligns a file of reads, or two with the mates in step, with so many workers, and writes SAM to `output`, or to
/// standard output.
///
/// # Errors
/// Files that cannot be read or written, and damaged input.
pub fn align(reference: &Path, reads: &[PathBuf], output: Option<PathBuf>, workers: usize) -> Result<Outcome, Error> {
    let engine: Arc<dyn Engine> = Arc::new(KmerAligner::build(reference)?);
    let lane = OpenLane::open(&LaneSpec { files: reads.to_vec(), interleaved: false })?;
    let lanes = vec![lane.deal(0, engine.cut(), engine.max_read_bases(), workers)?];

    let (name, version) = engine.program();
    let programs = vec![Program { name: name.to_owned(), version: version.to_owned(), command_line: None }];
    let header = Header { contigs: engine.contigs().to_vec(), programs, ..Header::default() };
    let (format, lane_groups) = (Format::Sam, vec![None]);
    let sink = FileSink::create(OutputSpec { path: output, shards: 1, format, header, lane_groups, comments: false })?;

    // One copy of the index, and workers that run wherever the system puts them.
    let placement = Placement { nodes: vec![], pages: Pages::FirstTouch, huge_pages: HugePages::Auto };
    let worker = WorkerPlan { cpus: vec![], node: None, replica: 0 };
    let workers = vec![worker; workers];
    let shelf = Shelf::new(workers.iter().map(|_| Arc::clone(&engine)));
    let plan = Plan { replicas: vec![placement], workers, helper_cpus: vec![], reasons: vec![] };
    let mapping = Mapping::Embedded { shelf: &shelf, sink: &sink, held: HELD_PER_WORKER };
    let progress = Progress::default();
    let job = Job { lanes, mapping, order: Order::Input, grains: None, plan: &plan, progress: &progress };
    let outcome = zerohop_runtime::run(job)?;
    sink.finish(&outcome.lengths)?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(file: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/phix").join(file)
    }

    #[test]
    fn reads_are_aligned_and_records_do_not_depend_on_the_workers() {
        let dir = tempfile::tempdir().unwrap();
        let mates = [data("phix.1.fastq"), data("phix.2.fastq")];
        for reads in [&mates[..1], &mates[..]] {
            let sam = |workers: usize| {
                let output = dir.path().join("out.sam");
                let outcome = align(&data("phix.fasta"), reads, Some(output.clone()), workers).unwrap();
                (outcome.report.tally, std::fs::read_to_string(output).unwrap())
            };
            let (tally, text) = sam(1);
            assert_eq!(sam(3).1, text);
            let records = text.lines().filter(|line| !line.starts_with('@')).count() as u64;
            assert_eq!(records, tally.reads);
            assert!(tally.mapped * 10 > tally.reads * 8, "{tally:?}");
        }
    }
}
