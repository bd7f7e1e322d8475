//! The suffixes of a block among those behind it: the index grows by a block to the left.
//!
//! The row of a suffix of the block is its rank and its number in the block. All other rows are those of what lies
//! behind, in their order. Threads make runs of rows, each by itself: where a run begins in both is found by halving.

use super::bwt::{Bwt, LINE, Line, of_base};
use super::sort::SortedBlock;
use rayon::prelude::*;

/// Lines that a thread makes at once.
const RUN: usize = 256;

/// The bits of a line.
pub(super) type Bits = [u64; 4];

/// Puts the block into the index of what lies behind it. `bits` has room for those of all lines: what they hold makes
/// no difference.
pub(super) fn merge(behind: &mut Bwt, block: &SortedBlock<'_>, whole: usize, bits: &mut [Bits]) {
    let rows = behind.rows + block.len();
    let used = rows / LINE + 1;
    let bits = &mut bits[..used];
    bits.par_chunks_mut(RUN).enumerate().for_each(|(run, bits)| {
        let start = run * RUN * LINE;
        let end = rows.min(start + bits.len() * LINE);
        fill(behind, block, start..end, bits);
    });
    (behind.rows, behind.whole) = (rows, whole);
    behind.first = count(&mut behind.lines[..used], bits, rows, whole);
}

/// The bits of some lines, which begin with the first of these rows.
fn fill(behind: &Bwt, block: &SortedBlock<'_>, rows: std::ops::Range<usize>, lines: &mut [Bits]) {
    let start = block.count(|number| block.row(number) < rows.start);
    let end = block.count(|number| block.row(number) < rows.end);
    // All first: the processor has many of these reads under way at once.
    let mine: Vec<(usize, u8)> = (start..end).map(|number| block.ranked(number)).collect();
    let mut mine = (start..).zip(mine).map(|(number, (rank, base))| (rank + number, u64::from(base))).peekable();
    let (mut row, mut old) = (rows.start, rows.start - start);
    for line in lines {
        for word in 0..2 {
            let [mut low, mut high] = behind.bits(old);
            let end = row + 64;
            old += 64;
            while let Some((at, base)) = mine.next_if(|(at, _)| *at < end) {
                let insert = |bits: u64, bit: u64| {
                    let before = (1 << (at - row)) - 1;
                    bits & before | (bits & !before) << 1 | bit << (at - row)
                };
                (low, high) = (insert(low, base & 1), insert(high, base >> 1));
                old -= 1;
            }
            (line[word], line[2 + word]) = (low, high);
            row = end;
        }
    }
}

/// Makes lines of these bits: counts all bases; returns the first rows of each.
fn count(lines: &mut [Line], bits: &[Bits], rows: usize, whole: usize) -> [u64; 4] {
    let counts = lines.par_chunks_mut(RUN).zip(bits.par_chunks(RUN)).enumerate().map(|(run, (lines, bits))| {
        let mut counts = [0; 4];
        for (i, (line, bits)) in lines.iter_mut().zip(bits).enumerate() {
            line[..4].copy_from_slice(&counts);
            line[4..].copy_from_slice(bits);
            let others: [u64; 3] = [1, 2, 3].map(|base| u64::from(of_base(line, base).count_ones()));
            let has_whole = whole / LINE == run * RUN + i;
            counts[0] += LINE as u64 - others.iter().sum::<u64>() - u64::from(has_whole);
            counts.iter_mut().skip(1).zip(others).for_each(|(count, other)| *count += other);
        }
        counts
    });
    let mut before: Vec<[u64; 4]> = counts.collect();
    let mut sum = [0; 4];
    for counts in &mut before {
        let here = std::mem::replace(counts, sum);
        sum.iter_mut().zip(here).for_each(|(sum, here)| *sum += here);
    }
    lines.par_chunks_mut(RUN).zip(&before).for_each(|(lines, before)| {
        for line in lines {
            line.iter_mut().zip(before).for_each(|(count, before)| *count += before);
        }
    });
    // The last line is not full: what is no row there was counted as base 0.
    sum[0] = rows as u64 - 1 - sum[1] - sum[2] - sum[3];
    [1, 1 + sum[0], 1 + sum[0] + sum[1], 1 + sum[0] + sum[1] + sum[2]]
}
