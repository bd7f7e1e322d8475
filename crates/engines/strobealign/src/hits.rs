//! From the seeds of a read to anchors: the places of the reference that share a seed with it. The rules are those of
//! strobealign's `find_hits` and `hits_to_anchors`; what it looks up and never uses is not looked up.

use crate::randstrobe::{BELOW_TOP, HELD};
use crate::seeds::Seeds;
use crate::tables::Tables;
use std::ops::Range;
use strobealign::chainer::Anchor;
use strobealign::mcsstrategy::McsStrategy;
use strobealign::seeding::QueryRandstrobe;

/// With fewer hits that are not filtered than this, and less than [`ENOUGH`] of all, so many filtered ones are rescued.
const RESCUED_AT_MOST: usize = 5;
const ENOUGH: f32 = 0.7;
/// Hits that occur more often are not rescued then.
const MOST_FREQUENT: usize = 1000;
/// Nor those that occur more often than this, where a stretch of the read has filtered hits alone.
const MOST_FREQUENT_IN_STRETCH: usize = 10_000;

/// No entry of the index.
const NONE: usize = usize::MAX;

/// A seed that the index has.
struct SeedHit {
    /// Its index among the seeds of the read.
    seed: usize,
    /// The first entry of the index with its hash or, if `is_partial`, with that of its first strobe.
    entry: usize,
    is_partial: bool,
    is_filtered: bool,
}

/// Finds anchors. The vectors are scratch.
pub(crate) struct Finder<'e> {
    tables: &'e Tables,
    strategy: McsStrategy,
    /// In bases; 0 for no rescue.
    rescue_distance: usize,
    /// Whether all hashes with one first strobe are in one bucket.
    partial_is_in_bucket: bool,
    /// For each orientation and seed, the first entry with its hash.
    full: [Vec<usize>; 2],
    hits: Vec<SeedHit>,
    counts: Vec<(usize, usize)>,
}

impl<'e> Finder<'e> {
    pub(crate) fn new(tables: &'e Tables, strategy: McsStrategy, rescue_distance: usize) -> Self {
        let main_bits = tables.parameters.randstrobe.main_hash_mask.leading_ones();
        Finder {
            tables,
            strategy,
            rescue_distance,
            partial_is_in_bucket: main_bits >= u32::from(tables.bits),
            full: Default::default(),
            hits: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Looks all seeds up. Gives the orientations that are to be chained: where one has many more hits than the other,
    /// that one alone.
    pub(crate) fn look_up(&mut self, seeds: &Seeds) -> Range<usize> {
        if self.strategy == McsStrategy::FirstStrobe {
            return 0..2;
        }
        let mut found = [0, 0];
        for (orientation, seeds) in seeds.iter().enumerate() {
            let full = &mut self.full[orientation];
            full.clear();
            for seed in seeds {
                let entry = find_full(self.tables, seed.hash);
                found[orientation] += usize::from(entry != NONE);
                full.push(entry);
            }
        }
        let is_better = |one: usize, other: usize| one >= 2 * other && one > other + 5;
        match found {
            [forward, reverse] if is_better(forward, reverse) => 0..1,
            [forward, reverse] if is_better(reverse, forward) => 1..2,
            _ => 0..2,
        }
    }

    /// Adds the anchors of an orientation, in no order. The seeds are those that were looked up.
    pub(crate) fn add_anchors(&mut self, orientation: usize, seeds: &Seeds, anchors: &mut Vec<Anchor>) {
        let seeds = &seeds[orientation];
        self.find_hits(orientation, seeds);
        self.rescue(seeds);
        for hit in self.hits.iter().filter(|hit| !hit.is_filtered) {
            match hit.is_partial {
                true => self.add_partial(&seeds[hit.seed], hit.entry, anchors),
                false => self.add_full(&seeds[hit.seed], hit.entry, anchors),
            }
        }
    }

    fn find_hits(&mut self, orientation: usize, seeds: &[QueryRandstrobe]) {
        self.hits.clear();
        if self.strategy != McsStrategy::FirstStrobe {
            for (seed, randstrobe) in seeds.iter().enumerate() {
                match self.full[orientation][seed] {
                    NONE if self.strategy == McsStrategy::Always => self.find_partial(seed, randstrobe),
                    NONE => {}
                    entry => {
                        let is_filtered = self.occurs_too_often(randstrobe, entry);
                        self.hits.push(SeedHit { seed, entry, is_partial: false, is_filtered });
                    }
                }
            }
        }
        let alone =
            self.strategy == McsStrategy::FirstStrobe || self.strategy == McsStrategy::Rescue && self.hits.is_empty();
        if alone {
            seeds.iter().enumerate().for_each(|(seed, randstrobe)| self.find_partial(seed, randstrobe));
        }
    }

    /// Looks for the first strobe of a seed, in either orientation.
    fn find_partial(&mut self, seed: usize, randstrobe: &QueryRandstrobe) {
        let Tables { randstrobes, filter_cutoff, parameters, .. } = self.tables;
        let mask = parameters.randstrobe.main_hash_mask;
        let (bucket, hash) = (self.tables.bucket(randstrobe.hash), randstrobe.hash & mask);
        let entry = self.tables.lower_bound(bucket.clone(), hash);
        let is_equal =
            |entry: usize| randstrobes.get(entry).is_some_and(|found| found.hash() & mask == hash & BELOW_TOP);
        if entry >= bucket.end || !is_equal(entry) {
            return;
        }
        let further = entry.saturating_add(*filter_cutoff);
        let is_filtered = match self.partial_is_in_bucket {
            // What lies in another bucket has another hash.
            true => further < bucket.end && is_equal(further),
            false => further < self.end_of_partial(hash, mask),
        };
        self.hits.push(SeedHit { seed, entry, is_partial: true, is_filtered });
    }

    /// Whether a hash occurs more often than it may, both of its orientations counted. `entry` is the first with it.
    fn occurs_too_often(&self, randstrobe: &QueryRandstrobe, entry: usize) -> bool {
        let (tables, most) = (self.tables, self.tables.filter_cutoff);
        // Counts no further than matters.
        let count = |hash: u64, first: usize| {
            let end = tables.bucket(hash).end.min(first.saturating_add(most).saturating_add(1));
            tables.run_length(first..end, hash, HELD)
        };
        let forward = count(randstrobe.hash, entry);
        // Most buckets are too small to hold as many as matter.
        if forward > most || forward + tables.bucket(randstrobe.hash_revcomp).len() <= most {
            return forward > most;
        }
        match find_full(tables, randstrobe.hash_revcomp) {
            NONE => false,
            other => forward + count(randstrobe.hash_revcomp, other) > most,
        }
    }

    /// Takes filtered hits after all where there are too few others.
    fn rescue(&mut self, seeds: &[QueryRandstrobe]) {
        if self.rescue_distance == 0 {
            return;
        }
        let (all, good) = (self.hits.len(), self.hits.iter().filter(|hit| !hit.is_filtered).count());
        if all > 0 && good < RESCUED_AT_MOST && (good as f32 / all as f32) < ENOUGH {
            self.rescue_rarest(seeds, 0..all, RESCUED_AT_MOST, MOST_FREQUENT);
        }
        let (mut last_start, mut first_filtered, mut stretches) = (0, 0, Vec::new());
        for (i, hit) in self.hits.iter().enumerate().filter(|(_, hit)| !hit.is_filtered) {
            let start = seeds[hit.seed].start;
            if start > last_start + self.rescue_distance {
                stretches.push((first_filtered..i, (start - last_start) / self.rescue_distance));
            }
            (last_start, first_filtered) = (start, i + 1);
        }
        if let Some(last) = self.hits.last() {
            let length = seeds[last.seed].start - last_start;
            if length > self.rescue_distance {
                stretches.push((first_filtered..all, length / self.rescue_distance));
            }
        }
        for (hits, wanted) in stretches {
            self.rescue_rarest(seeds, hits, wanted, MOST_FREQUENT_IN_STRETCH);
        }
    }

    /// Takes the `wanted` rarest of these hits, if they occur at most so often.
    fn rescue_rarest(&mut self, seeds: &[QueryRandstrobe], hits: Range<usize>, wanted: usize, most: usize) {
        self.counts.clear();
        for i in hits {
            let hit = &self.hits[i];
            let count = self.count(&seeds[hit.seed], hit);
            if count <= most {
                self.counts.push((i, count));
            }
        }
        self.counts.sort_by_key(|&(_, count)| count);
        for &(i, _) in self.counts.iter().take(wanted) {
            self.hits[i].is_filtered = false;
        }
    }

    fn count(&self, randstrobe: &QueryRandstrobe, hit: &SeedHit) -> usize {
        let tables = self.tables;
        let equal = |hash: u64, mask: u64| {
            let bucket = tables.bucket(hash);
            tables.run_length(tables.lower_bound(bucket.clone(), hash & mask)..bucket.end, hash, mask)
        };
        match hit.is_partial {
            true => equal(randstrobe.hash, tables.parameters.randstrobe.main_hash_mask),
            false => equal(randstrobe.hash, HELD) + equal(randstrobe.hash_revcomp, HELD),
        }
    }

    /// Both strobes of each place with this hash, but those whose distance differs more from that in the read than one
    /// before.
    fn add_full(&self, randstrobe: &QueryRandstrobe, entry: usize, anchors: &mut Vec<Anchor>) {
        let (tables, k) = (self.tables, self.tables.k());
        let (start, second_start) = (randstrobe.start, randstrobe.end - k);
        let hash = randstrobe.hash & HELD;
        let entries = tables.randstrobes.get(entry..tables.bucket(randstrobe.hash).end).unwrap_or_default();
        let mut least = usize::MAX;
        for found in entries.iter().take_while(|found| found.hash() == hash) {
            let (position, second) = (found.position(), found.second_position());
            let difference = (second_start - start).abs_diff(second - position);
            if difference <= least {
                anchors.push(Anchor::new(position, start));
                anchors.push(Anchor::new(second, second_start));
                least = difference;
            }
        }
    }

    /// Behind the last entry with these bits under `mask`, which is of top bits, fewer than choose a bucket.
    fn end_of_partial(&self, hash: u64, mask: u64) -> usize {
        self.tables.bucket(hash | !mask).end
    }

    /// Each place with this first strobe in this orientation.
    fn add_partial(&self, randstrobe: &QueryRandstrobe, entry: usize, anchors: &mut Vec<Anchor>) {
        let Tables { randstrobes, parameters, .. } = self.tables;
        let mask = parameters.randstrobe.forward_main_hash_mask;
        let (bucket, hash) = (self.tables.bucket(randstrobe.hash), randstrobe.hash & mask);
        let first = self.tables.lower_bound(entry..bucket.end, hash);
        let Some(found) = randstrobes.get(first).filter(|_| first < bucket.end) else { return };
        if found.hash() & mask != hash & BELOW_TOP {
            return;
        }
        // With few bits for the first strobe, they go on in the next bucket.
        let end = if self.partial_is_in_bucket { bucket.end } else { self.end_of_partial(hash, mask) };
        // As there: with no bits for the second strobe, the mask has one of the distance.
        let masked = found.hash_and_distance() & mask;
        let entries = randstrobes.get(first..end).unwrap_or_default().iter();
        let equal = entries.take_while(|found| found.hash_and_distance() & mask == masked);
        anchors.extend(equal.map(|found| Anchor::new(found.position(), randstrobe.start)));
    }
}

/// The first entry with this hash.
#[inline(always)]
fn find_full(tables: &Tables, hash: u64) -> usize {
    let bucket = tables.bucket(hash);
    let entry = tables.lower_bound(bucket.clone(), hash);
    let is_found = entry < bucket.end && tables.randstrobes.get(entry).is_some_and(|found| found.hash() == hash & HELD);
    if is_found { entry } else { NONE }
}
