//! Tails of one letter (PolyX of fastp).

/// In so many bases of a tail one may be another letter, and in a longer tail one in each so many.
const BASES_OF_MISMATCH: usize = 8;
/// Mismatches in a tail, at most.
const MOST_MISMATCHES: usize = 5;
/// The letters that tails are looked for of, in fastp's order.
pub(crate) const TAIL_LETTERS: [u8; 4] = *b"ATCG";

/// How many bases stay of a read with a tail of G of at least so many bases.
pub(crate) fn without_poly_g(bases: &[u8], least: usize) -> usize {
    let (mut mismatches, mut first_g, mut seen) = (0, bases.len().saturating_sub(1), bases.len());
    for (number, (at, &base)) in bases.iter().enumerate().rev().enumerate() {
        match base {
            b'G' => first_g = at,
            _ => mismatches += 1,
        }
        let is_over = mismatches > (number + 1) / BASES_OF_MISMATCH && number + 1 >= least;
        if is_over || mismatches > MOST_MISMATCHES {
            seen = number;
            break;
        }
    }
    if seen >= least { first_g } else { bases.len() }
}

/// A tail of one letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// Which of [`TAIL_LETTERS`].
    pub letter: usize,
    /// Its bases. There may be none: a read that is one base shorter than such a tail has to be, and has no such letter
    /// beyond its mismatches, counts as one with a tail.
    pub length: usize,
}

/// The tail of one letter of a read, if it has one of at least so many bases.
pub(crate) fn poly_x(bases: &[u8], least: usize) -> Option<Tail> {
    let (mut counts, mut compared) = ([0usize; TAIL_LETTERS.len()], bases.len() + 1);
    for (number, base) in bases.iter().rev().enumerate() {
        let length = number + 1;
        for (count, letter) in counts.iter_mut().zip(TAIL_LETTERS) {
            *count += usize::from(*base == letter || *base == b'N');
        }
        let allowed = (length / BASES_OF_MISMATCH).min(MOST_MISMATCHES);
        let is_tail = counts.iter().any(|count| length - count <= allowed);
        if !is_tail && (number >= BASES_OF_MISMATCH || length + 1 >= least) {
            compared = length;
            break;
        }
    }
    if compared < least {
        return None;
    }
    // Of equal counts the first one.
    let letter = (0..counts.len()).rev().max_by_key(|&letter| counts[letter])?;
    let tail = &bases[bases.len() - compared.min(bases.len())..];
    let length = tail.iter().position(|&base| base == TAIL_LETTERS[letter]).map_or(0, |at| tail.len() - at);
    Some(Tail { letter, length })
}
