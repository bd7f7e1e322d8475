//! The randstrobes of a read: those of strobealign's `randstrobes_query`, its naive twin in the tests, in less time.
//! There, syncmers and randstrobes come out of iterators that keep their windows in double-ended queues; here each step
//! is a loop over an array, so that hashes are computed side by side, and all memory is kept. The loops are compiled
//! for several sets of instructions, of which the best one is chosen at run time (`wide`).

use crate::sequence::CODES;
use strobealign::seeding::strobes::Randstrobe;
use strobealign::seeding::{QueryRandstrobe, RandstrobeParameters, SeedingParameters};

/// The randstrobes of one read, of both orientations.
pub(crate) type Seeds = [Vec<QueryRandstrobe>; 2];

/// A syncmer of a read.
#[derive(Debug, Clone, Copy)]
struct Syncmer {
    hash: u64,
    is_forward: bool,
    position: usize,
}

/// Makes seeds; the arrays are its scratch.
#[derive(Debug, Default)]
pub(crate) struct Seeder {
    /// Of one run of bases: the 32 bases that end at each, and the s-mer that starts at each, the smaller one of both
    /// strands, then its hash.
    ends: Vec<u64>,
    smers: Vec<u64>,
    minima: Vec<u64>,
    /// Of a run, the k-mers that are syncmers.
    places: Vec<usize>,
    /// Of the whole read.
    syncmers: Vec<Syncmer>,
}

/// XXH64 of eight bytes, as strobealign hashes k-mers and s-mers.
#[inline(always)]
fn hash(value: u64) -> u64 {
    const P1: u64 = 0x9E37_79B1_85EB_CA87;
    const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
    const P3: u64 = 0x1656_67B1_9E37_79F9;
    const P4: u64 = 0x85EB_CA77_C2B2_AE63;
    const P5: u64 = 0x27D4_EB2F_1656_67C5;
    let mut h = P5.wrapping_add(8) ^ value.wrapping_mul(P2).rotate_left(31).wrapping_mul(P1);
    h = h.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
    h = (h ^ (h >> 33)).wrapping_mul(P2);
    h = (h ^ (h >> 29)).wrapping_mul(P3);
    h ^ (h >> 32)
}

/// The reverse complement of a k-mer of two bits per base.
#[inline(always)]
fn reverse_complement(kmer: u64, k: usize) -> u64 {
    let mut x = !kmer;
    x = (x >> 2 & 0x3333_3333_3333_3333) | (x & 0x3333_3333_3333_3333) << 2;
    x = (x >> 4 & 0x0F0F_0F0F_0F0F_0F0F) | (x & 0x0F0F_0F0F_0F0F_0F0F) << 4;
    x.swap_bytes() >> (64 - 2 * k)
}

impl Seeder {
    /// Puts the randstrobes of `read` and of its reverse complement into `seeds`. Before that, `on_strobe` is told the
    /// hash of each strobe.
    #[inline(always)]
    pub(crate) fn seed(
        &mut self,
        read: &[u8],
        parameters: &SeedingParameters,
        seeds: &mut Seeds,
        on_strobe: impl FnMut(u64),
    ) {
        seeds.iter_mut().for_each(Vec::clear);
        // As there: shorter reads have none.
        if read.len() < parameters.randstrobe.w_max {
            return;
        }
        self.find_syncmers(read, parameters);
        self.syncmers.iter().map(|syncmer| syncmer.hash).for_each(on_strobe);
        let k = parameters.syncmer.k;
        randstrobes(&self.syncmers, &parameters.randstrobe, k, &mut seeds[0]);
        // Syncmers are canonical, so those of the reverse complement are the same, seen from the other end.
        self.syncmers.reverse();
        for syncmer in &mut self.syncmers {
            syncmer.position = read.len() - syncmer.position - k;
            syncmer.is_forward = !syncmer.is_forward;
        }
        randstrobes(&self.syncmers, &parameters.randstrobe, k, &mut seeds[1]);
    }

    #[inline(always)]
    fn find_syncmers(&mut self, read: &[u8], parameters: &SeedingParameters) {
        self.syncmers.clear();
        let mut start = 0;
        for run in read.split(|&base| CODES[usize::from(base)] > 3) {
            self.find_in_run(run, start, parameters);
            start += run.len() + 1;
        }
    }

    /// Finds the syncmers of a run without ambiguous bases: k-mers whose t-th s-mer has the smallest hash of all
    /// theirs.
    #[inline(always)]
    fn find_in_run(&mut self, run: &[u8], start: usize, parameters: &SeedingParameters) {
        let (k, s, t) = (parameters.syncmer.k, parameters.syncmer.s, parameters.syncmer.t);
        if run.len() < k {
            return;
        }
        self.hash_smers(run, s);
        let windows = run.len() - k + 1;
        self.find_minima(k - s + 1, windows);
        // Where they are is collected first: a branch on each window would be mispredicted every few windows.
        self.places.resize(windows, 0);
        let mut found = 0;
        for (i, (own, smallest)) in self.smers[t - 1..].iter().zip(&self.minima[..windows]).enumerate() {
            self.places[found] = i;
            found += usize::from(own == smallest);
        }
        for &i in &self.places[..found] {
            let forward = self.ends[i + k - 1] & mask(k);
            let reverse = reverse_complement(forward, k);
            self.syncmers.push(Syncmer {
                hash: hash(forward.min(reverse)),
                is_forward: forward <= reverse,
                position: start + i,
            });
        }
    }

    /// Fills in the bases that end at each base, and the hash of the s-mer that starts there.
    #[inline(always)]
    fn hash_smers(&mut self, run: &[u8], s: usize) {
        let (mut forward, mut reverse) = (0u64, 0u64);
        self.ends.resize(run.len(), 0);
        self.smers.resize(run.len(), 0);
        for ((end, smer), &base) in self.ends.iter_mut().zip(&mut self.smers).zip(run) {
            let code = u64::from(CODES[usize::from(base)]);
            forward = forward << 2 | code;
            reverse = reverse >> 2 | (3 - code) << (2 * (s - 1));
            (*end, *smer) = (forward, (forward & mask(s)).min(reverse));
        }
        // The first ones are not whole.
        self.smers.drain(..s - 1);
        self.smers.iter_mut().for_each(|smer| *smer = hash(*smer));
    }

    /// `minima[i]` becomes the smallest of the `width` hashes from `i` on, by doubling the width that is covered.
    #[inline(always)]
    fn find_minima(&mut self, width: usize, windows: usize) {
        self.minima.clear();
        self.minima.extend_from_slice(&self.smers);
        let (mut covered, mut length) = (1, self.minima.len());
        while covered < width {
            let step = covered.min(width - covered);
            length -= step;
            // Each is read before it is written over.
            let minima = &mut self.minima[..length + step];
            for i in 0..length {
                minima[i] = minima[i].min(minima[i + step]);
            }
            covered += step;
        }
        debug_assert_eq!(length, windows);
    }
}

/// The bits of so many bases.
#[inline(always)]
fn mask(bases: usize) -> u64 {
    u64::MAX >> (64 - 2 * bases)
}

/// Pairs each syncmer with one of those that follow: within `w_min` to `w_max` syncmers and `max_dist` bases, the one
/// whose hash differs in the fewest of the bits `q`; the syncmer itself if there is none.
#[inline(always)]
fn randstrobes(syncmers: &[Syncmer], parameters: &RandstrobeParameters, k: usize, out: &mut Vec<QueryRandstrobe>) {
    for (i, first) in syncmers.iter().enumerate() {
        let furthest = first.position + usize::from(parameters.max_dist);
        let start = i.saturating_add(parameters.w_min);
        let end = i.saturating_add(parameters.w_max).saturating_add(1).min(syncmers.len());
        // Where the window ends before it starts, as with -u alone, there is none.
        let window = syncmers.get(start..end).unwrap_or_default();
        // The smallest of differing bits and, among equals, place: without branches that nobody could predict.
        let key = |(place, candidate): (usize, &Syncmer)| {
            let differing = ((first.hash ^ candidate.hash) & parameters.q).count_ones();
            if candidate.position > furthest { u64::MAX } else { u64::from(differing) << 32 | place as u64 }
        };
        let best = window.iter().enumerate().map(key).fold(u64::MAX, u64::min);
        let second = window.get(best as u32 as usize).unwrap_or(first);
        let (forward1, forward2) = (u64::from(first.is_forward), u64::from(second.is_forward));
        out.push(QueryRandstrobe {
            hash: Randstrobe::hash(first.hash, second.hash, forward1, forward2, parameters),
            hash_revcomp: Randstrobe::hash(second.hash, first.hash, forward1 ^ 1, forward2 ^ 1, parameters),
            start: first.position,
            end: second.position + k,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use strobealign::seeding::randstrobes_query;

    fn plain(seeds: &Seeds) -> Vec<Vec<(u64, u64, usize, usize)>> {
        seeds.iter().map(|s| s.iter().map(|r| (r.hash, r.hash_revcomp, r.start, r.end)).collect()).collect()
    }

    fn check(read: &[u8], parameters: &SeedingParameters, seeder: &mut Seeder) {
        let mut seeds = Seeds::default();
        seeder.seed(read, parameters, &mut seeds, |_| {});
        assert_eq!(plain(&seeds), plain(&randstrobes_query(read, parameters)));
    }

    /// Mostly bases, now and then an N.
    fn letter() -> impl Strategy<Value = u8> {
        proptest::sample::select(b"ACGTACGTACGTACGTACGTACGTACGTN".to_vec())
    }

    /// Parameters that options can ask for.
    fn parameters() -> impl Strategy<Value = SeedingParameters> {
        let lengths = proptest::sample::select(vec![50usize, 100, 150, 250, 400]);
        let window = prop_oneof![0usize..30, 0usize..5, Just(usize::MAX)];
        let syncmers = (8usize..=31).prop_flat_map(|k| (Just(k), (0..=(k - 1) / 2).prop_map(move |half| k - 2 * half)));
        let hashes = (0usize..=255, 2u32..=63, 0u32..=63);
        (lengths, any::<bool>(), syncmers, window.clone(), window, hashes).prop_map(
            |(length, noisy, (k, s), one, other, (further, bit_count, aux_len))| {
                let base = if noisy { SeedingParameters::noisy() } else { SeedingParameters::new(length) };
                let base = base.with_k_s(Some(k), Some(s)).unwrap();
                let base = base.with_window(Some(one.min(other)), Some(one.max(other))).unwrap();
                let base = base.with_aux_len(aux_len).unwrap().with_bitcount(bit_count).unwrap();
                base.with_max_seed_length(k + further).unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn with_any_parameters(
            read in proptest::collection::vec(letter(), 0..400),
            parameters in parameters(),
        ) {
            check(&read, &parameters, &mut Seeder::default());
        }

        #[test]
        fn with_a_window_that_ends_before_it_starts(
            read in proptest::collection::vec(letter(), 0..400),
            end in 0usize..12,
        ) {
            let parameters = SeedingParameters::new(150).with_window(None, Some(end)).unwrap();
            check(&read, &parameters, &mut Seeder::default());
        }

        #[test]
        fn seeds_are_those_of_strobealign(
            read in proptest::collection::vec(letter(), 0..500),
            length in proptest::sample::select(vec![50usize, 75, 100, 125, 150, 250, 400]),
        ) {
            check(&read, &SeedingParameters::new(length), &mut Seeder::default());
        }

        #[test]
        fn also_of_reads_full_of_ties(
            unit in "[ACGT]{1,7}", times in 1usize..60, tail in "[ACGTN.*=]{0,40}",
            length in proptest::sample::select(vec![50usize, 150, 400]),
        ) {
            let read = format!("{}{tail}", unit.repeat(times));
            check(read.as_bytes(), &SeedingParameters::new(length), &mut Seeder::default());
        }
    }

    #[test]
    fn long_reads_and_every_letter() {
        let mut random = fastrand::Rng::with_seed(8);
        let mut seeder = Seeder::default();
        let long: Vec<u8> = (0..100_000).map(|_| b"ACGT"[random.usize(..4)]).collect();
        check(&long, &SeedingParameters::new(150), &mut seeder);
        let letters: Vec<u8> = (0..3000)
            .map(|i| if i % 50 == 49 { b'A' + (i / 50 % 26) as u8 } else { b"ACGTU"[random.usize(..5)] })
            .collect();
        check(&letters, &SeedingParameters::new(100), &mut seeder);
        check(b"ACG", &SeedingParameters::new(100), &mut seeder);
    }

    #[test]
    fn reverse_complements_go_back_and_forth() {
        for (kmer, k) in [(0b00_01_10_11u64, 4), (0x1234_5678_9abc_def0, 32), (0x3f, 20)] {
            assert_eq!(reverse_complement(reverse_complement(kmer, k), k), kmer);
        }
        assert_eq!(reverse_complement(0b00_00_01, 3), 0b10_11_11);
    }
}
