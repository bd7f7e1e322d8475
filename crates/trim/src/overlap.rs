//! Where two mates overlap (OverlapAnalysis::analyze of fastp).
//!
//! The first read and the reverse complement of the second are laid on each other: first so that the second begins
//! within the first, further and further in; then so that the first begins within the second, which it does where the
//! insert is shorter than the reads and these go on into adapters. The first place at which not too many bases differ
//! counts. Only 50 bases are compared; N equals N.

use crate::letters::{self, Allowed, LONG, MOST_ALLOWED, SHORT, Text};
use crate::options::OverlapOptions;
use zerohop_model::complement::CALLS;

/// Bases that are compared, at most.
const COMPARED: usize = 50;

/// How two mates overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overlap {
    /// Where in the first read the second one begins, if that is behind its beginning.
    pub begins: usize,
    /// Whether the first one begins within the second: what lies before is an adapter, in both.
    pub has_adapters: bool,
    /// Bases that lie on each other.
    pub length: usize,
}

/// The overlap of two mates, both as they were sequenced.
pub(crate) fn find(first: &[u8], second: &[u8], options: &OverlapOptions) -> Option<Overlap> {
    let limits = Limits::new(options);
    let longest = first.len().max(second.len());
    if limits.differences > MOST_ALLOWED || longest > Text::<LONG>::MOST {
        return find_by_bytes(first, second, &limits);
    }
    if !letters::are_plain(first) || !letters::are_plain(second) {
        return find_by_bytes(first, second, &limits);
    }
    match longest > Text::<SHORT>::MOST {
        false => find_by_bits::<SHORT>(first, second, &limits),
        true => find_by_bits::<LONG>(first, second, &limits),
    }
}

/// When an overlap is one.
#[derive(Debug)]
struct Limits {
    required: usize,
    differences: usize,
    share: f64,
}

impl Limits {
    fn new(options: &OverlapOptions) -> Self {
        Limits {
            required: options.required as usize,
            differences: options.differences as usize,
            share: f64::from(options.differences_percent) / 100.0,
        }
    }

    /// How many of so many bases may differ.
    fn allowed(&self, length: usize) -> usize {
        self.differences.min((length as f64 * self.share) as usize)
    }

    /// The overlap of a second read that begins at some place in the first one, or the other way round.
    fn overlap(&self, begins: usize, text: usize, pattern: usize, turned: bool) -> Overlap {
        let length = (text - begins).min(pattern);
        let has_adapters = turned && begins > 0;
        Overlap { begins: if turned { 0 } else { begins }, has_adapters, length }
    }
}

fn find_by_bits<const W: usize>(first: &[u8], second: &[u8], limits: &Limits) -> Option<Overlap> {
    let lengths = (first.len(), second.len());
    let pattern = second.iter().rev().take(COMPARED).map(|&base| letters::paired(letters::number(base)));
    let found = allowed(lengths.0, lengths.1, limits).and_then(|allowed| Text::<W>::new(first).find(pattern, allowed));
    if let Some(begins) = found {
        return Some(limits.overlap(begins, lengths.0, lengths.1, false));
    }
    let pattern = first.iter().take(COMPARED).map(|&base| letters::number(base));
    let begins = Text::<W>::reverse_complement(second).find(pattern, allowed(lengths.1, lengths.0, limits)?)?;
    Some(limits.overlap(begins, lengths.1, lengths.0, true))
}

/// At which places of a text, of which lengths, a pattern may begin, and how many letters may differ; none if the text
/// is too short.
fn allowed<const W: usize>(text: usize, pattern: usize, limits: &Limits) -> Option<Allowed<W>> {
    let places = text.checked_sub(limits.required).filter(|places| *places > 0)?;
    let at = |place: usize| limits.allowed((text - place).min(pattern));
    let mut allowed = Allowed::none();
    // Overlaps get shorter with the place, so fewer differences are allowed.
    let (mut place, last) = (0, at(places - 1));
    while place < places {
        let letters = at(place);
        let end = if letters == last { places } else { place + 1 };
        allowed.allow(place..end, letters);
        place = end;
    }
    Some(allowed)
}

/// The same for letters of any kind, and reads of any length.
fn find_by_bytes(first: &[u8], second: &[u8], limits: &Limits) -> Option<Overlap> {
    let second: Vec<u8> = CALLS.reversed(second).collect();
    let search = |text: &[u8], pattern: &[u8]| {
        (0..text.len().saturating_sub(limits.required)).find(|&begins| {
            let length = (text.len() - begins).min(pattern.len());
            let compared = text[begins..].iter().zip(&pattern[..length.min(COMPARED)]);
            let mut differences = compared.filter(|(one, other)| one != other);
            differences.nth(limits.allowed(length)).is_none()
        })
    };
    let overlap =
        |begins, text: &[u8], pattern: &[u8], turned| limits.overlap(begins, text.len(), pattern.len(), turned);
    search(first, &second)
        .map(|begins| overlap(begins, first, &second, false))
        .or_else(|| search(&second, first).map(|begins| overlap(begins, &second, first, true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two reads of one insert that go on into adapters, with some other letters.
    fn mates() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let bases = |letters: &'static [u8], lengths| prop::collection::vec(prop::sample::select(letters), lengths);
        let errors = prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&b"ACGTN"[..])), 0..12);
        (bases(b"ACGT", 0..700), bases(b"ACGTN", 200..201), 0usize..560, 0usize..560, errors).prop_map(
            |(insert, adapter, one, two, errors)| {
                let read = |insert: Vec<u8>, length| insert.into_iter().chain(adapter.clone()).take(length).collect();
                let turned: Vec<u8> = CALLS.reversed(&insert).collect();
                let (mut first, second): (Vec<u8>, Vec<u8>) = (read(insert, one), read(turned, two));
                let errors = if first.is_empty() { Vec::new() } else { errors };
                for (at, letter) in errors {
                    let at = at.index(first.len());
                    first[at] = letter;
                }
                (first, second)
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]
        #[test]
        fn bits_find_what_bytes_find(
            (first, second) in mates(),
            required in prop::sample::select(vec![0, 5, 11, 30, 60]),
            differences in 0..9u32,
            differences_percent in prop::sample::select(vec![0, 3, 10, 20, 100]),
        ) {
            let options = OverlapOptions { required, differences, differences_percent };
            let bytes = find_by_bytes(&first, &second, &Limits::new(&options));
            prop_assert_eq!(find(&first, &second, &options), bytes);
            let longest = first.len().max(second.len());
            if longest <= 512 && differences < 8 {
                prop_assert_eq!(find_by_bits::<LONG>(&first, &second, &Limits::new(&options)), bytes);
            }
        }
    }

    #[test]
    fn reads_without_bases_overlap_with_whatever_is_long_enough() {
        let options = OverlapOptions::default();
        let whole = Some(Overlap { begins: 0, has_adapters: false, length: 0 });
        assert_eq!(find(&[b'A'; 31], b"", &options), whole);
        assert_eq!(find(b"", &[b'A'; 31], &options), whole);
        assert_eq!(find(&[b'A'; 30], b"", &options), None);
    }
}
