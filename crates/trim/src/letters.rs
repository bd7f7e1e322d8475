//! A text in bits, so that all places of it are compared with a pattern at once.
//!
//! For each of the letters A, C, T, G and N, a bit of each position of the text says whether another letter stands
//! there. Moved by i, these bits say at which places of the text the letter i of a pattern differs. Counters of three
//! bits, one for each place, are added up with the logic of an adder: 64 places in some ten operations.

/// Letters that are told from each other.
const LETTERS: usize = 5;
/// Number of N among them.
const N: usize = 4;
/// The most differences that a counter can allow.
pub(crate) const MOST_ALLOWED: usize = 7;
/// Words of the bits of short reads, and of long ones. Still longer ones are compared by bytes.
pub(crate) const SHORT: usize = 3;
pub(crate) const LONG: usize = 8;
/// Bits 1 of eight bytes, and what gathers eight such bits in the highest byte.
const ONES: u64 = 0x0101_0101_0101_0101;
const GATHER: u64 = 0x0102_0408_1020_4080;

/// Whether all of these letters are A, C, G, T or N.
pub(crate) fn are_plain(letters: &[u8]) -> bool {
    let is_other = |letter: u8| {
        u8::from(letter != b'A')
            & u8::from(letter != b'C')
            & u8::from(letter != b'G')
            & u8::from(letter != b'T')
            & u8::from(letter != b'N')
    };
    letters.iter().fold(0, |any, &letter| any | is_other(letter)) == 0
}

/// The number of one of these letters: two bits tell A, C, T and G, a third one tells N from G.
pub(crate) fn number(letter: u8) -> usize {
    usize::from(letter >> 1 & 7).min(N)
}

/// The number of the letter that it pairs with.
pub(crate) fn paired(number: usize) -> usize {
    match number {
        N => N,
        base => base ^ 2,
    }
}

/// A text of at most `64 * W` letters, each of them A, C, G, T or N.
#[derive(Debug, Clone)]
pub(crate) struct Text<const W: usize> {
    /// For each letter, where the text has another one; 0 behind its end.
    differs: [[u64; W]; LETTERS],
    length: usize,
}

impl<const W: usize> Text<W> {
    /// Letters of a text, at most.
    pub(crate) const MOST: usize = 64 * W;

    /// The text of these letters.
    pub(crate) fn new(letters: &[u8]) -> Self {
        Self::behind(0, letters)
    }

    /// The text of these letters behind some places, fewer than 64, at which none differs.
    pub(crate) fn behind(places: usize, letters: &[u8]) -> Self {
        let mut planes = [[0; W]; 3];
        for (number, eight) in letters.chunks(8).enumerate() {
            let word = match eight.first_chunk() {
                Some(eight) => u64::from_le_bytes(*eight),
                None => eight.iter().rev().fold(0, |word, &letter| word << 8 | u64::from(letter)),
            };
            add(&mut planes, number, word);
        }
        let mut text = Self::of_planes(&planes, letters.len(), [0, 1, 2, 3]);
        text.length += places;
        text.differs.iter_mut().for_each(|differs| *differs = moved_back(differs, places as u32));
        text
    }

    /// The text of their reverse complement.
    pub(crate) fn reverse_complement(letters: &[u8]) -> Self {
        let mut planes = [[0; W]; 3];
        for (number, eight) in letters.rchunks(8).enumerate() {
            let word = match eight.first_chunk() {
                Some(eight) => u64::from_be_bytes(*eight),
                None => eight.iter().fold(0, |word, &letter| word << 8 | u64::from(letter)),
            };
            add(&mut planes, number, word);
        }
        Self::of_planes(&planes, letters.len(), [0, 1, 2, 3].map(paired))
    }

    /// Of bits 1, 2 and 3 of the letters; `order` says which letter each of the first four stands for.
    fn of_planes([low, high, third]: &[[u64; W]; 3], length: usize, order: [usize; 4]) -> Self {
        let mut differs = [[0; W]; LETTERS];
        for word in 0..W {
            let (low, high, third, here) = (low[word], high[word], third[word], below::<W>(length)[word]);
            differs[order[0]][word] = (low | high) & here;
            differs[order[1]][word] = (!low | high) & here;
            differs[order[2]][word] = (low | !high) & here;
            differs[order[3]][word] = (!low | !high | third) & here;
            differs[N][word] = !third & here;
        }
        Text { differs, length }
    }

    /// How many letters it has.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Keeps the first letters only.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
        let here = below::<W>(self.length);
        for differs in &mut self.differs {
            differs.iter_mut().zip(here).for_each(|(differs, here)| *differs &= here);
        }
    }

    /// The first place at which the pattern, letters by their numbers, differs from the text in no more letters than
    /// allowed. What reaches beyond the end of the text does not differ.
    pub(crate) fn find(&self, pattern: impl Iterator<Item = usize>, allowed: Allowed<W>) -> Option<usize> {
        /// After so many letters it is looked whether any place is left.
        const LETTERS_AT_ONCE: usize = 4;
        let Allowed { mut counts, mut over } = allowed;
        for (at, letter) in pattern.enumerate() {
            if at % LETTERS_AT_ONCE == 0 && over.iter().all(|&over| over == u64::MAX) {
                return None;
            }
            let differs = moved(&self.differs[letter], at as u32);
            for word in 0..W {
                let [ones, twos, fours] = &mut counts;
                let carry = ones[word] & differs[word];
                ones[word] ^= differs[word];
                let next = twos[word] & carry;
                twos[word] ^= carry;
                over[word] |= fours[word] & next;
                fours[word] ^= next;
            }
        }
        let (word, over) = over.iter().enumerate().find(|(_, over)| **over != u64::MAX)?;
        Some(64 * word + over.trailing_ones() as usize)
    }
}

/// How many letters may differ at each place.
#[derive(Debug, Clone)]
pub(crate) struct Allowed<const W: usize> {
    /// Three bits of a counter for each place. It overflows when more letters differ than may.
    counts: [[u64; W]; 3],
    /// Places that are out.
    over: [u64; W],
}

impl<const W: usize> Allowed<W> {
    /// No place is allowed.
    pub(crate) fn none() -> Self {
        Allowed { counts: [[0; W]; 3], over: [u64::MAX; W] }
    }

    /// Lets so many letters differ at these places, at most [`MOST_ALLOWED`]. A place is allowed once.
    pub(crate) fn allow(&mut self, places: std::ops::Range<usize>, letters: usize) {
        let start = MOST_ALLOWED - letters.min(MOST_ALLOWED);
        let starts = [1, 2, 4].map(|bit| if start & bit == 0 { 0 } else { u64::MAX });
        let (before, until) = (below::<W>(places.start), below::<W>(places.end));
        for word in 0..W {
            let here = until[word] & !before[word];
            self.over[word] &= !here;
            for (counts, start) in self.counts.iter_mut().zip(starts) {
                counts[word] |= start & here;
            }
        }
    }
}

/// Adds bits 1, 2 and 3 of eight letters to the planes.
#[inline]
fn add<const W: usize>(planes: &mut [[u64; W]; 3], number: usize, letters: u64) {
    let (word, shift) = (number / 8, 8 * (number % 8));
    for (bit, plane) in planes.iter_mut().enumerate() {
        if let Some(plane) = plane.get_mut(word) {
            *plane |= ((letters >> (bit + 1) & ONES).wrapping_mul(GATHER) >> 56) << shift;
        }
    }
}

/// Bits for all positions below this one.
#[inline]
fn below<const W: usize>(position: usize) -> [u64; W] {
    std::array::from_fn(|word| match position.saturating_sub(64 * word) {
        bits @ 0..64 => (1 << bits) - 1,
        _ => u64::MAX,
    })
}

/// The bits of positions that are so much further on, less than 64.
#[inline]
fn moved<const W: usize>(bits: &[u64; W], by: u32) -> [u64; W] {
    let by = by & 63;
    std::array::from_fn(|word| {
        let next = if word + 1 < W { bits[word + 1] } else { 0 };
        // A shift by 64 at once would be none.
        bits[word] >> by | next << 1 << (63 - by)
    })
}

/// The same of positions that are so much further back, less than 64.
#[inline]
fn moved_back<const W: usize>(bits: &[u64; W], by: u32) -> [u64; W] {
    let by = by & 63;
    std::array::from_fn(|word| {
        let before = if word > 0 { bits[word - 1] } else { 0 };
        bits[word] << by | before >> 1 >> (63 - by)
    })
}
