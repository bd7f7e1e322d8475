//! The adapter that reads have (Evaluator::evalAdapterAndReadNum of fastp): a known one, or else a k-mer that is much
//! too frequent, and what stands around it as far as nearly all reads agree.
//!
//! fastp gives up where reads disagree, and takes the k-mer where fewer than 50 have it. So it seldom finds an adapter
//! that is not known, and may take a frequent k-mer of a small genome for one. That is kept.

use crate::known::{self, Known};

/// Reads that are looked at, at most ([`detect_adapter`]).
pub const DETECTION_READS: usize = 256 * 1024;
/// When so many bases are seen, no further read is looked at.
pub const DETECTION_BASES: usize = 151 * DETECTION_READS;
/// Of fewer reads nothing is said.
const FEWEST_READS: usize = 10_000;
/// Letters of the k-mers.
const K: usize = 10;
/// Where the first of a read begins.
const FIRST: usize = 20;
/// Those of the most frequent k-mers are tried.
const TRIED: usize = 10;
/// Such a k-mer is in so many reads at least, and so many times as frequent as the mean.
const FEWEST_HITS: u64 = 10;
const TIMES_THE_MEAN: u64 = 20;
/// Behind this place of a read a k-mer is not extended.
const LAST_EXTENDED: usize = 500;
/// Reads that must say how a k-mer goes on, and their share that must agree.
const FEWEST_AGREEING: usize = 50;
const AGREEING: f64 = 0.95;
/// Letters of an adapter, at most.
const LONGEST: usize = 60;
/// Letters by their numbers in a k-mer.
const LETTERS: [u8; 4] = *b"ATCG";

/// An adapter that reads have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedAdapter {
    /// Its letters.
    pub sequence: String,
    /// Its name, if it is a known one.
    pub name: Option<&'static str>,
}

/// Finds the adapter of the first reads, of which no more than [`DETECTION_READS`] and about [`DETECTION_BASES`] are
/// looked at. `tail` is how many bases are cut off at the tail of first reads whatever stands there.
///
/// As with fastp, no adapter is found where a known one of more than 60 letters is the most frequent.
pub fn detect_adapter(reads: &[&[u8]], tail: u32) -> Option<DetectedAdapter> {
    let bases_before = reads.iter().scan(0, |bases, read| {
        let before = *bases;
        *bases += read.len();
        Some(before)
    });
    let count = bases_before.take(DETECTION_READS).take_while(|before| *before < DETECTION_BASES).count();
    let reads = &reads[..count];
    if reads.len() < FEWEST_READS {
        return None;
    }
    let found = match known::most_frequent(reads) {
        Some(Known { sequence, name }) => Some(DetectedAdapter { sequence: sequence.to_owned(), name: Some(name) }),
        // The last cycle is noisy.
        None => by_frequent_kmers(reads, tail.max(1) as usize),
    };
    found.filter(|adapter| adapter.sequence.len() <= LONGEST)
}

/// The adapter around the first of the most frequent k-mers that goes on alike in nearly all reads.
fn by_frequent_kmers(reads: &[&[u8]], tail: usize) -> Option<DetectedAdapter> {
    let mut counts = vec![0u64; 1 << (2 * K)];
    reads.iter().flat_map(|read| kmers(read, tail)).for_each(|(_, kmer)| counts[kmer] += 1);
    counts[0] = 0;
    let (frequent, total) = most_frequent(&counts);
    for kmer in frequent.into_iter().filter(|kmer| *kmer != 0) {
        let count = counts[kmer];
        if count < FEWEST_HITS || count * (counts.len() as u64) < total * TIMES_THE_MEAN {
            break;
        }
        let letters = letters(kmer);
        let changes = letters.iter().zip(letters.iter().skip(1)).filter(|(one, next)| one != next).count();
        if changes < 3 {
            continue;
        }
        if let Some(adapter) = around(kmer, reads, tail) {
            return Some(adapter);
        }
    }
    None
}

/// The k-mers of the letters A, T, C and G in a read, behind its first bases and before its last ones, and where each
/// begins.
fn kmers(read: &[u8], tail: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = read.len().saturating_sub(tail);
    let (mut kmer, mut length) = (0, 0);
    read.iter().enumerate().take(end).skip(FIRST).filter_map(move |(at, &letter)| {
        let number = LETTERS.iter().position(|known| *known == letter);
        length = if number.is_some() { length + 1 } else { 0 };
        kmer = (kmer << 2 | number.unwrap_or_default()) & ((1 << (2 * K)) - 1);
        (length >= K).then(|| (at + 1 - K, kmer))
    })
}

fn letters(kmer: usize) -> [u8; K] {
    std::array::from_fn(|at| LETTERS[kmer >> (2 * (K - 1 - at)) & 3])
}

/// The most frequent k-mers among those that could be of an adapter, and how often all of these are there.
fn most_frequent(counts: &[u64]) -> (Vec<usize>, u64) {
    // Behind those that are there come k-mers that are not, of which the first one stands for all: it is never tried.
    let (mut frequent, mut total) = (vec![0; TRIED], 0);
    for (kmer, &count) in counts.iter().enumerate().filter(|(kmer, _)| is_candidate(*kmer)) {
        total += count;
        // Of equal ones the last comes first.
        let place = frequent.partition_point(|&other| counts[other] > count);
        if place < TRIED {
            frequent.insert(place, kmer);
            frequent.truncate(TRIED);
        }
    }
    (frequent, total)
}

/// Whether a k-mer is neither simple, nor of C and G nearly alone, nor begins with a tail of G.
fn is_candidate(kmer: usize) -> bool {
    let letters = letters(kmer);
    let count = |letter: u8| letters.iter().filter(|other| **other == letter).count();
    let is_simple = LETTERS.iter().any(|&letter| count(letter) >= K - 4);
    !is_simple && count(b'C') + count(b'G') < K - 2 && !letters.starts_with(b"GGGG")
}

/// The adapter around a k-mer, as far as the reads agree.
fn around(seed: usize, reads: &[&[u8]], tail: usize) -> Option<DetectedAdapter> {
    let (mut behind, mut before) = (Vec::new(), Vec::new());
    for read in reads {
        for (at, _) in kmers(read, tail).filter(|(at, kmer)| *kmer == seed && *at < LAST_EXTENDED) {
            behind.push(&read[at + K..read.len() - tail]);
            before.push(&read[..at]);
        }
    }
    let (behind, goes_on) = common(&behind, |letters, at| letters.get(at).copied());
    let (mut before, goes_back) = common(&before, |letters, at| letters.iter().rev().nth(at).copied());
    before.reverse();
    let mut sequence = [before, letters(seed).to_vec(), behind].concat();
    sequence.truncate(LONGEST);
    if let Some(Known { sequence, name }) = known::beginning_of(&sequence) {
        return Some(DetectedAdapter { sequence: sequence.to_owned(), name: Some(name) });
    }
    let sequence = String::from_utf8(sequence).ok()?;
    (goes_on && goes_back).then_some(DetectedAdapter { sequence, name: None })
}

/// The letters that nearly all of these texts go on with, as long as enough of them do, and whether that was where too
/// few were left: not where they disagree (NucleotideTree of fastp).
fn common(texts: &[&[u8]], letter: impl Fn(&[u8], usize) -> Option<u8>) -> (Vec<u8>, bool) {
    /// Letters are told apart by their last three bits.
    const KINDS: usize = 8;
    let (mut path, mut left) = (Vec::new(), texts.to_vec());
    loop {
        let next = |text: &[u8]| letter(text, path.len()).filter(|letter| *letter != b'N');
        let mut kinds = [(0usize, 0u8); KINDS];
        for letter in left.iter().filter_map(|text| next(text)) {
            let (count, first) = &mut kinds[usize::from(letter) % KINDS];
            *first = if *count == 0 { letter } else { *first };
            *count += 1;
        }
        let total: usize = kinds.iter().map(|(count, _)| count).sum();
        if total < FEWEST_AGREEING {
            return (path, true);
        }
        let agreeing = kinds.iter().position(|(count, _)| *count as f64 / total as f64 >= AGREEING);
        let Some(kind) = agreeing else { return (path, false) };
        left.retain(|text| next(text).is_some_and(|letter| usize::from(letter) % KINDS == kind));
        path.push(kinds[kind].1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of 100 bases, of which so many of 1000 end with an adapter.
    fn reads(adapter: &str, of_1000: u32, count: usize) -> Vec<Vec<u8>> {
        let mut random = fastrand::Rng::with_seed(3);
        let mut bases = |count: usize| (0..count).map(|_| b"ACGT"[random.usize(..4)]).collect::<Vec<u8>>();
        let mut random = fastrand::Rng::with_seed(4);
        (0..count)
            .map(|_| {
                let insert = if random.u32(..1000) < of_1000 { random.usize(25..70) } else { 100 };
                let mut read = [bases(insert), adapter.as_bytes().to_vec(), bases(100)].concat();
                read.truncate(100);
                read
            })
            .collect()
    }

    fn detected(reads: &[Vec<u8>]) -> Option<DetectedAdapter> {
        let reads: Vec<&[u8]> = reads.iter().map(Vec::as_slice).collect();
        detect_adapter(&reads, 0)
    }

    #[test]
    fn a_known_adapter_is_named() {
        let found = detected(&reads("AGATCGGAAGAGCACACGTCTGAACTCCAGTCACATCACG", 50, 12_000)).unwrap();
        assert_eq!(found.sequence, "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA");
        assert_eq!(found.name, Some("Illumina TruSeq Adapter Read 1"));
        // One in 200 reads is too few, and so are 9,999 reads.
        assert_eq!(
            detected(&reads("AGATCGGAAGAGCACACGTCTGAACTCCAGTCACATCACG", 4, 12_000)).and_then(|found| found.name),
            None
        );
        assert_eq!(detected(&reads("AGATCGGAAGAGCACACGTCTGAACTCCAGTCACATCACG", 500, 9_999)), None);
    }

    #[test]
    fn of_an_unknown_adapter_a_kmer_is_found_where_few_reads_have_it() {
        let adapter = "TTGACCATGCATCGGATACCGATTACGGCATC";
        let found = detected(&reads(adapter, 3, 12_000)).unwrap();
        assert!(found.name.is_none() && found.sequence.len() == K && adapter.contains(&found.sequence), "{found:?}");
        // Where many have it, they disagree on the bases before it, and fastp finds none.
        assert_eq!(detected(&reads(adapter, 500, 12_000)), None);
    }

    #[test]
    fn common_letters_end_where_reads_disagree_or_are_few() {
        let texts = |texts: &[(&'static str, usize)]| -> Vec<&[u8]> {
            texts.iter().flat_map(|(text, times)| std::iter::repeat_n(text.as_bytes(), *times)).collect()
        };
        let forward = |letters: &[u8], at: usize| letters.get(at).copied();
        assert_eq!(common(&texts(&[("ACGT", 96), ("ACT", 4)]), forward), (b"ACGT".to_vec(), true));
        assert_eq!(common(&texts(&[("ACGT", 94), ("ACT", 6)]), forward), (b"AC".to_vec(), false));
        assert_eq!(common(&texts(&[("ACNT", 90)]), forward), (b"AC".to_vec(), true));
        assert_eq!(common(&texts(&[("ACGT", 49)]), forward), (Vec::new(), true));
    }
}
