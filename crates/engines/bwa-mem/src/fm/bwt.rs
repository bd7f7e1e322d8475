//! Which base stands before each suffix of a text, the suffixes in their order (Burrows and Wheeler 1994), and how many
//! of each base stand before the suffixes of earlier rows (Ferragina and Manzini 2000).

use zerohop_memory::prefetch;

/// 128 rows: how many of each base stand before the suffixes of all earlier rows; then the low bits of the bases that
/// stand before theirs, then the high bits, the first row in the lowest bit. 64 bytes: a step of a walk waits for one
/// line of the cache.
pub(super) type Line = [u64; 8];
/// Rows of a line.
pub(super) const LINE: usize = 128;

/// The suffixes of a text, the empty one first, each by what stands before it.
#[derive(Debug)]
pub(super) struct Bwt {
    /// Some lines behind those of the rows are there as well, with zeros.
    pub(super) lines: Vec<Line>,
    pub(super) rows: usize,
    /// The row of the whole text. Nothing stands before it: its bits are 0, and no count has it.
    pub(super) whole: usize,
    /// The first row of the suffixes that begin with each base.
    pub(super) first: [u64; 4],
}

impl Bwt {
    /// Of the text without bases. Room for so many rows.
    pub(super) fn empty(rows: usize) -> Self {
        Bwt { lines: vec![[0; 8]; lines(rows)], rows: 1, whole: 0, first: [1; 4] }
    }

    /// How many suffixes are less than this base followed by the suffix of `row`, or by what would stand there.
    #[inline(always)]
    pub(super) fn step(&self, base: u8, row: usize) -> usize {
        (self.first[usize::from(base & 3)] + self.count(base, row)) as usize
    }

    /// Before how many suffixes of the rows before `row` this base stands.
    #[inline(always)]
    pub(super) fn count(&self, base: u8, row: usize) -> u64 {
        let (line, rest) = (&self.lines[row / LINE], row % LINE);
        let earlier = of_base(line, base) & ((1u128 << rest) - 1);
        // Its bits look like those of base 0.
        let whole = base == 0 && self.whole.wrapping_sub(row - rest) < rest;
        line[usize::from(base & 3)] + u64::from(earlier.count_ones()) - u64::from(whole)
    }

    /// Has the line of `row` come into the cache. Without it, making an index takes a third more time.
    #[inline(always)]
    pub(super) fn look(&self, row: usize) {
        prefetch(&self.lines, row / LINE);
    }

    /// The base before the suffix of `row`.
    #[inline(always)]
    pub(super) fn base(&self, row: usize) -> u8 {
        let (line, bit) = (&self.lines[row / LINE], row % LINE);
        let (word, bit) = (bit / 64, bit % 64);
        ((line[4 + word] >> bit) & 1 | ((line[6 + word] >> bit) & 1) << 1) as u8
    }

    /// 64 rows from `row` on: low and high bits.
    #[inline(always)]
    pub(super) fn bits(&self, row: usize) -> [u64; 2] {
        let (word, shift) = (row / 64, row % 64);
        let (line, next) = (&self.lines[word / 2], &self.lines[word.div_ceil(2)]);
        let (at, after) = (word % 2, (word + 1) % 2);
        // Two shifts: one by 64 would be none.
        let join = |low: u64, high: u64| low >> shift | (high << 1) << (63 - shift);
        [join(line[4 + at], next[4 + after]), join(line[6 + at], next[6 + after])]
    }

    /// Says what stands before the whole text, now that the text goes on to the left.
    pub(super) fn precede(&mut self, base: u8) {
        let (line, bit) = (&mut self.lines[self.whole / LINE], self.whole % LINE);
        line[4 + bit / 64] |= u64::from(base & 1) << (bit % 64);
        line[6 + bit / 64] |= u64::from(base >> 1) << (bit % 64);
    }
}

/// Lines for so many rows, and for what is read behind them.
pub(super) fn lines(rows: usize) -> usize {
    rows / LINE + 4
}

/// Which rows of a line have this base.
#[inline(always)]
pub(super) fn of_base(line: &Line, base: u8) -> u128 {
    let whole = |low: u64, high: u64| u128::from(low) | u128::from(high) << 64;
    // All ones where the bit is 0: that turns the other rows' bits into zeros.
    let flip = |bit: u8| u128::from(bit & 1).wrapping_sub(1);
    (whole(line[4], line[5]) ^ flip(base)) & (whole(line[6], line[7]) ^ flip(base >> 1))
}
