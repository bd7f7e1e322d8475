//! Names of reads as rammap wants them.
//!
//! minimap2 and rammap break ties by a hash of the read's name, whatever bytes it has; rammap takes a `&str`.

use std::borrow::Cow;

/// What the hash of minimap2 multiplies with (`__ac_X31_hash_string` of its khash.h).
const FACTOR: u32 = 31;
/// The first of 31 letters that stand for digits.
const LETTER: u8 = b'@';
/// As many digits as hold any hash.
const DIGITS: u32 = 7;

/// The name, or one of letters that has the same hash, where it is no UTF-8.
pub(crate) fn hashed(name: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(name) {
        Ok(name) => Cow::Borrowed(name),
        Err(_) => Cow::Owned(of_hash(hash(name))),
    }
}

/// The hash of a name. minimap2 adds characters as its platform signs them; those of x86 are signed.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0, |hash: u32, byte| hash.wrapping_mul(FACTOR).wrapping_add(*byte as i8 as u32))
}

/// Letters that have this hash.
fn of_hash(hash: u32) -> String {
    let least = (0..DIGITS).fold(0, |sum: u32, _| sum.wrapping_mul(FACTOR).wrapping_add(u32::from(LETTER)));
    let (mut rest, mut letters) = (hash.wrapping_sub(least), Vec::new());
    for _ in 0..DIGITS {
        letters.push(char::from(LETTER + (rest % FACTOR) as u8));
        rest /= FACTOR;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn another_name_has_the_same_hash(name in proptest::collection::vec(1u8.., 1..40)) {
            prop_assert_eq!(hash(hashed(&name).as_bytes()), hash(&name));
        }
    }

    #[test]
    fn names_of_text_stay() {
        assert_eq!(hashed(b"m64011/12/ccs"), "m64011/12/ccs");
        assert!(matches!(hashed(b"\xff"), Cow::Owned(_)));
    }
}
