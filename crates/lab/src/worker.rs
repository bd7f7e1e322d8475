//! One thread: the path of a read, and where the time of the thread goes.

use crate::output::Way;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::Engine;
use zerohop_model::error::Error;
use zerohop_model::machine::NodeId;
use zerohop_model::measurement::Tally;
use zerohop_model::sink::Sink;
use zerohop_runtime::{Input, Intake, Taken, WorkerEnd};

/// Where the time of one thread went, in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadReport {
    /// From when it began, which may be a little after the common start, to its own end.
    pub wall_s: f64,
    /// When it ended, on the clock that all processes share.
    pub ended_s: f64,
    /// Taking reads: waiting for the lock, holding it, or waiting for the emitter.
    pub claim_s: f64,
    /// Parsing outside the lock.
    pub parse_s: f64,
    /// Mapping and making records.
    pub map_s: f64,
    /// Putting out: waiting for the lock or for its turn, and writing.
    pub commit_s: f64,
    /// Holding the lock of the output.
    pub output_hold_s: f64,
    /// CPU time in that time.
    pub cpu_s: f64,
    /// Bytes of the pages of tasks that were looked at, and of those that lay on its own node; zeros if none were.
    pub task_bytes: (u64, u64),
    /// Chunks that it did.
    pub chunks: u64,
    /// Reads that it did.
    pub reads: u64,
}

/// Tasks after which buffers have grown as large as they get.
const SETTLED: u64 = 16;

/// Adds the pages of a task, all and those on `node`.
fn count_pages(chunk: &Chunk, node: NodeId, (all, here): &mut (u64, u64)) {
    let ranges = [0, 1].map(|i| (chunk.text[i].bytes.as_ptr().addr(), chunk.text[i].bytes.len()));
    let used: Vec<_> = ranges.into_iter().filter(|&(_, bytes)| bytes > 0).collect();
    // Where the kernel does not tell, nothing is counted, and whoever asked sees zeros.
    if let Ok(census) = zerohop_memory::census(&used) {
        *all += census.pages.present.0;
        *here += census.pages.per_node.iter().filter(|(on, _)| *on == node).map(|(_, bytes)| bytes.0).sum::<u64>();
    }
}

/// Runs one thread until the input is at its end: claim, parse, map, encode, commit.
///
/// # Errors
/// The failure, which was reported.
pub(crate) fn work(
    input: &Input<'_>,
    end: WorkerEnd,
    engine: &dyn Engine,
    sink: &dyn Sink,
    way: &mut dyn Way,
    node: Option<NodeId>,
    start: impl FnOnce() -> Result<(), Error>,
) -> Result<ThreadReport, Error> {
    let (mut intake, mut mapper, mut encoder) = (Intake::new(input, end), engine.mapper(), sink.encoder());
    let (mut report, mut tally, mut alignments) = (ThreadReport::default(), Tally::default(), Alignments::default());
    let (mut claim, mut parse, mut map, mut commit) = (Duration::ZERO, Duration::ZERO, Duration::ZERO, Duration::ZERO);
    start()?;
    let cpu_before = zerohop_topology::thread_cpu_time();
    let started = Instant::now();
    let mut last = started;
    // One look at the clock ends one thing and starts the next.
    let mut lap = || {
        let now = Instant::now();
        now - std::mem::replace(&mut last, now)
    };
    while let Some(Taken { mut chunk, number }) = intake.take()? {
        claim += lap();
        let mut process = || -> Result<(), Error> {
            intake.parse(&mut chunk)?;
            parse += lap();
            encoder.begin(chunk.ticket.lane, way.buffer());
            alignments.clear();
            mapper.map(&chunk, &mut alignments)?;
            tally += &Tally::of(&chunk, &alignments)?;
            encoder.encode(&chunk, &alignments)?;
            let bytes = encoder.finish()?;
            map += lap();
            way.commit(number, bytes)?;
            commit += lap();
            Ok(())
        };
        let outcome = process();
        if let Err(error) = outcome {
            return Err(intake.fail(&chunk, error));
        }
        report.chunks += 1;
        if let Some(node) = node.filter(|_| report.chunks >= SETTLED && report.chunks.is_power_of_two()) {
            count_pages(&chunk, node, &mut report.task_bytes);
        }
        intake.put_back(chunk);
    }
    claim += lap();
    if let Err(error) = way.finish() {
        input.failure.report(None, error);
        return Err(Error::Stopped);
    }
    commit += lap();
    let seconds = |time: Duration| time.as_secs_f64();
    report.wall_s = seconds(started.elapsed());
    report.ended_s = seconds(zerohop_topology::monotonic_time());
    (report.claim_s, report.parse_s, report.map_s, report.commit_s) =
        (seconds(claim), seconds(parse), seconds(map), seconds(commit));
    report.output_hold_s = seconds(way.holding());
    report.cpu_s = seconds(zerohop_topology::thread_cpu_time() - cpu_before);
    report.reads = tally.reads;
    Ok(report)
}
