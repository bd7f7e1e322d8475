//! A made-up genome with the features that make a genome hard to index and to align to.
//!
//! Elements are laid one after another until a contig is full. Of the bases, about
//! - 50 % are unique, with a GC content between 35 and 60 % that changes every 50,000 to 200,000 bases;
//! - 18 % are copies of 24 families of 300 bases, diverged by 10 % from their family;
//! - 27 % are copies of 48 families of 6,000 bases, diverged by 5 to 15 %, most of them cut short at the front;
//! - 2 % are tandem repeats of a unit of 2 to 60 bases, diverged by 3 %;
//! - 3 % are segmental duplications: 10,000 to 30,000 bases copied from anywhere before, diverged by 1 to 3 %.
//!
//! Copies lie on both strands. The whole genome is in memory while it is made (duplications need it), and nothing
//! else of its size.

use crate::fasta::Contig;
use crate::mutate::append_diverged;
use crate::random::Random;
use crate::reverse_complement;

/// Contigs have sizes of 10 : 9 : ... : 3, so that none is like another.
const CONTIG_WEIGHTS: [usize; 8] = [10, 9, 8, 7, 6, 5, 4, 3];
const SHORT_FAMILIES: usize = 24;
const SHORT_LENGTH: usize = 300;
const LONG_FAMILIES: usize = 48;
const LONG_LENGTH: usize = 6_000;
const LONG_SHORTEST: usize = 500;

/// One kind of element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Unique,
    ShortRepeat,
    LongRepeat,
    Tandem,
    Duplication,
}

/// Each kind with its share of the bases and its mean length: it is drawn with share / length.
const ELEMENTS: [(Element, f64, f64); 5] = [
    (Element::Unique, 0.50, 1_500.0),
    (Element::ShortRepeat, 0.18, 300.0),
    (Element::LongRepeat, 0.27, 3_250.0),
    (Element::Tandem, 0.02, 930.0),
    (Element::Duplication, 0.03, 20_000.0),
];

/// Makes a genome of exactly `bases` bases in eight contigs.
pub fn generate(bases: usize, seed: u64) -> Vec<Contig> {
    let mut composer = Composer::new(bases, seed);
    let mut ends = Vec::new();
    for length in contig_lengths(bases) {
        composer.fill(composer.genome.len() + length);
        ends.push(composer.genome.len());
    }
    split(composer.genome, &ends)
}

fn contig_lengths(bases: usize) -> Vec<usize> {
    let total: usize = CONTIG_WEIGHTS.iter().sum();
    let mut lengths: Vec<usize> =
        CONTIG_WEIGHTS.iter().map(|weight| (bases as u128 * *weight as u128 / total as u128) as usize).collect();
    lengths[0] += bases - lengths.iter().sum::<usize>();
    lengths
}

/// Cuts the genome into contigs from its end, so that each base is moved once and the memory shrinks as it goes.
fn split(mut genome: Vec<u8>, ends: &[usize]) -> Vec<Contig> {
    let mut contigs = Vec::new();
    for (number, end) in ends.iter().enumerate().skip(1).rev() {
        let start = ends[number - 1];
        debug_assert_eq!(*end, genome.len());
        contigs.push(Contig { name: format!("sim{}", number + 1), sequence: genome.split_off(start) });
        genome.shrink_to_fit();
    }
    contigs.push(Contig { name: "sim1".into(), sequence: genome });
    contigs.reverse();
    contigs
}

struct Composer {
    random: Random,
    genome: Vec<u8>,
    short_families: Vec<Vec<u8>>,
    long_families: Vec<Vec<u8>>,
    gc: f64,
    gc_block_ends: usize,
    scratch: Vec<u8>,
}

impl Composer {
    fn new(bases: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut families = |count: usize, length: usize| -> Vec<Vec<u8>> {
            (0..count).map(|_| (0..length).map(|_| random.base()).collect()).collect()
        };
        let short_families = families(SHORT_FAMILIES, SHORT_LENGTH);
        let long_families = families(LONG_FAMILIES, LONG_LENGTH);
        let genome = Vec::with_capacity(bases);
        Composer { random, genome, short_families, long_families, gc: 0.5, gc_block_ends: 0, scratch: Vec::new() }
    }

    /// Adds elements until the genome has `end` bases; the last one is cut.
    fn fill(&mut self, end: usize) {
        while self.genome.len() < end {
            match self.choose() {
                Element::Unique => self.add_unique(end),
                Element::ShortRepeat => self.add_short_repeat(end),
                Element::LongRepeat => self.add_long_repeat(end),
                Element::Tandem => self.add_tandem(end),
                Element::Duplication => self.add_duplication(end),
            }
        }
    }

    fn choose(&mut self) -> Element {
        let weight = |(_, share, length): &(Element, f64, f64)| share / length;
        let mut left = self.random.unit() * ELEMENTS.iter().map(weight).sum::<f64>();
        for entry in &ELEMENTS {
            left -= weight(entry);
            if left < 0.0 {
                return entry.0;
            }
        }
        Element::Unique
    }

    fn add_unique(&mut self, end: usize) {
        let length = self.random.between(100, 2_900).min(end - self.genome.len());
        if self.genome.len() >= self.gc_block_ends {
            self.gc = 0.35 + 0.25 * self.random.unit();
            self.gc_block_ends = self.genome.len() + self.random.between(50_000, 200_000);
        }
        let stop = self.genome.len() + length;
        let threshold = (self.gc * 32_768.0) as u64;
        while self.genome.len() < stop {
            let mut bits = self.random.bits();
            for _ in 0..4.min(stop - self.genome.len()) {
                self.genome.push(base_of(bits, threshold));
                bits >>= 16;
            }
        }
    }

    fn add_short_repeat(&mut self, end: usize) {
        let family = self.random.below(SHORT_FAMILIES);
        append_diverged(&mut self.scratch, &self.short_families[family], 0.10, &mut self.random);
        self.add_scratch(end);
    }

    fn add_long_repeat(&mut self, end: usize) {
        let family = self.random.below(LONG_FAMILIES);
        let length = self.random.between(LONG_SHORTEST, LONG_LENGTH);
        let divergence = 0.05 + 0.10 * self.random.unit();
        let copy = &self.long_families[family][LONG_LENGTH - length..];
        append_diverged(&mut self.scratch, copy, divergence, &mut self.random);
        self.add_scratch(end);
    }

    fn add_tandem(&mut self, end: usize) {
        let unit: Vec<u8> = (0..self.random.between(2, 60)).map(|_| self.random.base()).collect();
        for _ in 0..self.random.between(10, 50) {
            append_diverged(&mut self.scratch, &unit, 0.03, &mut self.random);
        }
        self.add_scratch(end);
    }

    fn add_duplication(&mut self, end: usize) {
        let length = self.random.between(10_000, 30_000).min(self.genome.len());
        let start = self.random.below(self.genome.len() - length + 1);
        let divergence = 0.01 + 0.02 * self.random.unit();
        append_diverged(&mut self.scratch, &self.genome[start..start + length], divergence, &mut self.random);
        self.add_scratch(end);
    }

    /// Adds the copy in `scratch`, on either strand.
    fn add_scratch(&mut self, end: usize) {
        if self.random.chance(0.5) {
            reverse_complement(&mut self.scratch);
        }
        let length = self.scratch.len().min(end - self.genome.len());
        self.genome.extend_from_slice(&self.scratch[..length]);
        self.scratch.clear();
    }
}

/// A base from the lowest 16 bits: 15 decide between GC and AT, one between the two of them.
fn base_of(bits: u64, threshold: u64) -> u8 {
    let is_gc = (bits >> 1) & 0x7fff < threshold;
    match (is_gc, bits & 1) {
        (true, 0) => b'G',
        (true, _) => b'C',
        (false, 0) => b'A',
        (false, _) => b'T',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn has_the_wanted_size_whatever_it_is() {
        for bases in [0, 1, 35, 1_000, 123_457] {
            let contigs = generate(bases, 1);
            assert_eq!(contigs.len(), CONTIG_WEIGHTS.len());
            assert_eq!(contigs.iter().map(|contig| contig.sequence.len()).sum::<usize>(), bases);
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(generate(50_000, 1), generate(50_000, 1));
        assert_ne!(generate(50_000, 1), generate(50_000, 2));
    }

    #[test]
    fn holds_nothing_but_bases() {
        let is_base = |base: &u8| b"ACGT".contains(base);
        assert!(generate(100_000, 3).iter().all(|contig| contig.sequence.iter().all(is_base)));
    }

    /// Of a random genome of this size one word in 2,000 would come back.
    #[test]
    fn repeats_repeat() {
        let contigs = generate(2_000_000, 5);
        let mut seen: HashMap<&[u8], u32> = HashMap::new();
        for word in contigs.iter().flat_map(|contig| contig.sequence.windows(16)) {
            *seen.entry(word).or_default() += 1;
        }
        let repeated: u32 = seen.values().filter(|&&count| count > 1).sum();
        let share = f64::from(repeated) / 2_000_000.0;
        assert!((0.05..0.20).contains(&share), "{share}");
    }
}
