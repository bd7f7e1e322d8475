//! Blocks, made by whoever has the data: a worker compresses its own.

use crate::{BLOCK_DATA, END_MARKER};
use libdeflater::{CompressionLvl, Compressor, Crc};
use zerohop_model::error::Error;

/// Bytes of a block before and behind its compressed data.
const FRAME: usize = 18;
const FOOTER: usize = 8;

/// libdeflate's levels for those of zlib, as htslib maps them (bgzf.c): so the same number means the same effort.
const LIBDEFLATE_LEVELS: [i32; 10] = [0, 1, 2, 3, 5, 6, 7, 8, 10, 12];

/// Compresses data into BGZF blocks.
///
/// ```
/// let mut file = Vec::new();
/// zerohop_bgzf::BlockCompressor::new(6).compress(b"ACGT", &mut file)?;
/// file.extend_from_slice(&zerohop_bgzf::END_MARKER);
/// # Ok::<_, zerohop_model::error::Error>(())
/// ```
pub struct BlockCompressor(Compressor);

impl BlockCompressor {
    /// `level` is 0 (none) to 9 (smallest).
    pub fn new(level: u8) -> Self {
        let level = LIBDEFLATE_LEVELS[usize::from(level.min(9))];
        BlockCompressor(Compressor::new(CompressionLvl::new(level).unwrap_or_default()))
    }

    /// Appends `data` to `out` as blocks.
    ///
    /// # Errors
    /// [`Error::Internal`] if the library refuses, which its documentation rules out.
    pub fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        for part in data.chunks(BLOCK_DATA) {
            let start = out.len();
            out.extend_from_slice(&END_MARKER[..16]);
            out.resize(start + (1 << 16), 0);
            let body = &mut out[start + FRAME..start + (1 << 16) - FOOTER];
            let size = self.0.deflate_compress(part, body);
            let size = size.map_err(|e| Error::Internal(format!("libdeflate: {e}")))?;
            out[start + 16..start + FRAME].copy_from_slice(&((FRAME + size + FOOTER - 1) as u16).to_le_bytes());
            out.truncate(start + FRAME + size);
            let mut crc = Crc::new();
            crc.update(part);
            out.extend_from_slice(&crc.sum().to_le_bytes());
            out.extend_from_slice(&(part.len() as u32).to_le_bytes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_cannot_be_compressed_fit_into_a_block_at_every_level() {
        let mut x = 1u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 24) as u8
        })
        .take(200_000)
        .collect();
        for level in 0..=9 {
            let mut out = Vec::new();
            BlockCompressor::new(level).compress(&noise, &mut out).unwrap();
            let mut inflated = Vec::new();
            let mut rest = &out[..];
            while !rest.is_empty() {
                let length = usize::from(u16::from_le_bytes([rest[16], rest[17]])) + 1;
                let mut part = vec![0; 1 << 16];
                let body = &rest[FRAME..length - FOOTER];
                let n = libdeflater::Decompressor::new().deflate_decompress(body, &mut part).unwrap();
                inflated.extend_from_slice(&part[..n]);
                rest = &rest[length..];
            }
            assert_eq!(inflated, noise);
        }
    }
}
