//! Deals a lane to its end, as a run would, but with nothing behind it.

use crate::naive::{Chunks, Read};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zerohop_input::{LaneSpec, OpenLane, Shared, Table};
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::Cut;
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Claim, Claimed, Deal, Emitted, Grant, Granted, Lane, Parse};

/// The longest read allowed here: within what a fuzzer writes.
pub const MAX_READ_BASES: usize = 1000;

/// How a lane is dealt.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// One file in which mates follow one another.
    pub interleaved: bool,
    /// Bases that an open chunk does not exceed.
    pub closes_past: u64,
    /// Threads that claim chunks.
    pub workers: usize,
    /// Whether the mean read length is asked for first, which reads ahead.
    pub sampled: bool,
}

/// The chunks of the lane of `files`.
///
/// # Errors
/// What dealing or parsing says.
pub fn deal(files: &[&Path], manner: Manner) -> Result<Chunks, Error> {
    deal_prepared(files, manner, &Ok)
}

/// What is done to a lane before it is dealt.
pub type Prepare<'p> = &'p dyn Fn(OpenLane) -> Result<OpenLane, InputError>;

/// The chunks of the lane of `files` that was prepared.
///
/// # Errors
/// What preparing, dealing or parsing says.
pub fn deal_prepared(files: &[&Path], manner: Manner, prepare: Prepare<'_>) -> Result<Chunks, Error> {
    let files = files.iter().map(|path| path.to_path_buf()).collect();
    let mut lane = prepare(OpenLane::open(&LaneSpec { files, interleaved: manner.interleaved })?)?;
    if manner.sampled {
        zerohop_input::mean_read_length(std::slice::from_mut(&mut lane))?;
    }
    let lane = lane.deal(0, Cut::at(manner.closes_past.saturating_add(1)), MAX_READ_BASES, manner.workers)?;
    let (chunks, count) = all_of(lane, manner.workers)?;
    assert_eq!(chunks.len() as u64, count, "the lane says how many chunks it had");
    assert!(chunks.keys().copied().eq(0..count), "chunks are numbered without gaps");
    Ok(chunks.into_values().collect())
}

/// The chunks of the lane of `files`, of which each of so many ranks deals those that are its own.
///
/// # Errors
/// What counting, dealing or parsing says, on any rank.
pub fn deal_over(files: &[&Path], manner: Manner, ranks: usize) -> Result<Chunks, Error> {
    deal_over_prepared(files, manner, ranks, &Ok)
}

/// The same of a lane that was prepared.
///
/// # Errors
/// What preparing, counting, dealing or parsing says, on any rank.
pub fn deal_over_prepared(
    files: &[&Path],
    manner: Manner,
    ranks: usize,
    prepare: Prepare<'_>,
) -> Result<Chunks, Error> {
    let files: Vec<PathBuf> = files.iter().map(|path| path.to_path_buf()).collect();
    let open = || prepare(OpenLane::open(&LaneSpec { files: files.clone(), interleaved: manner.interleaved })?);
    let cut = Cut::at(manner.closes_past.saturating_add(1));
    let lane = open()?;
    let table = if lane.is_counted() {
        let counts = (0..ranks).map(|rank| lane.count(rank, ranks, 1)).collect::<Result<Vec<_>, _>>()?;
        let mut table = Arc::new(Table::from_bytes(&lane.table(&counts, cut)?.to_bytes()).unwrap());
        if lane.is_dealt_again() {
            let counts =
                (0..ranks).map(|rank| lane.count_kept(&table, rank, ranks, 2)).collect::<Result<Vec<_>, _>>()?;
            let kept = Table::clone(&table).with_kept(&counts, cut);
            table = Arc::new(Table::from_bytes(&kept.to_bytes()).unwrap());
        }
        Some(table)
    } else {
        None
    };
    // What is granted of a file that was counted is surveyed by itself, from a whole stretch: so there are few grains.
    let chunks = table.as_ref().map_or(u64::MAX, |table| table.chunks());
    let grain = table.as_ref().map_or(1, |_| chunks.div_ceil(8).max(1));
    let mut all = BTreeMap::new();
    for rank in 0..ranks {
        let shared = Shared::new(Arc::new(Grains { rank: rank as u64, ranks: ranks as u64, grain, chunks }));
        let table = table.clone().map(|table| (table, 0));
        let lane = open()?.deal_granted((0, 1), cut, MAX_READ_BASES, manner.workers, table, &shared)?;
        for (number, reads) in all_of(lane, manner.workers)?.0 {
            assert_eq!(all.insert(number, reads), None, "a chunk was dealt twice");
        }
    }
    assert!(all.keys().copied().eq(0..all.len() as u64), "chunks are numbered without gaps");
    Ok(all.into_values().collect())
}

/// Compares the chunks that were dealt with those of a naive dealer, which has none where anything is wrong.
pub fn compare(what: &str, found: &Result<Chunks, Error>, expected: Option<&Chunks>) {
    match (found, expected) {
        (Ok(found), Some(expected)) => {
            let reads = |chunks: &Chunks| chunks.iter().map(Vec::len).collect::<Vec<_>>();
            assert_eq!(reads(found), reads(expected), "{what}: reads per chunk");
            assert!(found == expected, "{what}: reads differ");
        }
        (Err(_), None) => {}
        (Ok(found), None) => panic!("{what}: {} chunks of faulty text", found.len()),
        (Err(error), Some(_)) => panic!("{what}: text without a fault is refused: {error}"),
    }
}

/// Grants a rank every n-th of grains of so many chunks.
struct Grains {
    rank: u64,
    ranks: u64,
    grain: u64,
    /// Chunks that there are.
    chunks: u64,
}

impl Grant for Grains {
    fn granted(&self, from: u64) -> Granted {
        let next = (from..self.chunks).find(|chunk| chunk / self.grain % self.ranks == self.rank);
        let end = |chunk: u64| (chunk / self.grain + 1) * self.grain;
        next.map_or(Granted::End, |chunk| Granted::Chunks(chunk..end(chunk).min(self.chunks)))
    }

    fn absent(&self, _: Range<u64>) {}

    fn begun_before(&self, chunks: Range<u64>) {
        panic!("no cohort has several chunks, but {chunks:?} are of one");
    }

    fn goes_on(&self, chunks: Range<u64>) {
        panic!("no cohort has several chunks, but {chunks:?} are of one");
    }
}

/// All chunks that a lane deals, by their numbers, and how many it says that it has.
fn all_of(lane: Lane, workers: usize) -> Result<(BTreeMap<u64, Vec<Read>>, u64), Error> {
    match lane.deal {
        Deal::Emit(mut emitter) => {
            let (mut chunk, mut chunks) = (Chunk::default(), BTreeMap::new());
            loop {
                if let Emitted::End { chunks: count, .. } = emitter.emit(&mut chunk, &AtomicBool::new(false))? {
                    return Ok((chunks, count));
                }
                let reads = parse(&*lane.parser, &mut chunk)?;
                assert_eq!(chunks.insert(chunk.ticket.number, reads), None, "a ticket was given twice");
            }
        }
        Deal::Claim(claim) => claim_all(&*claim, &*lane.parser, workers),
    }
}

/// The number of threads before a lane is dealt. Nobody joins those that read streams: one that stays is a fault, and
/// one that is just about to end is taken by the sanitizer for a leak.
pub struct Threads(usize);

impl Threads {
    /// Counts the threads of this process.
    pub fn now() -> Self {
        Threads(std::fs::read_dir("/proc/self/task").unwrap().count())
    }

    /// Waits until there are no more than there were. To be called when all pipes are closed.
    pub fn wait(&self) {
        let started = Instant::now();
        while Threads::now().0 > self.0 {
            assert!(started.elapsed() < Duration::from_secs(5), "a thread that reads a stream outlives its lane");
            std::thread::yield_now();
        }
    }
}

fn claim_all(claim: &dyn Claim, parser: &dyn Parse, workers: usize) -> Result<(BTreeMap<u64, Vec<Read>>, u64), Error> {
    let all = Mutex::new(BTreeMap::new());
    let work = || {
        let mut chunk = Chunk::default();
        loop {
            match claim.claim(&mut chunk)? {
                Claimed::Chunk => {
                    let reads = parse(parser, &mut chunk)?;
                    let former = all.lock().unwrap().insert(chunk.ticket.number, reads);
                    assert_eq!(former, None, "a ticket was given twice");
                }
                Claimed::NotYet => std::thread::yield_now(),
                Claimed::End { chunks, .. } => return Ok(chunks),
            }
        }
    };
    let counts: Vec<Result<u64, Error>> = if workers == 1 {
        vec![work()]
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        })
    };
    // A fault is reported to one worker; the others see the end.
    let counts = counts.into_iter().collect::<Result<Vec<u64>, Error>>()?;
    assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "all workers see the same end");
    Ok((all.into_inner().unwrap(), counts[0]))
}

/// The reads of a chunk.
///
/// # Errors
/// What parsing says.
pub fn parse(parser: &dyn Parse, chunk: &mut Chunk) -> Result<Vec<Read>, Error> {
    parser.parse(chunk)?;
    let reads = chunk.fragments().flat_map(|fragment| fragment.reads());
    Ok(reads
        .map(|read| Read {
            name: read.name.to_vec(),
            comment: read.comment.to_vec(),
            seq: read.seq.to_vec(),
            qual: read.qual.map(<[u8]>::to_vec),
            failed_filters: read.failed_filters,
        })
        .collect())
}
