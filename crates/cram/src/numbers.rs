//! Numbers of variable length.

/// Numbers of CRAM (CRAMv3, section 2.3).
pub(crate) struct CramNumbers<'b>(pub(crate) &'b [u8]);

impl<'b> CramNumbers<'b> {
    pub(crate) fn take<const N: usize>(&mut self) -> Option<&'b [u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn itf8(&mut self) -> Option<i32> {
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
    pub(crate) fn ltf8(&mut self) -> Option<()> {
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
            let mut reader = CramNumbers(bytes);
            assert_eq!((reader.itf8(), reader.0.len()), (Some(value), 0), "{bytes:x?}");
            assert_eq!(CramNumbers(&bytes[..bytes.len() - 1]).itf8(), None);
        }
        let mut reader = CramNumbers(&[0xff, 1, 2, 3, 4, 5, 6, 7, 8, 0x80, 1, 7]);
        assert_eq!([reader.ltf8(), reader.ltf8(), reader.ltf8(), reader.ltf8()], [Some(()), Some(()), Some(()), None]);
    }
}
