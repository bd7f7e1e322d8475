//! Reads come out the same however they are stored and dealt, and as a naive parser finds them.
//!
//! Input: eight bytes that choose how (see [`Plan`]), then the text; a byte 0xff parts it into the texts of two files.
//! Most faults of dealing can only lie where stretches meet, beyond what a fuzzer writes: so the text is also put
//! behind valid filler of such a length that it lies across such a border.
#![cfg_attr(fuzzing, no_main)]

use std::path::Path;
use zerohop_fuzz::coding::{BLOCK, END_MARKER, bgzf, gzip};
use zerohop_fuzz::dealing::{MAX_READ_BASES, Manner, Threads, compare, deal, deal_over};
use zerohop_fuzz::files::{Pipe, Regular};
use zerohop_fuzz::naive::{self, Layout};
use zerohop_fuzz::{Random, may_be_sam, take};
use zerohop_input::sizes::{BGZF_STRETCH, GZIP_STRETCH, PLAIN_STRETCH, SEGMENT};
use zerohop_model::error::Error;

/// What the first bytes of an input choose.
struct Plan {
    layout: Layout,
    manner: Manner,
    /// Bytes of the filler before the text of each file.
    before: [usize; 2],
    /// Valid reads behind the text.
    behind: bool,
    /// What the comments of the filler hold.
    comment: &'static [u8],
    longest_block: usize,
    level: i32,
    end_marker: bool,
    seed: u64,
}

impl Plan {
    fn read(data: &mut &[u8]) -> Self {
        let [shape, law, attack, near, near2, far, blocks, seed] = take(data);
        let layout = [Layout::Single, Layout::Pairs, Layout::Interleaved][usize::from(shape) % 3];
        let closes_past = [0, 1, 20, 400, 5000, 100_000, 1 << 20, 1 << 40][usize::from(law) % 8];
        let border = [0, 0, 0, SEGMENT, BGZF_STRETCH, 2 * GZIP_STRETCH, BGZF_STRETCH, PLAIN_STRETCH];
        let border = border[usize::from(attack) % 8];
        let before = |near: u8| match border {
            0 => 0,
            border => (border - (u64::from(near) + 16 * u64::from(far)) % border) as usize,
        };
        // Compressed data that hold what looks like two blocks.
        const FALSE_BLOCKS: [u8; 56] = {
            let (mut two, mut i) = ([0; 56], 0);
            while i < two.len() {
                two[i] = END_MARKER[i % END_MARKER.len()];
                i += 1;
            }
            two
        };
        Plan {
            layout,
            manner: Manner {
                interleaved: layout == Layout::Interleaved,
                closes_past,
                workers: 1 + usize::from(shape >> 2) % 3,
                sampled: shape & 0x80 != 0,
            },
            before: [before(near), before(near2)],
            behind: attack & 0x80 != 0,
            comment: if attack & 0x40 != 0 { &FALSE_BLOCKS } else { b"" },
            longest_block: [1, 30, 1000, BLOCK][usize::from(blocks) % 4].max(if border == 0 { 1 } else { 1000 }),
            // Stored blocks are as long as their text, so that few reads fill a stretch.
            level: if blocks & 4 == 0 { 0 } else { 1 },
            end_marker: blocks & 8 == 0,
            seed: u64::from(seed),
        }
    }
}

/// `length` bytes of valid FASTQ, whose last header is as long as it takes; a little more where that cannot be.
fn filler(length: usize, comment: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = Vec::with_capacity(length);
    let mut number = 0;
    while out.len() < length {
        let bases = 1 + random.below(800.min(length as u64 / 4 + 1)) as usize;
        out.extend_from_slice(format!("@f{number}").as_bytes());
        let rest = 2 * bases + 4;
        let left = length.saturating_sub(out.len() + rest);
        if (1..4000).contains(&left) {
            out.resize(out.len() + left, b' ');
            *out.last_mut().unwrap() = b'c';
        } else {
            out.push(b' ');
            out.extend_from_slice(comment);
        }
        out.push(b'\n');
        out.resize(out.len() + bases, b"ACGT"[random.below(4) as usize]);
        out.extend_from_slice(b"\n+\n");
        out.resize(out.len() + bases, b"@+>I"[random.below(4) as usize]);
        out.push(b'\n');
        number += 1;
    }
    out
}

zerohop_fuzz::target!(|data: &[u8]| {
    let threads = Threads::now();
    let mut rest = data;
    let plan = Plan::read(&mut rest);
    let (one, two) = match rest.iter().position(|&b| b == 0xff) {
        Some(at) => (&rest[..at], &rest[at + 1..]),
        None => (rest, rest),
    };
    let files = if plan.layout == Layout::Pairs { 2 } else { 1 };
    let texts: Vec<Vec<u8>> = [one, two]
        .into_iter()
        .zip(plan.before)
        .take(files)
        .map(|(text, before)| {
            // The same names in both files, so that they are in step.
            let random = &mut Random::new(plan.seed);
            let mut all = filler(before, plan.comment, random);
            all.extend_from_slice(text);
            if plan.behind {
                all.extend(filler(3000, plan.comment, random));
            }
            all
        })
        .collect();
    if texts.iter().any(|text| may_be_sam(text)) {
        return;
    }
    let expected = naive::chunks(&texts, plan.layout, plan.manner.closes_past, MAX_READ_BASES);
    let compare = |what: &str, found: Result<naive::Chunks, Error>| compare(what, &found, expected.as_ref());
    let check = |what: &str, paths: &[&Path]| compare(what, deal(paths, plan.manner));
    // Over ranks regular files are dealt in other ways.
    let ranks = 1 + (plan.seed >> 2) as usize % 3;
    let check_regular = |what: &str, paths: &[&Path]| {
        check(what, paths);
        compare(&format!("{what} over ranks"), deal_over(paths, plan.manner, ranks));
    };
    let random = &mut Random::new(plan.seed);
    let plain: Vec<Regular> = texts.iter().map(|text| Regular::new(text)).collect();
    check_regular("plain", &plain.iter().map(Regular::path).collect::<Vec<_>>());
    let bgzf: Vec<Regular> = texts
        .iter()
        .map(|text| Regular::new(&bgzf(text, plan.longest_block, plan.level, plan.end_marker, random)))
        .collect();
    check_regular("BGZF", &bgzf.iter().map(Regular::path).collect::<Vec<_>>());
    // All streams are dealt alike once they are inflated: one way per input is enough.
    let gzipped: Vec<Vec<u8>> = texts.iter().map(|text| gzip(text, plan.level as u32, random)).collect();
    if plan.seed.is_multiple_of(3) {
        let gzipped: Vec<Regular> = gzipped.iter().map(|bytes| Regular::new(bytes)).collect();
        check_regular("gzip", &gzipped.iter().map(Regular::path).collect::<Vec<_>>());
    } else {
        let piped = if plan.seed % 3 == 1 { gzipped } else { texts };
        let pipes: Vec<Pipe> = piped.into_iter().map(Pipe::new).collect();
        check("a pipe", &pipes.iter().map(Pipe::path).collect::<Vec<_>>());
    }
    threads.wait();
});
