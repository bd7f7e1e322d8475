//! BGZF blocks that are being written, and where in them something lies.

use zerohop_bgzf::{BLOCK_DATA, BlockCompressor};
use zerohop_model::error::Error;

/// Blocks of one part of a file, or of all of it.
pub(crate) struct Blocks<'b> {
    /// What the next block holds so far: less than a whole one.
    pub(crate) raw: &'b mut Vec<u8>,
    pub(crate) compressor: &'b mut BlockCompressor,
    pub(crate) out: &'b mut Vec<u8>,
}

impl Blocks<'_> {
    /// Writes a record or a line that `edit` has changed; says where it begins, and where the next one does, as virtual
    /// offsets. It begins in the block in which it ends, if it fits, as htslib writes it.
    pub(crate) fn put(&mut self, record: &[u8], edit: impl FnOnce(&mut [u8])) -> Result<(u64, u64), Error> {
        if self.raw.len() + record.len() > BLOCK_DATA {
            self.flush()?;
        }
        let begin = self.position();
        let start = self.raw.len();
        self.raw.extend_from_slice(record);
        edit(&mut self.raw[start..]);
        let whole = self.raw.len() / BLOCK_DATA * BLOCK_DATA;
        if whole > 0 {
            self.compressor.compress(&self.raw[..whole], self.out)?;
            self.raw.drain(..whole);
        }
        Ok((begin, self.position()))
    }

    fn position(&self) -> u64 {
        (self.out.len() as u64) << 16 | self.raw.len() as u64
    }

    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.compressor.compress(self.raw, self.out)?;
        self.raw.clear();
        Ok(())
    }
}
