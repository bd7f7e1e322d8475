//! Values that are put into buckets by many at once, so that each bucket can be sorted by itself.
//!
//! All take a share of the values. Each counts how many of its share go to each bucket, gets a piece of each bucket of
//! that length, and puts them there.

use std::mem::take;
use std::slice::IterMut;

/// How many values of each share go to each bucket: `counts[share][bucket]`. Each share has as many buckets.
pub type Counts = Vec<Vec<usize>>;

/// The pieces of `values`, in which the buckets lie one behind the other: `pieces[share][bucket]`. There are as many
/// values as `counts` says.
///
/// ```
/// use zerohop_model::buckets::{cut, pieces};
///
/// let (odd, even) = (0, 1);
/// let counts = vec![vec![2, 1], vec![0, 2]];
/// let mut values = [0; 5];
/// let mut pieces = pieces(&mut values, &counts);
/// *pieces[1][even].next().unwrap() = 6;
/// *pieces[1][even].next().unwrap() = 4;
/// *pieces[0][odd].next().unwrap() = 3;
/// *pieces[0][odd].next().unwrap() = 7;
/// *pieces[0][even].next().unwrap() = 8;
/// assert_eq!(cut(&mut values, &counts), [&mut [3, 7][..], &mut [8, 6, 4]]);
/// ```
pub fn pieces<'v, T>(values: &'v mut [T], counts: &Counts) -> Vec<Vec<IterMut<'v, T>>> {
    let buckets = counts.first().map_or(0, Vec::len);
    let mut pieces: Vec<Vec<_>> = counts.iter().map(|_| Vec::with_capacity(buckets)).collect();
    let mut rest = values;
    for bucket in 0..buckets {
        for (counts, pieces) in counts.iter().zip(&mut pieces) {
            let (piece, behind) = take(&mut rest).split_at_mut(counts[bucket]);
            pieces.push(piece.iter_mut());
            rest = behind;
        }
    }
    pieces
}

/// The buckets.
pub fn cut<'v, T>(values: &'v mut [T], counts: &Counts) -> Vec<&'v mut [T]> {
    let mut rest = values;
    let buckets = 0..counts.first().map_or(0, Vec::len);
    let lengths = buckets.map(|bucket| counts.iter().map(|counts| counts[bucket]).sum());
    let cut = lengths.map(|length: usize| {
        let (bucket, behind) = take(&mut rest).split_at_mut(length);
        rest = behind;
        bucket
    });
    cut.collect()
}
