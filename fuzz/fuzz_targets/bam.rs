//! BAM, however damaged, ends in chunks or in an error; what the workers make of a file is what comes of it through a
//! pipe.
//!
//! Input: four bytes that choose how, then the records, which get a header before them, or the file as it is before it
//! is compressed.
#![cfg_attr(fuzzing, no_main)]

use zerohop_fuzz::coding::{BLOCK, bgzf};
use zerohop_fuzz::dealing::{Manner, Threads, deal};
use zerohop_fuzz::files::{Pipe, Regular};
use zerohop_fuzz::{Random, take};

/// One read group and one contig.
const HEADER: &[u8] = b"BAM\x01\x09\0\0\0@RG\tID:g\n\x01\0\0\0\x02\0\0\0c\0\x09\0\0\0";

zerohop_fuzz::target!(|data: &[u8]| {
    let threads = Threads::now();
    let mut rest = data;
    let [shape, law, seed, _] = take(&mut rest);
    let text = if shape & 1 == 0 { [HEADER, rest].concat() } else { [&HEADER[..4], rest].concat() };
    let longest = [1, 30, 1000, BLOCK][usize::from(shape >> 4) % 4];
    let bytes = bgzf(&text, longest, i32::from(seed) % 2, true, &mut Random::new(seed.into()));
    let manner = Manner {
        interleaved: false,
        closes_past: [0, 20, 1000, 1 << 40][usize::from(law) % 4],
        workers: 1 + usize::from(law >> 2) % 2,
        sampled: law & 0x80 != 0,
    };
    let regular = Regular::new(&bytes);
    let found = deal(&[regular.path()], manner);
    let pipe = Pipe::new(bytes);
    let piped = deal(&[pipe.path()], manner);
    drop(pipe);
    threads.wait();
    match (found, piped) {
        (Ok(found), Ok(piped)) => assert!(piped == found, "other reads through a pipe"),
        (Err(_), Err(_)) => {}
        (found, piped) => panic!("refused in one way alone: {:?}, {:?}", found.err(), piped.err()),
    }
});
