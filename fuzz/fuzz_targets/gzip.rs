//! What is inflated from the middle, without the text before it, is what comes of it with that text; and a whole file
//! that is inflated in pieces is what flate2 makes of it, or refused by both.
//!
//! Input: four bytes that choose how, then one of
//! - the bytes of a member behind its header;
//! - text, which is compressed, and of which 16 bytes at the end say what is damaged in the result.
#![cfg_attr(fuzzing, no_main)]

use std::io::Read;
use zerohop_fuzz::coding::{damage, gzip};
use zerohop_fuzz::{Random, take};
use zerohop_gzip::{
    Compressed, End, Inflated, Member, PieceLimits, Place, WINDOW, find_block, inflate, inflate_unknown,
};

fn file(form: u8, seed: u8, rest: &[u8]) -> Vec<u8> {
    if form.is_multiple_of(3) {
        return [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], rest].concat();
    }
    let (text, how) = rest.split_at(rest.len() - 16.min(rest.len()));
    let mut bytes = gzip(text, u32::from(form % 10), &mut Random::new(seed.into()));
    if form & 0x80 != 0 {
        damage(&mut bytes, how);
    }
    bytes
}

/// The whole text, in pieces of at least so many bytes; none if it is refused.
fn in_pieces(data: &Compressed<'_>, text: usize) -> Option<Vec<u8>> {
    let (mut place, mut window, mut member, mut whole) = (Place::start(), Vec::new(), Member::default(), Vec::new());
    loop {
        let limits = PieceLimits { bit: place.bit() + text as u64, text };
        let piece = inflate(data, place.clone(), &window, limits, Vec::new());
        for part in piece.parts() {
            whole.extend_from_slice(&piece.text[part.range.clone()]);
            member.add(&part).ok()?;
        }
        window = piece.window(&window);
        match piece.end {
            End::At(next) => {
                assert!(next != place, "it does not get on");
                place = next;
            }
            End::NoMember(at) => return data.bytes[at as usize..].iter().all(|&byte| byte == 0).then_some(whole),
            End::Fault(_) => return None,
        }
    }
}

/// From every block that is found, with and without the window.
fn from_the_middle(data: &Compressed<'_>, limits: PieceLimits, window: &[u8]) {
    let mut from = 0;
    while let Some(start) = find_block(data, from, u64::MAX) {
        let unknown = inflate_unknown(data, start, limits, Vec::new(), Vec::new());
        let behind = unknown.window(window);
        let found: Inflated = unknown.resolve(window, Vec::new()).0;
        let known = inflate(data, Place::block(start), window, limits, Vec::new());
        let is_cut = known.text.len() >= limits.text || found.text.len() >= limits.text;
        assert!(is_cut || found == known, "it differs from bit {start} on");
        let common = found.text.len().min(known.text.len());
        assert!(found.text[..common] == known.text[..common], "the text differs from bit {start} on");
        assert!(matches!(found.end, End::Fault(_)) || behind == found.window(window));
        from = start + 1;
    }
}

zerohop_fuzz::target!(|data: &[u8]| {
    let mut rest = data;
    let [form, limit, text, seed] = take(&mut rest);
    let bytes = file(form, seed, rest);
    let data = Compressed { bytes: &bytes, offset: 0, is_end: true };
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut twin = Vec::new();
        let read = zerohop_input::inflated(&bytes[..]).and_then(|mut twin_text| twin_text.read_to_end(&mut twin));
        assert!(in_pieces(&data, 1 << (text % 20)) == read.ok().map(|_| twin), "flate2 says otherwise");
    }
    let limits = PieceLimits { bit: u64::from(limit) * 64, text: 1 << (text % 20) };
    let window: Vec<u8> = (0..WINDOW >> (seed % 4)).map(|i| (i % 251) as u8).collect();
    from_the_middle(&data, limits, &window);
});
