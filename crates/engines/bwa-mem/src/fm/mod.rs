//! The FM-index in the form of bwa-mem2 (`.bwt.2bit.64`; Vasimuddin et al. 2019): of all bases and, behind them, their
//! reverse complement.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | N, one more than the bases of both strands: the number of suffixes |
//! | 5 x 8 | for each base, and behind all: how many bases are less |
//! | 64 x (N / 64 + 1) | blocks of 64 suffixes (`OccurrenceBlock`) |
//! | N / 8 + 1 | of every eighth suffix, bits 32 to 39 of its place |
//! | 4 x (N / 8 + 1) | bits 0 to 31 of it |
//! | 8 | the number of the suffix that is the whole text |
//!
//! All numbers are little-endian.
//!
//! The file is made in less memory than it takes to map with it: `blocks` says how. Then `places` walks through the
//! text once, for the place of every eighth suffix.

mod blocks;
mod bwt;
mod lanes;
mod merge;
mod places;
mod ranks;
mod sort;
mod text;

use blocks::Sizes;
use bwt::{Bwt, LINE, of_base};
use rayon::prelude::*;
use std::io::{self, Read, Write};
use std::sync::atomic::Ordering::Relaxed;
pub use text::Strands;

/// Suffixes of a block of the file.
const BLOCK: usize = 64;
/// Of so many suffixes one has its place in the file.
const SAMPLED: usize = 8;
/// Bytes of a thread's stack: sorting by many threads takes more than the usual 2 MiB, where nearly all suffixes of a
/// block begin with the same bases.
const STACK: usize = 8 << 20;
/// Blocks, or places, that are written at once.
const CHUNK: usize = 1 << 16;

/// What comes before 64 suffixes, and which base stands before each of them: for each kind of base, how many stand
/// before all suffixes that come earlier; then, for each kind, a bit of each suffix, the highest first.
pub(crate) type OccurrenceBlock = [u64; 8];

/// What is done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A block of the text is sorted and merged: which one of how many, from 1 on.
    Block { number: usize, count: usize },
    /// The blocks of the file are written, and places are found.
    Places,
}

/// Size of the file for a reference of so many bases.
///
/// ```
/// assert_eq!(zerohop_engine_bwa_mem::index_bytes(0), 56 + 64 + 5);
/// ```
pub fn index_bytes(bases: u64) -> u64 {
    56 + array_bytes(bases).iter().sum::<u64>()
}

/// Bytes of the blocks, and of both arrays of places.
pub(crate) fn array_bytes(bases: u64) -> [u64; 3] {
    let suffixes = 2 * bases + 1;
    let places = suffixes / SAMPLED as u64 + 1;
    [64 * (suffixes / BLOCK as u64 + 1), places, 4 * places]
}

/// Bytes of memory that making the file takes, with the packed bases: those of the last block, or those of the places
/// and what is walked through.
pub(crate) fn building_bytes(bases: u64) -> u64 {
    let both = 2 * bases as usize;
    let [_, high, low] = array_bytes(bases);
    // Places below 2^32 have no high bytes until they are written.
    let of_places = bases + low + if both < u32::MAX as usize { 0 } else { high };
    (Sizes::of(both).bytes(both) as u64).max(of_places) + bases / 4
}

/// Writes the index of a reference with so many threads; says what it does to `told`.
///
/// # Errors
/// What the system says; more bases than ranks can count.
pub fn write(
    text: Strands<'_>,
    threads: usize,
    told: &(dyn Fn(Step) + Sync),
    out: impl Write + Send,
) -> io::Result<()> {
    if text.len() >= ranks::RANKS {
        return Err(io::Error::other(format!("more than {} bases cannot be indexed", ranks::RANKS / 2 - 1)));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).stack_size(STACK);
    let pool = pool.build().map_err(io::Error::other)?;
    pool.install(|| make(text, Sizes::of(text.len()), told, out))
}

fn make(text: Strands<'_>, sizes: Sizes, told: &(dyn Fn(Step) + Sync), mut out: impl Write) -> io::Result<()> {
    let (bwt, anchors) = blocks::build(text, sizes, told);
    told(Step::Places);
    write_blocks(&bwt, &mut out)?;
    let places = places::find(&bwt, &anchors);
    if places.high.is_empty() {
        io::copy(&mut io::repeat(0).take((bwt.rows / SAMPLED + 1) as u64), &mut out)?;
    }
    for high in places.high.iter().flat_map(|piece| piece.chunks(CHUNK)) {
        out.write_all(&high.iter().map(|high| high.load(Relaxed)).collect::<Vec<u8>>())?;
    }
    for low in places.low.iter().flat_map(|piece| piece.chunks(CHUNK)) {
        out.write_all(bytemuck::cast_slice(&low.iter().map(|low| low.load(Relaxed)).collect::<Vec<u32>>()))?;
    }
    out.write_all(&(bwt.whole as u64).to_le_bytes())
}

/// All before the places.
fn write_blocks(bwt: &Bwt, mut out: impl Write) -> io::Result<()> {
    // The empty suffix begins with no base.
    let less = bwt.first.iter().map(|first| first - 1).chain([bwt.rows as u64 - 1]);
    let header: Vec<u64> = [bwt.rows as u64].into_iter().chain(less).collect();
    out.write_all(bytemuck::cast_slice(&header))?;
    let count = bwt.rows / BLOCK + 1;
    let mut blocks: Vec<OccurrenceBlock> = Vec::new();
    for start in (0..count).step_by(CHUNK) {
        let numbers = start..count.min(start + CHUNK);
        numbers.into_par_iter().map(|number| occurrence_block(bwt, number)).collect_into_vec(&mut blocks);
        out.write_all(bytemuck::cast_slice(&blocks))?;
    }
    Ok(())
}

fn occurrence_block(bwt: &Bwt, number: usize) -> OccurrenceBlock {
    let row = number * BLOCK;
    // Neither what is behind the last row, nor the whole text, has a bit of base 0.
    let mut rows = if bwt.rows - row < BLOCK { (1 << (bwt.rows - row)) - 1 } else { u64::MAX };
    if bwt.whole / BLOCK == number {
        rows &= !(1 << (bwt.whole % BLOCK));
    }
    let bits = |base| (of_base(&bwt.lines[row / LINE], base) >> (row % LINE)) as u64 & rows;
    let mut block = [0; 8];
    for base in 0..4u8 {
        block[usize::from(base)] = bwt.count(base, row);
        block[4 + usize::from(base)] = bits(base).reverse_bits();
    }
    block
}

#[cfg(test)]
mod tests;
