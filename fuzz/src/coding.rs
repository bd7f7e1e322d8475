//! Writers of gzip and BGZF that choose odd shapes on purpose.

use crate::Random;
use flate2::Compression;
use flate2::write::GzEncoder;
use libdeflater::{CompressionLvl, Compressor, Crc};
use std::io::Write;

/// The empty block that ends a BGZF file.
pub const END_MARKER: [u8; 28] =
    [0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 6, 0, 0x42, 0x43, 2, 0, 0x1b, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The longest text that goes into one block here: what does not shrink must fit too.
pub const BLOCK: usize = 60_000;

/// BGZF in blocks of 1 to `longest` bytes, with empty ones here and there; `level` 0 stores without compressing.
pub fn bgzf(text: &[u8], longest: usize, level: i32, end_marker: bool, random: &mut Random) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
    let (mut out, mut body, mut rest) = (Vec::new(), Vec::new(), text);
    while !rest.is_empty() {
        let empty = random.below(8) == 0;
        let length = if empty { 0 } else { 1 + random.below(longest.min(BLOCK) as u64) as usize };
        let (block, behind) = rest.split_at(length.min(rest.len()));
        body.resize(compressor.deflate_compress_bound(block.len()), 0);
        let compressed = compressor.deflate_compress(block, &mut body).unwrap();
        out.extend_from_slice(&END_MARKER[..16]);
        out.extend_from_slice(&u16::try_from(18 + compressed + 8 - 1).unwrap().to_le_bytes());
        out.extend_from_slice(&body[..compressed]);
        let mut crc = Crc::new();
        crc.update(block);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        out.extend_from_slice(&(block.len() as u32).to_le_bytes());
        rest = behind;
    }
    if end_marker {
        out.extend_from_slice(&END_MARKER);
    }
    out
}

/// gzip in up to three members; `level` 0 stores without compressing.
pub fn gzip(text: &[u8], level: u32, random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    for left in (0..1 + random.below(3)).rev() {
        let length = if left == 0 { rest.len() } else { random.below(rest.len() as u64 + 1) as usize };
        let (member, behind) = rest.split_at(length);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(member).unwrap();
        out.extend(encoder.finish().unwrap());
        rest = behind;
    }
    out
}

/// Cuts off, adds or changes bytes, as `how` says, four bytes for each change.
pub fn damage(bytes: &mut Vec<u8>, how: &[u8]) {
    for change in how.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % bytes.len().max(1);
        match change[2] % 4 {
            0 => {}
            1 => bytes.truncate(at),
            2 => bytes.insert(at.min(bytes.len()), change[3]),
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= change[3]),
        }
    }
}
