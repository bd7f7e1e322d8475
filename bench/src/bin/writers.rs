//! How fast threads write into one file, and into a file each.
//!
//!     cargo run --release -p zerohop-bench --bin writers -- FOLDER
//!
//! Threads take turns at the places of a file, as zerohop's workers do, and write pieces of so many KiB there with
//! pwrite(2); or each writes into a file of its own. Each file is new, so the kernel makes its pages. For each number
//! of threads and each way: GB (10^9 bytes) per second, all of five runs. A line of JSON each goes to standard output.
#![allow(clippy::print_stdout, reason = "a developer reads it")]
#![forbid(unsafe_code)]

use clap::Parser;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Counted runs; one more warms up.
const REPEATS: usize = 5;

#[derive(Parser)]
struct Args {
    /// Folder for the files, which have no names there
    folder: PathBuf,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<u64>,
    /// MiB that all threads write together
    #[arg(long, default_value_t = 1024)]
    mib: u64,
    /// KiB of a piece
    #[arg(long, default_value_t = 2560)]
    piece_kib: u64,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    for &threads in &args.threads {
        for files in if threads > 1 { vec![1, threads] } else { vec![1] } {
            let mut speeds = Vec::new();
            for _ in 0..=REPEATS {
                speeds.push(written(&args, threads, files)?);
            }
            speeds.remove(0);
            println!("{{\"threads\": {threads}, \"files\": {files}, \"gb_per_s\": {speeds:.2?}}}");
        }
    }
    Ok(())
}

/// GB per second.
fn written(args: &Args, threads: u64, files: u64) -> io::Result<f64> {
    let files = (0..files).map(|_| tempfile::tempfile_in(&args.folder)).collect::<io::Result<Vec<_>>>()?;
    let (piece, next) = (vec![b'A'; (args.piece_kib << 10) as usize], AtomicU64::new(0));
    let pieces = args.mib * 1024 / args.piece_kib;
    let write = |thread: u64| -> io::Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= pieces {
                return Ok(());
            }
            // The places of a file that is a thread's own are not one behind the other; it is sparse.
            let file = &files[thread as usize % files.len()];
            file.write_all_at(&piece, number * piece.len() as u64)?;
        }
    };
    let started = Instant::now();
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|thread| scope.spawn(move || write(thread))).collect();
        all.into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread failed"))))
    })?;
    Ok((pieces * piece.len() as u64) as f64 / started.elapsed().as_secs_f64() / 1e9)
}
