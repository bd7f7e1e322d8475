//! How fast it is, against flate2 and libdeflate: `GZIP_FILE=reads.fq.gz cargo test --release -p zerohop-gzip --test
//! speed -- --ignored --nocapture`. Megabytes of text per second of CPU time, so that whatever else runs here counts
//! little; the best of nine.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use flate2::read::MultiGzDecoder;
use std::io::Read;
use zerohop_gzip::{Compressed, End, Limits, Place, find_block, inflate, inflate_unknown};

/// Bytes of compressed data of a piece.
const STRETCH: usize = 1 << 18;

/// Seconds that this thread was on a CPU.
fn cpu_seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

fn measure(what: &str, megabytes: f64, mut run: impl FnMut()) {
    let mut rate = || {
        let started = cpu_seconds();
        run();
        megabytes / (cpu_seconds() - started)
    };
    let best = (0..9).map(|_| rate()).fold(0.0, f64::max);
    println!("{what:40} {best:7.0} MB/s");
}

#[test]
#[ignore = "a measurement"]
fn megabytes_per_second() {
    let Some(path) = std::env::var_os("GZIP_FILE") else { return println!("GZIP_FILE is not set") };
    let file = std::fs::read(path).unwrap();
    let mut text = Vec::new();
    MultiGzDecoder::new(&file[..]).read_to_end(&mut text).unwrap();
    let megabytes = text.len() as f64 / 1e6;
    println!("{megabytes:.1} MB of text, {:.1} MB compressed", file.len() as f64 / 1e6);

    measure("flate2 with zlib-rs, and the CRC", megabytes, || {
        text.clear();
        MultiGzDecoder::new(&file[..]).read_to_end(&mut text).unwrap();
    });
    measure("libdeflate, and the CRC", megabytes, || {
        libdeflater::Decompressor::new().gzip_decompress(&file, &mut text).unwrap();
    });

    let data = Compressed { bytes: &file, offset: 0, is_end: true };
    let limits = |bit| Limits { bit, text: 1 << 30 };
    let mut buffer = Vec::new();
    measure("window known", megabytes, || {
        let (mut place, mut window, mut done) = (Place::start(), Vec::new(), false);
        while !done {
            let limits = limits(place.bit() + 8 * STRETCH as u64);
            let piece = inflate(&data, place.clone(), &window, limits, std::mem::take(&mut buffer));
            window = piece.window(&window);
            match piece.end {
                End::At(next) => place = next,
                _ => done = true,
            }
            buffer = piece.text;
        }
    });

    let ends: Vec<u64> = (1..=file.len().div_ceil(STRETCH)).map(|i| (i * STRETCH) as u64 * 8).collect();
    let start = |end: &u64| Some((find_block(&data, end - 8 * STRETCH as u64, *end)?, *end));
    let pieces: Vec<(u64, u64)> = ends.iter().filter_map(start).collect();
    let (mut symbols, mut rest) = (Vec::new(), Vec::new());
    measure("window unknown", megabytes, || {
        for &(start, end) in &pieces {
            let buffers = (std::mem::take(&mut symbols), std::mem::take(&mut rest));
            let piece = inflate_unknown(&data, start, limits(end), buffers.0, buffers.1);
            (_, symbols, rest) = piece.resolve(&[], Vec::new());
        }
    });
    measure("window unknown, and resolved", megabytes, || {
        for &(start, end) in &pieces {
            let buffers = (std::mem::take(&mut symbols), std::mem::take(&mut rest));
            let piece = inflate_unknown(&data, start, limits(end), buffers.0, buffers.1);
            let resolved = piece.resolve(&[b'A'; 1 << 15], std::mem::take(&mut buffer));
            (buffer, symbols, rest) = (resolved.0.text, resolved.1, resolved.2);
        }
    });
    measure("finding all blocks: compressed bytes", file.len() as f64 / 1e6, || {
        let mut at = 0;
        while let Some(found) = find_block(&data, at, u64::MAX) {
            at = found + 1;
        }
    });
}
