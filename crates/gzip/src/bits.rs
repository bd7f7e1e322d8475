//! Bits of a slice, in the order of deflate (RFC 1951, section 3.1.1).

/// Reads bits, the lowest of each byte first. Behind the end of the slice there are zeros; whoever reads on there sees
/// it by [`Bits::position`].
#[derive(Debug, Clone)]
pub(crate) struct Bits<'d> {
    bytes: &'d [u8],
    /// The next byte that goes into the buffer.
    next: usize,
    /// The bits that come next, the first one lowest; `count` of them are there for sure.
    buffer: u64,
    count: u32,
}

impl<'d> Bits<'d> {
    /// Begins at a bit of `bytes`.
    pub(crate) fn new(bytes: &'d [u8], bit: usize) -> Self {
        let mut bits = Bits { bytes, next: bit / 8, buffer: 0, count: 0 };
        bits.refill();
        bits.consume((bit % 8) as u32);
        bits
    }

    /// Makes sure that 56 bits can be looked at.
    #[inline(always)]
    pub(crate) fn refill(&mut self) {
        match self.bytes.get(self.next..self.next + 8).map(<[u8; 8]>::try_from) {
            Some(Ok(eight)) => {
                // Bits above `count` come once more with the next refill, and are the same then.
                self.buffer |= u64::from_le_bytes(eight) << self.count;
                self.next += (63 - self.count as usize) / 8;
                self.count |= 56;
            }
            _ => self.refill_at_end(),
        }
    }

    #[cold]
    fn refill_at_end(&mut self) {
        while self.count <= 56 {
            let byte = self.bytes.get(self.next).copied().unwrap_or(0);
            self.buffer |= u64::from(byte) << self.count;
            self.next += 1;
            self.count += 8;
        }
    }

    /// The bits that come next, the first one lowest.
    #[inline(always)]
    pub(crate) fn peek(&self) -> u64 {
        self.buffer
    }

    /// Passes over `bits` bits, of those that are there for sure.
    #[inline(always)]
    pub(crate) fn consume(&mut self, bits: u32) {
        self.buffer >>= bits;
        self.count -= bits;
    }

    /// The next `bits` bits as a number, 32 at most.
    #[inline(always)]
    pub(crate) fn take(&mut self, bits: u32) -> u32 {
        self.refill();
        let number = (self.buffer & ((1 << bits) - 1)) as u32;
        self.consume(bits);
        number
    }

    /// The offset of the next bit.
    #[inline(always)]
    pub(crate) fn position(&self) -> usize {
        self.next * 8 - self.count as usize
    }

    /// Whether bits were taken behind the end of the slice.
    pub(crate) fn is_behind_end(&self) -> bool {
        self.position() > self.bytes.len() * 8
    }

    /// The slice in whose bits it is.
    pub(crate) fn bytes(&self) -> &'d [u8] {
        self.bytes
    }
}

/// The 64 bits from byte `at` on, the first one lowest; zeros behind the end.
#[inline(always)]
pub(crate) fn word_at(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(&eight) => u64::from_le_bytes(eight),
        None => (0..8).map(|i| u64::from(bytes.get(at + i).copied().unwrap_or(0)) << (8 * i)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_any_bit_on_and_zeros_behind_the_end() {
        let bytes: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(77)).collect();
        let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| u32::from(byte >> (at % 8) & 1));
        for start in 0..bytes.len() * 8 {
            let (mut bits, mut at) = (Bits::new(&bytes, start), start);
            for width in [1, 13, 7, 32, 15, 0, 31].into_iter().cycle().take(20) {
                assert_eq!(bits.position(), at);
                let wanted = (0..width).fold(0u32, |number, i| number | bit(at + i as usize) << i);
                assert_eq!(bits.take(width), wanted, "{width} bits at {at}");
                at += width as usize;
            }
        }
    }
}
