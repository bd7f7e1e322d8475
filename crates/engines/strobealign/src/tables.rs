//! The tables of the index: strobealign's, to the bit, and looked up as it looks them up.
#![allow(unsafe_code)]

use crate::pieces::{PIECE, share};
use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};
use std::fs::File;
use std::ops::Range;
use strobealign::index::{REF_RANDSTROBE_HASH_MASK, STROBE2_OFFSET_MASK};
use strobealign::seeding::SeedingParameters;
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;

/// A randstrobe of the reference, as strobealign's `RefRandstrobe`: the hash, with the distance of the second strobe in
/// its lowest 8 bits, and the place of the first one. They are sorted by both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub(crate) struct Randstrobe {
    hash_and_distance: u64,
    position: u64,
}

// SAFETY: two u64 in C's layout, without padding; all bits are valid.
unsafe impl Zeroable for Randstrobe {}
// SAFETY: as above.
unsafe impl Pod for Randstrobe {}

impl Randstrobe {
    pub(crate) fn new(hash: u64, position: usize, distance: u8) -> Self {
        let hash_and_distance = hash & REF_RANDSTROBE_HASH_MASK | u64::from(distance);
        Randstrobe { hash_and_distance, position: position as u64 }
    }

    /// The hashes of both strobes with their orientations.
    #[inline(always)]
    pub(crate) fn hash(&self) -> u64 {
        self.hash_and_distance & REF_RANDSTROBE_HASH_MASK
    }

    #[inline(always)]
    pub(crate) fn hash_and_distance(&self) -> u64 {
        self.hash_and_distance
    }

    /// Where the first strobe starts in the reference.
    #[inline(always)]
    pub(crate) fn position(&self) -> usize {
        self.position as usize
    }

    /// Where the second one starts.
    #[inline(always)]
    pub(crate) fn second_position(&self) -> usize {
        self.position() + (self.hash_and_distance & STROBE2_OFFSET_MASK) as usize
    }
}

/// The index: seeds in the order of their hashes, and where the seeds of each bucket start.
pub(crate) struct Tables {
    pub(crate) parameters: SeedingParameters,
    /// Number of top bits of a hash that choose its bucket.
    pub(crate) bits: u8,
    /// A hash that occurs more often is filtered.
    pub(crate) filter_cutoff: usize,
    pub(crate) randstrobes: Vec<Randstrobe>,
    /// `bucket_starts[b]` is the first of bucket `b`, or of those behind it if it is empty; one more at the end.
    pub(crate) bucket_starts: Vec<usize>,
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
/// Randstrobes to a coarse hash: four cache lines.
const STEP: usize = 16;

impl Tables {
    /// The index of these tables; `threads` threads look through them.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn new(
        parameters: SeedingParameters,
        bits: u8,
        filter_cutoff: usize,
        (randstrobes, bucket_starts): (Vec<Randstrobe>, Vec<usize>),
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
        size_of_val(&self.randstrobes[..]) + size_of_val(&self.bucket_starts[..]) + size_of_val(&self.coarse[..])
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
        match self.bucket_starts.get(self.bucket_of(hash)..) {
            Some(&[start, end, ..]) => start..end,
            _ => 0..0,
        }
    }

    /// The first in `range`, which is a bucket or its end, whose hash is not below `hash`; its end if there is none.
    #[inline(always)]
    pub(crate) fn lower_bound(&self, range: Range<usize>, hash: u64) -> usize {
        let range = if range.len() < LONG { range } else { self.window(range, hash) };
        let is_below = |entry: &Randstrobe| entry.hash() < hash;
        // Most buckets are decided by their first entries. What lies behind the end of one is not below, and so all are
        // looked at, without a branch that nobody could predict.
        let Some(first) = self.randstrobes.get(range.start..).and_then(<[_]>::first_chunk::<FIRST>) else {
            return self.lower_bound_of(range, is_below);
        };
        let below: usize = first.iter().map(|entry| usize::from(is_below(entry))).sum();
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
        let first = range.start.div_ceil(STEP);
        let coarse = self.coarse.get(first..range.end.div_ceil(STEP)).unwrap_or_default();
        let after = first + coarse.partition_point(|&coarse| coarse < hash);
        let start = if after == first { range.start } else { (after - 1) * STEP + 1 };
        start..(after * STEP).min(range.end)
    }

    /// Asks for the lines that say where the bucket of `hash` starts and ends.
    #[inline(always)]
    pub(crate) fn fetch_starts(&self, hash: u64) {
        let bucket = self.bucket_of(hash);
        prefetch(&self.bucket_starts, bucket);
        prefetch(&self.bucket_starts, bucket + 1);
    }

    /// Asks for the bucket of `hash`, whose start is there; for the coarse hashes of a long one.
    #[inline(always)]
    pub(crate) fn fetch_bucket(&self, hash: u64) {
        let Range { start, end } = self.bucket(hash);
        match end - start {
            0 => {}
            1..LONG => {
                // Bisection begins in the middle.
                [start, start + (end - start) / 2, end - 1].into_iter().for_each(|at| prefetch(&self.randstrobes, at));
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
            window.step_by(4).for_each(|at| prefetch(&self.randstrobes, at));
        }
    }

    /// How many entries of `range`, from its first one on, have these bits under `mask`, which is of top bits.
    #[inline(always)]
    pub(crate) fn run_length(&self, range: Range<usize>, hash: u64, mask: u64) -> usize {
        let entries = self.randstrobes.get(range).unwrap_or_default();
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
        let mut bucket_starts = zeroed::<usize>(self.bucket_starts.len())?;
        let mut words_copy = zeroed::<u64>(words.len())?;
        let all = pieces(cast_slice(&self.randstrobes), cast_slice_mut(&mut randstrobes))
            .chain(pieces(cast_slice(&self.bucket_starts), cast_slice_mut(&mut bucket_starts)))
            .chain(pieces(cast_slice(words), cast_slice_mut(&mut words_copy)))
            .collect();
        share(all, threads, |(from, to): BytesToCopy<'_>| {
            to.copy_from_slice(from);
            Ok::<_, Error>(())
        })?;
        let parameters = self.parameters.clone();
        let tables = (randstrobes, bucket_starts);
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

/// `count` words of a file that are mapped.
///
/// # Errors
/// `Unsupported` where they cannot be; what the system says.
pub(crate) fn mapped(file: &File, offset: u64, count: usize) -> std::io::Result<Vec<u64>> {
    // SAFETY: tables are not written, and their vectors keep their capacity: nobody who owns one shrinks it or adds to
    // it (`from_words` shrinks none whose capacity is its length). A copy that is complete is never written or cut
    // again: another one is another file (`Resident::attach`).
    unsafe { zerohop_memory::mapped_words(file, offset, count) }
}

/// The randstrobes that these words are, two per randstrobe.
pub(crate) fn from_words(words: Vec<u64>) -> Vec<Randstrobe> {
    let cast = |words| bytemuck::allocation::try_cast_vec(words);
    let mut words = words;
    words.shrink_to_fit();
    // A table with an odd number of words is not one of ours: the last word is left out.
    cast(words)
        .unwrap_or_else(|(_, words)| words.as_chunks().0.iter().copied().map(bytemuck::cast::<[u64; 2], _>).collect())
}

/// Asks for the cache line at `slice[at]`, if there is one, without waiting for it.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], at: usize) {
    if at < slice.len() {
        let address = slice.as_ptr().wrapping_add(at);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch never faults, and SSE is part of x86-64.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: a prefetch never faults; nothing is changed.
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, readonly, preserves_flags));
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = address;
    }
}

#[cfg(test)]
impl Tables {
    /// The same as strobealign holds it.
    pub(crate) fn as_theirs(&self, starts: &strobealign::refseq::ContigStarts) -> strobealign::index::StrobemerIndex {
        use strobealign::index::{RefRandstrobe, StrobemerIndex};
        let theirs = |own: &Randstrobe| {
            RefRandstrobe::new(own.hash(), own.position(), (own.second_position() - own.position()) as u8)
        };
        let randstrobes = self.randstrobes.iter().map(theirs).collect();
        let (parameters, bucket_starts) = (self.parameters.clone(), self.bucket_starts.clone());
        StrobemerIndex::new(parameters, self.bits, self.filter_cutoff, randstrobes, bucket_starts, starts.clone())
    }
}
