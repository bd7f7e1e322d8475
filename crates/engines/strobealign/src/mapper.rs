//! One worker: the loop over the fragments of a chunk, as in strobealign's `map_chunk`, with its look-ups prefetched.
//!
//! A look-up costs two cache misses, one after the other: the start of a hash's bucket, then the bucket. While one
//! fragment is mapped, the buckets of the next are on their way, and the bucket starts of the one after that.

use crate::Strobealign;
use crate::records::AlignmentMaker;
use crate::seeds::{Seeder, Seeds};
use crate::tables::{AddressedIndex, prefetch};
use fastrand::Rng;
use std::collections::VecDeque;
use strobealign::aligner::{Aligner, Scores};
use strobealign::chain::Chain;
use strobealign::details::ChainDetails;
use strobealign::hit::HitsDetails;
use strobealign::insertsize::InsertSizeDistribution;
use strobealign::io::record::SequenceRecord;
use strobealign::io::sam::SamRecord;
use strobealign::modes::align::{SamOutput, align_paired_end_read, align_single_end_read};
use strobealign::shuffle::shuffle_best;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::{Chunk, Fragment};
use zerohop_model::error::Error;
use zerohop_model::mapper::Mapper;

/// Bandwidth of the piecewise aligner: the program's default.
const BANDWIDTH: usize = 1024;

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

/// Chains of a read, and how they were found.
type Chains = (Vec<Chain>, ChainDetails, HitsDetails);

pub(crate) struct StrobealignMapper<'e> {
    engine: &'e Strobealign,
    aligner: Aligner,
    sam_output: SamOutput,
    /// Reads in the form that strobealign takes; their memory is kept.
    reads: [SequenceRecord; 2],
    seeder: Seeder,
    /// Seeds of the fragments that come next: of the first one the buckets were asked for already.
    ahead: VecDeque<FragmentSeeds>,
    /// Seeds that are used up: their memory is used again.
    spare: Vec<FragmentSeeds>,
    alignments: AlignmentMaker,
}

impl<'e> StrobealignMapper<'e> {
    pub(crate) fn new(engine: &'e Strobealign) -> Self {
        let read = || SequenceRecord::new(String::new(), None, Vec::new(), None);
        StrobealignMapper {
            aligner: Aligner::new(Scores::default(), engine.index.index().k(), BANDWIDTH),
            sam_output: SamOutput::default(),
            reads: [read(), read()],
            seeder: Seeder::default(),
            ahead: VecDeque::new(),
            spare: Vec::new(),
            alignments: AlignmentMaker::default(),
            engine,
        }
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

    /// The chains of a read, best first; equally good ones in random order (strobealign's `get_sorted_chains`).
    fn sorted_chains(&self, seeds: &Seeds, length: usize, rng: &mut Rng) -> Chains {
        let parameters = &self.engine.mapping;
        let (mut chains, chain_details, hits_details) = self.engine.chainer.get_chains(
            seeds,
            self.engine.index.index(),
            parameters.rescue_distance,
            parameters.mcs_strategy,
            length,
        );
        chains.sort_by(|a, b| b.score.total_cmp(&a.score));
        shuffle_best(&mut chains, |chain| chain.score, rng);
        (chains, chain_details, hits_details)
    }

    fn align(
        &mut self,
        fragment: &Fragment<'_>,
        seeds: &[Seeds],
        insert_sizes: &mut InsertSizeDistribution,
        rng: &mut Rng,
    ) -> Vec<SamRecord> {
        for (record, read) in self.reads.iter_mut().zip(fragment.reads()) {
            record.sequence.clear();
            record.sequence.extend_from_slice(read.seq);
        }
        let engine = self.engine;
        let [first, second] = &self.reads;
        let (mut chains, chain_details, hits_details) = self.sorted_chains(&seeds[0], first.len(), rng);
        let Some(mate_seeds) = seeds.get(1) else {
            return align_single_end_read(
                first,
                engine.index.index(),
                &engine.reference.sequence,
                &engine.mapping,
                &self.sam_output,
                hits_details,
                chain_details,
                &mut chains,
                &self.aligner,
                rng,
            )
            .0;
        };
        let (mate_chains, mate_chain_details, mate_hits_details) = self.sorted_chains(mate_seeds, second.len(), rng);
        align_paired_end_read(
            first,
            second,
            &engine.reference.sequence,
            &engine.mapping,
            &self.sam_output,
            &engine.index.index().parameters,
            insert_sizes,
            [hits_details, mate_hits_details],
            [chain_details, mate_chain_details],
            &mut [chains, mate_chains],
            &self.aligner,
            rng,
        )
        .0
    }
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

impl Mapper for StrobealignMapper<'_> {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        // The program starts each chunk with the same random numbers and with nothing known of insert sizes.
        let (mut rng, mut insert_sizes) = (Rng::with_seed(0), InsertSizeDistribution::new());
        self.ahead.clear();
        (0..chunk.len().min(2)).for_each(|i| self.seed(&chunk.fragment(i)));
        self.fetch_buckets(0);
        for (i, fragment) in chunk.fragments().enumerate() {
            if i + 2 < chunk.len() {
                self.seed(&chunk.fragment(i + 2));
            }
            self.fetch_buckets(1);
            let Some(seeds) = self.ahead.pop_front() else { break };
            let records = self.align(&fragment, seeds.of_reads(), &mut insert_sizes, &mut rng);
            self.spare.push(seeds);
            self.alignments.add(&fragment, &records, out)?;
        }
        Ok(())
    }
}
