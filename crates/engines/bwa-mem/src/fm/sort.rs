//! The order of the suffixes that begin in a block, among themselves.
//!
//! Sorting the block alone is not enough: a comparison may come to the block's end, and go on behind it. Of two
//! suffixes the one that begins further right comes to the end first; from there on the suffix behind the block, R, is
//! compared with a suffix that begins in the block, X. Which of both is less is known: X is greater if its rank is
//! above that of R. So the base before each X is marked by whether X is greater, and the last base of the block, which
//! stands before R, gets a number between both marks. Only that base's kind needs marks:
//!
//! | base | number |
//! |---|---|
//! | less than the last one of the block | the base |
//! | as the last one, X is less | the base |
//! | the last one itself | one more |
//! | as the last one, X is greater | two more |
//! | greater than the last one | two more |
//!
//! The last number stands nowhere else: no comparison of numbers goes beyond it. And numbers have the order of what
//! they stand for, since suffixes that begin with the same base have the order of what follows it.
//! This is the way of Karkkainen, Kempa and Puglisi (pSAscan, 2015); the marks come from the ranks, here.

use super::ranks::{Ranked, unpack};
use libsais::{SuffixArrayConstruction, ThreadCount};
use rayon::prelude::*;
use std::io;

/// The suffixes that begin in a block, in their order.
pub(super) struct SortedBlock<'b> {
    /// Where each begins, from the start of the block on.
    pub(super) places: &'b [i32],
    /// Of the suffix that begins at each place.
    pub(super) ranks: &'b [Ranked],
}

/// Sorts a block with these ranks, `rank` being that of what lies behind it and `last` its last base. `numbers` and
/// `places` are as long as the block; what they hold is of no matter.
///
/// # Errors
/// No memory.
pub(super) fn sort<'b>(
    ranks: &'b [Ranked],
    (rank, last): (usize, u8),
    numbers: &mut [u8],
    places: &'b mut [i32],
    threads: ThreadCount,
) -> io::Result<SortedBlock<'b>> {
    numbers.par_iter_mut().zip(ranks.par_iter().skip(1)).for_each(|(number, next)| {
        let (next, base) = unpack(*next);
        let is_greater = base > last || base == last && next > rank;
        *number = base + 2 * u8::from(is_greater);
    });
    if let Some(number) = numbers.last_mut() {
        *number = last + 1;
    }
    let sort = SuffixArrayConstruction::for_text(numbers);
    sort.in_borrowed_buffer(&mut *places).multi_threaded(threads).run().map_err(failed)?;
    Ok(SortedBlock { places, ranks })
}

pub(super) fn failed(error: libsais::LibsaisError) -> io::Error {
    io::Error::other(format!("the suffixes cannot be sorted: {error:?}"))
}

impl SortedBlock<'_> {
    /// The rank of a suffix of the block, and the base before it.
    #[inline(always)]
    pub(super) fn ranked(&self, number: usize) -> (usize, u8) {
        unpack(self.ranks[self.places[number] as usize])
    }

    /// The row of a suffix of the block among those of the block and of what lies behind it.
    pub(super) fn row(&self, number: usize) -> usize {
        self.ranked(number).0 + number
    }

    /// How many of the first suffixes of the block are as `is_before` says of their number.
    pub(super) fn count(&self, is_before: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (0, self.places.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }
}
