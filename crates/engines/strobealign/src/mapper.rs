//! One worker: the loop over the fragments of a chunk, as in strobealign's `map_chunk`, with its look-ups prefetched.
//!
//! A look-up costs two cache misses, one after the other: the start of a hash's bucket, then the bucket. While one
//! fragment is mapped, the buckets of the next are on their way, and the bucket starts of the one after that.

use crate::Strobealign;
use crate::modes::{Chained, Chains, Mode, State};
use crate::seeds::{Seeder, Seeds};
use crate::tables::{AddressedIndex, prefetch};
use fastrand::Rng;
use std::collections::VecDeque;
use strobealign::io::record::SequenceRecord;
use strobealign::shuffle::shuffle_best;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::{Chunk, Fragment};
use zerohop_model::error::Error;
use zerohop_model::mapper::Mapper;

/// The seeds of a fragment's one or two reads.
#[derive(Default)]
struct FragmentSeeds {
    reads: usize,
    seeds: [Seeds; 2],
}

impl FragmentSeeds {
    fn of_reads(&self) -> &[Seeds] {
        &self.seeds[..self.reads]
    }
}

/// Finds the chains of reads.
struct ReadChainer<'e> {
    engine: &'e Strobealign,
    /// Reads in the form that strobealign takes; their memory is kept.
    reads: [SequenceRecord; 2],
    seeder: Seeder,
    /// Seeds of the fragments that come next: of the first one the buckets were asked for already.
    ahead: VecDeque<FragmentSeeds>,
    /// Seeds that are used up: their memory is used again.
    spare: Vec<FragmentSeeds>,
}

impl<'e> ReadChainer<'e> {
    fn new(engine: &'e Strobealign) -> Self {
        let read = || SequenceRecord::new(String::new(), None, Vec::new(), None);
        ReadChainer {
            reads: [read(), read()],
            seeder: Seeder::default(),
            ahead: VecDeque::new(),
            spare: Vec::new(),
            engine,
        }
    }

    /// Begins a chunk.
    fn begin(&mut self, chunk: &Chunk) {
        self.ahead.clear();
        (0..chunk.len().min(2)).for_each(|i| self.seed(&chunk.fragment(i)));
        self.fetch_buckets(0);
    }

    /// The seeds of fragment `i`, which is next; those of the fragments behind it are looked after.
    fn next(&mut self, chunk: &Chunk, i: usize) -> Option<FragmentSeeds> {
        if i + 2 < chunk.len() {
            self.seed(&chunk.fragment(i + 2));
        }
        self.fetch_buckets(1);
        self.ahead.pop_front()
    }

    /// Makes the seeds of `fragment` and asks for the starts of their buckets.
    fn seed(&mut self, fragment: &Fragment<'_>) {
        let index = &self.engine.index;
        let parameters = &index.index().parameters;
        let mut seeds = self.spare.pop().unwrap_or_default();
        seeds.reads = 0;
        for read in fragment.reads() {
            self.seeder.seed(read.seq, parameters, &mut seeds.seeds[seeds.reads]);
            seeds.reads += 1;
        }
        for_each_hash(seeds.of_reads(), |hash| prefetch(index.bucket_starts(), bucket(index, hash)));
        self.ahead.push_back(seeds);
    }

    /// Asks for the buckets of the fragment after the next one.
    fn fetch_buckets(&self, ahead: usize) {
        let index = &self.engine.index;
        if let Some(seeds) = self.ahead.get(ahead) {
            for_each_hash(seeds.of_reads(), |hash| {
                let bucket = bucket(index, hash);
                if let Some(&[start, end]) = index.bucket_starts().get(bucket..bucket + 2) {
                    prefetch(index.randstrobes(), start);
                    // A short bucket is searched from its start, a longer one by bisection.
                    prefetch(index.randstrobes(), start + (end - start) / 2);
                }
            });
        }
    }

    /// The fragment with the chains of its reads.
    fn chained<'f>(&'f mut self, fragment: &'f Fragment<'f>, seeds: &[Seeds], rng: &mut Rng) -> Chained<'f> {
        for (record, read) in self.reads.iter_mut().zip(fragment.reads()) {
            record.sequence.clear();
            record.sequence.extend_from_slice(read.seq);
        }
        let [first, second] = &self.reads;
        let chains = sorted_chains(self.engine, &seeds[0], first.len(), rng);
        let mate = seeds.get(1).map(|seeds| sorted_chains(self.engine, seeds, second.len(), rng));
        Chained { fragment, reads: &self.reads, first: chains, mate }
    }
}

/// The chains of a read, best first; equally good ones in random order (strobealign's `get_sorted_chains`).
fn sorted_chains(engine: &Strobealign, seeds: &Seeds, length: usize, rng: &mut Rng) -> Chains {
    let (mut chains, chain_details, hits_details) = engine.chainer.get_chains(
        seeds,
        engine.index.index(),
        engine.mapping.rescue_distance,
        engine.mapping.mcs_strategy,
        length,
    );
    chains.sort_by(|a, b| b.score.total_cmp(&a.score));
    shuffle_best(&mut chains, |chain| chain.score, rng);
    (chains, chain_details, hits_details)
}

/// The bucket that `hash` belongs to.
#[inline]
fn bucket(index: &AddressedIndex, hash: u64) -> usize {
    (hash >> (64 - index.bits())) as usize
}

/// All hashes that will surely be looked up.
#[inline]
fn for_each_hash(seeds: &[Seeds], mut f: impl FnMut(u64)) {
    seeds.iter().flatten().flatten().for_each(|randstrobe| f(randstrobe.hash));
}

/// One worker with what it makes of chains.
pub(crate) struct StrobealignMapper<'e> {
    chainer: ReadChainer<'e>,
    mode: Mode,
}

impl<'e> StrobealignMapper<'e> {
    pub(crate) fn new(engine: &'e Strobealign) -> Self {
        StrobealignMapper { chainer: ReadChainer::new(engine), mode: Mode::new(engine) }
    }
}

impl Mapper for StrobealignMapper<'_> {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        let (chainer, mut state) = (&mut self.chainer, State::of_chunk());
        chainer.begin(chunk);
        for (i, fragment) in chunk.fragments().enumerate() {
            let Some(seeds) = chainer.next(chunk, i) else { break };
            let engine = chainer.engine;
            let chained = chainer.chained(&fragment, seeds.of_reads(), state.rng());
            self.mode.add(engine, chained, &mut state, out)?;
            chainer.spare.push(seeds);
        }
        Ok(())
    }
}
