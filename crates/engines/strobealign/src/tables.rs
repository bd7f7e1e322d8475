//! The two large tables of strobealign's index, and where they lie.
//!
//! [`StrobemerIndex`] keeps its tables to itself. We make the vectors, and so know their addresses, which is what
//! prefetching and copying to another node need.
#![allow(unsafe_code)]

use crate::pieces::{PIECE, share};
use bytemuck::{Zeroable, cast_slice, cast_slice_mut};
use std::fs::File;
use strobealign::index::{BucketIndex, RefRandstrobe, StrobemerIndex};
use strobealign::refseq::ContigStarts;
use strobealign::seeding::SeedingParameters;
use zerohop_model::error::Error;
use zerohop_model::machine::Bytes;

/// Bytes of one entry of the table of randstrobes.
pub(crate) const RANDSTROBE_BYTES: usize = size_of::<RefRandstrobe>();

/// The tables before they become an index.
pub(crate) struct Tables {
    pub(crate) parameters: SeedingParameters,
    /// Number of top bits of a hash that choose its bucket.
    pub(crate) bits: u8,
    pub(crate) filter_cutoff: usize,
    pub(crate) randstrobes: Vec<RefRandstrobe>,
    pub(crate) bucket_starts: Vec<BucketIndex>,
}

/// An index whose tables' addresses are known.
pub(crate) struct AddressedIndex {
    index: StrobemerIndex,
    bits: u8,
    randstrobes: (*const RefRandstrobe, usize),
    bucket_starts: (*const BucketIndex, usize),
}

// SAFETY: the pointers go into vectors that `index` owns and that nobody can change, for it is never given out mutably.
// They are read like shared references.
unsafe impl Send for AddressedIndex {}
// SAFETY: as above.
unsafe impl Sync for AddressedIndex {}

impl AddressedIndex {
    pub(crate) fn new(tables: Tables, contig_starts: ContigStarts) -> Self {
        let Tables { parameters, bits, filter_cutoff, randstrobes, bucket_starts } = tables;
        // Moving a vector does not move what it holds.
        let randstrobes_at = (randstrobes.as_ptr(), randstrobes.len());
        let bucket_starts_at = (bucket_starts.as_ptr(), bucket_starts.len());
        AddressedIndex {
            index: StrobemerIndex::new(parameters, bits, filter_cutoff, randstrobes, bucket_starts, contig_starts),
            bits,
            randstrobes: randstrobes_at,
            bucket_starts: bucket_starts_at,
        }
    }

    pub(crate) fn index(&self) -> &StrobemerIndex {
        &self.index
    }

    pub(crate) fn bits(&self) -> u8 {
        self.bits
    }

    pub(crate) fn randstrobes(&self) -> &[RefRandstrobe] {
        // SAFETY: address and length of a vector that `self.index` owns and never changes; `self` is borrowed as long
        // as the slice.
        unsafe { std::slice::from_raw_parts(self.randstrobes.0, self.randstrobes.1) }
    }

    pub(crate) fn bucket_starts(&self) -> &[BucketIndex] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.bucket_starts.0, self.bucket_starts.1) }
    }

    /// A copy, in memory of the calling thread's placement, made by so many threads. The calling one does `own` before
    /// it helps the others.
    pub(crate) fn copy<R>(&self, threads: usize, own: impl FnOnce() -> R) -> Result<(R, Self), Error> {
        // Who copies is the first to write it.
        let mut randstrobe_words = zeroed::<u64>(2 * self.randstrobes().len())?;
        let mut bucket_starts = zeroed(self.bucket_starts().len())?;
        let randstrobes = pieces(as_bytes(self.randstrobes()), cast_slice_mut(&mut randstrobe_words));
        let starts = pieces(cast_slice(self.bucket_starts()), cast_slice_mut(&mut bucket_starts));
        let own = share(
            randstrobes.chain(starts).collect(),
            threads,
            || Ok(own()),
            |(from, to): Pair<'_>| {
                to.copy_from_slice(from);
                Ok::<_, Error>(())
            },
        )?;
        let tables = Tables {
            parameters: self.index.parameters.clone(),
            bits: self.bits,
            filter_cutoff: self.index.filter_cutoff(),
            randstrobes: from_words(randstrobe_words),
            bucket_starts,
        };
        Ok((own, AddressedIndex::new(tables, self.index.contig_starts.clone())))
    }
}

/// Bytes, and where they are copied to.
type Pair<'p> = (&'p [u8], &'p mut [u8]);

/// Both in pieces.
fn pieces<'p>(from: &'p [u8], to: &'p mut [u8]) -> impl Iterator<Item = Pair<'p>> {
    from.chunks(PIECE).zip(to.chunks_mut(PIECE))
}

/// An empty vector with room for `length` entries.
///
/// # Errors
/// Memory that cannot be had.
pub(crate) fn reserved<T>(length: usize) -> Result<Vec<T>, Error> {
    let mut vector = Vec::new();
    let outcome = zerohop_memory::fallible(|| vector.try_reserve_exact(length));
    outcome.map_err(|_| Error::Memory(Bytes((length * size_of::<T>()) as u64)))?;
    Ok(vector)
}

/// So many words that read as zero. They come from the system untouched: who writes them first places their pages.
///
/// # Errors
/// Memory that cannot be had.
pub(crate) fn zeroed<T: Zeroable>(words: usize) -> Result<Vec<T>, Error> {
    let vector = zerohop_memory::fallible(|| bytemuck::allocation::try_zeroed_vec(words));
    vector.map_err(|()| Error::Memory(Bytes((words * size_of::<T>()) as u64)))
}

/// `count` words of a file that are mapped.
///
/// # Errors
/// `Unsupported` where they cannot be; what the system says.
pub(crate) fn mapped(file: &File, offset: u64, count: usize) -> std::io::Result<Vec<u64>> {
    // SAFETY: tables are not written, and their vectors keep their capacity: `from_words` shrinks none whose capacity
    // is its length, and `AddressedIndex`, which owns them then, gives them out to be read alone. A copy that is
    // complete is never written or cut again: another one is another file (`Resident::attach`).
    unsafe { zerohop_memory::mapped_words(file, offset, count) }
}

/// Randstrobes as bytes.
pub(crate) fn as_bytes(randstrobes: &[RefRandstrobe]) -> &[u8] {
    // SAFETY: `RefRandstrobe` is `repr(C)` and holds two u64, so it has no padding.
    unsafe { std::slice::from_raw_parts(randstrobes.as_ptr().cast(), size_of_val(randstrobes)) }
}

/// A table of `count` randstrobes whose memory is `words`, two per randstrobe.
pub(crate) fn from_words(words: Vec<u64>) -> Vec<RefRandstrobe> {
    const { assert!(RANDSTROBE_BYTES == 16 && align_of::<RefRandstrobe>() == align_of::<u64>()) };
    let mut words = words;
    words.shrink_to_fit();
    if !words.capacity().is_multiple_of(2) {
        // An odd table is none of ours: fall back to a copy of whole entries.
        words = words.chunks_exact(2).flatten().copied().collect();
    }
    let mut words = std::mem::ManuallyDrop::new(words);
    let (pointer, length, capacity) = (words.as_mut_ptr(), words.len() / 2, words.capacity() / 2);
    // SAFETY: the block was allocated by a vector with size 8 * 2 * capacity and alignment 8, which is the layout of
    // `capacity` randstrobes (asserted above, and capacity is even); they are `repr(C)` pairs of u64, for which all
    // bits are valid; `words` is not used any more.
    unsafe { Vec::from_raw_parts(pointer.cast(), length, capacity) }
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
