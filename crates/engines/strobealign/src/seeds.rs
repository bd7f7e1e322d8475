//! The randstrobes of a read: those of strobealign's `randstrobes_query`, its naive twin in the tests, in less time.
//! There, syncmers and randstrobes come out of iterators that keep their windows in double-ended queues; here each step
//! is a loop over an array, so that hashes are computed side by side, and all memory is kept. The loops are compiled
//! for several sets of instructions, of which the best one is chosen at run time (`wide`).

use strobealign::seeding::strobes::Randstrobe;
use strobealign::seeding::{QueryRandstrobe, RandstrobeParameters, SeedingParameters};

/// The randstrobes of one read, of both orientations.
pub(crate) type Seeds = [Vec<QueryRandstrobe>; 2];

/// Makes seeds; the arrays are its scratch.
#[derive(Debug, Default)]
pub(crate) struct Seeder {
    ends: Ends,
    /// Of one run of bases: the hash of the s-mer that starts at each, the smaller one of both strands.
    smers: Vec<u64>,
    /// The smallest of some hashes from each on, and room for those of more.
    minima: [Vec<u64>; 2],
    /// Of a run, where the k-mers start that are syncmers, and these.
    places: Vec<usize>,
    kmers: Vec<u64>,
    syncmers: Syncmers,
}

/// The last bases before each base of a run, two bits each, the base itself in the lowest bits: of 1, 2, 4, ... 32
/// bases. At the start there are A instead, as many as are looked back for.
#[derive(Debug, Default)]
struct Ends {
    of_1: Vec<u8>,
    of_2: Vec<u8>,
    of_4: Vec<u8>,
    of_8: Vec<u16>,
    of_16: Vec<u32>,
    of_32: Vec<u64>,
}

/// Of the whole read.
#[derive(Debug, Default)]
struct Syncmers {
    hashes: Vec<u64>,
    positions: Vec<u64>,
    are_forward: Vec<bool>,
}

/// Bases that are looked back for, at most. Those before a run are never written, and so they are A.
const BEFORE: usize = 32;
/// So many syncmers are looked at side by side.
const LANES: usize = 8;
/// The position of what is no syncmer, behind all others.
const NOWHERE: u64 = u64::MAX;

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
        self.syncmers.hashes.iter().copied().for_each(on_strobe);
        let k = parameters.syncmer.k;
        self.syncmers.pair(&parameters.randstrobe, k, &mut seeds[0]);
        self.syncmers.turn(read.len().saturating_sub(k));
        self.syncmers.pair(&parameters.randstrobe, k, &mut seeds[1]);
    }

    #[inline(always)]
    fn find_syncmers(&mut self, read: &[u8], parameters: &SeedingParameters) {
        self.syncmers.clear();
        if read.iter().fold(true, |all, &letter| all & is_base(letter)) {
            return self.find_in_run(read, 0, parameters);
        }
        let mut start = 0;
        for run in read.split(|&letter| !is_base(letter)) {
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
        let ends = self.ends.fill(run);
        self.smers.resize(run.len() - s + 1, 0);
        for (smer, end) in self.smers.iter_mut().zip(&ends[s - 1..]) {
            let forward = end & mask(s);
            *smer = hash(forward.min(reverse_complement(forward, s)));
        }
        let [minima, more] = &mut self.minima;
        minima.clear();
        minima.extend_from_slice(&self.smers);
        find_minima(minima, more, k - s + 1);
        // Where they are is collected first: a branch on each window would be mispredicted every few windows.
        self.places.resize(minima.len(), 0);
        let (places, mut found) = (&mut self.places[..], 0);
        for (i, (own, smallest)) in self.smers[t - 1..].iter().zip(minima).enumerate() {
            places[found] = i;
            found += usize::from(own == smallest);
        }
        let places = &self.places[..found];
        self.kmers.resize(found, 0);
        self.kmers.iter_mut().zip(places).for_each(|(kmer, &i)| *kmer = ends[i + k - 1] & mask(k));
        self.syncmers.add(&self.kmers, places, start, k);
    }
}

/// Whether it is A, C, G, T or U, in either case.
#[inline(always)]
fn is_base(letter: u8) -> bool {
    let letter = letter & !0x20;
    (letter == b'A') | (letter == b'C') | (letter == b'G') | (letter == b'T') | (letter == b'U')
}

/// A base as 0 to 3: bits of its letter tell.
#[inline(always)]
fn code(base: u8) -> u8 {
    let bits = base >> 1 & 3;
    bits ^ bits >> 1
}

/// The smallest of `width` hashes from each on, in `minima`, which has the hashes; by doubling the width that is
/// covered.
#[inline(always)]
fn find_minima(minima: &mut Vec<u64>, more: &mut Vec<u64>, width: usize) {
    let mut covered = 1;
    while covered < width {
        let step = covered.min(width - covered);
        more.resize(minima.len() - step, 0);
        for ((more, one), other) in more.iter_mut().zip(&minima[..]).zip(&minima[step..]) {
            *more = *one.min(other);
        }
        std::mem::swap(minima, more);
        covered += step;
    }
}

impl Ends {
    /// The last 32 bases before each base of a run of A, C, G and T.
    #[inline(always)]
    fn fill(&mut self, run: &[u8]) -> &[u64] {
        // Whole registers are filled: what is behind the run is never looked at.
        let length = BEFORE + run.len().next_multiple_of(32);
        let Ends { of_1, of_2, of_4, of_8, of_16, of_32 } = self;
        of_1.resize(length, 0);
        of_1[BEFORE..].iter_mut().zip(run).for_each(|(to, &base)| *to = code(base));
        double(of_1, of_2, 1, |one, before| before << 2 | one);
        double(of_2, of_4, 2, |one, before| before << 4 | one);
        double(of_4, of_8, 4, |one, before| u16::from(before) << 8 | u16::from(one));
        double(of_8, of_16, 8, |one, before| u32::from(before) << 16 | u32::from(one));
        double(of_16, of_32, 16, |one, before| u64::from(before) << 32 | u64::from(one));
        &of_32[BEFORE..BEFORE + run.len()]
    }
}

/// Joins each value with the one so many places before it.
#[inline(always)]
fn double<F: Copy, T: Copy + Default>(from: &[F], to: &mut Vec<T>, places: usize, join: impl Fn(F, F) -> T) {
    to.resize(from.len(), T::default());
    for ((to, &one), &before) in to[BEFORE..].iter_mut().zip(&from[BEFORE..]).zip(&from[BEFORE - places..]) {
        *to = join(one, before);
    }
}

/// The bits of so many bases.
#[inline(always)]
fn mask(bases: usize) -> u64 {
    u64::MAX >> (64 - 2 * bases)
}

impl Syncmers {
    fn clear(&mut self) {
        self.hashes.clear();
        self.positions.clear();
        self.are_forward.clear();
    }

    /// Adds these k-mers, which start at these places behind `start`.
    #[inline(always)]
    fn add(&mut self, kmers: &[u64], places: &[usize], start: usize, k: usize) {
        let Syncmers { hashes, positions, are_forward } = self;
        let before = hashes.len();
        hashes.resize(before + kmers.len(), 0);
        positions.resize(before + kmers.len(), 0);
        are_forward.resize(before + kmers.len(), false);
        // Loops, for what is handed to a function of a vector is not compiled for wide instructions.
        for (to, &forward) in hashes[before..].iter_mut().zip(kmers) {
            *to = hash(forward.min(reverse_complement(forward, k)));
        }
        for (to, &place) in positions[before..].iter_mut().zip(places) {
            *to = (start + place) as u64;
        }
        for (to, &forward) in are_forward[before..].iter_mut().zip(kmers) {
            *to = forward <= reverse_complement(forward, k);
        }
    }

    /// Those of the reverse complement: syncmers are canonical, and so they are the same, seen from the other end.
    /// `last` is where the last k-mer starts.
    fn turn(&mut self, last: usize) {
        self.hashes.reverse();
        self.positions.reverse();
        self.are_forward.reverse();
        self.positions.iter_mut().for_each(|position| *position = last as u64 - *position);
        self.are_forward.iter_mut().for_each(|is_forward| *is_forward = !*is_forward);
    }

    /// Pairs each syncmer with one of those that follow: within `w_min` to `w_max` syncmers and `max_dist` bases, the
    /// one whose hash differs in the fewest of the bits `q`; the syncmer itself if there is none.
    #[inline(always)]
    fn pair(&mut self, parameters: &RandstrobeParameters, k: usize, out: &mut Vec<QueryRandstrobe>) {
        let count = self.hashes.len();
        self.hashes.resize(count + LANES, 0);
        self.positions.resize(count + LANES, NOWHERE);
        out.reserve(count);
        for (i, &is_forward) in self.are_forward.iter().enumerate() {
            let (hash, position) = (self.hashes[i], self.positions[i]);
            let start = i.saturating_add(parameters.w_min).min(count);
            let end = i.saturating_add(parameters.w_max).saturating_add(1).min(count);
            // Where the window ends before it starts, as with -u alone, there is none.
            let width = end.saturating_sub(start);
            let furthest = position + u64::from(parameters.max_dist);
            let best = self.best(start, width, furthest, |other| ((hash ^ other) & parameters.q).count_ones());
            let second = if best == NONE { i } else { start + best as u32 as usize };
            let second_hash = self.hashes[second];
            let (forward1, forward2) = (u64::from(is_forward), u64::from(self.are_forward[second]));
            out.push(QueryRandstrobe {
                hash: Randstrobe::hash(hash, second_hash, forward1, forward2, parameters),
                hash_revcomp: Randstrobe::hash(second_hash, hash, forward1 ^ 1, forward2 ^ 1, parameters),
                start: position as usize,
                end: self.positions[second] as usize + k,
            });
        }
        self.hashes.truncate(count);
        self.positions.truncate(count);
    }

    /// Of `width` syncmers from `start` on, and no further than `furthest`, the one that differs in the fewest bits
    /// and, among equals, the first one: the bits in the upper half, its place among them in the lower one.
    #[inline(always)]
    fn best(&self, start: usize, width: usize, furthest: u64, differing: impl Fn(u64) -> u32) -> u64 {
        let end = start + width.next_multiple_of(LANES);
        let hashes = self.hashes[start..end].as_chunks::<LANES>().0;
        let positions = self.positions[start..end].as_chunks::<LANES>().0;
        let mut best = [NONE; LANES];
        // All lanes do the same, without branches that nobody could predict.
        for (n, (hashes, positions)) in hashes.iter().zip(positions).enumerate() {
            for lane in 0..LANES {
                let place = (n * LANES + lane) as u64;
                let key = u64::from(differing(hashes[lane])) << 32 | place;
                let is_outside = (positions[lane] > furthest) | (place >= width as u64);
                best[lane] = best[lane].min(if is_outside { NONE } else { key });
            }
        }
        best.into_iter().fold(NONE, u64::min)
    }
}

/// No syncmer.
const NONE: u64 = u64::MAX;

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
