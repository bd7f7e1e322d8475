//! What the fuzz targets share: inputs as files without a name, writers of compressed data, dealing a lane to the end,
//! and the naive parser that it is held against.
//!
//! A target fails by panicking, so what cannot fail here is unwrapped.

pub mod coding;
pub mod dealing;
pub mod files;
pub mod naive;

/// A random number generator that anyone can check (xorshift64).
pub struct Random(u64);

impl Random {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Random(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Takes `N` bytes from the start of an input; those that are missing are zero.
pub fn take<const N: usize>(data: &mut &[u8]) -> [u8; N] {
    let (head, rest) = data.split_at(N.min(data.len()));
    *data = rest;
    let mut out = [0; N];
    out[..head.len()].copy_from_slice(head);
    out
}
