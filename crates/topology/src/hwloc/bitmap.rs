//! Sets of CPUs and nodes as `hwloc_bitmap_snprintf` writes them.

use std::collections::BTreeSet;

/// The bits of one part of the text.
const BITS: u32 = 32;

/// A set of numbers from 0 on, maybe all from some number on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bitmap {
    /// 32 numbers each, the lowest first.
    parts: Vec<u32>,
    /// Whether all numbers behind the parts are in the set.
    endless: bool,
}

impl Bitmap {
    /// The set of all numbers.
    pub(super) const ALL: Self = Self { parts: Vec::new(), endless: true };

    /// `0x0000000f,0xffffffff`: 32 bits a part, the highest first. hwloc leaves parts empty that are zero
    /// (`0x00000001,,0x0`), and a first part `0xf...f` stands for all numbers above. `None` for any other text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (endless, finite) = match text.strip_prefix("0xf...f") {
            None => (false, text),
            Some("") => return Some(Self::ALL),
            Some(rest) => (true, rest.strip_prefix(',')?),
        };
        let parts = finite.rsplit(',').map(part).collect::<Option<_>>()?;
        Some(Self { parts, endless })
    }

    /// Those of `numbers` that are in the set, ascending.
    pub(super) fn of(&self, numbers: &BTreeSet<u32>) -> Vec<u32> {
        numbers.iter().copied().filter(|&number| self.contains(number)).collect()
    }

    fn contains(&self, number: u32) -> bool {
        let part = usize::try_from(number / BITS).ok().and_then(|at| self.parts.get(at));
        part.map_or(self.endless, |part| part >> (number % BITS) & 1 == 1)
    }
}

fn part(text: &str) -> Option<u32> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix("0x")?;
    // `from_str_radix` takes a sign.
    if digits.starts_with('+') { None } else { u32::from_str_radix(digits, 16).ok() }
}

#[cfg(test)]
mod tests {
    use super::Bitmap;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn numbers(text: &str) -> Option<Vec<u32>> {
        Some(Bitmap::parse(text)?.of(&(0..130).collect()))
    }

    #[test]
    fn what_hwloc_writes() {
        assert_eq!(numbers("0x0"), Some(vec![]));
        assert_eq!(numbers("0x00000005"), Some(vec![0, 2]));
        assert_eq!(numbers("0x00000001,0x80000000"), Some(vec![31, 32]));
        assert_eq!(numbers("0x00000001,,0x0"), Some(vec![64]));
        assert_eq!(numbers("0x0000c000,0x0"), Some(vec![46, 47]));
        assert_eq!(numbers("0xf...f"), Some((0..130).collect()));
        assert_eq!(numbers("0xf...f,0x0000ffff"), Some((0..16).chain(32..130).collect()));
        assert!(Bitmap::parse("0xf...f").unwrap().contains(u32::MAX));
    }

    #[test]
    fn damage_is_refused() {
        for text in ["0", "0x", "ff", "0x+1", "0x-1", "0xg", "0x100000000", "0xf...fx", "0xf...", "0x1 ,0x1", "0-3"] {
            assert_eq!(numbers(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(set in proptest::collection::btree_set(0u32..400, 0..50)) {
            let mut parts = [0u32; 13];
            set.iter().for_each(|bit| parts[(bit / 32) as usize] |= 1 << (bit % 32));
            let text: Vec<String> = parts.iter().rev().map(|part| format!("0x{part:08x}")).collect();
            let read = Bitmap::parse(&text.join(",")).unwrap();
            prop_assert_eq!(read.of(&(0..1000).collect()).into_iter().collect::<BTreeSet<_>>(), set);
        }
    }
}
