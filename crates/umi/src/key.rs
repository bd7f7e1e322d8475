//! UMIs as they are compared: in capitals, and with paired UMIs in the order of the ends on the reference.

use crate::rules::{Rules, Strategy};
use crate::template::{TemplateUmi, UmiError};

/// Makes keys of UMIs.
///
/// The key of a paired UMI is what fgbio compares (`umiForRead`, `PairedUmiAssigner`): the half of the read that lies
/// lower, a hyphen, and the other half, each behind a mark. fgbio's marks are `aa::` and `bb::`, with one letter more
/// than there may be edits. So a UMI never matches one that is turned, and the form that begins with `aa::` is always
/// that under which both strands are counted.
#[derive(Debug)]
pub(crate) struct Keys {
    strategy: Strategy,
    /// The mark of the lower read, and that of the higher; empty if UMIs are not paired.
    marks: [Vec<u8>; 2],
}

impl Keys {
    pub(crate) fn new(rules: Rules) -> Self {
        let mark = |letter| {
            let mut mark = vec![letter; usize::from(rules.edits()) + 1];
            mark.extend_from_slice(b"::");
            mark
        };
        Keys { strategy: rules.strategy(), marks: [mark(b'a'), mark(b'b')] }
    }

    /// Writes the key of template `number` of the place.
    pub(crate) fn put(&self, number: usize, template: &TemplateUmi<'_>, key: &mut Vec<u8>) -> Result<(), UmiError> {
        let umi = template.umi;
        if umi.is_empty() {
            return Err(UmiError::Missing { template: number });
        }
        key.clear();
        if self.strategy != Strategy::Paired {
            put_capitals(key, umi);
            return Ok(());
        }
        let [first, second] = halves(umi).ok_or_else(|| UmiError::not_paired(number, umi))?;
        let [lower, higher] = if template.first_is_lower { [first, second] } else { [second, first] };
        key.extend_from_slice(&self.marks[0]);
        put_capitals(key, lower);
        key.push(b'-');
        key.extend_from_slice(&self.marks[1]);
        put_capitals(key, higher);
        Ok(())
    }
}

fn put_capitals(key: &mut Vec<u8>, umi: &[u8]) {
    key.extend(umi.iter().map(u8::to_ascii_uppercase));
}

/// What is before the hyphen, and what is behind it; `None` unless there is exactly one.
fn halves(umi: &[u8]) -> Option<[&[u8]; 2]> {
    let hyphen = umi.iter().position(|letter| *letter == b'-')?;
    let (first, second) = (&umi[..hyphen], &umi[hyphen + 1..]);
    (!second.contains(&b'-')).then_some([first, second])
}

/// At how many positions keys of one length differ.
pub(crate) fn mismatches(a: &[u8], b: &[u8]) -> usize {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let eights = a.iter().zip(b).map(|(a, b)| mismatches_of_eight(u64::from_ne_bytes(*a), u64::from_ne_bytes(*b)));
    eights.sum::<usize>() + a_rest.iter().zip(b_rest).filter(|(a, b)| a != b).count()
}

/// Eight letters at once.
fn mismatches_of_eight(a: u64, b: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOWER: u64 = 0x7f * ONES;
    let apart = a ^ b;
    // The highest bit of each byte that is not 0; then the sum of these bits, in the highest byte.
    let differs = (((apart & LOWER) + LOWER) | apart) & !LOWER;
    ((differs >> 7).wrapping_mul(ONES) >> 56) as usize
}

/// Whether a paired key is not more like that of its molecule's first UMI than it is when turned: then its strands
/// change places (fgbio, `PairedUmiAssigner.assignIdsToNodes`). fgbio compares without regard to capitals here, so the
/// letters of its marks are letters as others are.
pub(crate) fn is_turned(first: &[u8], key: &[u8]) -> bool {
    let Some(hyphen) = key.iter().position(|letter| *letter == b'-') else { return false };
    let turned = key[hyphen + 1..].iter().chain(b"-").chain(&key[..hyphen]);
    let differs = |(a, b): &(&u8, &u8)| !a.eq_ignore_ascii_case(b);
    let as_it_is = first.iter().zip(key).filter(differs).count();
    as_it_is >= first.iter().zip(turned).filter(differs).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(umi: &str, first_is_lower: bool) -> String {
        let keys = Keys::new(Rules::new(Strategy::Paired, Some(1)).unwrap());
        let mut key = Vec::new();
        keys.put(0, &TemplateUmi { umi: umi.as_bytes(), first_is_lower }, &mut key).unwrap();
        String::from_utf8(key).unwrap()
    }

    #[test]
    fn mismatches_are_counted() {
        let letters: Vec<u8> = (0..20).map(|at| at * 13).collect();
        for length in 0..letters.len() {
            for changed in 0..=length {
                let mut other = letters[..length].to_vec();
                other[..changed].iter_mut().for_each(|letter| *letter ^= 0x80 >> (changed % 8));
                assert_eq!(mismatches(&letters[..length], &other), changed);
            }
        }
    }

    #[test]
    fn both_strands_have_one_key() {
        assert_eq!(key("ACGT-ttga", true), "aa::ACGT-bb::TTGA");
        assert_eq!(key("TTGA-ACGT", false), "aa::ACGT-bb::TTGA");
        assert_eq!(key("ACGT-", false), "aa::-bb::ACGT");
    }

    #[test]
    fn keys_are_turned_if_that_is_nearer() {
        let is_turned = |first: &str, umi: &str| is_turned(key(first, true).as_bytes(), key(umi, true).as_bytes());
        assert!(!is_turned("AAAA-CCCC", "AAAA-CCCC"));
        assert!(!is_turned("AAAA-AAAA", "AAAA-AAAC"));
        // Eight positions, against the four of the marks.
        assert!(is_turned("AAAA-CCCC", "CCCC-AAAA"));
        // Four against four.
        assert!(is_turned("AA-CC", "CC-AA"));
        // Where halves differ in length, letters can lie on marks.
        assert!(!is_turned("-AAA", "AB-B"));
    }
}
