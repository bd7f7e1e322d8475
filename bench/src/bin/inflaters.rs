//! Inflaters of gzip side by side, in one thread: zerohop's, with and without the text before a piece, flate2 with
//! zlib-rs, and libdeflate.
//!
//!     cargo run --release -p zerohop-bench --bin inflaters -- reads.fq.gz
//!
//! MB of text for each second of CPU, so that whatever else runs here counts little; the median of nine runs. Lines of
//! JSON go to standard output.
#![allow(clippy::print_stdout, reason = "a developer reads it")]
#![forbid(unsafe_code)]

use clap::Parser;
use flate2::read::MultiGzDecoder;
use libdeflater::Decompressor;
use std::error::Error;
use std::io::Read;
use std::mem::take;
use std::path::PathBuf;
use zerohop_gzip::{Compressed, End, PieceLimits, Place, WINDOW, find_block, inflate, inflate_unknown};
use zerohop_topology::thread_cpu_time;

/// Bytes of compressed data of a piece, as zerohop takes them.
const STRETCH: usize = 1 << 18;
/// Counted runs.
const REPEATS: usize = 9;

#[derive(Parser)]
struct Args {
    /// A file of gzip
    file: PathBuf,
}

type Outcome = Result<(), Box<dyn Error>>;

fn measure(what: &str, bytes: usize, mut run: impl FnMut() -> Outcome) -> Outcome {
    let mut rates = Vec::new();
    for _ in 0..REPEATS {
        let started = thread_cpu_time();
        run()?;
        rates.push(bytes as f64 / 1e6 / (thread_cpu_time() - started).as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    println!("{{\"what\": \"{what}\", \"bytes\": {bytes}, \"MB/s\": {:.0}}}", rates[REPEATS / 2]);
    Ok(())
}

fn main() -> Outcome {
    let file = std::fs::read(Args::parse().file)?;
    let mut text = Vec::new();
    MultiGzDecoder::new(&file[..]).read_to_end(&mut text)?;
    let bytes = text.len();
    measure("flate2 with zlib-rs, and the CRC", bytes, || {
        text.clear();
        MultiGzDecoder::new(&file[..]).read_to_end(&mut text)?;
        Ok(())
    })?;
    measure("libdeflate, and the CRC", bytes, || {
        Decompressor::new().gzip_decompress(&file, &mut text)?;
        Ok(())
    })?;
    let data = Compressed { bytes: &file, offset: 0, is_end: true };
    measure("zerohop, window known", bytes, || {
        known(&data, &mut text);
        Ok(())
    })?;
    let pieces = pieces(&data);
    let (mut symbols, mut rest) = (Vec::new(), Vec::new());
    measure("zerohop, window unknown, then resolved", bytes, || {
        for &(start, end) in &pieces {
            let piece = inflate_unknown(&data, start, limits(end), take(&mut symbols), take(&mut rest));
            let resolved = piece.resolve(&[b'A'; WINDOW], take(&mut text));
            (text, symbols, rest) = (resolved.0.text, resolved.1, resolved.2);
        }
        Ok(())
    })?;
    measure("zerohop, blocks found: compressed bytes", file.len(), || {
        let mut at = 0;
        while let Some(found) = find_block(&data, at, u64::MAX) {
            at = found + 1;
        }
        Ok(())
    })
}

fn limits(bit: u64) -> PieceLimits {
    PieceLimits { bit, text: 1 << 30 }
}

/// Inflates all of it, piece by piece, in the memory of `text`.
fn known(data: &Compressed<'_>, text: &mut Vec<u8>) {
    let (mut place, mut window) = (Place::start(), Vec::new());
    loop {
        let limits = limits(place.bit() + 8 * STRETCH as u64);
        let piece = inflate(data, place, &window, limits, take(text));
        window = piece.window(&window);
        *text = piece.text;
        match piece.end {
            End::At(next) => place = next,
            End::NoMember(_) | End::Fault(_) => return,
        }
    }
}

/// The first block of each stretch, and where the stretch ends, in bits.
fn pieces(data: &Compressed<'_>) -> Vec<(u64, u64)> {
    let bits = |stretches: usize| (stretches * STRETCH) as u64 * 8;
    let piece = |i| Some((find_block(data, bits(i), bits(i + 1))?, bits(i + 1)));
    (0..data.bytes.len().div_ceil(STRETCH)).filter_map(piece).collect()
}
