//! Adapters that are looked for by their letters (AdapterTrimmer::trimBySequence of fastp).

use crate::letters::{self, Allowed, LONG, MOST_ALLOWED, SHORT, Text};
use std::ops::Range;

/// One of so many letters of an adapter may differ.
const LETTERS_OF_MISMATCH: usize = 8;
/// Places before a read at which an adapter may begin.
const LEAD: usize = 4;
/// Letters that a read and an adapter have in common, at least. It is more for adapters of a long list.
pub(crate) const LEAST: usize = 4;

/// An adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Adapter {
    letters: Vec<u8>,
    /// Their numbers, if it is searched for by bits.
    numbers: Option<Vec<u8>>,
}

/// Where an adapter begins in a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At this base.
    Base(usize),
    /// Before the read: so many letters of it are missing.
    Before(usize),
}

/// A read that adapters are looked for in, one after the other.
#[derive(Debug)]
pub(crate) struct Searched<'r> {
    bases: &'r [u8],
    bits: Bits,
}

/// The bits of a read, if it has some.
#[derive(Debug)]
enum Bits {
    Short(Text<SHORT>),
    Long(Text<LONG>),
    None,
}

impl<'r> Searched<'r> {
    pub(crate) fn new(bases: &'r [u8]) -> Self {
        let bits = match bases.len() {
            length if LEAD + length > Text::<LONG>::MOST || !letters::are_plain(bases) => Bits::None,
            length if LEAD + length > Text::<SHORT>::MOST => Bits::Long(Text::behind(LEAD, bases)),
            _ => Bits::Short(Text::behind(LEAD, bases)),
        };
        Searched { bases, bits }
    }

    /// Keeps the first bases only.
    pub(crate) fn truncate(&mut self, bases: usize) {
        self.bases = &self.bases[..bases.min(self.bases.len())];
        match &mut self.bits {
            Bits::Short(text) => text.truncate(LEAD + bases),
            Bits::Long(text) => text.truncate(LEAD + bases),
            Bits::None => (),
        }
    }
}

impl Adapter {
    /// The adapter of these letters.
    pub(crate) fn new(letters: &[u8]) -> Self {
        let most = MOST_ALLOWED * LETTERS_OF_MISMATCH + LETTERS_OF_MISMATCH - 1;
        let is_for_bits = letters.len() <= most && letters::are_plain(letters);
        let numbers = is_for_bits.then(|| letters.iter().map(|&letter| letters::number(letter) as u8).collect());
        Adapter { letters: letters.to_vec(), numbers }
    }

    /// Its letters.
    pub(crate) fn letters(&self) -> &[u8] {
        &self.letters
    }

    /// Where the adapter begins in a read, with at least so many letters in common: first without gaps, then with a
    /// base too much in the read, then with one too few.
    pub(crate) fn find(&self, read: &Searched<'_>, least: usize) -> Option<Place> {
        if self.letters.len() < least {
            return None;
        }
        let places = self.first_place()..(LEAD + read.bases.len()).saturating_sub(least);
        let without_gap = match (&read.bits, &self.numbers) {
            (Bits::Short(text), Some(numbers)) => self.find_by_bits(text, numbers, places),
            (Bits::Long(text), Some(numbers)) => self.find_by_bits(text, numbers, places),
            _ => self.find_by_bytes(read.bases, places),
        };
        match without_gap {
            Some(place) if place < LEAD => Some(Place::Before(LEAD - place)),
            Some(place) => Some(Place::Base(place - LEAD)),
            None => self.with_gap(read.bases).map(Place::Base),
        }
    }

    /// The first place, counted from [`LEAD`] before the read, at which the adapter may begin: in a dimer its first
    /// letters are often missing.
    fn first_place(&self) -> usize {
        match self.letters.len() {
            16.. => LEAD - 4,
            12.. => LEAD - 3,
            8.. => LEAD - 2,
            _ => LEAD,
        }
    }

    fn find_by_bits<const W: usize>(&self, text: &Text<W>, numbers: &[u8], places: Range<usize>) -> Option<usize> {
        let mut allowed = Allowed::none();
        let mut end = places.end;
        let most = self.letters.len() / LETTERS_OF_MISMATCH;
        for letters in 0..=most {
            // From this place on, fewer letters than would allow one more difference lie in the text.
            let longest = LETTERS_OF_MISMATCH * (letters + 1) - 1;
            let start = if letters == most { 0 } else { text.len().saturating_sub(longest) };
            let start = start.clamp(places.start.min(end), end);
            allowed.allow(start..end, letters);
            end = start;
        }
        text.find(numbers.iter().map(|&number| usize::from(number)), allowed)
    }

    fn find_by_bytes(&self, read: &[u8], mut places: Range<usize>) -> Option<usize> {
        places.find(|&place| {
            let compared = (LEAD + read.len() - place).min(self.letters.len());
            let missing = LEAD.saturating_sub(place);
            let (adapter, read) = (&self.letters[missing..compared], &read[place.saturating_sub(LEAD)..]);
            differ_at_most(adapter, read, compared / LETTERS_OF_MISMATCH)
        })
    }

    /// Where the adapter begins that has a letter more or less than the read. As fastp, it compares the beginning of
    /// the read, whatever the place: a place only says how many letters are compared.
    fn with_gap(&self, read: &[u8]) -> Option<usize> {
        let inserted = longest_with_gap(read, &self.letters).map(|compared| (compared, read.len() - 1));
        let found = inserted.or_else(|| Some((longest_with_gap(&self.letters, read)?, read.len())));
        // The first place stands for all at which as many letters are compared.
        found.map(|(compared, most)| if compared.is_whole { 0 } else { most.saturating_sub(compared.letters) })
    }
}

/// Whether two texts differ in no more than so many letters, as far as both go.
fn differ_at_most(one: &[u8], other: &[u8], letters: usize) -> bool {
    let mut differences = 0;
    one.iter().zip(other).all(|(one, other)| {
        differences += usize::from(one != other);
        differences <= letters
    })
}

/// Beginnings of two texts that were compared.
#[derive(Debug, Clone, Copy)]
struct Compared {
    letters: usize,
    /// Whether there are no more that could be.
    is_whole: bool,
}

/// The beginnings of two texts, as long as can be, that agree if one letter of `longer` behind its first is left out,
/// with one difference fewer than is allowed without a gap (Matcher::matchWithOneInsertion of fastp).
fn longest_with_gap(longer: &[u8], other: &[u8]) -> Option<Compared> {
    let allowed = |letters: usize| (letters / LETTERS_OF_MISMATCH).checked_sub(1);
    let most = other.len().min(longer.len().saturating_sub(1));
    let most_differences = allowed(most)?;
    let mut longest = None;
    // Differences without a gap so far; with one, at the best place so far.
    let mut without = usize::from(longer.first() != other.first());
    let mut with = without;
    for (letters, ((plain, moved), base)) in (1..).zip(longer.iter().zip(longer.iter().skip(1)).zip(other)).skip(1) {
        with = with.min(without) + usize::from(moved != base);
        without += usize::from(plain != base);
        if allowed(letters).is_some_and(|allowed| with <= allowed) {
            longest = Some(Compared { letters, is_whole: letters == most });
        }
        if with.min(without) > most_differences {
            break;
        }
    }
    longest
}
