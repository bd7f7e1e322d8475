//! `--compare-with original`: the aligner by itself on the same reads, and what is different.

use crate::job::{AlignError, Job};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use zerohop_engine_external::Launch;
use zerohop_input::{LaneSpec, OpenLane};
use zerohop_model::measurement::Comparison;
use zerohop_output::Format;
use zerohop_process::{Charge, charge};
use zerohop_runtime::Order;

/// Refuses what cannot be compared, before hours of work.
///
/// # Errors
/// Wrong usage.
pub fn check(job: &Job) -> Result<(), AlignError> {
    if !job.external.compare {
        return Ok(());
    }
    let specs = &job.lanes;
    let usage = |words: &str| Err(AlignError::Usage(format!("--compare-with {words}")));
    if job.output.path.is_none() || job.output.format() != Format::Sam || job.output.shards > 1 {
        return usage("needs one output file in SAM (-o FILE.sam)");
    }
    if job.output.mate_tags {
        return usage("is not for --mate-tags, which the aligner does not write");
    }
    if job.output.no_unaligned {
        return usage("is not for --no-unaligned, for the aligner writes these records");
    }
    if job.output.order != Order::Input {
        return usage("needs --order input");
    }
    if specs.len() != 1 || specs[0].interleaved {
        return usage("needs one file of reads, or two with the mates in step");
    }
    if specs[0].files.iter().any(|path| !path.is_file()) {
        return usage("needs reads in regular files, for they are read twice");
    }
    Ok(())
}

/// Runs the aligner by itself and compares, if that is wanted.
///
/// # Errors
/// When it fails.
pub fn with_original(job: &Job, launch: &Launch<'_>, same_order: bool) -> Result<Option<Comparison>, AlignError> {
    let Some(ours) = job.output.path.as_ref().filter(|_| job.external.compare) else { return Ok(None) };
    let work = tempfile::Builder::new().prefix("zerohop-compare-").tempdir();
    let work = work.map_err(|e| AlignError::Failed(format!("a temporary folder cannot be made: {e}")))?;
    let _charged = charge(Charge::folder(work.path())).map_err(AlignError::uncharged)?;
    let first = job.external.compare_first.into_iter().chain(job.first).min();
    let reads = plain_reads(&job.lanes[0], work.path(), first)?;
    let threads =
        job.placement.threads.map_or_else(|| zerohop_topology::detect().map(|m| m.allowed.worker_count()), Ok)?;
    let words = launch.plain_command(&reads, threads)?;
    let sam = work.path().join("original.sam");
    let log = launch.logs.join("original.log");
    run(&words, &sam, &log)?;
    let comparison = zerohop_engine_external::compare(reader(&sam)?, reader(ours)?, same_order, first);
    let comparison = comparison.map_err(|e| AlignError::Failed(format!("the records cannot be compared: {e}")))?;
    Ok(Some(Comparison {
        command: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..comparison
    }))
}

/// The reads as plain files: not every aligner inflates, and only the first may be wanted.
fn plain_reads(spec: &LaneSpec, folder: &Path, first: Option<u64>) -> Result<Vec<PathBuf>, AlignError> {
    let open = OpenLane::open(spec)?;
    let fasta = open.is_fasta() == Some(true);
    let mut paths = Vec::new();
    for (i, text) in open.into_texts()?.into_iter().enumerate() {
        let path = folder.join(format!("{}.{}", i + 1, if fasta { "fa" } else { "fq" }));
        copy_records(text, &path, fasta, first).map_err(|e| {
            AlignError::Failed(format!("{}: cannot be copied for comparing: {e}", spec.files[i].display()))
        })?;
        paths.push(path);
    }
    Ok(paths)
}

/// Copies the first records, or all.
fn copy_records(text: impl Read, path: &Path, fasta: bool, first: Option<u64>) -> std::io::Result<()> {
    let (mut text, mut out) = (BufReader::with_capacity(1 << 18, text), BufWriter::new(File::create(path)?));
    let Some(first) = first else { return std::io::copy(&mut text, &mut out).and_then(|_| out.flush()) };
    let (mut line, mut lines, mut records) = (Vec::new(), 0, 0);
    while text.read_until(b'\n', &mut line)? > 0 {
        // FASTQ is four lines a record here: the run that was made before has checked it.
        let begins = if fasta { line[0] == b'>' } else { lines % 4 == 0 };
        records += u64::from(begins);
        if records > first {
            break;
        }
        out.write_all(&line)?;
        line.clear();
        lines += 1;
    }
    out.flush()
}

/// Runs the aligner by itself.
fn run(words: &[OsString], sam: &Path, log: &Path) -> Result<(), AlignError> {
    let fault = |e: std::io::Error| AlignError::Failed(format!("{}: cannot be made: {e}", sam.display()));
    let out = File::create(sam).map_err(fault)?;
    zerohop_engine_external::run_tool(words, out, log)
        .map_err(|e| AlignError::Failed(format!("the records are written, but cannot be compared: {e}")))
}

/// A file for reading, with a good buffer.
fn reader(path: &Path) -> Result<BufReader<File>, AlignError> {
    let file = File::open(path).map_err(|e| AlignError::Failed(format!("{}: cannot open: {e}", path.display())))?;
    Ok(BufReader::with_capacity(1 << 18, file))
}
