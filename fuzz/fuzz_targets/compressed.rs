//! Compressed data, however damaged, end in chunks or in an error; what the workers make of a file is what comes of it
//! through a pipe.
//!
//! Input: four bytes that choose how, then one of
//! - the bytes of the file as they are, with the magic number of gzip or the frame of BGZF before them, or without;
//! - text, which is compressed, and of which 16 bytes at the end say what is damaged in the result.
#![cfg_attr(fuzzing, no_main)]

use zerohop_fuzz::coding::{BLOCK, END_MARKER, bgzf, damage, gzip};
use zerohop_fuzz::dealing::{Manner, Threads, deal};
use zerohop_fuzz::files::{Pipe, Regular};
use zerohop_fuzz::{Random, take};

fn file(form: u8, shape: u8, seed: u8, rest: &[u8]) -> Vec<u8> {
    let random = &mut Random::new(seed.into());
    let (text, how) = rest.split_at(rest.len() - 16.min(rest.len()));
    let longest = [1, 30, 1000, BLOCK][usize::from(shape >> 4) % 4];
    match form % 5 {
        0 => rest.to_vec(),
        1 => [&END_MARKER[..3], rest].concat(),
        2 => [&END_MARKER[..16], rest].concat(),
        3 => {
            let mut bytes = bgzf(text, longest, i32::from(seed) % 2, shape & 0x80 != 0, random);
            damage(&mut bytes, how);
            bytes
        }
        _ => {
            let mut bytes = gzip(text, 1, random);
            damage(&mut bytes, how);
            bytes
        }
    }
}

zerohop_fuzz::target!(|data: &[u8]| {
    let threads = Threads::now();
    let mut rest = data;
    let [form, shape, law, seed] = take(&mut rest);
    let bytes = file(form, shape, seed, rest);
    let manner = Manner {
        interleaved: shape & 1 != 0,
        closes_past: [0, 20, 1000, 1 << 40][usize::from(law) % 4],
        workers: 1 + usize::from(law >> 2) % 2,
        sampled: law & 0x80 != 0,
    };
    let regular = Regular::new(&bytes);
    let found = deal(&[regular.path()], manner);
    if shape & 2 != 0 {
        // Twice the same file is a valid pair, but of BAM.
        let pair = deal(&[regular.path(), regular.path()], Manner { interleaved: false, ..manner });
        let is_bam = pair.as_ref().is_err_and(|error| error.to_string().contains("is BAM, SAM"));
        let as_alone = manner.interleaved || is_bam || pair.is_ok() == found.is_ok();
        assert!(as_alone, "a file is refused alone, or with itself as mate");
    }
    let pipe = Pipe::new(bytes);
    let piped = deal(&[pipe.path()], manner);
    drop(pipe);
    threads.wait();
    // The other way round need not be: a file that starts as BGZF must be BGZF to its end, through a pipe it is gzip.
    if let Ok(found) = found {
        match piped {
            Ok(piped) => assert!(piped == found, "other reads through a pipe"),
            Err(error) => panic!("refused through a pipe alone: {error}"),
        }
    }
});
