//! Pieces of a file, put together, are what flate2 makes of the whole, wherever they are cut and whatever is in them.
#![allow(clippy::unwrap_used)]

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor};
use proptest::prelude::*;
use std::io::{Read, Write};
use zerohop_gzip::{
    Compressed, End, GzipFault, Inflated, Member, PieceLimits, Place, Unresolved, find_block, inflate, inflate_unknown,
};

/// How a file is cut up: bytes of a stretch, bytes behind it that can be seen, bytes of text of a piece.
#[derive(Debug, Clone, Copy)]
struct Manner {
    stretch: usize,
    behind: usize,
    text: usize,
}

/// Pieces that were put together of unknown ones, and of known ones.
#[derive(Debug, Default, PartialEq)]
struct Pieces {
    unknown: usize,
    known: usize,
}

fn part(file: &[u8], from: usize, to: usize) -> Compressed<'_> {
    let to = to.min(file.len());
    Compressed { bytes: &file[from.min(to)..to], offset: from as u64, is_end: to == file.len() }
}

/// Inflates each stretch by itself, and puts the pieces together in order.
fn by_pieces(file: &[u8], manner: Manner) -> Result<(Vec<u8>, Pieces), String> {
    let Manner { stretch, behind, text } = manner;
    let end_of = |index: usize| ((index + 1) * stretch) as u64 * 8;
    let unknown = |index: usize| -> Option<Unresolved> {
        let data = part(file, index * stretch, (index + 1) * stretch + behind);
        let start = find_block(&data, (index * stretch) as u64 * 8, end_of(index))?;
        let limits = PieceLimits { bit: end_of(index), text };
        Some(inflate_unknown(&data, start, limits, vec![7; 10], vec![7; 10]))
    };
    let (mut place, mut window, mut member) = (Place::start(), Vec::new(), Member::default());
    let (mut whole, mut pieces, mut surveyed) = (Vec::new(), Pieces::default(), None::<(usize, Option<Unresolved>)>);
    loop {
        let index = place.byte() as usize / stretch;
        if surveyed.as_ref().is_none_or(|(at, _)| *at != index) {
            surveyed = Some((index, unknown(index)));
        }
        let found = surveyed.as_mut().and_then(|(_, found)| found.take());
        let piece: Inflated = match found {
            Some(found) if place.is_block_at(found.start) => {
                pieces.unknown += 1;
                let next = found.window(&window);
                let (piece, ..) = found.resolve(&window, vec![9; 100]);
                if !matches!(piece.end, End::Fault(_)) {
                    assert_eq!(next, piece.window(&window), "the window is known before the text");
                }
                piece
            }
            found => {
                pieces.known += 1;
                let later = found.filter(|found| found.start > place.bit());
                let limits = PieceLimits { bit: later.as_ref().map_or(end_of(index), |found| found.start), text };
                surveyed = Some((index, later));
                let from = place.byte() as usize;
                let data = part(file, from, from.max(limits.bit as usize / 8) + behind);
                inflate(&data, place.clone(), &window, limits, vec![5; 3])
            }
        };
        window = piece.window(&window);
        for part in piece.parts() {
            whole.extend_from_slice(&piece.text[part.range.clone()]);
            member.add(&part).map_err(|fault| fault.to_string())?;
        }
        match piece.end {
            End::At(next) => {
                assert!(next != place, "it does not get on at {place:?}");
                place = next;
            }
            End::NoMember(at) if file[at as usize..].iter().all(|&byte| byte == 0) => return Ok((whole, pieces)),
            End::NoMember(at) => return Err(format!("garbage at {at}")),
            End::Fault(fault) => return Err(fault.to_string()),
        }
    }
}

fn twin(file: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    MultiGzDecoder::new(file).read_to_end(&mut text).map(|_| text)
}

/// Numbers that anyone can check (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Text of different kinds.
fn text(kind: u8, bytes: usize, random: &mut Random) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 400);
    while text.len() < bytes {
        match kind % 4 {
            0 => {
                writeln!(text, "@run.{} {}:{}/1", text.len(), random.below(9), random.below(30_000)).unwrap();
                text.extend((0..100).map(|_| b"ACGT"[random.below(4) as usize]));
                text.extend_from_slice(b"\n+\n");
                text.extend((0..100).map(|i| b"FFFF:,#"[(random.below(7 + i / 30) as usize).min(6)]));
                text.push(b'\n');
            }
            1 => text.extend((0..64).map(|_| random.below(256) as u8)),
            2 => text.extend_from_slice(b"@r\nACGTACGTACGTACGT\n+\nIIIIIIIIIIIIIIII\n"),
            _ => {
                let from = text.len().saturating_sub(1 + random.below(40_000) as usize);
                let length = (1 + random.below(300) as usize).min(text.len() - from);
                text.extend_from_within(from..from + length);
                text.push(b'a' + random.below(26) as u8);
            }
        }
    }
    text.truncate(bytes);
    text
}

/// One member, by one of several compressors; some are flushed in between, which makes empty stored blocks.
fn member(text: &[u8], how: u8, random: &mut Random) -> Vec<u8> {
    if how >= 10 {
        let mut compressor = Compressor::new(CompressionLvl::new(i32::from(how % 13)).unwrap());
        let mut out = vec![0; compressor.gzip_compress_bound(text.len())];
        let length = compressor.gzip_compress(text, &mut out).unwrap();
        out.truncate(length);
        return out;
    }
    let header = flate2::GzBuilder::new().filename("reads.fq").comment("x").extra(vec![1, 2, 3]);
    let mut encoder = header.write(Vec::new(), Compression::new(u32::from(how)));
    let mut rest = text;
    while !rest.is_empty() {
        let length = (1 + random.below(100_000) as usize).min(rest.len());
        encoder.write_all(&rest[..length]).unwrap();
        encoder.flush().unwrap();
        rest = &rest[length..];
    }
    encoder.finish().unwrap()
}

fn file() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let member_of = (any::<u8>(), prop_oneof![0..300usize, 0..400_000usize], 0..22u8, any::<u64>());
    proptest::collection::vec(member_of, 1..4).prop_map(|members| {
        let (mut whole, mut out) = (Vec::new(), Vec::new());
        for (kind, bytes, how, seed) in members {
            let random = &mut Random(seed | 1);
            let text = text(kind, bytes, random);
            out.extend(member(&text, how, random));
            whole.extend(text);
        }
        (whole, out)
    })
}

fn manner() -> impl Strategy<Value = Manner> {
    let behind = prop_oneof![700..3000usize, Just(zerohop_gzip::ENOUGH)];
    let text = prop_oneof![1..100_000usize, Just(1 << 30)];
    (300..60_000usize, behind, text).prop_map(|(stretch, behind, text)| Manner { stretch, behind, text })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn pieces_add_up_to_the_whole((text, file) in file(), manner in manner(), zeros in 0..3usize) {
        prop_assert!(twin(&file).unwrap() == text);
        let padded = [&file[..], &vec![0; zeros * 7]].concat();
        let (found, _) = by_pieces(&padded, manner).unwrap();
        prop_assert!(found == text);
    }

    #[test]
    fn damage_is_never_taken_for_text(
        (text, file) in file(),
        manner in manner(),
        at in any::<prop::sample::Index>(),
        bits in 0..=255u8,
    ) {
        let at = at.index(file.len());
        let mut damaged = file.clone();
        match bits {
            0 => damaged.truncate(at),
            bits => damaged[at] ^= bits,
        }
        match (twin(&damaged), by_pieces(&damaged, manner)) {
            (Ok(wanted), found) => prop_assert!(found.unwrap().0 == wanted),
            (Err(_), Ok((found, _))) => prop_assert!(found == text, "other text, and no word of it"),
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn any_bytes_end_somehow(bytes in proptest::collection::vec(any::<u8>(), 0..3000), manner in manner()) {
        let file = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &bytes].concat();
        prop_assert_eq!(by_pieces(&file, manner).ok().map(|found| found.0), twin(&file).ok());
    }
}

#[test]
fn nearly_all_of_a_file_is_inflated_without_knowing_what_is_before() {
    let random = &mut Random(5);
    let text = text(0, 8_000_000, random);
    // Level 1 of zlib-rs has the fixed codes alone.
    for how in [2, 6, 9, 16, 22] {
        let file = match how {
            0..10 => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::new(how));
                encoder.write_all(&text).unwrap();
                encoder.finish().unwrap()
            }
            how => member(&text, how as u8, random),
        };
        let manner = Manner { stretch: 200_000, behind: 1 << 18, text: 1 << 30 };
        let (found, pieces) = by_pieces(&file, manner).unwrap();
        assert!(found == text);
        let stretches = file.len().div_ceil(200_000);
        assert!(pieces.known <= 2 && pieces.unknown + 2 >= stretches, "{how}: {pieces:?} of {stretches}");
    }
}

#[test]
fn what_inflates_a_thousandfold_comes_in_pieces() {
    let text = vec![b'A'; 30_000_000];
    let file = member(&text, 6, &mut Random(1));
    let manner = Manner { stretch: 1 << 14, behind: 1 << 18, text: 1 << 20 };
    let (found, pieces) = by_pieces(&file, manner).unwrap();
    assert!(found == text && pieces.known + pieces.unknown >= 28, "{pieces:?}");
}

#[test]
fn a_copy_from_before_the_member_is_found() {
    let random = &mut Random(3);
    let text = text(0, 2_000_000, random);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(&text).unwrap();
    let file = encoder.finish().unwrap();
    let data = part(&file, 0, file.len());
    let start = find_block(&data, 8 * 40_000, u64::MAX).unwrap();
    let limits = PieceLimits { bit: u64::MAX, text: 1 << 30 };
    let piece = inflate_unknown(&data, start, limits, Vec::new(), Vec::new());
    let (whole, ..) = piece.resolve(&[], Vec::new());
    assert_eq!(whole.end, End::Fault(GzipFault::Deflate));
}
