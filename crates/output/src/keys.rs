//! The order of records, as keys whose bytes are compared. It is that of samtools sort (bam_sort.c): records that its
//! rules do not tell apart stay in the order of the input.

use crate::libraries::Libraries;
use crate::mates::Mate;
use crate::order::SortOrder;
use crate::sam_line::Fields;
use crate::template_order::{self, TemplateFields};
use zerohop_model::error::Error;
use zerohop_model::record::{FIRST, LAST, REVERSE, SECONDARY, SUPPLEMENTARY};
use zerohop_sort::KeyRef;

/// Makes the keys of records.
pub(crate) struct KeyMaker<'h> {
    order: SortOrder,
    libraries: &'h Libraries,
    /// Whether molecules are found, so that those that reads name do not count.
    finds_molecules: bool,
    /// The library of the lane.
    library: u16,
    key: Vec<u8>,
}

/// The key of a place in the order of coordinates.
pub(crate) fn coordinate(fields: &Fields<'_>) -> [u8; 8] {
    // No contig is -1, which is the largest number here. Positions begin at -1, and need 31 bits.
    let position = (fields.place.position.wrapping_add(1) as u32) << 1;
    let strand = u32::from(fields.flags & REVERSE != 0);
    (u64::from(fields.place.contig as u32) << 32 | u64::from(position | strand)).to_be_bytes()
}

impl<'h> KeyMaker<'h> {
    pub(crate) fn new(order: SortOrder, libraries: &'h Libraries, finds_molecules: bool) -> Self {
        KeyMaker { order, libraries, finds_molecules, library: 0, key: Vec::new() }
    }

    /// Begins a chunk of a lane.
    pub(crate) fn begin(&mut self, lane: usize) {
        self.library = self.libraries.of_lane(lane).0;
    }

    /// The key of a record; `mate` is the record of its mate, where that counts, and `text_of` what is in an optional
    /// field.
    ///
    /// # Errors
    /// [`Error::Record`]: a mate that has no record.
    pub(crate) fn key<'a>(
        &mut self,
        fields: &Fields<'a>,
        mate: Option<&Mate>,
        text_of: &dyn Fn([u8; 2]) -> Option<&'a [u8]>,
    ) -> Result<&[u8], Error> {
        self.key.clear();
        match self.order {
            SortOrder::Coordinate => self.key.extend_from_slice(&coordinate(fields)),
            SortOrder::TemplateCoordinate => {
                let own = text_of(*b"RG").and_then(|id| self.libraries.of_group(id));
                let library = self.libraries.rank(own.map_or(self.library, |(library, _)| library));
                let molecule = if self.finds_molecules { None } else { text_of(*b"MI") };
                let more = TemplateFields { mate, library, cell: text_of(*b"CB"), molecule };
                template_order::push_key(&mut self.key, fields, &more)?;
            }
            SortOrder::Name => {
                push_name(&mut self.key, fields.name);
                let rank = (fields.flags & (FIRST | LAST)) << 8
                    | (fields.flags & SECONDARY) << 3
                    | (fields.flags & SUPPLEMENTARY) >> 3;
                self.key.extend_from_slice(&rank.to_be_bytes());
            }
        }
        Ok(&self.key)
    }

    /// Whether a record of this name can have a key.
    pub(crate) fn takes(&self, name: &[u8]) -> bool {
        self.order == SortOrder::Coordinate || name.len() <= MOST_OF_NAME
    }
}

/// The contig and the position, from 0, that are in the key of a record in the order of coordinates. Behind all contigs
/// come records without one.
pub(crate) fn place(key: KeyRef<'_>) -> (u32, u32) {
    let (contig, position) = ((key.prefix() >> 32) as u32, key.prefix() as u32 >> 1);
    (contig, position.saturating_sub(1))
}

/// Names of more bytes cannot be in keys, which are short.
pub(crate) const MOST_OF_NAME: usize = 8192;

/// Appends a name so that its bytes compare as `strnum_cmp` of samtools compares names: a number is `0`, then how many
/// digits it has without leading zeros, then these. A zero ends it.
fn push_name(key: &mut Vec<u8>, mut name: &[u8]) {
    while let [first, rest @ ..] = name {
        if !first.is_ascii_digit() {
            key.push(*first);
            name = rest;
            continue;
        }
        let digits = name.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(name.len());
        let zeros = name.iter().position(|&byte| byte != b'0').unwrap_or(name.len()).min(digits);
        // Names have 254 bytes at most in BAM; longer numbers of SAM are cut, so that the key can be made.
        let number = &name[zeros..digits][..(digits - zeros).min(254)];
        key.extend_from_slice(&[b'0', number.len() as u8 + 1]);
        key.extend_from_slice(number);
        name = &name[digits..];
    }
    key.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    /// `strnum_cmp`, step by step.
    fn naive(a: &[u8], b: &[u8]) -> Ordering {
        let (mut i, mut j) = (0, 0);
        let at = |text: &[u8], i: usize| text.get(i).copied().unwrap_or(0);
        while i < a.len() && j < b.len() {
            if !a[i].is_ascii_digit() || !b[j].is_ascii_digit() {
                if a[i] != b[j] {
                    return a[i].cmp(&b[j]);
                }
                (i, j) = (i + 1, j + 1);
                continue;
            }
            while at(a, i) == b'0' {
                i += 1;
            }
            while at(b, j) == b'0' {
                j += 1;
            }
            while at(a, i).is_ascii_digit() && at(a, i) == at(b, j) {
                (i, j) = (i + 1, j + 1);
            }
            let different = at(a, i).cmp(&at(b, j));
            while at(a, i).is_ascii_digit() && at(b, j).is_ascii_digit() {
                (i, j) = (i + 1, j + 1);
            }
            match (at(a, i).is_ascii_digit(), at(b, j).is_ascii_digit()) {
                (true, _) => return Ordering::Greater,
                (_, true) => return Ordering::Less,
                _ if different != Ordering::Equal => return different,
                _ => {}
            }
        }
        (i < a.len()).cmp(&(j < b.len()))
    }

    fn key(name: &str) -> Vec<u8> {
        let mut key = Vec::new();
        push_name(&mut key, name.as_bytes());
        key
    }

    proptest! {
        #[test]
        fn names_compare_as_in_samtools(a in "[0-3a:.]{1,9}", b in "[0-3a:.]{1,9}") {
            prop_assert_eq!(key(&a).cmp(&key(&b)), naive(a.as_bytes(), b.as_bytes()), "{} {}", a, b);
        }
    }

    #[test]
    fn places_are_in_keys() {
        let of = |contig: i32, position: i32| {
            let key = [(contig as u32).to_be_bytes(), (((position + 1) as u32) << 1 | 1).to_be_bytes()].concat();
            place(KeyRef::new(&key, Default::default()))
        };
        assert_eq!((of(3, 70), of(0, -1), of(-1, -1)), ((3, 70), (0, 0), (u32::MAX, 0)));
        assert_eq!(of(1, i32::MAX - 1), (1, i32::MAX as u32 - 1));
    }

    #[test]
    fn numbers_in_names_are_numbers() {
        let sorted = ["a", "a0", "a7", "a12", "a12b", "a012c", "a:1", "b"];
        assert!(sorted.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key("a07x00"), key("a7x0"));
    }

    #[test]
    fn a_name_that_is_too_long_is_taken_where_it_is_no_key() {
        let (longest, longer) = (vec![b'a'; MOST_OF_NAME], vec![b'a'; MOST_OF_NAME + 1]);
        let libraries = Libraries::default();
        let by_name = KeyMaker::new(SortOrder::Name, &libraries, false);
        assert_eq!((by_name.takes(&longest), by_name.takes(&longer)), (true, false));
        assert!(KeyMaker::new(SortOrder::Coordinate, &libraries, false).takes(&longer));
        // Each number is longer in the key than in the name; a key's length has 16 bits (crates/sort).
        let mut key = Vec::new();
        push_name(&mut key, &b"1a".repeat(MOST_OF_NAME / 2));
        assert!(key.len() < usize::from(u16::MAX) / 2, "{}", key.len());
    }
}
