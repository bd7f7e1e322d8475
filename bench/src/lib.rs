//! What the comparisons need: large references with repeats and paired reads from them, made anew from a seed wherever
//! they are wanted, so that no large file has to be kept.
//!
//! 1. [`mod@reference`] composes a genome of unique sequence, repeat families, tandem repeats and segmental
//!    duplications;
//! 2. [`fasta`] writes it and reads it back;
//! 3. [`pairs`] puts single-base variants into it and draws read pairs, whose names hold where they come from.
//!
//! The same options and seed give the same bytes on every machine: the random numbers are our own ([`random`]). It
//! refuses to be a model of any one species, or of a sequencer; it makes work that is hard where genomes are hard.

pub mod fasta;
pub mod mutate;
pub mod pairs;
pub mod random;
pub mod reference;

use zerohop_model::complement;

/// Turns `sequence` into its reverse complement.
pub fn reverse_complement(sequence: &mut [u8]) {
    sequence.reverse();
    for base in sequence {
        *base = complement::BASES.of(*base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reverse_complement_twice_is_the_same() {
        let mut sequence = b"AACGTNC".to_vec();
        reverse_complement(&mut sequence);
        assert_eq!(sequence, b"GNACGTT");
        reverse_complement(&mut sequence);
        assert_eq!(sequence, b"AACGTNC");
    }
}
