//! The letter that a letter of a read pairs with. Records must be those of the programs that zerohop stands in for, and
//! these differ in what they make of letters that are no base: so there are four rules, a table each.
//!
//! | rule | A C G T | U | a c g t u | R Y K M B D H V W S | others |
//! |---|---|---|---|---|---|
//! | [`BASES`] | paired | stays | in lower case; u stays | stay | stay |
//! | [`CODES`] | paired | A | in lower case | paired | stay |
//! | [`CAPITALS`] | paired | A | in capitals | N | N |
//! | [`CALLS`] | paired | N | a c g t in capitals; N | N | N |

/// The letters of SAM (SAMv1, section 4.2.3) whose complement is another one or themselves: bases first, then those
/// that stand for several bases.
const LETTERS: [u8; 15] = *b"ACGTURYKMBDHVWS";
/// What each pairs with: the letter for the complements of its bases.
const PAIRED: [u8; 15] = *b"TGCAAYRMKVHDBWS";

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Complement([u8; 256]);

/// A, C, G and T; whatever else stays, as with htsjdk (SequenceUtil). Small letters stay small.
pub static BASES: Complement = Complement::new(4, false);
/// All letters that SAM has for bases and for sets of bases, and U; whatever else stays, as N and = do. Small letters
/// stay small.
pub static CODES: Complement = Complement::new(LETTERS.len(), false);
/// A, C, G, T and U, in capitals; whatever else becomes N, as with strobealign and bwa.
pub static CAPITALS: Complement = Complement::new(5, true);

/// A, C, G and T, in capitals; whatever else becomes N, as with fastp.
pub static CALLS: Complement = Complement::new(4, true);

impl Complement {
    /// The rule that knows so many of the letters, and what it does with others and with small ones.
    const fn new(known: usize, makes_capitals: bool) -> Self {
        let (mut table, mut letter) = ([b'N'; 256], 0);
        while letter < 256 && !makes_capitals {
            table[letter] = letter as u8;
            letter += 1;
        }
        let mut i = 0;
        while i < known {
            let paired = PAIRED[i];
            table[LETTERS[i] as usize] = paired;
            table[LETTERS[i].to_ascii_lowercase() as usize] =
                if makes_capitals { paired } else { paired.to_ascii_lowercase() };
            i += 1;
        }
        Complement(table)
    }

    /// The letter that this one pairs with.
    #[inline]
    pub const fn of(&self, letter: u8) -> u8 {
        self.0[letter as usize]
    }

    /// The reverse complement of these letters.
    ///
    /// ```
    /// use zerohop_model::complement::{BASES, CAPITALS, CODES};
    /// assert_eq!(BASES.reversed(b"AACgRU").collect::<Vec<u8>>(), b"URcGTT");
    /// assert_eq!(CODES.reversed(b"AACgRU").collect::<Vec<u8>>(), b"AYcGTT");
    /// assert_eq!(CAPITALS.reversed(b"AACgRU").collect::<Vec<u8>>(), b"ANCGTT");
    /// ```
    #[inline]
    pub fn reversed(&self, letters: &[u8]) -> impl ExactSizeIterator<Item = u8> {
        letters.iter().rev().map(|&letter| self.of(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bases that a letter stands for.
    fn bases(letter: u8) -> Option<&'static [u8]> {
        Some(match letter {
            b'A' => b"A",
            b'C' => b"C",
            b'G' => b"G",
            b'T' => b"T",
            b'R' => b"AG",
            b'Y' => b"CT",
            b'K' => b"GT",
            b'M' => b"AC",
            b'B' => b"CGT",
            b'D' => b"AGT",
            b'H' => b"ACT",
            b'V' => b"ACG",
            b'W' => b"AT",
            b'S' => b"CG",
            b'N' => b"ACGT",
            _ => return None,
        })
    }

    /// The complement of one base.
    fn paired(base: u8) -> u8 {
        match base {
            b'A' => b'T',
            b'C' => b'G',
            b'G' => b'C',
            _ => b'A',
        }
    }

    /// The letter for the complements of the bases of a letter.
    fn of_bases(letter: u8) -> Option<u8> {
        let mut wanted: Vec<u8> = bases(letter)?.iter().map(|&base| paired(base)).collect();
        wanted.sort_unstable();
        (b'A'..=b'Z').find(|&letter| bases(letter) == Some(&wanted))
    }

    #[test]
    fn each_rule_is_that_of_its_naive_twin_for_all_letters() {
        for letter in 0..=u8::MAX {
            let capital = letter.to_ascii_uppercase();
            let in_case = |of: u8| if letter == capital { of } else { of.to_ascii_lowercase() };
            let is_base = b"ACGT".contains(&capital);
            let bases = if is_base { in_case(paired(capital)) } else { letter };
            let codes = if capital == b'U' { Some(b'A') } else { of_bases(capital) };
            let capitals = if is_base || capital == b'U' { paired(capital) } else { b'N' };
            assert_eq!(BASES.of(letter), bases, "{}", letter.escape_ascii());
            assert_eq!(CODES.of(letter), codes.map_or(letter, in_case), "{}", letter.escape_ascii());
            assert_eq!(CAPITALS.of(letter), capitals, "{}", letter.escape_ascii());
            assert_eq!(CALLS.of(letter), if is_base { capitals } else { b'N' }, "{}", letter.escape_ascii());
        }
    }

    #[test]
    fn a_strand_turned_twice_is_the_same() {
        let all: Vec<u8> = (0..=u8::MAX).filter(|letter| !b"Uu".contains(letter)).collect();
        for rule in [&BASES, &CODES] {
            let turned: Vec<u8> = rule.reversed(&all).collect();
            assert_eq!(rule.reversed(&turned).collect::<Vec<u8>>(), all);
        }
    }
}
