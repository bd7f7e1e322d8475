//! Adapters that are known by name, and which of them reads have (Evaluator::checkKnownAdapters of fastp).

/// The table: sequences and names, sorted by sequence.
const TABLE: &str = include_str!("known_adapters.tsv");
/// Reads that are looked at, at most, and their bases.
const MOST_READS: usize = 100_000;
const MOST_BASES: usize = 1000 * MOST_READS;
/// An adapter with more hits ends the search.
const MOST_HITS: usize = 1000;
/// Bases of a read that may lie in an adapter, at least one more.
const LEAST: usize = 8;
/// One of so many letters may differ.
const LETTERS_OF_MISMATCH: usize = 16;
/// Letters of a seed. Of an adapter with m mismatches at least one of the first m + 1 seeds is in the read.
const SEED: usize = 8;
/// As soon as one adapter has more hits, those with less than a tenth are not looked for any more.
const HITS_OF_CANDIDATE: usize = 20;

/// An adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub sequence: &'static str,
    pub name: &'static str,
}

/// All of them, in the order of their letters.
pub(crate) fn all() -> Vec<Known> {
    let entries = TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    entries.map(|(sequence, name)| Known { sequence, name }).collect()
}

/// The one that enough of these reads have.
pub(crate) fn most_frequent(reads: &[&[u8]]) -> Option<Known> {
    let known = all();
    let seeds = Seeds::new(&known);
    let mut hits = vec![Hits::default(); known.len()];
    let (mut read_count, mut base_count, mut most) = (0, 0, 0);
    for read in reads {
        read_count += 1;
        base_count += read.len();
        if read_count > MOST_READS || base_count > MOST_BASES || most > MOST_HITS {
            break;
        }
        for (number, mismatches) in seeds.hits(read) {
            let hits = &mut hits[number];
            if most > HITS_OF_CANDIDATE && hits.reads < most / 10 {
                continue;
            }
            hits.reads += 1;
            hits.mismatches += mismatches;
            most = most.max(hits.reads);
        }
    }
    // Of equal ones the first.
    let (known, hits) = known.iter().zip(&hits).rev().max_by_key(|(_, hits)| hits.reads)?;
    let is_clear = hits.reads > read_count / 200 && hits.mismatches < read_count;
    (hits.reads > 0 && (hits.reads > read_count / 50 || is_clear)).then_some(*known)
}

/// The first known adapter that this sequence begins with.
pub(crate) fn beginning_of(sequence: &[u8]) -> Option<Known> {
    all().into_iter().find(|known| sequence.starts_with(known.sequence.as_bytes()))
}

/// Reads that have an adapter.
#[derive(Debug, Clone, Copy, Default)]
struct Hits {
    reads: usize,
    mismatches: usize,
}

/// Where each seed is in which adapter.
struct Seeds<'k> {
    known: &'k [Known],
    places: Vec<Vec<(usize, usize)>>,
}

impl<'k> Seeds<'k> {
    fn new(known: &'k [Known]) -> Self {
        let mut places = vec![Vec::new(); 1 << (2 * SEED)];
        for (number, adapter) in known.iter().enumerate() {
            let letters = adapter.sequence.as_bytes();
            for (at, seed) in seeds(letters).step_by(SEED).take(letters.len() / LETTERS_OF_MISMATCH + 1) {
                places[seed].push((number, at));
            }
        }
        Seeds { known, places }
    }

    /// The adapters that lie in a read, by their numbers, and how many letters differ where each first does.
    fn hits(&self, read: &[u8]) -> Vec<(usize, usize)> {
        let mut hits: Vec<(usize, usize, usize)> = Vec::new();
        for (at, seed) in seeds(read) {
            for &(number, before) in &self.places[seed] {
                let adapter = self.known[number].sequence.as_bytes();
                if at < before || adapter.len() >= read.len() || at - before + LEAST >= read.len() {
                    continue;
                }
                let part = &read[at - before..];
                let allowed = part.len().min(adapter.len()) / LETTERS_OF_MISMATCH;
                let mismatches = adapter.iter().zip(part).filter(|(one, other)| one != other).count();
                if mismatches <= allowed {
                    hits.push((number, at - before, mismatches));
                }
            }
        }
        hits.sort_unstable();
        hits.dedup_by_key(|(number, ..)| *number);
        hits.into_iter().map(|(number, _, mismatches)| (number, mismatches)).collect()
    }
}

/// The seeds of these letters, and where each begins. There is none with another letter than A, C, G and T.
fn seeds(letters: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let (mut seed, mut length) = (0, 0);
    letters.iter().enumerate().filter_map(move |(at, &letter)| {
        seed = (seed << 2 | usize::from(letter >> 1 & 3)) & ((1 << (2 * SEED)) - 1);
        length = if matches!(letter, b'A' | b'C' | b'G' | b'T') { length + 1 } else { 0 };
        (length >= SEED).then(|| (at + 1 - SEED, seed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same with all adapters at all places, as fastp does it.
    fn naive(read: &[u8]) -> Vec<(usize, usize)> {
        let found = |(number, known): (usize, Known)| {
            let adapter = known.sequence.as_bytes();
            let place = (0..read.len().saturating_sub(LEAST)).find_map(|at| {
                let compared = adapter.len().min(read.len() - at);
                let mismatches = (0..compared).filter(|&i| adapter[i] != read[at + i]).count();
                (mismatches <= compared / LETTERS_OF_MISMATCH).then_some(mismatches)
            });
            place.filter(|_| adapter.len() < read.len()).map(|mismatches| (number, mismatches))
        };
        all().into_iter().enumerate().filter_map(found).collect()
    }

    #[test]
    fn the_table_is_sorted_and_has_bases_alone() {
        let known = all();
        assert_eq!(known.len(), 234);
        assert!(known.is_sorted_by(|one, next| one.sequence < next.sequence));
        assert!(known.iter().all(|known| known.sequence.bytes().all(|letter| b"ACGT".contains(&letter))));
    }

    proptest! {
        #[test]
        fn seeds_find_what_is_at_any_place(
            insert in prop::collection::vec(prop::sample::select(&b"ACGT"[..]), 0..60),
            adapter in 0usize..234,
            errors in prop::collection::vec((0usize..130, prop::sample::select(&b"ACGTNa"[..])), 0..5),
            times in 1usize..3,
            length in 0usize..200,
        ) {
            let known = all();
            let mut read = [&insert, known[adapter].sequence.repeat(times).as_bytes(), b"ACAGT"].concat();
            read.truncate(length);
            for (at, letter) in errors {
                if let Some(base) = read.get_mut(at) {
                    *base = letter;
                }
            }
            prop_assert_eq!(Seeds::new(&known).hits(&read), naive(&read));
        }
    }
}
