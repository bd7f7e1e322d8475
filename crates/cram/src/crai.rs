//! The index of a file (CRAMv3, section 12): a line for each slice, from the headers of containers.

use serde::{Deserialize, Serialize};
use zerohop_model::error::Error;

/// A slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CraiLine {
    contig: i32,
    /// From 1.
    start: i32,
    span: i32,
    /// Where its container begins, in bytes.
    container: u64,
    /// Where it begins, behind the header of the container.
    slice: i32,
    bytes: i32,
}

/// The slices of a file, or of a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crai {
    lines: Vec<CraiLine>,
}

impl Crai {
    /// Those of whole containers, the first of which begins at 0.
    ///
    /// # Errors
    /// [`Error::Internal`] if they are none.
    pub fn of(containers: &[u8]) -> Result<Self, Error> {
        let wrong = || Error::Internal("containers of CRAM cannot be read back".to_owned());
        let (mut crai, mut at) = (Crai::default(), 0);
        while at < containers.len() {
            at = crai.add(containers, at).ok_or_else(wrong)?;
        }
        Ok(crai)
    }

    /// Adds another part, which begins at `offset`.
    pub fn append(&mut self, other: Crai, offset: u64) {
        self.lines.extend(other.lines.into_iter().map(|line| CraiLine { container: line.container + offset, ..line }));
    }

    /// The text of the index, not compressed.
    pub fn text(&self) -> String {
        let line = |line: &CraiLine| {
            let CraiLine { contig, start, span, container, slice, bytes } = line;
            format!("{contig}\t{start}\t{span}\t{container}\t{slice}\t{bytes}\n")
        };
        self.lines.iter().map(line).collect()
    }

    /// Adds the slices of the container at `at`; gives where it ends.
    fn add(&mut self, all: &[u8], at: usize) -> Option<usize> {
        let mut header = Reader(all.get(at..)?);
        let length = usize::try_from(i32::from_le_bytes(*header.take()?)).ok()?;
        // Contig, start, span, number of records; their counter, and bases.
        (0..4).try_for_each(|_| header.itf8().map(drop))?;
        (0..2).try_for_each(|_| header.ltf8())?;
        let _blocks = header.itf8()?;
        let slices: Option<Vec<i32>> = (0..header.itf8()?).map(|_| header.itf8()).collect();
        let _crc: &[u8; 4] = header.take()?;
        let (body, slices) = (header.0.get(..length)?, slices?);
        let ends = slices.iter().skip(1).copied().chain([length as i32]);
        for (&slice, end) in slices.iter().zip(ends) {
            // A block that is not compressed: method, kind, number, both sizes.
            let mut block = Reader(body.get(usize::try_from(slice).ok()?..)?);
            let [0, _] = *block.take()? else { return None };
            (0..3).try_for_each(|_| block.itf8().map(drop))?;
            let (contig, start, span) = (block.itf8()?, block.itf8()?, block.itf8()?);
            self.lines.push(CraiLine { contig, start, span, container: at as u64, slice, bytes: end - slice });
        }
        Some(all.len() - header.0.len() + length)
    }
}

/// Numbers of CRAM (CRAMv3, section 2.3).
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take<const N: usize>(&mut self) -> Option<&'b [u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(taken)
    }

    fn itf8(&mut self) -> Option<i32> {
        let [byte]: [u8; 1] = *self.take()?;
        let first = u32::from(byte);
        let value = match byte.leading_ones() {
            0 => first,
            1 => (first & 0x7f) << 8 | self.bytes::<1>()?,
            2 => (first & 0x3f) << 16 | self.bytes::<2>()?,
            3 => (first & 0x1f) << 24 | self.bytes::<3>()?,
            // Of the last byte, four bits count.
            _ => self.bytes::<4>().map(|low| (first & 0x0f) << 28 | low >> 8 << 4 | low & 0x0f)?,
        };
        Some(value as i32)
    }

    /// A longer number; what it says is not needed.
    fn ltf8(&mut self) -> Option<()> {
        let [first]: [u8; 1] = *self.take()?;
        (0..first.leading_ones()).try_for_each(|_| self.take::<1>().map(drop))
    }

    fn bytes<const N: usize>(&mut self) -> Option<u32> {
        Some(self.take::<N>()?.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_bytes_as_their_first_says() {
        for (bytes, value) in [
            (&[0x05][..], 5),
            (&[0x81, 0x02], 0x102),
            (&[0xc1, 0x02, 0x03], 0x0001_0203),
            (&[0xe1, 0x02, 0x03, 0x04], 0x0102_0304),
            (&[0xf1, 0x23, 0x45, 0x67, 0x08], 0x1234_5678),
            (&[0xff, 0xff, 0xff, 0xff, 0x0f], -1),
        ] {
            let mut reader = Reader(bytes);
            assert_eq!((reader.itf8(), reader.0.len()), (Some(value), 0), "{bytes:x?}");
            assert_eq!(Reader(&bytes[..bytes.len() - 1]).itf8(), None);
        }
        let mut reader = Reader(&[0xff, 1, 2, 3, 4, 5, 6, 7, 8, 0x80, 1, 7]);
        assert_eq!([reader.ltf8(), reader.ltf8(), reader.ltf8(), reader.ltf8()], [Some(()), Some(()), Some(()), None]);
    }
}
