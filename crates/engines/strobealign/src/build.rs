//! Builds the tables of strobealign's index: what its `make_index` makes (tested), but with all threads also on one
//! long contig.
//!
//! 1. The reference is split into stretches; a randstrobe belongs to the stretch in which its first strobe starts, and
//!    depends on a few hundred bases after it and on none before.
//! 2. The randstrobes of each stretch are counted, by the top bits of their hashes, in parallel, so that the table can
//!    be made at its final size.
//! 3. They are made again, now in place: those with the same top bits lie together. Twice the work, but half the memory
//!    at the peak.
//! 4. Those with the same top bits are sorted, each by one thread. (Sorting the table as a whole with rayon's
//!    `par_sort_unstable` overflowed the stacks of 16 threads for 3.1 Gb; rayon's issues 921 and 1146 tell of it.)
//! 5. Bucket starts and the filter cut-off are read off the table, in parallel.
//!
//! A randstrobe of the table has no top bits of its hash. What lies together in step 3 has the same ones.

use crate::parameters::IndexParameters;
use crate::randstrobe::{POSITIONS, Randstrobe, TOP_BITS};
use crate::reference::Reference;
use crate::sequence;
use crate::starts::BucketStarts;
use crate::tables::{Tables, zeroed};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use strobealign::seeding::{RandstrobeIterator, SeedingParameters, SyncmerIterator};
use zerohop_model::buckets::{self, Counts};
use zerohop_model::error::Error;
use zerohop_model::index::{MakingNews, Told};

/// Bases per stretch.
const STRETCH: usize = 1 << 20;

/// Randstrobes that are sorted together, about, if there are not too many.
const SORTED: usize = 1 << 14;
/// Top bits at most that choose where a randstrobe is sorted. With more, the processor does not keep the addresses of
/// all pages that are written to (its TLB).
const SORTED_BITS: u32 = 11;
/// Shares of the stretches for each thread.
const SHARES: usize = 16;

/// A stretch of one contig, by flat positions.
#[derive(Clone, Copy)]
struct ContigStretch {
    start: usize,
    end: usize,
    contig_end: usize,
}

fn stretches(reference: &Reference) -> Vec<ContigStretch> {
    let starts = &reference.starts().0;
    let contigs = starts.windows(2).map(|w| (w[0], w[1]));
    let split = |(start, contig_end): (usize, usize)| {
        (start..contig_end).step_by(STRETCH).map(move |start| ContigStretch {
            start,
            end: (start + STRETCH).min(contig_end),
            contig_end,
        })
    };
    contigs.flat_map(split).collect()
}

/// The randstrobes whose first strobe starts in `stretch`, as they are indexed, in order, each with its hash.
fn randstrobes(
    reference: &Reference,
    parameters: &SeedingParameters,
    stretch: ContigStretch,
    use_each: &mut dyn FnMut(u64, Randstrobe),
) {
    let ContigStretch { start, end, contig_end } = stretch;
    let syncmer = &parameters.syncmer;
    // A second strobe starts at most `max_dist` bases behind the first one.
    let beyond = usize::from(parameters.randstrobe.max_dist) + syncmer.k;
    let length = (end + beyond).min(contig_end) - start;
    let stretch = sequence::SequenceStretch { sequence: &reference.sequence, start, length };
    let syncmers = SyncmerIterator::new(stretch, syncmer.k, syncmer.s, syncmer.t);
    let all = RandstrobeIterator::new(syncmers, parameters.randstrobe.clone());
    for r in all.take_while(|r| start + r.strobe1_pos < end) {
        let distance = (r.strobe2_pos - r.strobe1_pos) as u8;
        use_each(r.hash, Randstrobe::new(r.hash, start + r.strobe1_pos, distance));
    }
}

/// A pool of `threads`, each of which calls `on_start` first (to take on the placement of the index).
pub(crate) fn pool(
    threads: usize,
    on_start: impl Fn(usize) + Send + Sync + 'static,
) -> Result<ThreadPool, ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(threads).start_handler(on_start).build()
}

/// Builds the tables for `reference` on the threads of `pool`; says what it does to `told`.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn build(
    reference: &Reference,
    wanted: &IndexParameters,
    pool: &ThreadPool,
    told: Told<'_>,
) -> Result<Tables, Error> {
    if reference.sequence.len() > POSITIONS {
        let bases = reference.sequence.len();
        return Err(Error::Internal(format!(
            "a reference of {bases} bases: an index holds positions up to {POSITIONS}"
        )));
    }
    let parameters = wanted.seeding.clone();
    let bits = wanted.bits.unwrap_or_else(|| parameters.syncmer.pick_bits(&reference.outline));
    let table = SortedTable::new(reference, &parameters, bits, pool, told)?;
    told(MakingNews::Step("making the table of buckets"));
    let bucket_starts = table.bucket_starts(bits, pool)?;
    let filter_cutoff = table.filter_cutoff(wanted.filter_fraction, pool);
    Tables::new(parameters, bits, filter_cutoff, (table.randstrobes, bucket_starts), pool.current_num_threads())
}

/// All randstrobes of the reference, in their order.
struct SortedTable {
    randstrobes: Vec<Randstrobe>,
    /// Top bits of a hash that choose the group of its randstrobe.
    group_bits: u32,
    /// Where each group starts in the table; one more at the end.
    group_starts: Vec<usize>,
}

impl SortedTable {
    fn new(
        reference: &Reference,
        parameters: &SeedingParameters,
        bits: u8,
        pool: &ThreadPool,
        told: Told<'_>,
    ) -> Result<Self, Error> {
        // A syncmer begins every few bases.
        let wanted = (reference.sequence.len() / 4 / SORTED).max(1).ilog2();
        // A bucket is never in two groups.
        let group_bits = wanted.clamp(TOP_BITS, SORTED_BITS).min(u32::from(bits));
        let group = |hash: u64| (hash >> (u64::BITS - group_bits)) as usize;
        let stretches = stretches(reference);
        let share = stretches.len().div_ceil(SHARES * pool.current_num_threads()).max(1);
        let count = |stretches: &[ContigStretch]| {
            let mut counts = vec![0; 1 << group_bits];
            stretches.iter().for_each(|stretch| {
                randstrobes(reference, parameters, *stretch, &mut |hash, _| counts[group(hash)] += 1);
            });
            counts
        };
        told(MakingNews::Step("counting seeds"));
        let counts: Counts = pool.install(|| stretches.par_chunks(share).map(count).collect());
        // The threads below are the first to write them.
        let mut table = zeroed::<Randstrobe>(counts.iter().flatten().sum())?;
        told(MakingNews::Step("writing seeds to their places"));
        let pieces = buckets::pieces(&mut table, &counts);
        pool.install(|| {
            stretches.par_chunks(share).zip(pieces).for_each(|(stretches, mut pieces)| {
                stretches.iter().for_each(|stretch| {
                    randstrobes(reference, parameters, *stretch, &mut |hash, randstrobe| {
                        if let Some(slot) = pieces[group(hash)].next() {
                            *slot = randstrobe;
                        }
                    });
                });
            });
        });
        told(MakingNews::Step("sorting seeds"));
        let groups = buckets::cut(&mut table, &counts);
        let mut group_starts = vec![0];
        for group in &groups {
            group_starts.push(group_starts[group_starts.len() - 1] + group.len());
        }
        pool.install(|| groups.into_par_iter().for_each(<[Randstrobe]>::sort_unstable));
        // Without any stretch there are no groups.
        group_starts.resize((1 << group_bits) + 1, table.len());
        Ok(SortedTable { randstrobes: table, group_bits, group_starts })
    }

    /// Where each group starts, and its randstrobes.
    fn groups(&self) -> impl IndexedParallelIterator<Item = (usize, &[Randstrobe])> {
        self.group_starts.par_windows(2).map(|ends| (ends[0], &self.randstrobes[ends[0]..ends[1]]))
    }

    /// The starts of the buckets that these top bits of the hashes choose. Each group gives those of its own.
    fn bucket_starts(&self, bits: u8, pool: &ThreadPool) -> Result<BucketStarts, Error> {
        let in_group = u32::from(bits) - self.group_bits;
        // The top bits that a randstrobe has not are those of its group, too.
        let bucket = |randstrobe: &Randstrobe| (randstrobe.hash() << self.group_bits >> 1 >> (63 - in_group)) as usize;
        let mut low = zeroed::<u32>((1 << bits) + 1)?;
        if let Some(last) = low.last_mut() {
            *last = self.randstrobes.len() as u32;
        }
        pool.install(|| {
            low.par_chunks_exact_mut(1 << in_group).zip(self.groups()).for_each(|(starts, (first, group))| {
                let mut given = 0;
                for (position, randstrobe) in (first..).zip(group) {
                    let end = bucket(randstrobe) + 1;
                    if given < end {
                        starts[given..end].fill(position as u32);
                        given = end;
                    }
                }
                starts[given..].fill((first + group.len()) as u32);
            });
        });
        // What begins at such a position or behind it is what lies behind the bucket of the one before.
        let carry = |position: usize| {
            let group = self.group_starts.partition_point(|&start| start < position) - 1;
            (group << in_group) + bucket(&self.randstrobes[position - 1]) + 1
        };
        let carries = (1..=self.randstrobes.len() >> u32::BITS).map(|carried| carry(carried << u32::BITS));
        Ok(BucketStarts::new(low, carries.collect()))
    }

    /// How often a hash may occur before it is filtered: such that this part of distinct hashes occurs more often,
    /// within 30 to 100 (strobealign, `make_index`).
    fn filter_cutoff(&self, fraction: f64, pool: &ThreadPool) -> usize {
        let add = |a: Occurring, b: Occurring| std::array::from_fn(|i| a[i] + b[i]);
        let none = || [0; MOST + 1];
        let occurring = pool.install(|| self.groups().map(|(_, group)| occurring(group)).reduce(none, add));
        let wanted = (occurring[1] as f64 * fraction) as usize;
        let mut total = 0;
        let cutoff = (1..=MOST).rev().find(|&count| {
            total += occurring[count];
            total >= wanted
        });
        cutoff.unwrap_or(1).clamp(30, 100)
    }
}

/// What occurs more often is counted as if it occurred so often.
const MOST: usize = 1000;

/// How many hashes occur how often; at 1, as in strobealign, all distinct ones.
type Occurring = [usize; MOST + 1];

/// Of the hashes of a group.
fn occurring(group: &[Randstrobe]) -> Occurring {
    let mut occurring = [0; MOST + 1];
    for equal in group.chunk_by(|one, other| one.hash() == other.hash()) {
        occurring[1] += 1;
        if equal.len() > 1 {
            occurring[equal.len().min(MOST)] += 1;
        }
    }
    occurring
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::StrobealignOptions;
    use crate::reference::ReferenceBuilder;
    use strobealign::index::StrobemerIndex;
    use strobealign::indexer::make_index;
    use zerohop_model::record::Contig;

    /// Random contigs, with a repeat that is frequent enough to move the cut-off.
    fn reference(lengths: &[usize]) -> Reference {
        let mut random = fastrand::Rng::with_seed(5);
        let repeat: Vec<u8> = (0..300).map(|_| b"ACGT"[random.usize(..4)]).collect();
        let mut builder = ReferenceBuilder::default();
        for &length in lengths {
            let mut bases: Vec<u8> = (0..length).map(|_| b"ACGTN"[random.usize(..5).min(random.usize(..6))]).collect();
            for at in (0..length.saturating_sub(repeat.len())).step_by(7000) {
                bases[at..at + repeat.len()].copy_from_slice(&repeat);
            }
            builder.push(&bases);
        }
        let contig = |(i, &length): (usize, &usize)| Contig::new(format!("c{i}"), length as u64);
        builder.build(lengths.iter().enumerate().map(contig).collect()).unwrap()
    }

    #[test]
    fn the_tables_are_those_of_make_index() {
        let dir = tempfile::tempdir().unwrap();
        for (lengths, read_length, options) in [
            (&[2_500_000usize, 0, 10, 700_000][..], 150, ""),
            (&[STRETCH, STRETCH + 1, STRETCH - 1, 25][..], 50, ""),
            (&[1_200_000][..], 250, ""),
            (&[40][..], 100, ""),
            (&[5][..], 400, ""),
            (&[STRETCH + 5, 3000][..], 150, "-k 31 -s 31 -l 0 -u 18446744073709551615 -m 286 -c 63 --aux-len 63"),
            (&[STRETCH + 5, 3000][..], 150, "-k 8 -s 2 -l 3 -u 40 -c 2 --aux-len 0 -b 8 -f 0.5"),
            (&[STRETCH + 5, 3000][..], 150, "-P noisy -b 20 -f 2"),
            (&[STRETCH + 5, 3000][..], 100, "-u 1 -f=-1"),
        ] {
            let reference = reference(lengths);
            let parameters = IndexParameters::new(&StrobealignOptions::parse(options).unwrap(), read_length).unwrap();
            let pool = pool(3, |_| {}).unwrap();
            let tables = build(&reference, &parameters, &pool, &|_| ()).unwrap();
            let bits = tables.bits;
            assert_eq!(parameters.bits.unwrap_or(bits), bits);
            let ours = tables.as_theirs(reference.starts());
            let IndexParameters { seeding, filter_fraction, .. } = parameters;
            let (theirs, _) = make_index(&reference.as_theirs(), seeding, bits, filter_fraction, 2);
            // Their own file format shows every byte of both.
            let write = |name: &str, index: &StrobemerIndex| {
                index.write(dir.path().join(name)).unwrap();
                std::fs::read(dir.path().join(name)).unwrap()
            };
            assert!(write("ours", &ours) == write("theirs", &theirs), "{lengths:?}, {read_length}, {options}");
            assert_eq!(ours.len(), theirs.len());
        }
    }
}
