//! Where a record goes.

/// Bits of an ordinal that count the records of a chunk.
const BITS_IN_CHUNK: u32 = 32;

/// The place of a record in the order of the input: which chunk, and which record of it.
///
/// ```
/// use zerohop_sort::Ordinal;
/// let third = Ordinal::first_of(7).unwrap().with_record(2);
/// assert_eq!((third.chunk(), third.in_chunk()), (7, 2));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ordinal(u64);

impl Ordinal {
    /// The first record of chunk `number`; none if the number is too large (2^32).
    pub fn first_of(number: u64) -> Option<Self> {
        (number >> (64 - BITS_IN_CHUNK) == 0).then_some(Ordinal(number << BITS_IN_CHUNK))
    }

    pub(crate) fn of_stored(stored: u64) -> Self {
        Ordinal(stored)
    }

    pub(crate) fn stored(self) -> u64 {
        self.0
    }

    /// The record behind it; none if a chunk cannot have more (2^32).
    pub(crate) fn next(self) -> Option<Self> {
        Some(Ordinal(self.0 + 1)).filter(|next| next.chunk() == self.chunk())
    }

    /// Another record of the same chunk.
    pub fn with_record(self, record: u32) -> Self {
        Ordinal(self.chunk() << BITS_IN_CHUNK | u64::from(record))
    }

    /// The number of the chunk, from the start of the input.
    pub fn chunk(self) -> u64 {
        self.0 >> BITS_IN_CHUNK
    }

    /// Which record of the chunk it is.
    pub fn in_chunk(self) -> u32 {
        (self.0 & ((1 << BITS_IN_CHUNK) - 1)) as u32
    }
}

/// A key, with the ordinal that tells equal ones apart. Keys are compared byte by byte.
///
/// ```
/// use zerohop_sort::KeyRef;
/// let ordinal = |record| zerohop_sort::Ordinal::default().with_record(record);
/// assert!(KeyRef::new(b"chr1 early", ordinal(7)) < KeyRef::new(b"chr1 later", ordinal(3)));
/// assert!(KeyRef::new(b"chr1", ordinal(3)) < KeyRef::new(b"chr1", ordinal(7)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyRef<'a> {
    /// The first eight bytes, as a number; zeros where there are fewer.
    prefix: u64,
    /// The others.
    rest: &'a [u8],
    ordinal: Ordinal,
}

/// Bytes that a prefix holds.
const PREFIX: usize = 8;

impl<'a> KeyRef<'a> {
    /// The key of these bytes.
    pub fn new(bytes: &'a [u8], ordinal: Ordinal) -> Self {
        let (first, rest) = bytes.split_at(bytes.len().min(PREFIX));
        let mut prefix = [0; PREFIX];
        prefix[..first.len()].copy_from_slice(first);
        KeyRef { prefix: u64::from_be_bytes(prefix), rest, ordinal }
    }

    pub(crate) fn of(prefix: u64, rest: &'a [u8], ordinal: Ordinal) -> Self {
        KeyRef { prefix, rest, ordinal }
    }

    /// Which record of the input it is of.
    pub fn ordinal(&self) -> Ordinal {
        self.ordinal
    }

    /// Its first byte; 0 if it has none.
    pub fn first_byte(&self) -> u8 {
        (self.prefix >> 56) as u8
    }

    /// Its first eight bytes, as a number whose first byte counts most; zeros where there are fewer.
    pub fn prefix(&self) -> u64 {
        self.prefix
    }

    /// Its bytes; of a short one zeros follow.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + use<'a> {
        self.prefix.to_be_bytes().into_iter().chain(self.rest.iter().copied())
    }

    /// What does not fit into the prefix.
    pub(crate) fn behind_prefix(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether parts may begin with this record, which takes so many bytes: about one of 64 KiB, chosen by its ordinal
    /// and its length. So the choice depends on the input alone, and not on runs.
    pub(crate) fn is_sample(&self, bytes: usize) -> bool {
        // splitmix64 (Steele et al. 2014).
        let mut mixed = self.ordinal.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed >> 48) as usize) < bytes
    }

    /// What does not fit into the prefix of a key.
    pub(crate) fn rest(bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(PREFIX..).unwrap_or_default()
    }
}

/// A key with memory of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeptKey {
    prefix: u64,
    rest: Box<[u8]>,
    ordinal: Ordinal,
}

impl KeptKey {
    pub(crate) fn get(&self) -> KeyRef<'_> {
        KeyRef::of(self.prefix, &self.rest, self.ordinal)
    }

    /// The least key that begins with so many of the same bytes, 8 at least.
    pub(crate) fn with_bytes(self, bytes: usize) -> Self {
        let rest = &self.rest[..self.rest.len().min(bytes.saturating_sub(PREFIX))];
        KeptKey { prefix: self.prefix, rest: rest.into(), ordinal: Ordinal::default() }
    }

    /// The least key with the same bytes.
    pub(crate) fn without_ordinal(mut self) -> Self {
        self.ordinal = Ordinal::default();
        self
    }
}

impl From<KeyRef<'_>> for KeptKey {
    fn from(key: KeyRef<'_>) -> Self {
        KeptKey { prefix: key.prefix, rest: key.rest.into(), ordinal: key.ordinal }
    }
}

/// The bytes of a key that was seen, if there was one.
#[derive(Debug, Default)]
pub struct SeenKey(Option<u64>, Vec<u8>);

impl SeenKey {
    /// Whether this key has the same bytes. If not, it is remembered from now on.
    pub fn is_seen(&mut self, key: &KeyRef<'_>) -> bool {
        let is_same = self.0 == Some(key.prefix) && self.1 == key.rest;
        if !is_same {
            self.0 = Some(key.prefix);
            self.1.clear();
            self.1.extend_from_slice(key.rest);
        }
        is_same
    }
}
