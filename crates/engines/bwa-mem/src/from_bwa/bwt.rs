//! `.bwt`: which base stands before each suffix, and how many of each stand before every 128th.

use super::{beginning, damaged};
use crate::files::{BwaIndexError, unreadable};
use crate::fm::OccurrenceBlock;
use rayon::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes before the first record.
const HEADER: u64 = 40;
/// Bytes of a record, and symbols in it: for each base, how many come before it, then the symbols.
const RECORD: u64 = 64;
const SYMBOLS: u64 = 128;
/// Bytes of the sums behind all.
const SUMS: u64 = 32;
/// The most that the library and the form of its places take.
const MOST_SYMBOLS: u64 = 0x7f_ffff_fffe;
/// Blocks of ours that are made at once: an even number, for records are twice as long.
const RUN: usize = 1 << 12;

/// The file.
pub(super) struct Bwt {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// Bases of both strands; there is one row more.
    pub(super) symbols: u64,
    /// The row of the whole text. It has no symbol.
    pub(super) whole: u64,
    /// For each base, and behind all: how many symbols are less.
    pub(super) less: [u64; 5],
}

/// 64 symbols in bits, the first in the highest; how many of each base come before them.
#[derive(Clone, Copy, Default)]
struct SymbolWord {
    before: [u64; 4],
    /// The higher and the lower bit of each.
    high: u64,
    low: u64,
    /// Which there are: at the end, fewer than 64.
    there: u64,
}

impl Bwt {
    /// Looks at the header and the size.
    ///
    /// # Errors
    /// A file that cannot be read, or is no such file.
    pub(super) fn open(path: &Path) -> Result<Self, BwaIndexError> {
        let file = File::open(path).map_err(unreadable(path))?;
        let ([whole, a, c, g, symbols], bytes) = beginning(&file, path)?;
        let less = [0, a, c, g, symbols];
        let is_right = less.is_sorted() && (2..=MOST_SYMBOLS).contains(&symbols) && symbols % 2 == 0;
        if !is_right || !(1..=symbols).contains(&whole) {
            let is_old = is_of_old_bwa(&file, bytes);
            return Err(damaged(path, if is_old { "bwa 0.5 or an older one made it" } else { "its header is wrong" }));
        }
        let wanted = HEADER + 4 * symbols.div_ceil(16) + SUMS * (symbols.div_ceil(SYMBOLS) + 1);
        if bytes != wanted {
            return Err(damaged(path, format!("it has {bytes} bytes, not {wanted}")));
        }
        Ok(Bwt { path: path.to_owned(), file, bytes, symbols, whole, less })
    }

    /// The header of our index.
    pub(super) fn header(&self) -> [u64; 6] {
        let [none, a, c, g, all] = self.less;
        [self.symbols + 1, none, a, c, g, all]
    }

    /// Makes our blocks.
    ///
    /// # Errors
    /// A file that cannot be read, or whose numbers are not those of its bases.
    pub(super) fn fill(&self, blocks: &mut [OccurrenceBlock]) -> Result<(), BwaIndexError> {
        blocks.par_chunks_mut(RUN).enumerate().try_for_each(|(run, blocks)| {
            let first = run * RUN;
            // The symbol of a row behind that of the whole text stands one place further left.
            let first_record = (first / 2).saturating_sub(1);
            let words = self.words(first_record as u64, (first + blocks.len()).div_ceil(2) as u64)?;
            for (number, block) in (first..).zip(blocks) {
                let here = number - 2 * first_record;
                let before = here.checked_sub(1).map(|before| words[before]).unwrap_or_default();
                *block = self.block(64 * number as u64, before, words[here]);
            }
            Ok(())
        })
    }

    /// The block of 64 rows from `start` on, of the symbols that stand in this word of the file, and in that before it.
    fn block(&self, start: u64, before: SymbolWord, here: SymbolWord) -> OccurrenceBlock {
        // Rows before that of the whole text, and behind it.
        let (left, right) = match self.whole.checked_sub(start) {
            None => (0, u64::MAX),
            Some(row) if row < 64 => (!(u64::MAX >> row), u64::MAX >> row >> 1),
            Some(_) => (u64::MAX, 0),
        };
        let rows = |before: u64, here: u64| here & left | (here >> 1 | before << 63) & right;
        let (high, low) = (rows(before.high, here.high), rows(before.low, here.low));
        let there = rows(before.there, here.there);
        let mut counts = here.before;
        if left == 0 && before.there & 1 == 1 && right == u64::MAX {
            counts[(2 * (before.high & 1) + (before.low & 1)) as usize] -= 1;
        }
        let [a, c, g, t] = counts;
        [a, c, g, t, there & !high & !low, there & !high & low, there & high & !low, there & high & low]
    }

    /// The symbols of some records, whose numbers must be those of the symbols.
    fn words(&self, first: u64, last: u64) -> Result<Vec<SymbolWord>, BwaIndexError> {
        let end = self.symbols.div_ceil(SYMBOLS);
        let last = last.min(end);
        let records = self.records(first, last)?;
        let wrong = |number| {
            let what = format!("the sums at base {} are not those of its bases", number * SYMBOLS);
            Err(damaged(&self.path, what))
        };
        let mut words = Vec::with_capacity(2 * records.len());
        let mut expected = (first == 0).then_some([0; 4]);
        for (number, record) in (first..).zip(&records) {
            let [before @ .., _, _, _, _] = *record;
            if expected.is_some_and(|expected| expected != before) {
                return wrong(number);
            }
            let first_half = self.word(number * SYMBOLS, before, [record[4], record[5]]);
            let second_half = self.word(number * SYMBOLS + 64, first_half.behind(), [record[6], record[7]]);
            expected = Some(second_half.behind());
            words.extend([first_half, second_half]);
        }
        let is_sum = |(sum, less): (&u64, &[u64])| less[0].checked_add(*sum) == Some(less[1]);
        let sums = records.last().filter(|_| last == end);
        match sums.is_none_or(|sums| sums[..4].iter().zip(self.less.windows(2)).all(is_sum)) {
            true => Ok(words),
            false => wrong(end),
        }
    }

    /// Two numbers of 32 symbols each, from symbol `start` on.
    fn word(&self, start: u64, before: [u64; 4], packed: [u64; 2]) -> SymbolWord {
        // Each holds two numbers of 16 symbols, the first of which is the lower one.
        let [first, second] = packed.map(|symbols| symbols.rotate_left(32));
        let there = match self.symbols.saturating_sub(start) {
            0 => 0,
            count @ 1..64 => !(u64::MAX >> count),
            _ => u64::MAX,
        };
        let bits = |shift: u32| (every_second(first >> shift) << 32 | every_second(second >> shift)) & there;
        SymbolWord { before, high: bits(1), low: bits(0), there }
    }

    /// Records from `first` to `last`; behind those with symbols there is one with the sums.
    fn records(&self, first: u64, last: u64) -> Result<Vec<[u64; 8]>, BwaIndexError> {
        let is_end = last == self.symbols.div_ceil(SYMBOLS);
        let start = HEADER + first * RECORD;
        let length = if is_end { self.bytes - start } else { (last + 1 - first) * RECORD } as usize;
        let mut bytes = vec![0; ((last + 1 - first) * RECORD) as usize];
        self.file.read_exact_at(&mut bytes[..length], start).map_err(unreadable(&self.path))?;
        if is_end {
            // They follow the last symbol, wherever in a record that is.
            let sums = length - SUMS as usize..length;
            let copy = bytes[sums.clone()].to_vec();
            bytes[sums].fill(0);
            let at = ((last - first) * RECORD) as usize;
            bytes[at..at + copy.len()].copy_from_slice(&copy);
        }
        let records = bytes.as_chunks::<{ RECORD as usize }>().0.iter();
        Ok(records.map(|record| bytemuck::pod_read_unaligned(record)).collect())
    }
}

impl SymbolWord {
    /// How many of each base come before the next word.
    fn behind(&self) -> [u64; 4] {
        let SymbolWord { before: [a, c, g, t], high, low, there } = *self;
        let more = |count: u64, symbols: u64| count.wrapping_add(u64::from((symbols & there).count_ones()));
        [more(a, !high & !low), more(c, !high & low), more(g, high & !low), more(t, high & low)]
    }
}

/// The bits 0, 2, 4 to 62 of a number, side by side.
fn every_second(bits: u64) -> u64 {
    let steps = [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0f0f_0f0f_0f0f_0f0f),
        (4, 0x00ff_00ff_00ff_00ff),
        (8, 0x0000_ffff_0000_ffff),
        (16, 0x0000_0000_ffff_ffff),
    ];
    steps.iter().fold(bits & 0x5555_5555_5555_5555, |bits, (shift, mask)| (bits | bits >> shift) & mask)
}

/// Whether it has the form that bwa wrote before 0.6: all numbers in four bytes.
fn is_of_old_bwa(file: &File, bytes: u64) -> bool {
    let mut number = [0; 4];
    let symbols = file.read_exact_at(&mut number, 16).map(|()| u64::from(u32::from_le_bytes(number)));
    symbols.is_ok_and(|symbols| bytes == 20 + 4 * symbols.div_ceil(16) + 16 * (symbols.div_ceil(SYMBOLS) + 1))
}
