//! One worker: the loop over the fragments of a chunk. The index and the reference are too large for any cache, so that
//! what a fragment needs is asked for while others are worked on. The stages, each one fragment behind the one before:
//!
//! 1. seeds are made, and the starts of their buckets are asked for;
//! 2. these are there, and the buckets are asked for: short ones whole, of long ones the coarse hashes;
//! 3. these are there, and the parts of long buckets are asked for in which the seeds are;
//! 4. all is there: seeds are looked up and chained, and the reference where the best chains lie is asked for;
//! 5. it is there: reads are aligned. This stage alone takes random numbers, and so these are those of a loop without
//!    stages.

use crate::Strobealign;
use crate::chains::{Chainer, Chains};
use crate::hits::Finder;
use crate::modes::{Chained, ChunkState, WorkerMode};
use crate::seeds::Seeds;
use crate::sequence::BASES_PER_WORD;
use crate::wide::WideSeeder;
use std::collections::VecDeque;
use zerohop_memory::prefetch;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::{Chunk, Fragment};
use zerohop_model::error::Error;
use zerohop_model::mapper::Mapper;

/// Chains of a read whose place on the reference is asked for.
const LIKELY_CHAINS: usize = 4;
/// How many fragments the newest one is behind the one that is next.
const STAGES: usize = 4;
/// Words of a cache line.
const WORDS_PER_LINE: usize = 8;

/// What is known of a read.
#[derive(Default)]
struct PreparedRead {
    length: usize,
    seeds: Seeds,
    chains: Chains,
}

/// What is known of a fragment.
#[derive(Default)]
struct PreparedFragment {
    /// 1, or 2 of a pair.
    reads: usize,
    read: [PreparedRead; 2],
}

/// The stages before alignment.
struct Pipeline<'e> {
    engine: &'e Strobealign,
    seeder: WideSeeder,
    chainer: Chainer<'e>,
    /// The fragments that come next, in order: at the end those whose seeds were just made.
    ahead: VecDeque<PreparedFragment>,
    /// Those that are used up: their memory is used again.
    spare: Vec<PreparedFragment>,
}

impl<'e> Pipeline<'e> {
    fn new(engine: &'e Strobealign) -> Self {
        let Strobealign { tables, mapping, options, reference, .. } = engine;
        let finder = Finder::new(tables, mapping.mcs_strategy, mapping.rescue_distance);
        let chainer = Chainer::new(finder, tables.k(), &options.chaining, reference.starts());
        Pipeline { engine, seeder: WideSeeder::default(), chainer, ahead: VecDeque::new(), spare: Vec::new() }
    }

    fn begin(&mut self, chunk: &Chunk) {
        self.spare.extend(self.ahead.drain(..));
        // Each of the first fragments goes through the stages that are before it in the loop.
        for first in 0..STAGES {
            self.step(chunk, first, STAGES - first);
        }
    }

    /// Fragment `i`, which is next; those behind it move on by a stage.
    fn next(&mut self, chunk: &Chunk, i: usize) -> Option<PreparedFragment> {
        self.step(chunk, i + STAGES, 0);
        self.ahead.pop_front()
    }

    /// Moves fragments on by a stage: `newest` is the one whose seeds are made. The first of those that are ahead is so
    /// many places from where it will be when it is next. The stages take turns by read, so that not all that is asked
    /// for is asked for at once: a core has some 12 to 24 lines on their way at a time, and waits with more.
    fn step(&mut self, chunk: &Chunk, newest: usize, places: usize) {
        let (tables, at) = (&self.engine.tables, |stage: usize| stage.checked_sub(places));
        let fragment = (newest < chunk.len()).then(|| chunk.fragment(newest));
        let mut prepared = fragment.and(self.spare.pop()).unwrap_or_default();
        prepared.reads = 0;
        for read in 0..2 {
            if let Some(prepared) = at(3).and_then(|stage| self.read(stage, read)) {
                // Both orientations have the same strobes, and a first strobe has one bucket, whatever the second.
                prepared.seeds[0].iter().for_each(|randstrobe| tables.fetch_bucket(randstrobe.hash));
            }
            if let Some(prepared) = at(2).and_then(|stage| self.read(stage, read)) {
                prepared.seeds.iter().flatten().for_each(|randstrobe| tables.fetch_window(randstrobe.hash));
            }
            if let Some(stage) = at(1) {
                self.chain(stage, read);
            }
            if let Some(seq) = fragment.and_then(|fragment| fragment.reads().nth(read)).map(|read| read.seq) {
                self.seed(seq, &mut prepared.read[read]);
                prepared.reads = read + 1;
            }
        }
        self.ahead.extend(fragment.map(|_| prepared));
    }

    /// Makes the seeds of a read and asks for the starts of their buckets.
    fn seed(&mut self, seq: &[u8], prepared: &mut PreparedRead) {
        let tables = &self.engine.tables;
        prepared.length = seq.len();
        self.seeder.seed(seq, &tables.parameters, &mut prepared.seeds, |hash| tables.fetch_starts(hash));
    }

    fn read(&self, ahead: usize, read: usize) -> Option<&PreparedRead> {
        self.ahead.get(ahead).filter(|prepared| read < prepared.reads).map(|prepared| &prepared.read[read])
    }

    /// Makes the chains of a read, and asks for the reference where the best ones lie.
    fn chain(&mut self, ahead: usize, read: usize) {
        let prepared = self.ahead.get_mut(ahead).filter(|prepared| read < prepared.reads);
        let Some(PreparedRead { length, seeds, chains }) = prepared.map(|prepared| &mut prepared.read[read]) else {
            return;
        };
        self.chainer.chain(seeds, *length, chains);
        let words = self.engine.reference.sequence.words();
        for chain in chains.chains.iter().take(LIKELY_CHAINS) {
            let start = chain.projected_start();
            let wanted = start / BASES_PER_WORD..(start + *length).div_ceil(BASES_PER_WORD);
            wanted.step_by(WORDS_PER_LINE).for_each(|word| prefetch(words, word));
        }
    }
}

/// One worker with what it makes of chains.
pub(crate) struct StrobealignMapper<'e> {
    pipeline: Pipeline<'e>,
    mode: WorkerMode<'e>,
}

impl<'e> StrobealignMapper<'e> {
    pub(crate) fn new(engine: &'e Strobealign) -> Self {
        StrobealignMapper { pipeline: Pipeline::new(engine), mode: WorkerMode::new(engine) }
    }

    fn map_one(
        &mut self,
        fragment: &Fragment<'_>,
        prepared: &mut PreparedFragment,
        state: &mut ChunkState,
        out: &mut Alignments,
    ) -> Result<(), Error> {
        for read in &mut prepared.read[..prepared.reads] {
            read.chains.shuffle_best(state.rng());
        }
        let [first, second] = &mut prepared.read;
        let chains = [&mut first.chains, &mut second.chains];
        self.mode.add(self.pipeline.engine, Chained { fragment, chains }, state, out)
    }
}

impl Mapper for StrobealignMapper<'_> {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        let mut state = ChunkState::of_chunk();
        self.pipeline.begin(chunk);
        for (i, fragment) in chunk.fragments().enumerate() {
            let Some(mut prepared) = self.pipeline.next(chunk, i) else { break };
            self.map_one(&fragment, &mut prepared, &mut state, out)?;
            self.pipeline.spare.push(prepared);
        }
        Ok(())
    }
}
