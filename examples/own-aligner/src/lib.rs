//! An aligner of one's own under zerohop's runtime. `engine.rs` is the aligner: an [`Engine`] (the index, and how the
//! input is cut) and its mapper (a chunk of reads in, alignments out). This file says where its index comes from.
//! Input, workers, index copies on NUMA nodes, order, SAM and BAM, ranks and reports are zerohop's.
//!
//! It aligns by counting k-mers, without gaps, and is a toy: see the engines of zerohop for real ones, and
//! [`zerohop_model::mapper`] for those that need statistics over a batch of reads.
#![forbid(unsafe_code)]

mod engine;

pub use engine::KmerAligner;

use std::path::{Path, PathBuf};
use zerohop_model::engine::Engine;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, OnStart, Wanted};
use zerohop_model::machine::Bytes;

/// Bytes of the index per base of the reference: an estimate, by which copies are planned.
const INDEX_BYTES_PER_BASE: u64 = 60;

/// The aligner, before there is an index.
#[derive(Debug, Clone, Copy)]
pub struct OwnAligner;

impl IndexProvider for OwnAligner {
    fn engine(&self) -> (&str, &str) {
        ("own-aligner", env!("CARGO_PKG_VERSION"))
    }

    fn chunk_bases(&self) -> u64 {
        engine::CHUNK_BASES
    }

    fn find(&self, wanted: &Wanted<'_>) -> Result<Box<dyn IndexSource>, IndexError> {
        Ok(Box::new(Fasta(wanted.reference.to_owned())))
    }
}

/// The index is built from the reference in every run.
struct Fasta(PathBuf);

impl IndexSource for Fasta {
    fn file(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Bytes {
        Bytes(std::fs::metadata(&self.0).map_or(0, |file| file.len()) * INDEX_BYTES_PER_BASE)
    }

    fn make(&self, _threads: usize, _on_start: OnStart) -> Result<Box<dyn Engine>, IndexError> {
        let engine = KmerAligner::build(&self.0).map_err(IndexError::failed)?;
        Ok(Box::new(engine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use zerohop_align::{Job, align_with, lanes};

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
                let mut job = Job::new(data("phix.fasta"), lanes::lanes(vec![reads.to_vec()], false).unwrap());
                job.output.path = Some(output.clone());
                job.placement.threads = Some(workers);
                job.quiet = true;
                job.report.json = Some(dir.path().join("run.json"));
                align_with(&job, &OwnAligner).unwrap();
                let json: Value = serde_json::from_slice(&std::fs::read(dir.path().join("run.json")).unwrap()).unwrap();
                let count = |name: &str| json["run"]["tally"][name].as_u64().unwrap();
                ((count("reads"), count("mapped")), std::fs::read_to_string(output).unwrap())
            };
            let ((reads, mapped), text) = sam(1);
            assert_eq!(sam(3).1, text);
            let records = text.lines().filter(|line| !line.starts_with('@')).count() as u64;
            assert_eq!(records, reads);
            assert!(mapped * 10 > reads * 8, "{mapped} of {reads}");
        }
    }
}
