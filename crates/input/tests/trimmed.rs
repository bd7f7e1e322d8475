//! Chunks of reads that are trimmed while they are dealt are those of files that hold the trimmed reads.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use zerohop_input::{LaneSpec, OpenLane, TrimOptions, Trimming};
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::Cut;
use zerohop_model::source::{Claimed, Deal, Emitted, Lane};

/// Ticket and texts of each chunk.
type Dealt = Vec<(String, [Vec<u8>; 2])>;

/// All chunks, in order, dealt by so many threads; and how many chunks and reads there were.
fn dealt(lane: Lane, threads: usize) -> (Dealt, u64, u64) {
    let (found, end) = (Mutex::new(Vec::new()), Mutex::new((0, 0)));
    let keep = |chunk: &mut Chunk| {
        lane.parser.parse(chunk).unwrap();
        let reads: usize = chunk.fragments().map(|fragment| fragment.reads().count()).sum();
        let texts = chunk.text.each_ref().map(|text| text.bytes.clone());
        found.lock().unwrap().push((chunk.ticket.number, format!("{:?} {reads}", chunk.ticket), texts));
    };
    match lane.deal {
        Deal::Claim(claim) => std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut chunk = Chunk::default();
                    loop {
                        match claim.claim(&mut chunk).unwrap() {
                            Claimed::Chunk => keep(&mut chunk),
                            Claimed::NotYet => std::thread::yield_now(),
                            Claimed::End { chunks, reads } => break *end.lock().unwrap() = (chunks, reads),
                        }
                    }
                });
            }
        }),
        Deal::Emit(mut emit) => {
            let (mut chunk, stop) = (Chunk::default(), AtomicBool::new(false));
            loop {
                match emit.emit(&mut chunk, &stop).unwrap() {
                    Emitted::Chunk => keep(&mut chunk),
                    Emitted::End { chunks, reads } => break *end.lock().unwrap() = (chunks, reads),
                }
            }
        }
    }
    let mut found = found.into_inner().unwrap();
    found.sort();
    let (chunks, reads) = end.into_inner().unwrap();
    (found.into_iter().map(|(_, ticket, texts)| (ticket, texts)).collect(), chunks, reads)
}

/// Reads whose qualities fall to their ends, some of them bad or short.
fn text(mate: u64, reads: u64) -> String {
    let mut random = fastrand::Rng::with_seed(7 + mate);
    let mut text = String::new();
    for number in 0..reads {
        let length = if number % 11 == mate { random.usize(..40) } else { random.usize(80..160) };
        let bases: String = (0..length).map(|_| *random.choice(b"ACGTN").unwrap() as char).collect();
        let good = if number % 7 == mate { 0 } else { length - random.usize(..length / 3 + 1) };
        let quality: String = (0..length).map(|at| if at < good { 'I' } else { '#' }).collect();
        text += &format!("@r{number}/{} c\n{bases}\n+\n{quality}\n", mate + 1);
    }
    text
}

fn lane(files: &[PathBuf], trimming: Option<&Trimming>) -> OpenLane {
    let lane = OpenLane::open(&LaneSpec { files: files.to_vec(), interleaved: false }).unwrap();
    match trimming {
        Some(trimming) => lane.with_trimming(trimming).unwrap(),
        None => lane,
    }
}

fn check(folder: &Path, mates: u64, reads: u64) {
    let write = |name: String, text: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let raw: Vec<_> = (0..mates).map(|mate| write(format!("raw{mate}.fq"), text(mate, reads).as_bytes())).collect();
    let options = TrimOptions::parse(["--cut_right", "-n", "50", "-Q", "-l", "20"]).unwrap();
    let trimming = Trimming { options, has_statistics: true };
    // All at once: what stays of the reads.
    let whole = lane(&raw, Some(&trimming)).deal(0, Cut::at(u64::MAX), 1 << 20, 1).unwrap();
    let (chunks, ..) = dealt(whole, 1);
    let kept: Vec<_> = (0..mates as usize)
        .map(|mate| {
            let text = chunks.first().map_or(&[][..], |(_, texts)| &texts[mate]);
            write(format!("kept{mate}.fq"), text)
        })
        .collect();
    for cut in [Cut::at(1_000), Cut::at(40_000), Cut::at(20_000).in_pieces_of(3_000)] {
        let wanted = dealt(lane(&kept, None).deal(0, cut, 1 << 20, 1).unwrap(), 1);
        for threads in [1, 4] {
            let opened = lane(&raw, Some(&trimming));
            let trimmed = opened.trimmed().unwrap();
            let found = dealt(opened.deal(0, cut, 1 << 20, threads).unwrap(), threads);
            assert_eq!(found.0.len() as u64, found.1);
            assert!(found == wanted, "{mates} mates, {reads} reads, {cut:?}, {threads} threads");
            let counts = trimmed.counts();
            assert_eq!(counts.before.iter().map(|amount| amount.reads).sum::<u64>(), mates * reads);
            assert_eq!(counts.after.iter().map(|amount| amount.reads).sum::<u64>(), found.2);
        }
    }
}

#[test]
fn chunks_are_those_of_the_trimmed_reads() {
    let folder = tempfile::tempdir().unwrap();
    for (mates, reads) in [(1, 0), (2, 1), (1, 30_000), (2, 12_000)] {
        check(folder.path(), mates, reads);
    }
}
