//! `zerohop index`: builds the index of a reference and writes it beside it.

use crate::args::IndexArgs;
use crate::failure::Failure;
use crate::inputs;
use crate::replicas::{IndexSource, build, read_reference};
use std::time::Instant;
use zerohop_engine_strobealign::canonical_read_length;
use zerohop_engine_strobealign::file::{ReferenceId, index_path};
use zerohop_model::machine::Bytes;
use zerohop_reads::{LaneSpec, OpenLane};

/// Runs the command.
///
/// # Errors
/// When the reference cannot be read or the index cannot be written.
pub fn run(args: &IndexArgs) -> Result<(), Failure> {
    let started = Instant::now();
    let mean = match &args.reads {
        Some(reads) => {
            let lane = OpenLane::open(&LaneSpec { files: vec![reads.clone()], interleaved: false })?;
            zerohop_reads::mean_read_length(&mut [lane])?
        }
        None => args.read_length,
    };
    let read_length = canonical_read_length(mean);
    let path = index_path(&args.reference, read_length);
    inputs::apart(args.reads.iter().chain([&args.reference]), [&path])?;
    zerohop_process::check_writable(&path)?;
    let threads = match args.threads {
        Some(threads) => threads,
        None => zerohop_topology::detect()?.allowed.worker_count(),
    };
    zerohop_memory::set_default_huge_pages(zerohop_model::plan::HugePages::Auto);
    IndexSource::find(&args.reference, mean, true)?.check_memory(1)?;
    let id = ReferenceId::of_file(&args.reference, threads)?;
    let engine = build(read_reference(&args.reference)?, read_length, threads, None)?;
    let bytes = Bytes(engine.save(&path, &id, read_length)?);
    if !args.quiet {
        let (path, seconds) = (path.display(), started.elapsed().as_secs_f64());
        let words = format!("{path}: {bytes}, for reads of about {read_length} bases, made in {seconds:.1} s\n");
        zerohop_process::tell::text(&words);
    }
    Ok(())
}
