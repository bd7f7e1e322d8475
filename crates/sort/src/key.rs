//! Where a record goes.

/// A key, with the ordinal that tells equal ones apart. Keys are compared byte by byte.
///
/// ```
/// use zerohop_sort::KeyRef;
/// assert!(KeyRef::new(b"chr1 early", 7) < KeyRef::new(b"chr1 later", 3));
/// assert!(KeyRef::new(b"chr1", 3) < KeyRef::new(b"chr1", 7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyRef<'a> {
    /// The first eight bytes, as a number; zeros where there are fewer.
    prefix: u64,
    /// The others.
    rest: &'a [u8],
    ordinal: u64,
}

/// Bytes that a prefix holds.
const PREFIX: usize = 8;

impl<'a> KeyRef<'a> {
    /// The key of these bytes.
    pub fn new(bytes: &'a [u8], ordinal: u64) -> Self {
        let (first, rest) = bytes.split_at(bytes.len().min(PREFIX));
        let mut prefix = [0; PREFIX];
        prefix[..first.len()].copy_from_slice(first);
        KeyRef { prefix: u64::from_be_bytes(prefix), rest, ordinal }
    }

    pub(crate) fn of(prefix: u64, rest: &'a [u8], ordinal: u64) -> Self {
        KeyRef { prefix, rest, ordinal }
    }

    pub(crate) fn prefix(&self) -> u64 {
        self.prefix
    }

    /// Whether parts may begin with this record, which takes so many bytes: about one of 64 KiB, chosen by its ordinal
    /// and its length. So the choice depends on the input alone, and not on runs.
    pub(crate) fn is_sample(&self, bytes: usize) -> bool {
        // splitmix64 (Steele et al. 2014).
        let mut mixed = self.ordinal.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed >> 48) as usize) < bytes
    }

    /// What does not fit into the prefix of a key.
    pub(crate) fn rest(bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(PREFIX..).unwrap_or_default()
    }
}

/// A key that is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    prefix: u64,
    rest: Box<[u8]>,
    ordinal: u64,
}

impl Key {
    pub(crate) fn get(&self) -> KeyRef<'_> {
        KeyRef::of(self.prefix, &self.rest, self.ordinal)
    }
}

impl From<KeyRef<'_>> for Key {
    fn from(key: KeyRef<'_>) -> Self {
        Key { prefix: key.prefix, rest: key.rest.into(), ordinal: key.ordinal }
    }
}
