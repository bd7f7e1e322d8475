//! Whatever an input is compressed with, and however many workers deal it, the chunks are those of a naive walk.
#![allow(clippy::unwrap_used)]

use flate2::Compression;
use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor, Crc};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use zerohop_input::{LaneSpec, OpenLane, Shared, Table};
use zerohop_model::chunk::{Chunk, Ticket};
use zerohop_model::engine::Cut;
use zerohop_model::error::Error;
use zerohop_model::source::{Claimed, Deal, Emitted, Grant, Granted, Lane};

type Reads = Vec<(Vec<u8>, Vec<u8>)>;
/// Its ticket, and names and bases of each chunk, by its number.
type Chunks = BTreeMap<u64, (Ticket, Reads)>;

/// Cohorts as chunks, and the same cohorts in pieces.
const CUTS: [Cut; 2] = [Cut::at(50_001), Cut::at(50_001).in_pieces_of(7_000)];

const MAX_READ_BASES: usize = 5000;

/// A random number generator that anyone can check (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn reads(random: &mut Random, count: usize, longest: u64) -> Reads {
    (0..count)
        .map(|i| {
            let bases = (0..random.below(longest + 1)).map(|_| b"ACGTN"[random.below(5) as usize]).collect();
            (format!("read{i}").into_bytes(), bases)
        })
        .collect()
}

/// FASTQ whose qualities begin with the characters that tempt a parser: `@`, `+`, `>`.
fn fastq(reads: &Reads, mate: u8, line_end: &str, random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bases) in reads {
        out.push(b'@');
        out.extend_from_slice(name);
        write!(out, "/{mate} comment{line_end}").unwrap();
        out.extend_from_slice(bases);
        write!(out, "{line_end}+{line_end}").unwrap();
        out.extend((0..bases.len()).map(|_| b"@+>I#"[random.below(5) as usize]));
        out.extend_from_slice(line_end.as_bytes());
    }
    out
}

fn bgzf(data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    let mut block = |data: &[u8]| {
        let mut compressor = Compressor::new(CompressionLvl::fastest());
        let mut body = vec![0; compressor.deflate_compress_bound(data.len())];
        let n = compressor.deflate_compress(data, &mut body).unwrap();
        out.extend_from_slice(&[0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 0x42, 0x43, 2, 0]);
        out.extend_from_slice(&((18 + n + 7) as u16).to_le_bytes());
        out.extend_from_slice(&body[..n]);
        let mut crc = Crc::new();
        crc.update(data);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    };
    let mut rest = data;
    while !rest.is_empty() {
        let n = (1 + random.below(60_000) as usize).min(rest.len());
        block(&rest[..n]);
        rest = &rest[n..];
    }
    block(b"");
    out
}

/// BAM of reads, or of pairs: with alignments of other kinds between them, and with fields.
fn bam(firsts: &Reads, mates: Option<&Reads>, random: &mut Random) -> Vec<u8> {
    let mut out = b"BAM\x01\x0c\0\0\0@RG\tID:g\nxxx".to_vec();
    out.extend_from_slice(b"\x01\0\0\0\x02\0\0\0c\0\x09\0\0\0");
    let mut put = |(name, bases): &(Vec<u8>, Vec<u8>), flags: u16, random: &mut Random| {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&[0xff; 8]);
        out.extend_from_slice(&[name.len() as u8 + 1, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&(bases.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0xff; 8]);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(name);
        out.push(0);
        let code = |base: &u8| b"=ACMGRSVTWYHKDBN".iter().position(|b| b == base).unwrap() as u8;
        out.extend(bases.chunks(2).map(|two| code(&two[0]) << 4 | two.get(1).map_or(0, code)));
        out.extend(bases.iter().map(|_| random.below(42) as u8));
        if random.below(3) == 0 {
            out.extend_from_slice(b"RGZg\0cdBS\x02\0\0\0\x01\0\x02\0");
        }
        let size = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&size.to_le_bytes());
    };
    for (i, first) in firsts.iter().enumerate() {
        put(first, if mates.is_some() { 0x4d } else { 4 }, random);
        if random.below(5) == 0 {
            put(first, 0x900, random);
        }
        if let Some(mates) = mates {
            put(&mates[i], 0x8d, random);
        }
    }
    out
}

/// Several members.
fn gzip(data: &[u8]) -> Vec<u8> {
    let (one, two) = data.split_at(data.len() / 3);
    let member = |part: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    [member(one), member(two)].concat()
}

fn deal(files: &[PathBuf], interleaved: bool, cut: Cut, workers: usize) -> Result<Chunks, Error> {
    let lane = OpenLane::open(&LaneSpec { files: files.to_vec(), interleaved })?;
    collect(lane.deal(0, cut, MAX_READ_BASES, workers)?, workers)
}

/// All chunks of a lane, dealt to so many workers.
fn collect(lane: Lane, workers: usize) -> Result<Chunks, Error> {
    let parsed = |chunk: &mut Chunk| -> Result<Reads, Error> {
        lane.parser.parse(chunk)?;
        let reads = chunk.fragments().flat_map(|f| f.reads().collect::<Vec<_>>());
        Ok(reads.map(|r| (r.name.to_vec(), r.seq.to_vec())).collect())
    };
    let (chunks, failure) = (Mutex::new(Chunks::new()), Mutex::new(None));
    match lane.deal {
        Deal::Emit(mut emitter) => {
            let mut chunk = Chunk::default();
            while emitter.emit(&mut chunk, &AtomicBool::new(false))? == Emitted::Chunk {
                let reads = parsed(&mut chunk)?;
                chunks.lock().unwrap().insert(chunk.ticket.number, (Ticket { lane: 0, ..chunk.ticket }, reads));
            }
        }
        Deal::Claim(claim) => std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let mut chunk = Chunk::default();
                    loop {
                        let step = claim.claim(&mut chunk).and_then(|claimed| match claimed {
                            Claimed::Chunk => parsed(&mut chunk).map(|reads| {
                                chunks
                                    .lock()
                                    .unwrap()
                                    .insert(chunk.ticket.number, (Ticket { lane: 0, ..chunk.ticket }, reads));
                                true
                            }),
                            Claimed::NotYet => {
                                std::thread::yield_now();
                                Ok(true)
                            }
                            Claimed::End { .. } => Ok(false),
                        });
                        match step {
                            Ok(true) => {}
                            Ok(false) => break,
                            Err(e) => {
                                *failure.lock().unwrap() = Some(e);
                                break;
                            }
                        }
                    }
                });
            }
        }),
    }
    match failure.into_inner().unwrap() {
        Some(e) => Err(e),
        None => Ok(chunks.into_inner().unwrap()),
    }
}

/// The chunks as the engine's program cuts them; `mates[i]` follows `firsts[i]`. They are lane 0.
fn naive(firsts: &Reads, mates: Option<&Reads>, cut: Cut) -> Chunks {
    let (mut chunks, mut open) = (Chunks::new(), Reads::new());
    let (mut ticket, mut of_piece, mut of_cohort) = (Ticket::default(), 0, 0);
    for (i, first) in firsts.iter().enumerate() {
        let mate = mates.map(|m| &m[i]);
        let bases = first.1.len() as u64 + mate.map_or(0, |m| m.1.len() as u64);
        (of_piece, of_cohort) = (of_piece + bases, of_cohort + bases);
        open.push(first.clone());
        open.extend(mate.cloned());
        ticket.is_last_piece = of_cohort >= cut.closes_at_bases || i + 1 == firsts.len();
        if ticket.is_last_piece || cut.piece_bases.is_some_and(|piece| of_piece >= piece) {
            chunks.insert(ticket.number, (ticket, std::mem::take(&mut open)));
            ticket.number += 1;
            ticket.first_fragment = i as u64 + 1;
            ticket.first_read = ticket.first_fragment * if mates.is_some() { 2 } else { 1 };
            of_piece = 0;
            ticket.piece += 1;
            if ticket.is_last_piece {
                (ticket.cohort, ticket.piece, of_cohort) = (ticket.cohort + 1, 0, 0);
            }
        }
    }
    chunks
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// All with LONG=1, else so many.
fn some<T, const N: usize>(all: [T; N], many: usize) -> impl Iterator<Item = T> {
    let is_long = std::env::var_os("LONG").is_some_and(|value| !value.is_empty());
    all.into_iter().take(if is_long { N } else { many })
}

#[test]
fn chunks_do_not_depend_on_compression_or_workers() {
    let dir = tempfile::tempdir().unwrap();
    let all = [(1, 300, "\r\n"), (2, 4000, "\n"), (3, 300, "\n"), (4, 20, "\n")];
    for (seed, longest, line_end) in some(all, 2) {
        let random = &mut Random(seed);
        let count = (3_000_000 / (longest + 20)) as usize;
        let (firsts, mates) = (reads(random, count, longest), reads(random, count, longest / 2));
        let texts = [fastq(&firsts, 1, line_end, random), fastq(&mates, 2, line_end, random)];
        let both: Reads = firsts.iter().zip(&mates).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        let interleaved = fastq(&both, 1, line_end, random);
        let expected = CUTS.map(|cut| [naive(&firsts, None, cut), naive(&firsts, Some(&mates), cut)]);
        type Coder = fn(&[u8], &mut Random) -> Vec<u8>;
        let coders: [(&str, Coder); 3] = [("plain", |d, _| d.to_vec()), ("bgzf", bgzf), ("gz", |d, _| gzip(d))];
        for (name, code) in coders {
            let one = write(dir.path(), &format!("1.{name}"), &code(&texts[0], random));
            let two = write(dir.path(), &format!("2.{name}"), &code(&texts[1], random));
            let joined = write(dir.path(), &format!("12.{name}"), &code(&interleaved, random));
            for (cut, [singles, pairs]) in CUTS.iter().zip(&expected) {
                let pair = [one.clone(), two.clone()];
                for workers in [1, 2, 5] {
                    let what = format!("seed {seed}, {name}, {workers} workers, {cut:?}");
                    let dealt = deal(std::slice::from_ref(&one), false, *cut, workers).unwrap();
                    assert!(dealt == *singles, "single, {what}");
                    assert!(deal(&pair, false, *cut, workers).unwrap() == *pairs, "pairs, {what}");
                }
                let dealt = deal(std::slice::from_ref(&joined), true, *cut, 1).unwrap();
                assert!(dealt == *pairs, "interleaved, seed {seed}, {name}, {cut:?}");
            }
        }
        for (mates, which) in [(None, 0), (Some(&mates), 1)] {
            let records = bam(&firsts, mates, random);
            let coded = [("bgzf", bgzf(&records, random)), ("gz", gzip(&records)), ("plain", records)];
            for (name, bytes) in coded {
                let path = write(dir.path(), &format!("{name}.bam"), &bytes);
                for ((cut, expected), workers) in CUTS.iter().zip(&expected).flat_map(|c| [(c, 1), (c, 2), (c, 5)]) {
                    let dealt = deal(std::slice::from_ref(&path), false, *cut, workers).unwrap();
                    assert!(dealt == expected[which], "BAM, seed {seed}, {name}, {workers} workers, {cut:?}");
                }
            }
        }
        // Two files of different kinds are surveyed each as what it is.
        let mixed = [dir.path().join("1.plain"), dir.path().join("2.gz")];
        for (cut, [_, pairs]) in CUTS.iter().zip(&expected) {
            assert!(deal(&mixed, false, *cut, 2).unwrap() == *pairs, "{cut:?}");
        }
    }
}

#[test]
fn a_fault_in_the_middle_is_found_whatever_deals_it() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(7);
    let mut text = fastq(&reads(random, 20_000, 300), 1, "\n", random);
    let at = text.windows(11).position(|w| w == b"@read12345/").unwrap();
    text[at] = b'x';
    for (name, bytes) in [("plain", text.clone()), ("bgzf", bgzf(&text, random)), ("gz", gzip(&text))] {
        let path = write(dir.path(), name, &bytes);
        let error = deal(std::slice::from_ref(&path), false, CUTS[0], 3).unwrap_err().to_string();
        let what = "a record must start with '@', but here is 'x'";
        assert_eq!(error, format!("{}: record 12346 (byte {at}): {what}", path.display()));
    }
}

#[test]
fn a_damaged_record_of_bam_is_found_whatever_deals_it() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(8);
    let all = reads(random, 20_000, 300);
    let whole = bam(&all, None, random);
    let mut records = whole.clone();
    let at = records.windows(10).position(|w| w == b"read12345\0").unwrap() - 36;
    // No record is as small.
    records[at..at + 4].copy_from_slice(&33u32.to_le_bytes());
    for (name, bytes) in [("bgzf", bgzf(&records, random)), ("gz", gzip(&records)), ("plain", records.clone())] {
        let path = write(dir.path(), name, &bytes);
        let error = deal(std::slice::from_ref(&path), false, CUTS[0], 3).unwrap_err().to_string();
        let wanted = format!("{}: record 12346 (byte {at}): here should be a record of BAM", path.display());
        assert!(error.starts_with(&wanted), "{error}");
        if name == "bgzf" {
            assert_eq!(deal_over(&[vec![path]], CUTS[0], 3, 2).unwrap_err().to_string(), error);
        }
    }
    for cut in [at - 1, at + 2, at + 38] {
        let path = write(dir.path(), "cut", &bgzf(&whole[..cut], random));
        let error = deal(&[path], false, CUTS[0], 3).unwrap_err().to_string();
        assert!(error.contains("the file ends in the middle of this record"), "{error}");
    }
}

#[test]
fn truncated_and_damaged_compression_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(9);
    let text = fastq(&reads(random, 20_000, 300), 1, "\n", random);
    for (name, bytes) in [("bgzf", bgzf(&text, random)), ("gz", gzip(&text))] {
        let cut = write(dir.path(), name, &bytes[..bytes.len() * 4 / 5]);
        let error = deal(&[cut], false, CUTS[0], 2).unwrap_err().to_string();
        assert!(error.contains("truncated"), "{name}: {error}");
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 0x55;
        let flipped = write(dir.path(), name, &flipped);
        let error = deal(&[flipped], false, CUTS[0], 2).unwrap_err().to_string();
        assert!(error.contains("damaged") || error.contains("record"), "{name}: {error}");
    }
}

/// Deals what a pipe delivers.
fn deal_pipe(bytes: &[u8]) -> Result<Chunks, Error> {
    let (read, mut write) = std::io::pipe().unwrap();
    let path = PathBuf::from(format!("/proc/self/fd/{}", read.as_raw_fd()));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Who found a fault reads no more.
            let _ = write.write_all(bytes);
        });
        let dealt = deal(&[path], false, CUTS[0], 1);
        drop(read);
        dealt
    })
}

#[test]
fn what_follows_the_last_member_is_padding_or_garbage_whatever_it_is_read_from() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(13);
    let all = reads(random, 20_000, 300);
    let text = fastq(&all, 1, "\n", random);
    let expected = naive(&all, None, CUTS[0]);
    let member = gzip(b"@x\nA\n+\n#\n");
    for (name, bytes) in [("bgzf", bgzf(&text, random)), ("gz", gzip(&text))] {
        let end = bytes.len();
        // More than is read at once.
        for zeros in [1, 512, 700_000] {
            let padding = vec![0; zeros];
            let garbage = Some(end + zeros);
            for (what, trailing, garbage_at) in [
                ("padding", padding.clone(), None),
                ("padding and a member", [&padding[..], &member].concat(), garbage),
                ("padding and BGZF", [&padding[..], &bgzf(b"@x\nA\n+\n#\n", random)].concat(), garbage),
                ("padding and text", [&padding[..], b"x"].concat(), garbage),
                ("text", vec![b'x'; zeros], Some(end)),
            ] {
                let whole = [&bytes[..], &trailing].concat();
                let path = write(dir.path(), name, &whole);
                for (kind, dealt) in [("file", deal(&[path], false, CUTS[0], 3)), ("pipe", deal_pipe(&whole))] {
                    let what = format!("{name}, {kind}, {zeros} bytes of {what}");
                    match (garbage_at, dealt) {
                        (None, dealt) => assert!(dealt.unwrap() == expected, "{what}"),
                        (Some(at), dealt) => {
                            let error = dealt.unwrap_err().to_string();
                            let wanted = format!(
                                "trailing garbage follows the compressed data, from compressed offset {at} on: "
                            );
                            assert!(error.contains(&wanted), "{what}: {error}");
                        }
                    }
                }
            }
        }
        for cut in [1, 9, 40] {
            let path = write(dir.path(), name, &bytes[..end - cut]);
            for dealt in [deal(&[path], false, CUTS[0], 3), deal_pipe(&bytes[..end - cut])] {
                let error = dealt.unwrap_err().to_string();
                assert!(error.contains("truncated"), "{name}, {cut} bytes cut off: {error}");
            }
        }
    }
}

/// gzip by other compressors, in one member or several, with stretches that hold no block that can be found.
fn gzips(text: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let zlib = |level, parts: usize, part: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        for part in part.chunks(part.len().div_ceil(parts).max(1)) {
            encoder.write_all(part).unwrap();
            encoder.flush().unwrap();
        }
        encoder.finish().unwrap()
    };
    let libdeflate = |level, part: &[u8]| {
        let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
        let mut out = vec![0; compressor.gzip_compress_bound(part.len())];
        let length = compressor.gzip_compress(part, &mut out).unwrap();
        out.truncate(length);
        out
    };
    let (one, two) = text.split_at(text.len() * 5 / 8);
    vec![
        ("stored", zlib(0, 1, text)),
        ("fixed codes", zlib(1, 1, text)),
        ("level 6", zlib(6, 1, text)),
        ("level 9, flushed", zlib(9, 100, text)),
        ("libdeflate", libdeflate(7, text)),
        ("members", [zlib(6, 1, one), zlib(1, 3, &two[..10]), libdeflate(1, &two[10..]), zlib(6, 1, b"")].concat()),
        (
            "found, not found, found",
            [zlib(6, 1, one), zlib(0, 1, &two[..333_333]), zlib(6, 1, &two[333_333..])].concat(),
        ),
    ]
}

#[test]
fn gzip_that_workers_inflate_is_dealt_as_one_thread_inflates_it() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(51);
    let (firsts, mates) = (reads(random, 12_000, 300), reads(random, 12_000, 250));
    let expected = naive(&firsts, Some(&mates), CUTS[1]);
    let texts = [fastq(&firsts, 1, "\n", random), fastq(&mates, 2, "\r\n", random)];
    let [ones, twos] = texts.map(|text| gzips(&text));
    for (i, (how, bytes)) in ones.iter().enumerate() {
        let file = write(dir.path(), "1.gz", bytes);
        let single = deal_pipe(bytes).unwrap();
        for workers in [1, 2, 5] {
            let dealt = deal(std::slice::from_ref(&file), false, CUTS[0], workers).unwrap();
            assert!(dealt == single, "{how}, {workers} workers");
            let (_, other) = &twos[(i + workers) % twos.len()];
            let mate = write(dir.path(), "2.gz", other);
            assert!(
                deal(&[file.clone(), mate], false, CUTS[1], workers).unwrap() == expected,
                "{how}, {workers} workers"
            );
        }
    }
}

#[test]
fn damaged_gzip_is_refused_in_the_same_words_whoever_inflates_it() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(52);
    let text = fastq(&reads(random, 8_000, 300), 1, "\n", random);
    // The words, without the name of the file; zlib tells the place of a checksum alone to the byte.
    let words = |dealt: Result<Chunks, Error>| {
        dealt.map_err(|error| {
            let text = error.to_string();
            let (_, words) = text.split_once(": ").unwrap();
            match words.split_once(": ") {
                Some((_, what)) if words.starts_with("byte") && !words.contains("checksum") => what.to_owned(),
                _ => words.to_owned(),
            }
        })
    };
    for (how, bytes) in gzips(&text) {
        for _ in 0..8 {
            let mut damaged = bytes.clone();
            match random.below(3) {
                0 => damaged.truncate(damaged.len() - 1 - random.below(8) as usize),
                1 => damaged.truncate(30 + random.below(bytes.len() as u64 - 30) as usize),
                _ => damaged[20 + random.below(bytes.len() as u64 - 20) as usize] ^= 1 << random.below(8),
            }
            let file = write(dir.path(), "1.gz", &damaged);
            // With one worker, the first fault is the one that is told. Of a wrong record and a wrong checksum it is
            // the record, unless its text lies right before the checksum.
            let (ours, theirs) = (words(deal(&[file], false, CUTS[0], 1)), words(deal_pipe(&damaged)));
            let is_record =
                |dealt: &Result<Chunks, String>| dealt.as_ref().is_err_and(|what| what.starts_with("record"));
            let is_same = ours == theirs || is_record(&ours) && theirs.is_err() || is_record(&theirs) && ours.is_err();
            assert!(is_same, "{how}: {:?}, but {:?} through a pipe", ours.err(), theirs.err());
        }
    }
}

#[test]
fn text_that_inflates_a_thousandfold_is_dealt_in_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let all: Reads = vec![(b"r".to_vec(), b"A".repeat(1000)); 8_000];
    let record = [&b"@r\n"[..], &b"A".repeat(1000), b"\n+\n", &b"I".repeat(1000), b"\n"].concat();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(9));
    all.iter().for_each(|_| encoder.write_all(&record).unwrap());
    let file = write(dir.path(), "1.gz", &encoder.finish().unwrap());
    let expected = naive(&all, None, CUTS[0]);
    for workers in [1, 3] {
        assert!(deal(std::slice::from_ref(&file), false, CUTS[0], workers).unwrap() == expected);
    }
}

/// The mean read length over lanes of these files.
fn mean(lanes: &[&[&PathBuf]]) -> usize {
    let files = |lane: &&[&PathBuf]| lane.iter().map(|&file| file.clone()).collect();
    let open = |lane| OpenLane::open(&LaneSpec { files: files(lane), interleaved: false }).unwrap();
    zerohop_input::mean_read_length(&mut lanes.iter().map(open).collect::<Vec<_>>()).unwrap()
}

#[test]
fn the_mean_read_length_is_that_of_the_first_five_hundred_over_all_lanes() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(11);
    let all = reads(random, 2000, 300);
    let of = |reads: &[(Vec<u8>, Vec<u8>)]| reads.iter().map(|r| r.1.len()).sum::<usize>() / reads.len();
    let text = fastq(&all, 1, "\n", random);
    for (name, bytes) in [("plain", text.clone()), ("bgzf", bgzf(&text, random)), ("gz", gzip(&text))] {
        assert_eq!(mean(&[&[&write(dir.path(), name, &bytes)]]), of(&all[..500]), "{name}");
    }
    let whole = dir.path().join("plain");
    let few = write(dir.path(), "few", &[&fastq(&all[..3].to_vec(), 1, "\n", random)[..], b"\n\n"].concat());
    assert_eq!(mean(&[&[&few]]), of(&all[..3]), "empty lines are no reads");
    let (empty, blank) = (write(dir.path(), "empty", b""), write(dir.path(), "blank", b"\n\n"));
    assert_eq!(mean(&[&[&empty]]), 0);
    assert_eq!(mean(&[&[&empty], &[&blank, &empty], &[&whole]]), of(&all[..500]), "an empty first lane");
    let both: Reads = all[..3].iter().chain(&all[..497]).cloned().collect();
    assert_eq!(mean(&[&[&few, &whole], &[&whole, &few]]), of(&both), "a first lane of three reads");
    assert_eq!(deal(&[empty], false, CUTS[0], 2).unwrap(), Chunks::new());
}

/// Every `ranks`-th of some grains, of different sizes.
#[derive(Default)]
struct Every {
    grains: Vec<Range<u64>>,
    absent: Mutex<Vec<Range<u64>>>,
    /// Chunks that were granted and belong to cohorts begun before; and such that follow what was granted.
    left: Mutex<BTreeSet<u64>>,
    added: Mutex<BTreeSet<u64>>,
}

impl Every {
    fn new(rank: usize, ranks: usize, chunks: u64) -> Self {
        let (mut grains, mut start) = (Vec::new(), 0);
        for size in [3, 1, 7, 2].into_iter().cycle() {
            if start >= chunks {
                break;
            }
            grains.push(start..(start + size).min(chunks));
            start += size;
        }
        Every { grains: grains.into_iter().skip(rank).step_by(ranks).collect(), ..Every::default() }
    }
}

impl Grant for Every {
    fn granted(&self, from: u64) -> Granted {
        let next = self.grains.iter().find(|grain| grain.end > from);
        next.map_or(Granted::End, |grain| Granted::Chunks(grain.start.max(from)..grain.end))
    }

    fn absent(&self, chunks: Range<u64>) {
        self.absent.lock().unwrap().push(chunks);
    }

    fn begun_before(&self, chunks: Range<u64>) {
        let is_granted = self.grains.iter().any(|grain| grain.start <= chunks.start && chunks.end <= grain.end);
        assert!(is_granted && !chunks.is_empty(), "{chunks:?}");
        self.left.lock().unwrap().extend(chunks);
    }

    fn goes_on(&self, chunks: Range<u64>) {
        assert!(!chunks.is_empty());
        self.added.lock().unwrap().extend(chunks);
    }
}

/// Deals lanes to so many processes, each of which does what it is granted; returns all chunks of each lane, and what
/// was found not to be there.
fn deal_over(
    lanes: &[Vec<PathBuf>],
    cut: Cut,
    ranks: usize,
    workers: usize,
) -> Result<(Vec<Chunks>, Vec<Range<u64>>), Error> {
    let open = |files: &Vec<PathBuf>| OpenLane::open(&LaneSpec { files: files.clone(), interleaved: false });
    let mut tables = Vec::new();
    for files in lanes {
        let lane = open(files)?;
        let counts = (0..ranks).map(|rank| lane.count(rank, ranks, 2)).collect::<Result<Vec<_>, _>>();
        tables.push(match lane.is_counted() {
            true => Some(Arc::new(Table::from_bytes(&lane.table(&counts?, cut)?.to_bytes()).unwrap())),
            false => None,
        });
    }
    // Streams are read to their ends, whatever is granted behind them.
    let chunks: u64 = tables.iter().map(|table| table.as_ref().map_or(5000, |table| table.chunks())).sum();
    let (mut found, mut absent) = (vec![Chunks::new(); lanes.len()], Vec::new());
    // Which rank does a cohort.
    let mut cohorts = vec![BTreeMap::new(); lanes.len()];
    for rank in 0..ranks {
        let grant = Arc::new(Every::new(rank, ranks, chunks));
        let (shared, mut first) = (Shared::new(grant.clone()), 0);
        let mut own = BTreeSet::new();
        for (i, files) in lanes.iter().enumerate() {
            let place = (i as u32, lanes.len() as u32);
            let (table, before) = (tables[i].clone().map(|table| (table, first)), first);
            first += tables[i].as_ref().map_or(0, |table| table.chunks());
            let lane = open(files)?.deal_granted(place, cut, MAX_READ_BASES, workers, table, &shared)?;
            let chunks = collect(lane, workers);
            let is_table = tables[i].is_some();
            assert!(
                chunks.is_ok() || !is_table || grant.absent.lock().unwrap().is_empty(),
                "what is behind a fault is there"
            );
            for (number, reads) in chunks? {
                let is_there = cohorts[i].insert(reads.0.cohort, rank).is_none_or(|of| of == rank);
                assert!(is_there, "pieces of one cohort are dealt to two");
                own.insert(before + number);
                assert!(found[i].insert(number, reads).is_none(), "chunk {number} was dealt twice");
            }
        }
        if tables.iter().all(Option::is_some) {
            let granted = |number: &u64| grant.grains.iter().any(|grain| grain.contains(number));
            let (left, added) = (grant.left.lock().unwrap(), grant.added.lock().unwrap());
            let is_absent = |number: &u64| grant.absent.lock().unwrap().iter().any(|absent| absent.contains(number));
            let is_own = |number: &u64| granted(number) && !left.contains(number) || added.contains(number);
            let told = (0..chunks).filter(|number| is_own(number) && !is_absent(number));
            assert!(own.into_iter().eq(told), "whoever grants is told what is dealt instead");
        }
        absent.extend(grant.absent.lock().unwrap().drain(..));
    }
    Ok((found, absent))
}

#[test]
fn processes_that_are_granted_parts_deal_the_whole_together() {
    let dir = tempfile::tempdir().unwrap();
    for (seed, shortest, longest) in some([(21, 0, 300), (22, 0, 4000), (23, 150, 150)], 1) {
        let random = &mut Random(seed);
        let same = |all: Reads| match shortest {
            0 => all,
            length => all.into_iter().map(|(name, _)| (name, b"ACGTN".repeat(length / 5))).collect(),
        };
        let count = (2_000_000 / (longest + 20)) as usize;
        let (firsts, mates) = (same(reads(random, count, longest)), same(reads(random, count, longest)));
        let texts = [fastq(&firsts, 1, "\n", random), fastq(&mates, 2, "\r\n", random)];
        let expected = CUTS.map(|cut| [naive(&firsts, Some(&mates), cut), naive(&firsts, None, cut)]);
        type Coder = fn(&[u8], &mut Random) -> Vec<u8>;
        let coders: [(&str, Coder); 3] = [("plain", |d, _| d.to_vec()), ("bgzf", bgzf), ("gz", |d, _| gzip(d))];
        for (name, code) in coders {
            let one = write(dir.path(), &format!("1.{name}"), &code(&texts[0], random));
            let two = write(dir.path(), &format!("2.{name}"), &code(&texts[1], random));
            for ((ranks, workers), which) in [(1, 2), (2, 1), (3, 3)].into_iter().flat_map(|n| [(n, 0), (n, 1)]) {
                let lanes = [vec![one.clone(), two.clone()], vec![one.clone()]];
                let (found, absent) = deal_over(&lanes, CUTS[which], ranks, workers).unwrap();
                let expected = &expected[which];
                assert!(found == *expected, "seed {seed}, {name}, {ranks} ranks, {:?}", CUTS[which]);
                let all = expected.iter().map(|chunks| chunks.len() as u64).sum::<u64>();
                assert!(absent.iter().all(|chunks| name == "gz" && *chunks == (all..u64::MAX)), "{absent:?}");
            }
        }
        let pairs = write(dir.path(), "pairs.bam", &bgzf(&bam(&firsts, Some(&mates), random), random));
        let single = write(dir.path(), "single.bam", &bgzf(&bam(&firsts, None, random), random));
        for ((ranks, workers), which) in [(1, 2), (2, 1), (3, 3)].into_iter().flat_map(|n| [(n, 0), (n, 1)]) {
            let lanes = [vec![pairs.clone()], vec![single.clone()]];
            let (found, absent) = deal_over(&lanes, CUTS[which], ranks, workers).unwrap();
            assert!(found == expected[which], "BAM, seed {seed}, {ranks} ranks, {:?}", CUTS[which]);
            assert!(absent.is_empty(), "{absent:?}");
        }
    }
}

#[test]
fn faults_are_found_by_who_is_granted_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(31);
    let all = reads(random, 20_000, 300);
    let whole = fastq(&all, 1, "\n", random);
    let mut damaged = whole.clone();
    let at = damaged.windows(11).position(|w| w == b"@read12345/").unwrap();
    damaged[at] = b'x';
    let shorter = fastq(&all[..15_000].to_vec(), 2, "\n", random);
    for (name, code) in [("plain", false), ("bgzf", true)] {
        let mut file = |what: &str, text: &[u8]| {
            let bytes = if code { bgzf(text, random) } else { text.to_vec() };
            write(dir.path(), &format!("{what}.{name}"), &bytes)
        };
        let (whole, damaged, shorter) = (file("whole", &whole), file("damaged", &damaged), file("shorter", &shorter));
        let error = deal_over(&[vec![damaged.clone()]], CUTS[0], 3, 2).unwrap_err().to_string();
        assert_eq!(error, deal(&[damaged], false, CUTS[0], 3).unwrap_err().to_string());
        for pair in [[&whole, &shorter], [&shorter, &whole]].map(|pair| pair.map(Clone::clone).to_vec()) {
            let error = deal_over(std::slice::from_ref(&pair), CUTS[0], 3, 2).unwrap_err().to_string();
            assert_eq!(error, deal(&pair, false, CUTS[0], 3).unwrap_err().to_string(), "{name}");
        }
    }
}

#[test]
fn empty_lines_at_the_end_are_no_chunk() {
    let dir = tempfile::tempdir().unwrap();
    // The last read closes its chunk, so that the empty lines would be another.
    let all: Reads = (0..400).map(|i| (format!("read{i}").into_bytes(), b"ACGTA".repeat(51))).collect();
    let expected = naive(&all, None, CUTS[0]);
    assert_eq!(expected.len() as u64, 400 / 197 + 1);
    let exact: Reads = all[..394].to_vec();
    let mut text = fastq(&exact, 1, "\n", &mut Random(41));
    text.extend_from_slice(b"\n\n\n\n\n\n");
    let path = write(dir.path(), "blank", &text);
    let (found, absent) = deal_over(&[vec![path]], CUTS[0], 2, 2).unwrap();
    assert!(found == [naive(&exact, None, CUTS[0])]);
    assert!(absent.contains(&(2..3)), "{absent:?}");
}

/// Files of this process that lie in the folder.
fn open_files(dir: &Path) -> usize {
    let all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    all.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|path| path.starts_with(dir))).count()
}

/// All at once they would be more than many a system lets a process have.
#[test]
fn files_are_open_while_their_lane_is_dealt() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(51);
    let all = reads(random, 50, 100);
    let text = fastq(&all, 1, "\n", random);
    let fasta: Vec<u8> = all.iter().flat_map(|(name, bases)| [b">", &name[..], b"\n", bases, b"\n"].concat()).collect();
    let kinds = [text.clone(), gzip(&text), bgzf(&text, random), bgzf(&bam(&all, None, random), random), fasta];
    let spec = |at: usize| {
        let file = |mate| write(dir.path(), &format!("{at}_{mate}"), &kinds[at % kinds.len()]);
        let files = if at % kinds.len() == 3 { vec![file(1)] } else { vec![file(1), file(2)] };
        LaneSpec { files, interleaved: false }
    };
    let specs: Vec<LaneSpec> = (0..20).map(spec).collect();
    let mut lanes: Vec<OpenLane> = specs.iter().map(|spec| OpenLane::open(spec).unwrap()).collect();
    assert_eq!(open_files(dir.path()), 0, "looked at");
    assert!(zerohop_input::mean_read_length(&mut lanes).unwrap() > 0);
    assert_eq!(open_files(dir.path()), 0, "sampled");
    let lanes: Vec<Lane> = lanes.into_iter().map(|lane| lane.deal(0, CUTS[0], MAX_READ_BASES, 2).unwrap()).collect();
    assert_eq!(open_files(dir.path()), 0, "to be dealt");
    for lane in lanes {
        let Lane { deal, parser } = lane;
        match deal {
            Deal::Claim(claim) => {
                let mut chunk = Chunk::default();
                let mut most = 0;
                while !matches!(claim.claim(&mut chunk).unwrap(), Claimed::End { .. }) {
                    most = most.max(open_files(dir.path()));
                    parser.parse(&mut chunk).unwrap();
                }
                assert!((1..=2).contains(&most), "{most}");
                assert!(matches!(claim.claim(&mut chunk).unwrap(), Claimed::End { reads: 50 | 100, .. }));
                assert_eq!(open_files(dir.path()), 0, "dealt");
            }
            Deal::Emit(mut emit) => {
                let mut chunk = Chunk::default();
                while emit.emit(&mut chunk, &AtomicBool::new(false)).unwrap() == Emitted::Chunk {}
                // Its readers are threads of their own, which end by themselves.
                while open_files(dir.path()) > 0 {
                    std::thread::yield_now();
                }
            }
        }
    }
}

#[test]
fn a_file_that_changes_before_its_turn_is_a_fault() {
    let dir = tempfile::tempdir().unwrap();
    let record = b"@r\nACGT\n+\n####\n";
    let fasta = b">r\nACGT\n";
    let stays = |path: &Path| drop(std::fs::File::options().append(true).open(path).unwrap());
    let grows = |path: &Path| std::fs::write(path, [&record[..], record].concat()).unwrap();
    let is_touched = |path: &Path| {
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    };
    let goes = |path: &Path| std::fs::remove_file(path).unwrap();
    let at = "it was changed after it was checked at the start";
    type Change<'c> = (&'c dyn Fn(&Path), String);
    let changes: [Change<'_>; 4] = [
        (&stays, String::new()),
        (&grows, format!("{at}, when it had 15 bytes, and has 30 now: run again once it is complete")),
        (&is_touched, format!("{at}, as the time of its last change says: run again once it is complete")),
        (&goes, "cannot open: No such file or directory (os error 2)".to_owned()),
    ];
    for (bytes, is_fasta) in [(&record[..], false), (&fasta[..], true)] {
        for (change, what) in &changes {
            let path = write(dir.path(), "x", bytes);
            let spec = LaneSpec { files: vec![path.clone()], interleaved: false };
            let lane = OpenLane::open(&spec).unwrap().deal(0, CUTS[0], MAX_READ_BASES, 1).unwrap();
            change(&path);
            let what = if is_fasta { what.replace("15", "8") } else { what.clone() };
            let said = |error: Error| error.to_string().replace(path.to_str().unwrap(), "x");
            let mut chunk = Chunk::default();
            for again in 0..3 {
                let error = match &lane.deal {
                    Deal::Claim(claim) => claim.claim(&mut chunk).map(drop).err(),
                    Deal::Emit(_) => None,
                };
                if !is_fasta {
                    let expected = (!what.is_empty()).then(|| format!("x: {what}"));
                    assert_eq!(error.map(said), expected, "{again}");
                }
            }
            if let Deal::Emit(mut emit) = lane.deal {
                for again in 0..3 {
                    let error = emit.emit(&mut chunk, &AtomicBool::new(false)).map(drop).err();
                    let expected = (!what.is_empty()).then(|| format!("x: {what}"));
                    assert_eq!(error.map(said), expected, "{again}");
                }
            }
        }
    }
}

/// Whoever asks again must not take what lies behind a fault for the end of the input.
#[test]
fn a_fault_is_told_as_often_as_it_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let random = &mut Random(61);
    let all = reads(random, 500, 100);
    let text = fastq(&all, 1, "\n", random);
    let fasta: Vec<u8> = all.iter().flat_map(|(name, bases)| [b">", &name[..], b"\n", bases, b"\n"].concat()).collect();
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 40].to_vec();
    let damaged = |mut bytes: Vec<u8>| {
        let at = bytes.len() - 40;
        bytes[at] ^= 0x55;
        bytes
    };
    let shorter = fastq(&all[..400].to_vec(), 2, "\n", random);
    let inputs = [
        vec![text.clone(), shorter],
        vec![cut(gzip(&text))],
        vec![damaged(bgzf(&text, random))],
        vec![cut(bgzf(&bam(&all, None, random), random))],
        vec![cut(gzip(&fasta))],
    ];
    for (number, files) in inputs.iter().enumerate() {
        let files: Vec<PathBuf> =
            files.iter().enumerate().map(|(i, bytes)| write(dir.path(), &format!("{number}.{i}"), bytes)).collect();
        let lane = OpenLane::open(&LaneSpec { files, interleaved: false }).unwrap();
        let Lane { deal, .. } = lane.deal(0, CUTS[0], MAX_READ_BASES, 2).unwrap();
        let (mut chunk, mut told) = (Chunk::default(), Vec::new());
        let mut tell = |error: &Error, chunk: &Chunk| {
            told.push((error.to_string(), chunk.ticket));
            told.len() < 4
        };
        match deal {
            Deal::Claim(claim) => loop {
                match claim.claim(&mut chunk) {
                    Ok(end @ Claimed::End { .. }) => panic!("input {number}: {end:?}"),
                    Ok(_) => {}
                    Err(error) if tell(&error, &chunk) => {}
                    Err(_) => break,
                }
            },
            Deal::Emit(mut emit) => loop {
                match emit.emit(&mut chunk, &AtomicBool::new(false)) {
                    Ok(end @ Emitted::End { .. }) => panic!("input {number}: {end:?}"),
                    Ok(_) => {}
                    Err(error) if tell(&error, &chunk) => {}
                    Err(_) => break,
                }
            },
        }
        assert!(told.iter().all(|again| *again == told[0]), "input {number}: {told:?}");
    }
}
