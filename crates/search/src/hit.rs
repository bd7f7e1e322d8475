//! A subject that was found for a query, and its place among the others.

use std::ops::Range;

/// What hits of one query are sorted by, byte for byte: the smallest comes first. With BLAST the last four bytes, which
/// never decide, say how many lines the hit has: its comments count those that survive, and only keys are known to all
/// ranks.
pub type Key = [u8; 24];

/// Where in a key of BLAST the number of lines is.
const LINES: Range<usize> = 20..24;

/// Lines of a hit of BLAST.
pub(crate) fn lines(key: &Key) -> u32 {
    key[LINES].iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// Notes the lines of a hit of BLAST.
pub(crate) fn set_lines(key: &mut Key, lines: u32) {
    key[LINES].copy_from_slice(&lines.to_be_bytes());
}

/// All that was found of one subject for one query: its HSPs, whose lines follow one another in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The query, by its index in the batch.
    pub query: u32,
    /// Its place among the subjects of the query.
    pub key: Key,
    /// Bytes of its lines.
    pub bytes: u32,
    /// Where its lines begin in the text of its part.
    pub offset: u64,
}

impl Hit {
    /// Bytes of a hit as [`Hit::encode`] gives it.
    pub const BYTES: usize = 40;

    /// What a batch is sorted by: queries in order, subjects by their keys.
    pub fn order(&self) -> (u32, Key) {
        (self.query, self.key)
    }

    /// The hit as bytes, the same on every machine.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.query.to_le_bytes());
        bytes[4..28].copy_from_slice(&self.key);
        bytes[28..32].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[32..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// The hit that was encoded.
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        let (mut query, mut key, mut length, mut offset) = ([0; 4], [0; 24], [0; 4], [0; 8]);
        query.copy_from_slice(&bytes[..4]);
        key.copy_from_slice(&bytes[4..28]);
        length.copy_from_slice(&bytes[28..32]);
        offset.copy_from_slice(&bytes[32..]);
        Hit {
            query: u32::from_le_bytes(query),
            key,
            bytes: u32::from_le_bytes(length),
            offset: u64::from_le_bytes(offset),
        }
    }
}

/// What decides the place of a subject, in this order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rank {
    /// diamond's E-value as it is printed, 0 or more. What BLAST prints is rounded to steps that are not those of its
    /// exact values.
    pub(crate) printed: Option<f64>,
    /// The E-value with all its digits; it decides between those that print alike.
    pub(crate) exact: f64,
    /// The raw score; the higher comes first.
    pub(crate) score: u32,
    /// The part, in the order in which the program takes equals.
    pub(crate) part: u32,
    /// The place that the program gave it among those of the same part.
    pub(crate) place: u32,
}

impl Rank {
    /// Bytes that compare as this does. (Floating-point numbers that are not negative compare as their bits do; half of
    /// them is more than is printed.)
    pub(crate) fn key(self) -> Key {
        let mut key = [0; 24];
        let mut rest: &mut [u8] = &mut key;
        let mut put = |bytes: &[u8]| {
            let (here, behind) = std::mem::take(&mut rest).split_at_mut(bytes.len());
            here.copy_from_slice(bytes);
            rest = behind;
        };
        if let Some(printed) = self.printed {
            put(&printed.to_bits().to_be_bytes()[..4]);
        }
        put(&self.exact.to_bits().to_be_bytes());
        put(&(u32::MAX - self.score).to_be_bytes());
        put(&self.part.to_be_bytes());
        put(&self.place.to_be_bytes());
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rank() -> impl Strategy<Value = Rank> {
        let e = prop_oneof![Just(0.0), Just(1.22e-47), Just(1.23e-47), Just(4.9e-324), Just(9.9)];
        (e, 0u8..3, 0u32..3, 0u32..3, 0u32..3).prop_map(|(printed, digits, score, part, place)| Rank {
            printed: Some(printed),
            exact: printed * (1.0 + f64::from(digits) * 1e-9),
            score,
            part,
            place,
        })
    }

    proptest! {
        #[test]
        fn keys_compare_as_ranks_do(a in rank(), b in rank()) {
            let order = |r: Rank| (r.exact, std::cmp::Reverse(r.score), r.part, r.place);
            prop_assert_eq!(a.key().cmp(&b.key()), order(a).partial_cmp(&order(b)).unwrap());
        }

        #[test]
        fn lines_are_told_and_do_not_decide(a in rank(), b in rank(), few: u32, many: u32) {
            let key = |rank: Rank, number: u32| {
                let mut key = Rank { printed: None, ..rank }.key();
                set_lines(&mut key, number);
                assert_eq!(lines(&key), number);
                key
            };
            let order = |r: Rank| (r.exact, std::cmp::Reverse(r.score), r.part, r.place);
            let expected = order(a).partial_cmp(&order(b)).unwrap();
            prop_assert_eq!(key(a, few).cmp(&key(b, many)), expected.then(few.cmp(&many)));
        }

        #[test]
        fn hits_travel(query: u32, key: [u8; 24], bytes: u32, offset: u64) {
            let hit = Hit { query, key, bytes, offset };
            prop_assert_eq!(Hit::decode(&hit.encode()), hit);
        }
    }
}
