//! What the compression levels of BAM cost, and bring: blocks as zerohop writes them, in one thread.
//!
//!     samtools view -u FILE.bam | bgzip -dc > FILE.raw       # BAM without compression
//!     cargo run --release -p zerohop-bench --bin levels -- FILE.raw ...
//!
//! For each file and level: size in parts of what is compressed, and MB of that per second of CPU, the median of five
//! runs; levels take turns. Lines of JSON go to standard output.
#![allow(clippy::print_stdout, reason = "a developer reads it")]
#![forbid(unsafe_code)]

use clap::Parser;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;
use zerohop_bgzf::BlockCompressor;

/// Counted runs of each level; one more warms up.
const REPEATS: usize = 5;

#[derive(Parser)]
struct Args {
    /// Files of BAM that are not compressed
    files: Vec<PathBuf>,
    /// Levels
    #[arg(long, value_delimiter = ',', default_value = "1,2,3,4,5,6,7,8,9")]
    levels: Vec<u8>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    for path in &args.files {
        let data = std::fs::read(path)?;
        let mut runs: Vec<(usize, Vec<f64>)> = vec![(0, Vec::new()); args.levels.len()];
        for repeat in 0..=REPEATS {
            for (level, (bytes, seconds)) in args.levels.iter().zip(&mut runs) {
                let (mut compressor, mut out, started) = (BlockCompressor::new(*level), Vec::new(), Instant::now());
                compressor.compress(&data, &mut out)?;
                *bytes = out.len();
                seconds.extend((repeat > 0).then(|| started.elapsed().as_secs_f64()));
            }
        }
        for (level, (bytes, mut seconds)) in args.levels.iter().zip(runs) {
            seconds.sort_by(f64::total_cmp);
            let median = seconds[seconds.len() / 2];
            let (part, speed) = (bytes as f64 / data.len() as f64, data.len() as f64 / median / 1e6);
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let bytes = data.len();
            print!("{{\"file\": \"{file}\", \"bytes\": {bytes}, \"level\": {level}, ");
            println!("\"size\": {part:.4}, \"MB/s\": {speed:.1}}}");
        }
    }
    Ok(())
}
