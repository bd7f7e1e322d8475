//! Whether the text of members is what was compressed.

use crate::fault::GzipFault;
use crate::member::Trailer;
use crc32fast::Hasher;
use std::ops::Range;

/// A part of a text that belongs to one member, with its CRC.
#[derive(Debug)]
pub struct MemberPart {
    /// Where it lies in the text.
    pub range: Range<usize>,
    crc: Hasher,
    /// What the trailer says of the member, if it ends here.
    trailer: Option<Trailer>,
}

impl MemberPart {
    pub(crate) fn new(text: &[u8], range: Range<usize>, trailer: Option<Trailer>) -> Self {
        let mut crc = Hasher::new();
        crc.update(&text[range.clone()]);
        MemberPart { range, crc, trailer }
    }
}

/// The open member of a file, as far as its parts were added.
#[derive(Debug, Default)]
pub struct Member {
    crc: Hasher,
    bytes: u64,
}

impl Member {
    /// Adds the next part; behind the last one of a member the next one begins.
    ///
    /// # Errors
    /// A member that is not what its trailer says.
    pub fn add(&mut self, part: &MemberPart) -> Result<(), GzipFault> {
        self.crc.combine(&part.crc);
        self.bytes += part.range.len() as u64;
        let Some(trailer) = part.trailer else { return Ok(()) };
        let Member { crc, bytes } = std::mem::take(self);
        let found = Trailer { crc: crc.finalize(), size: bytes as u32 };
        if found == trailer { Ok(()) } else { Err(GzipFault::Checksum) }
    }
}
