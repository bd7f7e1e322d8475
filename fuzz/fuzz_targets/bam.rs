//! BAM, however damaged, ends in the chunks that a naive parser finds, or in an error where that finds a fault: from a
//! file, whose stretches the workers survey, also where ranks deal parts of it; and through a pipe.
//!
//! Input: four bytes that choose how (see [`Plan`]), then the records, which get a header before them, or the file as
//! it is before it is compressed. Records may also be put between valid ones, so that they lie where stretches meet:
//! then two more bytes say how far before that.
#![cfg_attr(fuzzing, no_main)]

use zerohop_fuzz::coding::{BLOCK, bgzf};
use zerohop_fuzz::dealing::{MAX_READ_BASES, Manner, Threads, deal, deal_over};
use zerohop_fuzz::files::{Pipe, Regular};
use zerohop_fuzz::naive::Chunks;
use zerohop_fuzz::{Random, naive_bam, take};
use zerohop_input::sizes::{BGZF_STRETCH, SEGMENT};
use zerohop_model::error::Error;

/// One read group and one contig.
const HEADER: &[u8] = b"BAM\x01\x09\0\0\0@RG\tID:g\n\x01\0\0\0\x02\0\0\0c\0\x09\0\0\0";

/// What the first bytes of an input choose.
struct Plan {
    has_header: bool,
    manner: Manner,
    longest_block: usize,
    seed: u8,
    /// Where in the text parts meet, if records are put there: bytes. Workers survey files, pipes are streams.
    border: Option<u64>,
    /// Bytes of records before those of the input.
    before: usize,
    /// Whether there are some behind them, too.
    behind: bool,
    filler: Filler,
}

impl Plan {
    fn read(data: &mut &[u8]) -> Self {
        let [shape, law, seed, place] = take(data);
        let border = match place % 8 {
            6 => Some(BGZF_STRETCH),
            7 => Some(SEGMENT),
            _ => None,
        };
        let before = border.map_or(0, |border| {
            let [near, far] = take(data);
            (border - (u64::from(near) + 64 * u64::from(far)) % border) as usize
        });
        Plan {
            has_header: shape & 1 == 0,
            manner: Manner {
                interleaved: false,
                closes_past: [0, 20, 1000, 1 << 40][usize::from(law) % 4],
                workers: 1 + usize::from(law >> 2) % 2,
                sampled: law & 0x80 != 0,
            },
            longest_block: [30, 200, 1000, BLOCK][usize::from(shape >> 4) % 4].max(before >> 8),
            seed,
            border,
            before,
            behind: place & 8 != 0,
            filler: Filler { is_paired: place & 0x10 != 0, has_decoys: place & 0x20 != 0 },
        }
    }
}

/// Valid records.
struct Filler {
    is_paired: bool,
    /// Whether their fields hold what looks like records.
    has_decoys: bool,
}

impl Filler {
    /// At least so many bytes of them; no more where the text of the last record can fill what is left.
    fn records(&self, bytes: usize, random: &mut Random) -> Vec<u8> {
        let mut out = Vec::new();
        for number in 0.. {
            let is_second = self.is_paired && number % 2 == 1;
            if out.len() >= bytes && !is_second {
                break;
            }
            let (name, flags) = match self.is_paired {
                true => (format!("f{}", number / 2), [0x4d, 0x8d][usize::from(is_second)]),
                false => (format!("f{number}"), 4),
            };
            let bases = 1 + random.below(1000.min(bytes as u64 / 4 + 1)) as usize;
            let decoys = if self.has_decoys { decoys() } else { Vec::new() };
            let with_text = |length| {
                let text = [b"XZZ", &vec![b'c'; length][..], b"\0"].concat();
                record(&name, flags, bases, &[&decoys[..], &text].concat())
            };
            let left = bytes.saturating_sub(out.len() + with_text(0).len());
            out.extend(with_text(if left < 5000 { left } else { random.below(3000) as usize }));
        }
        out
    }
}

/// A field that holds a row of records, as numbers of four bytes.
fn decoys() -> Vec<u8> {
    let records = record("d", 4, 1, b"").repeat(20);
    [b"XDBI", &(records.len() as u32 / 4).to_le_bytes()[..], &records].concat()
}

/// A record without an alignment.
fn record(name: &str, flags: u16, bases: usize, fields: &[u8]) -> Vec<u8> {
    let mut fixed = [0xff; 32];
    (fixed[8], fixed[12], fixed[13]) = (name.len() as u8 + 1, 0, 0);
    fixed[14..16].copy_from_slice(&flags.to_le_bytes());
    fixed[16..20].copy_from_slice(&(bases as u32).to_le_bytes());
    let (seq, qual) = (vec![0x12; bases.div_ceil(2)], vec![30; bases]);
    let body = [&fixed, name.as_bytes(), b"\0", &seq, &qual, fields].concat();
    [&(body.len() as u32).to_le_bytes()[..], &body].concat()
}

zerohop_fuzz::target!(|data: &[u8]| {
    let threads = Threads::now();
    let mut rest = data;
    let plan = Plan::read(&mut rest);
    let random = &mut Random::new(plan.seed.into());
    let mut text = if plan.has_header { HEADER.to_vec() } else { HEADER[..4].to_vec() };
    if plan.has_header {
        text.extend(plan.filler.records(plan.before, random));
    }
    text.extend_from_slice(rest);
    if plan.behind {
        text.extend(plan.filler.records(3000, random));
    }
    let [expected, alike] =
        [false, true].map(|are_alike| naive_bam::chunks(&text, plan.manner.closes_past, MAX_READ_BASES, are_alike));
    let check = |how: &str, found: Result<Chunks, Error>, expected: &Option<Chunks>| match (found, expected) {
        (Ok(found), Some(expected)) => {
            let reads = |chunks: &Chunks| chunks.iter().map(Vec::len).collect::<Vec<_>>();
            assert_eq!(reads(&found), reads(expected), "{how}: reads per chunk");
            assert!(found == *expected, "{how}: reads differ");
        }
        (Err(_), None) => {}
        (Ok(found), None) => panic!("{how}: {} chunks of a faulty file", found.len()),
        (Err(error), Some(_)) => panic!("{how}: a file without a fault is refused: {error}"),
    };
    let bytes = bgzf(&text, plan.longest_block, i32::from(plan.seed % 2), true, random);
    let regular = Regular::new(&bytes);
    if plan.border != Some(SEGMENT) {
        check("a file", deal(&[regular.path()], plan.manner), &expected);
        let ranks = 1 + usize::from(plan.seed >> 1) % 3;
        check("over ranks", deal_over(&[regular.path()], plan.manner, ranks), &alike);
    }
    if plan.border != Some(BGZF_STRETCH) {
        let pipe = Pipe::new(bytes);
        check("a pipe", deal(&[pipe.path()], plan.manner), &expected);
    }
    threads.wait();
});
