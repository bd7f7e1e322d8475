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

use libsais::{SuffixArrayConstruction, ThreadCount};
use rayon::prelude::*;
use std::io::{self, Write};

/// Suffixes of a block.
const BLOCK: usize = 64;
/// Of so many suffixes one has its place in the file.
const SAMPLED: usize = 8;

/// What comes before 64 suffixes, and which base stands before each of them: for each kind of base, how many stand
/// before all suffixes that come earlier; then, for each kind, a bit of each suffix, the highest first.
pub(crate) type OccurrenceBlock = [u64; 8];

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

/// Writes the index of these bases (0 to 3) with so many threads, up to 65,535. Memory: about 22 bytes for each base,
/// 14 below 2^30.
///
/// # Errors
/// What the system says; no memory for the suffix array.
pub fn write(bases: &[u8], threads: usize, out: impl Write + Send) -> io::Result<()> {
    let threads = u16::try_from(threads).unwrap_or(u16::MAX).max(1);
    // Nobody else's: the members of a team (`openmp`) wait for each other.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build().map_err(io::Error::other)?;
    pool.install(|| sort_and_write(bases, ThreadCount::fixed(threads), out))
}

fn sort_and_write(bases: &[u8], threads: ThreadCount, out: impl Write) -> io::Result<()> {
    let complement = bases.iter().rev().map(|base| 3 - base);
    let text: Vec<u8> = bases.iter().copied().chain(complement).collect();
    // Half the memory, and less time, where places fit.
    let sort = SuffixArrayConstruction::for_text(&text);
    match i32::try_from(text.len()) {
        Ok(_) => {
            let sorted = sort.in_owned_buffer32().multi_threaded(threads).run().map_err(failed)?;
            write_sorted(&text, sorted.suffix_array(), out)
        }
        Err(_) => {
            let sorted = sort.in_owned_buffer64().multi_threaded(threads).run().map_err(failed)?;
            write_sorted(&text, sorted.suffix_array(), out)
        }
    }
}

fn failed(error: libsais::LibsaisError) -> io::Error {
    io::Error::other(format!("the suffixes cannot be sorted: {error:?}"))
}

/// A place in the text, as the suffix array has it.
trait SuffixPosition: Copy + Send + Sync {
    fn place(self) -> usize;
}

impl SuffixPosition for i32 {
    fn place(self) -> usize {
        self as usize
    }
}

impl SuffixPosition for i64 {
    fn place(self) -> usize {
        self as usize
    }
}

fn write_sorted<P: SuffixPosition>(text: &[u8], sorted: &[P], mut out: impl Write) -> io::Result<()> {
    // The empty suffix comes first.
    let suffixes = sorted.len() + 1;
    let place = |number: usize| if number == 0 { text.len() } else { sorted[number - 1].place() };
    let mut blocks: Vec<OccurrenceBlock> = (0..suffixes / BLOCK + 1)
        .into_par_iter()
        .map(|block| {
            let mut bits: OccurrenceBlock = [0; 8];
            for number in block * BLOCK..suffixes.min((block + 1) * BLOCK) {
                if let Some(before) = place(number).checked_sub(1) {
                    bits[4 + usize::from(text[before])] |= 1 << (BLOCK - 1 - number % BLOCK);
                }
            }
            bits
        })
        .collect();
    let mut counts = [0; 4];
    for block in &mut blocks {
        let bits: [u64; 4] = std::array::from_fn(|base| block[4 + base]);
        block[..4].copy_from_slice(&counts);
        counts.iter_mut().zip(bits).for_each(|(count, bits)| *count += u64::from(bits.count_ones()));
    }
    let less = counts.iter().scan(0, |less, count| {
        *less += count;
        Some(*less)
    });
    let header: Vec<u64> = [suffixes as u64, 0].into_iter().chain(less).collect();
    out.write_all(bytemuck::cast_slice(&header))?;
    out.write_all(bytemuck::cast_slice(&blocks))?;
    drop(blocks);
    let sampled = || (0..suffixes / SAMPLED + 1).into_par_iter().map(|sample| place(sample * SAMPLED));
    out.write_all(&sampled().map(|place| (place >> 32) as u8).collect::<Vec<u8>>())?;
    out.write_all(bytemuck::cast_slice(&sampled().map(|place| place as u32).collect::<Vec<u32>>()))?;
    let whole = (0..suffixes).into_par_iter().position_any(|number| place(number) == 0);
    out.write_all(&(whole.unwrap_or(0) as u64).to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, by sorting suffixes and counting one by one.
    fn naive(bases: &[u8]) -> Vec<u8> {
        let text: Vec<u8> = bases.iter().copied().chain(bases.iter().rev().map(|base| 3 - base)).collect();
        let mut places: Vec<usize> = (0..=text.len()).collect();
        places.sort_by_key(|place| &text[*place..]);
        let before: Vec<Option<u8>> = places.iter().map(|place| place.checked_sub(1).map(|at| text[at])).collect();
        let mut out = (places.len() as u64).to_le_bytes().to_vec();
        for base in 0..5 {
            out.extend((text.iter().filter(|other| **other < base).count() as u64).to_le_bytes());
        }
        for block in 0..places.len() / 64 + 1 {
            let start = (block * 64).min(before.len());
            for base in 0..4 {
                let count = before[..start].iter().filter(|other| **other == Some(base)).count();
                out.extend((count as u64).to_le_bytes());
            }
            for base in 0..4 {
                let bit = |i: usize| u64::from(before.get(start + i) == Some(&Some(base))) << (63 - i);
                out.extend((0..64).map(bit).sum::<u64>().to_le_bytes());
            }
        }
        let sampled = places.iter().step_by(8);
        out.extend(sampled.clone().map(|place| (place >> 32) as u8));
        out.extend(sampled.flat_map(|place| (*place as u32).to_le_bytes()));
        out.extend((places.iter().position(|place| *place == 0).unwrap() as u64).to_le_bytes());
        out
    }

    /// Long enough for several threads, with repeats.
    #[test]
    fn the_file_does_not_depend_on_threads() {
        let mut seed = 1u32;
        let mut bases: Vec<u8> = (0..200_000)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 30) as u8
            })
            .collect();
        bases.extend_from_within(50_000..120_000);
        bases.extend([3; 5_000]);
        let of = |threads| {
            let mut out = Vec::new();
            write(&bases, threads, &mut out).unwrap();
            out
        };
        let alone = of(1);
        for threads in [2, 3, 8] {
            assert!(of(threads) == alone, "{threads} threads");
        }
    }

    proptest! {
        #[test]
        fn the_file_is_that_of_naive_sorting(bases in prop::collection::vec(0u8..4, 1..300)) {
            let mut out = Vec::new();
            write(&bases, 2, &mut out).unwrap();
            prop_assert_eq!(out.len() as u64, index_bytes(bases.len() as u64));
            prop_assert_eq!(out, naive(&bases));
        }
    }
}
