//! A record between its encoder and its run: key and bytes, with their lengths before them.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of the record |
//! | 2 | length of its key |
//! | ... | the key, the record |
//!
//! On disk, eight bytes with the record's ordinal stand behind the lengths.

use crate::key::Ordinal;
use zerohop_model::error::Error;

/// Bytes of both lengths.
const LENGTHS: usize = 6;
/// Bytes of an ordinal.
const ORDINAL: usize = 8;

/// Appends a record that `write` appends, behind its key. Records are sorted by the bytes of their keys; no key may be
/// the beginning of another one.
///
/// # Errors
/// What `write` says; then nothing is appended.
pub fn push_frame(
    out: &mut Vec<u8>,
    key: &[u8],
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>,
) -> Result<(), Error> {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTHS]);
    out.extend_from_slice(key);
    let written = write(out).and_then(|()| set_lengths(&mut out[start..], key.len()));
    if written.is_err() {
        out.truncate(start);
    }
    written
}

fn set_lengths(frame: &mut [u8], key: usize) -> Result<(), Error> {
    let too_long = |_| Error::Internal("a record is too long to be sorted".to_owned());
    let record = u32::try_from(frame.len() - LENGTHS - key).map_err(too_long)?;
    let key = u16::try_from(key).map_err(too_long)?;
    frame[..4].copy_from_slice(&record.to_le_bytes());
    frame[4..LENGTHS].copy_from_slice(&key.to_le_bytes());
    Ok(())
}

/// A frame, taken apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordFrame<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) record: &'a [u8],
    /// Bytes of the whole frame.
    pub(crate) length: usize,
}

impl<'a> RecordFrame<'a> {
    /// The frame at the start of `bytes`; none at their end.
    pub(crate) fn at(bytes: &'a [u8]) -> Option<Self> {
        Self::behind(bytes, LENGTHS)
    }

    /// The same, of what [`Self::store`] wrote; and its ordinal.
    pub(crate) fn stored_at(bytes: &'a [u8]) -> Option<(Self, Ordinal)> {
        let ordinal = bytes.get(LENGTHS..LENGTHS + ORDINAL)?;
        Some((
            Self::behind(bytes, LENGTHS + ORDINAL)?,
            Ordinal::of_stored(u64::from_le_bytes(ordinal.try_into().ok()?)),
        ))
    }

    fn behind(bytes: &'a [u8], start: usize) -> Option<Self> {
        let lengths = bytes.get(..LENGTHS)?;
        let record = u32::from_le_bytes([lengths[0], lengths[1], lengths[2], lengths[3]]) as usize;
        let key = start + usize::from(u16::from_le_bytes([lengths[4], lengths[5]]));
        let length = key + record;
        Some(RecordFrame { key: bytes.get(start..key)?, record: bytes.get(key..length)?, length })
    }

    /// Appends it with its ordinal.
    pub(crate) fn store(&self, ordinal: Ordinal, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.record.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        out.extend_from_slice(&ordinal.stored().to_le_bytes());
        out.extend_from_slice(self.key);
        out.extend_from_slice(self.record);
    }
}
