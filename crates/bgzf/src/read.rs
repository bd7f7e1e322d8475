//! Blocks, found and inflated.

use crate::MAX_BLOCK;
use libdeflater::{Crc, Decompressor};
use zerohop_gzip::{MAGIC, is_member};
use zerohop_model::error::InputError;

/// What a block begins with: a member that is deflated and has an extra field.
const BEGINNING: [u8; 4] = [MAGIC[0], MAGIC[1], 8, 4];

/// A block's frame: where its compressed data start, and how long the whole block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockFrame {
    data: usize,
    /// Bytes of the whole block.
    pub length: usize,
}

/// Reads the frame of the block at the start of `bytes`; `None` if no BGZF block starts there.
pub fn frame(bytes: &[u8]) -> Option<BlockFrame> {
    let fixed = bytes.get(..12)?;
    if fixed[..4] != BEGINNING {
        return None;
    }
    let extra_length = usize::from(u16::from_le_bytes([fixed[10], fixed[11]]));
    let mut extra = bytes.get(12..12 + extra_length)?;
    while let [id1, id2, low, high, rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        if (*id1, *id2, length) == (b'B', b'C', 2) {
            let size = rest.get(..2)?;
            let frame =
                BlockFrame { data: 12 + extra_length, length: usize::from(u16::from_le_bytes([size[0], size[1]])) + 1 };
            return (frame.length >= frame.data + 8).then_some(frame);
        }
        extra = rest.get(length..)?;
    }
    None
}

/// Finds the first offset in `bytes` at which a block seems to start and is followed by another or by the end of
/// `bytes`. Compressed data can look like a frame, so whoever uses this checks it against the chain of blocks.
pub fn find_block(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(bytes, &BEGINNING).find(|&at| match frame(&bytes[at..]) {
        Some(block) => match bytes.get(at + block.length..) {
            Some(next) if next.len() >= 18 => frame(next).is_some(),
            _ => true,
        },
        None => false,
    })
}

/// Inflates the whole block `bytes`, whose frame is `frame`, to the end of `out`, and checks its length and CRC.
///
/// # Errors
/// A sentence that says what is wrong with the block.
fn inflate(
    decompressor: &mut Decompressor,
    frame: BlockFrame,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), &'static str> {
    let footer = frame.length - 8;
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (crc, size) = (word(footer), word(footer + 4) as usize);
    if size > MAX_BLOCK {
        return Err("a BGZF block claims to hold more than 64 KiB: the file is damaged");
    }
    let start = out.len();
    out.resize(start + size, 0);
    match decompressor.deflate_decompress(&bytes[frame.data..footer], &mut out[start..]) {
        Ok(n) if n == size => {}
        _ => return Err("the compressed data of a BGZF block are damaged"),
    }
    let mut check = Crc::new();
    check.update(&out[start..]);
    if check.sum() != crc { Err("a BGZF block does not match its checksum (CRC): the file is damaged") } else { Ok(()) }
}

/// Walks the chain of blocks in `bytes` from its start, inflating all blocks that start before `limit`. Returns the
/// offset behind the last of them; that is before `limit` where what follows is no gzip member.
///
/// # Errors
/// The fault, with the offset in the compressed file, given that `bytes` starts at `offset` of `file`.
pub fn inflate_chain(
    file: &std::path::Path,
    offset: u64,
    bytes: &[u8],
    limit: usize,
    at_end: bool,
    decompressor: &mut Decompressor,
    out: &mut Vec<u8>,
) -> Result<usize, InputError> {
    let fault =
        |at: usize, what: &str| InputError::new(file, format!("{what} (at compressed offset {})", offset + at as u64));
    let mut at = 0;
    while at < limit.min(bytes.len()) {
        let rest = &bytes[at..];
        match frame(rest) {
            Some(block) if block.length <= rest.len() => {
                inflate(decompressor, block, &rest[..block.length], out).map_err(|what| fault(at, what))?;
                at += block.length;
            }
            Some(_) => return Err(fault(at, "the file ends inside a BGZF block: it is truncated")),
            None if !is_member(rest) => break,
            None if at_end && rest.len() < 18 => {
                return Err(fault(at, "the file ends inside a BGZF block: it is truncated"));
            }
            None => {
                let what = "a plain gzip member follows BGZF blocks: compress the whole anew with bgzip, or give it \
                    through a pipe";
                return Err(fault(at, what));
            }
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockCompressor, END_MARKER};

    /// A whole file in blocks of `size` bytes.
    fn compress(data: &[u8], size: usize) -> Vec<u8> {
        let (mut compressor, mut out) = (BlockCompressor::new(1), Vec::new());
        data.chunks(size).for_each(|part| compressor.compress(part, &mut out).unwrap());
        out.extend_from_slice(&END_MARKER);
        out
    }

    #[test]
    fn blocks_are_found_and_inflated() {
        let data: Vec<u8> = (0..5000u32).flat_map(u32::to_le_bytes).collect();
        let file = compress(&data, 700);
        let first = frame(&file).unwrap();
        assert_eq!(find_block(&file[1..]), Some(first.length - 1));
        let mut out = Vec::new();
        let path = std::path::Path::new("x");
        let end = inflate_chain(path, 0, &file, file.len(), true, &mut Decompressor::new(), &mut out).unwrap();
        assert_eq!((end, out), (file.len(), data));
    }

    #[test]
    fn damage_is_named() {
        let data = b"some text, some text, some text";
        let file = compress(data, 100);
        let read = |bytes: &[u8]| {
            let path = std::path::Path::new("x");
            inflate_chain(path, 0, bytes, bytes.len(), true, &mut Decompressor::new(), &mut Vec::new())
                .map_err(|e| e.what)
        };
        assert!(read(&file[..20]).unwrap_err().contains("truncated"));
        assert!(read(&file[..5]).unwrap_err().contains("truncated"));
        let mut wrong_crc = file.clone();
        let footer = frame(&file).unwrap().length - 8;
        wrong_crc[footer] ^= 1;
        assert!(read(&wrong_crc).unwrap_err().contains("CRC"));
        let padded = [&file[..], &[0; 30]].concat();
        assert_eq!(read(&padded), Ok(file.len()));
    }
}
