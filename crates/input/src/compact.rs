//! Numbers as few bytes, most of them small: seven bits a byte, the lowest first (LEB128). Counts of a file travel so
//! from rank to rank.

/// Numbers being written.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn put(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// Numbers being read; `None` where the bytes end too early or hold no number.
#[derive(Debug)]
pub(crate) struct CompactReader<'b> {
    pub(crate) bytes: &'b [u8],
}

impl CompactReader<'_> {
    pub(crate) fn take(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            let low = u64::from(byte & 0x7f);
            number |= low << shift;
            if byte < 0x80 {
                return (low << shift >> shift == low).then_some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            numbers in proptest::collection::vec(any::<u64>().prop_map(|n| n >> (n % 64)), 0..50),
        ) {
            let mut writer = Writer::default();
            numbers.iter().for_each(|&number| writer.put(number));
            let mut reader = CompactReader { bytes: &writer.bytes };
            for &number in &numbers {
                prop_assert_eq!(reader.take(), Some(number));
            }
            prop_assert_eq!(reader.take(), None);
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let mut reader = CompactReader { bytes: &bytes };
            while reader.take().is_some() {}
        }
    }
}
