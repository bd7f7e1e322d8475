//! Readers of paired FASTQ side by side, on the same plain files: zerohop's survey, paraseq's parallel reader, and the
//! reader of the strobealign program. Every base is looked at, nothing is mapped.
//!
//!     cargo run --release -p zerohop-bench --bin readers -- READS_1 READS_2 --threads 1,2 --repeats 5
//!
//! For each: GB of text per second with so many threads, and the SERIAL time per pair, in which only one thread can go
//! on:
//! - zerohop: what the survey itself measures (putting stretches in order, and cutting);
//! - paraseq: `RecordSet::fill` of both files, which its threads do under the readers' locks, in a loop of its own;
//! - strobealign: parsing, which one thread does for all, in a loop of its own.
//!
//! A line of JSON per measurement goes to standard output, a table of medians to standard error.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]

use clap::Parser;
use paraseq::parallel::{PairedParallelProcessor, ParallelReader};
use paraseq::{Record, fastq};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use strobealign::io::fastq::FastqReader;
use strobealign::io::record::SequenceRecord;
use zerohop_input::{LaneSpec, OpenLane};
use zerohop_model::engine::Cut;
use zerohop_model::source::Deal;
use zerohop_runtime::{Failure, Input, Intake, LaneView, Progress, farm};

/// Bases of a chunk, as strobealign cuts them.
const CHUNK_BASES: u64 = 1_000_000;

#[derive(Parser)]
struct Args {
    /// First mates, plain FASTQ
    reads_1: PathBuf,
    /// Second mates
    reads_2: PathBuf,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Counted runs; one more warms up
    #[arg(long, default_value_t = 5)]
    repeats: usize,
}

/// What one run found and took.
struct Run {
    pairs: u64,
    bases: u64,
    wall_s: f64,
    serial_s: f64,
}

type Outcome = Result<Run, Box<dyn Error>>;

/// A reader: takes both files with so many threads.
type Reader = fn(&[PathBuf; 2], usize) -> Outcome;

/// GB per second and serial nanoseconds per pair, over the repetitions.
type Figures = (Vec<f64>, Vec<f64>);

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let files = [args.reads_1.clone(), args.reads_2.clone()];
    let bytes: u64 = files.iter().map(|file| Ok(std::fs::metadata(file)?.len())).sum::<std::io::Result<u64>>()?;
    let readers: [(&str, Reader); 3] = [("zerohop", zerohop), ("paraseq", paraseq), ("strobealign", strobealign)];
    let mut medians: BTreeMap<(usize, &str), Figures> = BTreeMap::new();
    let mut found = None;
    for repetition in 0..=args.repeats {
        for &threads in &args.threads {
            for i in 0..readers.len() {
                let (name, read) = readers[(i + repetition) % readers.len()];
                let run = read(&files, threads)?;
                if *found.get_or_insert((run.pairs, run.bases)) != (run.pairs, run.bases) {
                    return Err(format!(
                        "{name} found {} pairs of {} bases, another reader found {found:?}",
                        run.pairs, run.bases
                    )
                    .into());
                }
                let (gb_per_s, serial_ns) = (bytes as f64 / 1e9 / run.wall_s, 1e9 * run.serial_s / run.pairs as f64);
                println!(
                    "{{\"reader\":\"{name}\",\"threads\":{threads},\"repetition\":{repetition},\"pairs\":{},\
                     \"bytes\":{bytes},\"wall_s\":{:.6},\"serial_ns_per_pair\":{serial_ns:.3}}}",
                    run.pairs, run.wall_s
                );
                if repetition > 0 {
                    let (speeds, serials) = medians.entry((threads, name)).or_default();
                    speeds.push(gb_per_s);
                    serials.push(serial_ns);
                }
            }
        }
    }
    eprintln!("| threads | reader | GB/s | serial ns per pair |\n| --- | --- | --- | --- |");
    for ((threads, name), (speeds, serials)) in medians {
        eprintln!("| {threads} | {name} | {:.2} | {:.1} |", median(speeds), median(serials));
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The survey, and the intake of the runtime.
fn zerohop(files: &[PathBuf; 2], threads: usize) -> Outcome {
    let started = Instant::now();
    let cut = Cut::at(CHUNK_BASES + 1);
    let mut lane =
        OpenLane::open(&LaneSpec { files: files.to_vec(), interleaved: false })?.deal(0, cut, 1 << 20, threads)?;
    let Deal::Claim(claim) = &mut lane.deal else { return Err("not a regular file".into()) };
    let (failure, progress) = (Failure::default(), Progress::default());
    let input = Input { lanes: vec![LaneView::Claim(&**claim, &*lane.parser)], failure: &failure, progress: &progress };
    let (_, benches) = farm(threads, 1, 1);
    let (pairs, bases) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for bench in benches {
            let (input, pairs, bases) = (&input, &pairs, &bases);
            scope.spawn(move || -> Result<(), zerohop_model::error::Error> {
                let mut intake = Intake::new(input, bench);
                while let Some(mut taken) = intake.take()? {
                    intake.parse(&mut taken.chunk)?;
                    pairs.fetch_add(taken.chunk.len() as u64, Ordering::Relaxed);
                    let sum: usize =
                        taken.chunk.fragments().flat_map(|fragment| fragment.reads()).map(|read| read.seq.len()).sum();
                    bases.fetch_add(sum as u64, Ordering::Relaxed);
                    intake.put_back(taken.chunk);
                }
                Ok(())
            });
        }
    });
    drop(input);
    failure.into_result()?;
    let serial_s = claim.serial_time().as_secs_f64();
    Ok(Run { pairs: pairs.into_inner(), bases: bases.into_inner(), wall_s: started.elapsed().as_secs_f64(), serial_s })
}

/// Counts pairs and bases of one thread.
#[derive(Clone, Default)]
struct Counter {
    pairs: u64,
    bases: u64,
    all: Arc<(AtomicU64, AtomicU64)>,
}

impl<R: Record> PairedParallelProcessor<R> for Counter {
    fn process_record_pair(&mut self, one: R, two: R) -> Result<(), paraseq::Error> {
        self.pairs += 1;
        self.bases += (one.seq().len() + two.seq().len()) as u64;
        Ok(())
    }

    fn on_thread_complete(&mut self) -> Result<(), paraseq::Error> {
        self.all.0.fetch_add(self.pairs, Ordering::Relaxed);
        self.all.1.fetch_add(self.bases, Ordering::Relaxed);
        Ok(())
    }
}

fn paraseq(files: &[PathBuf; 2], threads: usize) -> Outcome {
    let open = |file: &PathBuf| Ok::<_, std::io::Error>(fastq::Reader::new(File::open(file)?));
    let mut readers = [open(&files[0])?, open(&files[1])?];
    let mut sets = [readers[0].new_record_set(), readers[1].new_record_set()];
    let started = Instant::now();
    while sets[0].fill(&mut readers[0])? && sets[1].fill(&mut readers[1])? {}
    let serial_s = started.elapsed().as_secs_f64();

    let started = Instant::now();
    let mut counter = Counter::default();
    open(&files[0])?.process_parallel_paired(open(&files[1])?, &mut counter, threads)?;
    let wall_s = started.elapsed().as_secs_f64();
    let (pairs, bases) = (counter.all.0.load(Ordering::Relaxed), counter.all.1.load(Ordering::Relaxed));
    Ok(Run { pairs, bases, wall_s, serial_s })
}

/// As the program does it: one thread parses chunks and sends them through a channel to all others.
fn strobealign(files: &[PathBuf; 2], threads: usize) -> Outcome {
    let open = |file: &PathBuf| Ok::<_, std::io::Error>(FastqReader::new(BufReader::new(File::open(file)?)));
    let started = Instant::now();
    for pair in open(&files[0])?.zip(open(&files[1])?) {
        let _ = std::hint::black_box((pair.0?, pair.1?));
    }
    let serial_s = started.elapsed().as_secs_f64();

    let started = Instant::now();
    let mut pairs_of_files = open(&files[0])?.zip(open(&files[1])?);
    let (send, receive) = sync_channel::<Vec<(SequenceRecord, SequenceRecord)>>(threads);
    let receive = Mutex::new(receive);
    let (pairs, bases) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let chunk = receive.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv();
                    let Ok(chunk) = chunk else { return };
                    pairs.fetch_add(chunk.len() as u64, Ordering::Relaxed);
                    bases.fetch_add(
                        chunk.iter().map(|(one, two)| (one.sequence.len() + two.sequence.len()) as u64).sum(),
                        Ordering::Relaxed,
                    );
                }
            });
        }
        let (mut chunk, mut chunk_bases) = (Vec::new(), 0);
        // Moved, so that the workers see its end also when this returns early.
        let send = send;
        for pair in &mut pairs_of_files {
            let pair = (pair.0?, pair.1?);
            chunk_bases += (pair.0.sequence.len() + pair.1.sequence.len()) as u64;
            chunk.push(pair);
            if chunk_bases > CHUNK_BASES {
                send.send(std::mem::take(&mut chunk))?;
                chunk_bases = 0;
            }
        }
        Ok(send.send(chunk)?)
    })?;
    Ok(Run { pairs: pairs.into_inner(), bases: bases.into_inner(), wall_s: started.elapsed().as_secs_f64(), serial_s })
}
