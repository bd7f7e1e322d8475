//! L: blocks of a known size, taken without looking at them. Of a BGZF file the compressed blocks are taken, by their
//! frames; whoever parses inflates them.

use super::{Coding, Sidecar, members};
use crate::serial::{SerialText, Take};
use libdeflater::Decompressor;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use zerohop_model::chunk::{Chunk, Text, Ticket};
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::Parse;

/// Longest header of a BGZF block that is looked for.
const FRAME: usize = 1 << 8;

/// Takes a block at a time.
pub(crate) struct BlockTaker {
    /// One text, or two whose blocks hold the same reads; as they lie in the file.
    texts: Vec<(SerialText, Sidecar)>,
    next: Ticket,
}

impl BlockTaker {
    pub(crate) fn new(texts: Vec<(SerialText, Sidecar)>) -> Self {
        BlockTaker { texts, next: Ticket::first_of(0) }
    }

    /// Behind the last block there must be nothing, or the marker at the end of BGZF.
    fn check_end(&mut self) -> Result<bool, Error> {
        for (text, sidecar) in &mut self.texts {
            let end: &[u8] = if sidecar.coding == Coding::Bgzf { &zerohop_bgzf::END_MARKER } else { b"" };
            if text.look(end.len() + 1)? != end {
                return Err(text
                    .fault(format!("it goes on after its {} reads: it was changed after it was blocked", sidecar.reads))
                    .into());
            }
        }
        Ok(false)
    }
}

impl Take for BlockTaker {
    fn take(&mut self, chunk: &mut Chunk) -> Result<bool, Error> {
        chunk.clear();
        chunk.ticket = self.next;
        let reads = self.texts.first().map_or(0, |(_, sidecar)| sidecar.reads);
        if self.next.first_fragment >= reads {
            return self.check_end();
        }
        for ((text, sidecar), out) in self.texts.iter_mut().zip(&mut chunk.text) {
            let there = match sidecar.coding {
                Coding::Plain => text.take_bytes(sidecar.block_bytes, sidecar.reads_per_block, out)?,
                Coding::Bgzf => take_members(text, sidecar, out)?,
            };
            if !there {
                let what =
                    format!("it ends after {} of {} reads: it is truncated", self.next.first_fragment, sidecar.reads);
                return Err(text.fault(what).into());
            }
        }
        let in_block = self.texts.first().map_or(0, |(_, sidecar)| sidecar.reads_per_block as u64);
        let taken = in_block.min(reads - self.next.first_fragment);
        self.next = self.next.next_cohort(taken, taken * self.texts.len() as u64);
        Ok(true)
    }
}

/// Takes the BGZF blocks of one block, hopping from frame to frame.
fn take_members(text: &mut SerialText, sidecar: &Sidecar, out: &mut Text) -> Result<bool, InputError> {
    let wanted = members(sidecar.block_bytes);
    let mut length = 0;
    for member in 0..wanted {
        let seen = text.look(length + FRAME)?;
        if seen.len() == length && member == 0 {
            return Ok(false);
        }
        let Some(frame) = seen.get(length..).and_then(zerohop_bgzf::frame) else {
            return Err(text
                .fault("no BGZF block starts where one of its blocks should: it was compressed anew, or is damaged"));
        };
        length += frame.length;
    }
    text.take_bytes(length, sidecar.reads_per_block, out)
}

/// Inflates the block if it is compressed, parses it, and checks that it holds as many reads as it should.
pub(crate) struct BlockParser {
    parser: Box<dyn Parse>,
    files: Vec<(PathBuf, Sidecar)>,
}

impl BlockParser {
    pub(crate) fn new(parser: Box<dyn Parse>, files: Vec<(PathBuf, Sidecar)>) -> Self {
        BlockParser { parser, files }
    }

    fn inflate(path: &Path, text: &mut Text) -> Result<(), InputError> {
        thread_local! {
            static SCRATCH: RefCell<(Vec<u8>, Decompressor)> = RefCell::new((Vec::new(), Decompressor::new()));
        }
        SCRATCH.with_borrow_mut(|(inflated, decompressor)| {
            inflated.clear();
            let (offset, length) = (text.first_byte, text.bytes.len());
            let used = zerohop_bgzf::inflate_chain(path, offset, &text.bytes, length, true, decompressor, inflated)?;
            if used < length {
                let at = offset + used as u64;
                let what = format!("no BGZF block starts here: the file is damaged (at compressed offset {at})");
                return Err(InputError::new(path, what));
            }
            std::mem::swap(inflated, &mut text.bytes);
            Ok(())
        })
    }
}

impl Parse for BlockParser {
    fn path(&self, text: usize) -> Option<&Path> {
        self.parser.path(text)
    }

    fn parse(&self, chunk: &mut Chunk) -> Result<(), Error> {
        for ((path, sidecar), text) in self.files.iter().zip(&mut chunk.text) {
            if sidecar.coding == Coding::Bgzf {
                Self::inflate(path, text)?;
            }
        }
        self.parser.parse(chunk)?;
        let (path, sidecar) = &self.files[0];
        let left = sidecar.reads.saturating_sub(chunk.ticket.first_fragment);
        let wanted = (sidecar.reads_per_block as u64).min(left);
        if chunk.len() as u64 != wanted {
            let number = chunk.ticket.number;
            let what = format!(
                "block {number} holds {} reads instead of {wanted}: it was changed after it was blocked",
                chunk.len()
            );
            return Err(InputError::new(path, what).into());
        }
        Ok(())
    }
}
