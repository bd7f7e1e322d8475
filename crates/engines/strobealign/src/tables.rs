//! The tables of the index: what strobealign's hold, in less memory, and looked up as it looks them up.
#![allow(unsafe_code)]

use crate::pieces::{PIECE, share};
use crate::randstrobe::{HELD, Randstrobe};
use crate::starts::BucketStarts;
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use std::fs::File;
use std::ops::Range;
use strobealign::seeding::SeedingParameters;
use zerohop_memory::prefetch;
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;

/// The index: seeds in the order of their hashes, and where the seeds of each bucket start.
pub(crate) struct Tables {
    pub(crate) parameters: SeedingParameters,
    /// Number of top bits of a hash that choose its bucket.
    pub(crate) bits: u8,
    /// A hash that occurs more often is filtered.
    pub(crate) filter_cutoff: usize,
    pub(crate) randstrobes: Vec<Randstrobe>,
    pub(crate) bucket_starts: BucketStarts,
    /// The hash of every [`STEP`]th randstrobe: in a long bucket, a search begins in these, which lie in few cache
    /// lines.
    coarse: Vec<u64>,
}

/// Entries of a bucket that are looked at together.
const FIRST: usize = 4;
/// Buckets with fewer entries are searched one by one.
const SHORT: usize = 8;
/// Those with as many begin with the coarse hashes.
pub(crate) const LONG: usize = 32;
/// Randstrobes to a coarse hash: three cache lines.
const STEP: usize = 16;
/// Words of 32 bits of a randstrobe.
const WORDS: usize = size_of::<Randstrobe>() / size_of::<u32>();
/// Randstrobes of which one at least begins in each cache line.
const PER_LINE: usize = 64 / size_of::<Randstrobe>();

impl Tables {
    /// The index of these tables; `threads` threads look through them.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn new(
        parameters: SeedingParameters,
        bits: u8,
        filter_cutoff: usize,
        (randstrobes, bucket_starts): (Vec<Randstrobe>, BucketStarts),
        threads: usize,
    ) -> Result<Self, Error> {
        let mut coarse = zeroed::<u64>(randstrobes.len().div_ceil(STEP))?;
        let per_piece = PIECE / size_of::<u64>();
        let pieces = randstrobes.chunks(per_piece * STEP).zip(coarse.chunks_mut(per_piece));
        share(pieces.collect(), threads, |(from, to): (&[Randstrobe], &mut [u64])| {
            let hashes = from.iter().step_by(STEP).map(Randstrobe::hash);
            to.iter_mut().zip(hashes).for_each(|(to, hash)| *to = hash);
            Ok::<_, Error>(())
        })?;
        Ok(Tables { parameters, bits, filter_cutoff, randstrobes, bucket_starts, coarse })
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.randstrobes[..]) + size_of_val(self.bucket_starts.low()) + size_of_val(&self.coarse[..])
    }

    /// Length of a strobe in bases.
    pub(crate) fn k(&self) -> usize {
        self.parameters.syncmer.k
    }

    /// The bucket that `hash` belongs to.
    #[inline(always)]
    pub(crate) fn bucket_of(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    /// The entries of the bucket that `hash` belongs to.
    #[inline(always)]
    pub(crate) fn bucket(&self, hash: u64) -> Range<usize> {
        self.bucket_starts.bucket(self.bucket_of(hash))
    }

    /// The first in `range`, which is a bucket or its end, whose hash is not below `hash`; its end if there is none.
    #[inline(always)]
    pub(crate) fn lower_bound(&self, range: Range<usize>, hash: u64) -> usize {
        let range = if range.len() < LONG { range } else { self.window(range, hash) };
        let is_below = |entry: &Randstrobe| entry.is_below(hash);
        // Most buckets are decided by their first entries. The last one is looked at again in place of those that lie
        // behind it, without a branch that nobody could predict: what is behind it was not asked for.
        let Some(entries) = self.randstrobes.get(range.clone()).filter(|entries| !entries.is_empty()) else {
            return range.end;
        };
        let last = entries.len() - 1;
        let below: usize =
            (0..FIRST).map(|at| usize::from(at <= last) & usize::from(is_below(&entries[at.min(last)]))).sum();
        if below < FIRST || range.len() <= FIRST {
            return range.start + below;
        }
        self.lower_bound_of(range.start + FIRST..range.end, is_below)
    }

    fn lower_bound_of(&self, range: Range<usize>, is_below: impl Fn(&Randstrobe) -> bool) -> usize {
        let Some(entries) = self.randstrobes.get(range.clone()) else { return range.end };
        let below = match entries.len() {
            0..SHORT => entries.iter().take_while(|entry| is_below(entry)).count(),
            _ => entries.partition_point(is_below),
        };
        range.start + below
    }

    /// The part of `range` in which, or at the end of which, the first lies whose hash is not below `hash`.
    #[inline]
    fn window(&self, range: Range<usize>, hash: u64) -> Range<usize> {
        let (first, hash) = (range.start.div_ceil(STEP), hash & HELD);
        let coarse = self.coarse.get(first..range.end.div_ceil(STEP)).unwrap_or_default();
        let after = first + coarse.partition_point(|&coarse| coarse < hash);
        let start = if after == first { range.start } else { (after - 1) * STEP + 1 };
        start..(after * STEP).min(range.end)
    }

    /// Asks for the lines that say where the bucket of `hash` starts and ends.
    #[inline(always)]
    pub(crate) fn fetch_starts(&self, hash: u64) {
        let bucket = self.bucket_of(hash);
        prefetch(self.bucket_starts.low(), bucket);
        prefetch(self.bucket_starts.low(), bucket + 1);
    }

    /// Asks for the bucket of `hash`, whose start is there; for the coarse hashes of a long one.
    #[inline(always)]
    pub(crate) fn fetch_bucket(&self, hash: u64) {
        let Range { start, end } = self.bucket(hash);
        match end - start {
            0 => {}
            1..LONG => {
                // Bisection begins in the middle. The last one may reach into a line of its own.
                prefetch(&self.randstrobes, start);
                prefetch(&self.randstrobes, start + (end - start) / 2);
                prefetch(cast_slice::<_, u32>(&self.randstrobes), end * WORDS - 1);
            }
            _ => {
                let (start, end) = (start / STEP, end / STEP);
                [start, start + (end - start) / 2, end].into_iter().for_each(|at| prefetch(&self.coarse, at));
            }
        }
    }

    /// Asks for the part of a long bucket in which `hash` is; its coarse hashes are there.
    #[inline(always)]
    pub(crate) fn fetch_window(&self, hash: u64) {
        let bucket = self.bucket(hash);
        if bucket.len() >= LONG {
            let window = self.window(bucket, hash);
            window.step_by(PER_LINE).for_each(|at| prefetch(&self.randstrobes, at));
        }
    }

    /// How many entries of `range`, which are of one bucket, have the bits of `hash` under `mask`, which is of top
    /// bits, from the first one on.
    #[inline(always)]
    pub(crate) fn run_length(&self, range: Range<usize>, hash: u64, mask: u64) -> usize {
        let entries = self.randstrobes.get(range).unwrap_or_default();
        let hash = hash & mask & HELD;
        let is_equal = |entry: &Randstrobe| entry.hash() & mask == hash;
        match entries.get(SHORT) {
            Some(further) if is_equal(further) => entries.partition_point(is_equal),
            _ => entries.iter().take_while(|entry| is_equal(entry)).count(),
        }
    }

    /// A copy, in memory of the calling thread's placement, made by so many threads; of `words` too.
    pub(crate) fn copy(&self, words: &[u64], threads: usize) -> Result<(Vec<u64>, Self), Error> {
        // Who copies is the first to write it.
        let mut randstrobes = zeroed::<Randstrobe>(self.randstrobes.len())?;
        let mut low = zeroed::<u32>(self.bucket_starts.low().len())?;
        let mut words_copy = zeroed::<u64>(words.len())?;
        let all = pieces(cast_slice(&self.randstrobes), cast_slice_mut(&mut randstrobes))
            .chain(pieces(cast_slice(self.bucket_starts.low()), cast_slice_mut(&mut low)))
            .chain(pieces(cast_slice(words), cast_slice_mut(&mut words_copy)))
            .collect();
        share(all, threads, |(from, to): BytesToCopy<'_>| {
            to.copy_from_slice(from);
            Ok::<_, Error>(())
        })?;
        let parameters = self.parameters.clone();
        let tables = (randstrobes, BucketStarts::new(low, self.bucket_starts.carries().to_vec()));
        Ok((words_copy, Tables::new(parameters, self.bits, self.filter_cutoff, tables, threads)?))
    }
}

/// Bytes, and where they are copied to.
type BytesToCopy<'p> = (&'p [u8], &'p mut [u8]);

/// Both in pieces.
fn pieces<'p>(from: &'p [u8], to: &'p mut [u8]) -> impl Iterator<Item = BytesToCopy<'p>> {
    from.chunks(PIECE).zip(to.chunks_mut(PIECE))
}

/// So many entries whose bits are zero. They come from the system untouched: who writes them first places their pages.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn zeroed<T: Zeroable>(length: usize) -> Result<Vec<T>, Error> {
    let vector = zerohop_memory::fallible(|| bytemuck::allocation::try_zeroed_vec(length));
    vector.map_err(|()| Error::Memory(Bytes((length * size_of::<T>()) as u64)))
}

/// `count` values of a file that are mapped.
///
/// # Errors
/// `Unsupported` where they cannot be; what the system says.
pub(crate) fn mapped<T: Pod>(file: &File, offset: u64, count: usize) -> std::io::Result<Vec<T>> {
    // SAFETY: any bits are a `Pod`. Tables are not written, and their vectors keep their capacity: nobody who owns one
    // shrinks it or adds to it. A copy that is complete is never written or cut again: another one is another file
    // (`Resident::attach`). An index file is the user's: zerohop never writes to one that is there, it puts another
    // file in its place. What another program writes to it is seen at the end (`MappedFile::check_unchanged`), and no
    // record is kept that was made with it; every place that tables hold is looked up with bounds.
    unsafe { zerohop_memory::mapped(file, offset, count) }
}

#[cfg(test)]
impl Tables {
    /// The same as strobealign holds it.
    pub(crate) fn as_theirs(&self, contigs: &strobealign::refseq::ContigStarts) -> strobealign::index::StrobemerIndex {
        use crate::randstrobe::TOP_BITS;
        use strobealign::index::{RefRandstrobe, StrobemerIndex};
        let shift = self.bits - TOP_BITS as u8;
        let in_bucket = |bucket: usize| {
            let top = ((bucket >> shift) as u64) << (u64::BITS - TOP_BITS);
            self.randstrobes[self.bucket_starts.bucket(bucket)].iter().map(move |own| {
                let distance = (own.second_position() - own.position()) as u8;
                RefRandstrobe::new(top | own.hash(), own.position(), distance)
            })
        };
        let buckets = 1usize << self.bits;
        let randstrobes = (0..buckets).flat_map(in_bucket).collect();
        let starts = (0..buckets).map(|bucket| self.bucket_starts.bucket(bucket).start);
        let starts = starts.chain(self.bucket_starts.end()).collect();
        let parameters = self.parameters.clone();
        StrobemerIndex::new(parameters, self.bits, self.filter_cutoff, randstrobes, starts, contigs.clone())
    }
}
