//! Base modifications (SAMtags, section 1.7) of a read of which some bases stay: MM, ML and MN, and their drafts Mm and
//! Ml. MM counts, from the first base of the read as it was sequenced, how many of the same letter are passed over
//! before each one that may be modified; ML has a probability for each of these and each kind of modification.

use std::ops::Range;

/// MM and ML of the bases that stay.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Modifications {
    /// The text of MM.
    pub(crate) places: Vec<u8>,
    /// Which probabilities stay.
    pub(crate) stay: Vec<Range<usize>>,
    /// Those that the whole read has.
    pub(crate) probabilities: usize,
}

/// Whether there may be base modifications among tab-separated fields, or in a comment.
pub(crate) fn may_be_in(fields: &[u8]) -> bool {
    fields.split(|byte| *byte == b'\t').any(|field| field.starts_with(b"MM:Z:") || field.starts_with(b"Mm:Z:"))
}

/// What is left of the text of MM, of a read of these bases, if only those in `kept` stay. A list that becomes empty is
/// kept: it says that the others are not modified, or not known.
///
/// # Errors
/// In words: a text that is none of MM, or names letters that the read does not have.
pub(crate) fn cut(text: &[u8], bases: &[u8], kept: Range<usize>) -> Result<Modifications, String> {
    let mut left = Modifications { places: Vec::with_capacity(text.len()), stay: Vec::new(), probabilities: 0 };
    // There are seven letters, and a text may have any number of lists.
    let mut counts: Vec<LetterCounts> = Vec::new();
    for list in text.strip_suffix(b";").unwrap_or(text).split(|byte| *byte == b';').filter(|list| !list.is_empty()) {
        let mut parts = list.split(|byte| *byte == b',');
        let head = parts.next().unwrap_or_default();
        let each = kinds(head).ok_or_else(|| format!("'{}' is no kind of modification", head.escape_ascii()))?;
        let known = counts.iter().find(|counts| counts.letter == head[0]).copied();
        let counts_of = known.unwrap_or_else(|| {
            counts.push(LetterCounts::of(head[0], bases, &kept));
            counts[counts.len() - 1]
        });
        let LetterCounts { all, before, of_kept, .. } = counts_of;
        left.places.extend_from_slice(head);
        let (mut next, mut after_last) = (0usize, before);
        for part in parts {
            let digits = std::str::from_utf8(part).ok().filter(|_| part.iter().all(u8::is_ascii_digit));
            let passed: usize = digits
                .and_then(|digits| digits.parse().ok())
                .ok_or_else(|| format!("'{}' is no number", part.escape_ascii()))?;
            let letter = next.saturating_add(passed);
            if letter >= all {
                return Err(format!("it names more '{}' than the read has", char::from(head[0])));
            }
            next = letter + 1;
            if (before..before + of_kept).contains(&letter) {
                left.places.extend_from_slice(format!(",{}", letter - after_last).as_bytes());
                after_last = next;
                left.keep(each);
            }
            left.probabilities += each;
        }
        left.places.push(b';');
    }
    Ok(left)
}

/// How many bases of a read are of one letter.
#[derive(Clone, Copy)]
struct LetterCounts {
    letter: u8,
    all: usize,
    /// Before those that stay.
    before: usize,
    of_kept: usize,
}

impl LetterCounts {
    fn of(letter: u8, bases: &[u8], kept: &Range<usize>) -> Self {
        let count = |bases: &[u8]| bases.iter().filter(|base| is_counted(letter, **base)).count();
        LetterCounts {
            letter,
            all: count(bases),
            before: count(&bases[..kept.start]),
            of_kept: count(&bases[kept.clone()]),
        }
    }
}

impl Modifications {
    /// Keeps the next probabilities.
    fn keep(&mut self, count: usize) {
        let next = self.probabilities..self.probabilities + count;
        match self.stay.last_mut().filter(|last| last.end == next.start) {
            Some(last) => last.end = next.end,
            None => self.stay.push(next),
        }
    }
}

/// How many kinds of modification a list is about, by what stands before its first comma: a letter, the strand, a
/// letter for each kind or one number, and perhaps `.` or `?`.
fn kinds(head: &[u8]) -> Option<usize> {
    let [b'A' | b'C' | b'G' | b'T' | b'U' | b'N', b'+' | b'-', kinds @ ..] = head else { return None };
    let kinds = kinds.strip_suffix(b".").or_else(|| kinds.strip_suffix(b"?")).unwrap_or(kinds);
    if kinds.is_empty() {
        return None;
    }
    if kinds.iter().all(u8::is_ascii_digit) {
        return Some(1);
    }
    kinds.iter().all(u8::is_ascii_alphabetic).then_some(kinds.len())
}

/// Whether lists of `letter` count `base`: N counts all.
fn is_counted(letter: u8, base: u8) -> bool {
    let as_dna = |base: u8| if base.eq_ignore_ascii_case(&b'U') { b'T' } else { base.to_ascii_uppercase() };
    letter == b'N' || as_dna(letter) == as_dna(base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The naive twin: each probability with the place and the kinds that it is about.
    fn places(text: &[u8], bases: &[u8]) -> Vec<(String, usize, usize)> {
        let (mut found, mut number) = (Vec::new(), 0);
        for list in String::from_utf8(text.to_vec()).unwrap().split_terminator(';') {
            let mut parts = list.split(',');
            let head = parts.next().unwrap();
            let letter = head.as_bytes()[0];
            let mut at = (0..bases.len()).filter(|at| is_counted(letter, bases[*at]));
            for part in parts {
                let place = at.nth(part.parse().unwrap()).unwrap();
                for _ in 0..kinds(head.as_bytes()).unwrap() {
                    found.push((head.to_owned(), place, number));
                    number += 1;
                }
            }
        }
        found
    }

    /// Bases, and the text of MM for some of them.
    fn read() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let head = prop::sample::select(vec!["C+m", "C+mh?", "N+a.", "T-76792", "U+e", "G-m?"]);
        let list = (head, prop::collection::vec(0usize..4, 0..20));
        let bases = prop::collection::vec(prop::sample::select(b"ACGTN".to_vec()), 0..80);
        (bases, prop::collection::vec(list, 0..4)).prop_map(|(bases, lists)| {
            let mut text = String::new();
            for (head, passed) in lists {
                text.push_str(head);
                let mut left = bases.iter().filter(|base| is_counted(head.as_bytes()[0], **base)).count();
                for number in passed {
                    if number < left {
                        left -= number + 1;
                        text.push_str(&format!(",{number}"));
                    }
                }
                text.push(';');
            }
            (bases, text.into_bytes())
        })
    }

    proptest! {
        #[test]
        fn the_same_bases_are_modified((bases, text) in read(), from in 0usize..80, length in 0usize..80) {
            let start = from.min(bases.len());
            let kept = start..(start + length).min(bases.len());
            let left = cut(&text, &bases, kept.clone()).unwrap();
            let all = places(&text, &bases);
            prop_assert_eq!(left.probabilities, all.len());
            let wanted: Vec<_> = all.into_iter().filter(|(_, place, _)| kept.contains(place)).collect();
            let numbers: Vec<usize> = left.stay.iter().cloned().flatten().collect();
            let found: Vec<_> = places(&left.places, &bases[kept.clone()])
                .into_iter()
                .zip(numbers)
                .map(|((head, place, _), number)| (head, place + kept.start, number))
                .collect();
            prop_assert_eq!(found, wanted);
            if kept == (0..bases.len()) {
                prop_assert_eq!(left.places, text);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_cut_or_refused(
            text in "([ACGTUN][-+]([a-z]{1,2}|[0-9]{1,6})?[.?]?(,[0-9]{0,20}){0,4};?|[ -~]{0,8}){0,6}",
            bases in "[ACGTNacgu]{0,40}",
            from in 0usize..40,
            length in 0usize..40,
        ) {
            let start = from.min(bases.len());
            let kept = start..(start + length).min(bases.len());
            if let Ok(left) = cut(text.as_bytes(), bases.as_bytes(), kept.clone()) {
                prop_assert!(left.stay.iter().all(|range| range.end <= left.probabilities));
                // What is left is a text of the bases that are left.
                let again = cut(&left.places, bases[kept.clone()].as_bytes(), 0..kept.len()).unwrap();
                prop_assert_eq!(again.places, left.places);
            }
        }
    }

    #[test]
    fn what_is_no_text_of_modifications_is_said() {
        for (text, words) in [
            ("C+m,0;C+h,1;", "more 'C'"),
            ("C+m,x;", "'x' is no number"),
            ("C+m,-1;", "'-1' is no number"),
            ("C+m,+1;", "'+1' is no number"),
            ("m,1;", "'m' is no kind"),
            ("C+,1;", "'C+' is no kind"),
            ("C+m5,0;", "'C+m5' is no kind"),
        ] {
            let said = cut(text.as_bytes(), b"ACGT", 0..2).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
        }
        assert_eq!(cut(b"", b"ACGT", 0..2).unwrap().places, b"");
    }
}
