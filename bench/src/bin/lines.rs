//! What a cache line of memory costs: lines of a large block, each at a random place, asked for some lines ahead of
//! their use; and how long a cycle is.
//!
//!     cargo run --release -p zerohop-bench --bin lines -- --mib 280
//!
//! For each number of lines ahead (0: each place is known when the line before has come): nanoseconds per line and
//! thread, the median of five runs, with so many threads. The block lies on huge pages, where the system has them. A
//! line of JSON each goes to standard output, and one with the nanoseconds of a cycle.
#![allow(clippy::print_stdout, reason = "a developer reads it")]
#![forbid(unsafe_code)]

use clap::Parser;
use std::error::Error;
use std::hint::black_box;
use std::thread;
use std::time::Instant;
use zerohop_align::PlacedAlloc;
use zerohop_bench::random::Random;
use zerohop_memory::{prefetch, set_default_huge_pages};
use zerohop_model::plan::HugePages;

/// A large block lies on huge pages.
#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

/// Counted runs; one more warms up.
const REPEATS: usize = 5;
/// Lines that a thread looks at in one run.
const LOOKS: usize = 4_000_000;
/// Multiplications in one run.
const MULTIPLICATIONS: u64 = 200_000_000;

#[derive(Parser)]
struct Args {
    /// Size of the block
    #[arg(long, default_value_t = 280)]
    mib: usize,
    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: u64,
    /// Lines ahead
    #[arg(long, value_delimiter = ',', default_value = "0,1,2,4,8,16,32,64")]
    ahead: Vec<usize>,
}

type Line = [u64; 8];

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    set_default_huge_pages(HugePages::Auto);
    let mut random = Random::new(1);
    let block: Vec<Line> = (0..(args.mib << 20) / size_of::<Line>()).map(|_| [random.bits(); 8]).collect();
    for ahead in args.ahead {
        let nanoseconds = median(|| looked_at_by_all(&block, ahead, args.threads));
        println!(
            "{{\"mib\": {}, \"threads\": {}, \"ahead\": {ahead}, \"ns\": {nanoseconds:.2}}}",
            args.mib, args.threads
        );
    }
    println!("{{\"cycle_ns\": {:.4}}}", median(cycle));
    Ok(())
}

fn median(mut run: impl FnMut() -> f64) -> f64 {
    let mut runs: Vec<f64> = (0..=REPEATS).map(|_| run()).skip(1).collect();
    runs.sort_by(f64::total_cmp);
    runs[REPEATS / 2]
}

/// Nanoseconds per line, the mean of all threads.
fn looked_at_by_all(block: &[Line], ahead: usize, threads: u64) -> f64 {
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|thread| scope.spawn(move || looked_at(block, ahead, thread))).collect();
        let sum: f64 = all.into_iter().filter_map(|thread| thread.join().ok()).sum();
        sum / threads as f64
    })
}

fn looked_at(block: &[Line], ahead: usize, thread: u64) -> f64 {
    let (mut random, mut sum) = (Random::new(thread + 2), 0u64);
    let started = Instant::now();
    if ahead == 0 {
        let mut at = thread as usize;
        for look in 0..LOOKS {
            let found = block[at][0];
            sum = sum.wrapping_add(found);
            at = (found as usize ^ look) % block.len();
        }
    } else {
        let mut places = vec![0; ahead];
        for look in 0..LOOKS + ahead {
            let place = &mut places[look % ahead];
            sum = sum.wrapping_add(block[*place][0]);
            *place = random.below(block.len());
            prefetch(block, *place);
        }
    }
    black_box(sum);
    started.elapsed().as_secs_f64() * 1e9 / LOOKS as f64
}

/// Nanoseconds of a cycle: of the machines of today, a multiplication takes three, and what is done before it one more.
fn cycle() -> f64 {
    let (factor, mut product, started) = (black_box(0x9e37_79b9_7f4a_7c15_u64), 1u64, Instant::now());
    for step in 0..MULTIPLICATIONS {
        product = (product ^ step).wrapping_mul(factor);
    }
    black_box(product);
    started.elapsed().as_secs_f64() * 1e9 / (4 * MULTIPLICATIONS) as f64
}
