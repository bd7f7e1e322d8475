//! Gives the original bytes back.

use super::{Coding, LINES, Sidecar, block_digest, padding_place, spaces_before};
use crate::serial::SerialText;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use zerohop_model::chunk::Text;
use zerohop_model::error::{Error, InputError};

/// Writes to `out` what was blocked: `text` is the blocked file at `path`, inflated, and `sidecar` its description. All
/// that the sidecar says of the text is checked.
///
/// # Errors
/// A file that is not what its description says; what `failed` makes of an error of the output.
pub fn restore(
    path: &Path,
    text: Box<dyn Read + Send>,
    sidecar: &Sidecar,
    out: &mut dyn Write,
    failed: &dyn Fn(std::io::Error) -> Error,
) -> Result<(), Error> {
    let mut input = SerialText::new(path.to_owned(), text, sidecar.block_bytes);
    let own_spaces: HashMap<u64, usize> = sidecar.own_spaces.iter().copied().collect();
    let changed =
        |what: String| Error::from(InputError::new(path, format!("{what}: it was changed after it was blocked")));
    let (mut digest, mut written, mut block) = (0u64, 0, Text::default());
    for number in 0..sidecar.blocks {
        block.bytes.clear();
        if !input.take_bytes(sidecar.block_bytes, sidecar.reads_per_block, &mut block)? {
            return Err(changed(format!("it has {number} blocks instead of {}", sidecar.blocks)));
        }
        let bytes = &mut block.bytes;
        digest = digest.wrapping_add(block_digest(number, bytes));
        let left = sidecar.reads - number * sidecar.reads_per_block as u64;
        let lines = LINES as u64 * left.min(sidecar.reads_per_block as u64);
        if memchr::memchr_iter(b'\n', bytes).count() as u64 != lines {
            return Err(changed(format!("block {number} does not have {lines} lines")));
        }
        let place = padding_place(bytes);
        let padding = spaces_before(bytes, place).checked_sub(own_spaces.get(&number).copied().unwrap_or(0));
        let Some(padding) = padding else {
            return Err(changed(format!("block {number} lacks spaces that it had")));
        };
        bytes.drain(place - padding..place);
        if number + 1 == sidecar.blocks {
            bytes.truncate(bytes.len().saturating_sub(sidecar.ends_added));
        }
        written += bytes.len() as u64;
        out.write_all(bytes).map_err(failed)?;
    }
    if !input.look(1)?.is_empty() {
        return Err(changed(format!("it goes on after its {} blocks", sidecar.blocks)));
    }
    out.write_all(sidecar.blank.as_bytes()).map_err(failed)?;
    written += sidecar.blank.len() as u64;
    if format!("{digest:016x}") != sidecar.digest {
        return Err(changed("its digest differs".to_owned()));
    }
    if written != sidecar.original_bytes {
        return Err(changed(format!("{written} bytes came out instead of {}", sidecar.original_bytes)));
    }
    out.flush().map_err(failed)
}

impl Coding {
    /// The name of the coding, in the words of messages.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Plain => "plain",
            Coding::Bgzf => "BGZF",
        }
    }
}
