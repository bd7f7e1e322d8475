//! Lists of counts that grow, and bytes that are counted many at a time.

/// Adds `by` to what is counted at this place of a list.
pub(crate) fn add_at(counts: &mut Vec<u64>, at: usize, by: u64) {
    if at >= counts.len() {
        counts.resize(at + 1, 0);
    }
    counts[at] += by;
}

/// Counts one at this place of a list.
pub(crate) fn count_at(counts: &mut Vec<u64>, at: usize) {
    add_at(counts, at, 1);
}

/// Adds the counts of a list to those of another.
pub(crate) fn add_all(all: &mut Vec<u64>, more: &[u64]) {
    all.resize(all.len().max(more.len()), 0);
    all.iter_mut().zip(more).for_each(|(all, more)| *all += more);
}

/// So many are counted in a byte.
const IN_A_BYTE: usize = 128;

/// How many bytes are as they are wanted.
#[inline]
pub(crate) fn count_where(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> u64 {
    let count = |some: &[u8]| some.iter().fold(0u8, |count, &byte| count.wrapping_add(u8::from(is_wanted(byte))));
    bytes.chunks(IN_A_BYTE).map(|some| u64::from(count(some))).sum()
}

/// How many bytes of two lists that stand at the same place are as they are wanted.
#[inline]
pub(crate) fn count_of_pairs(one: &[u8], other: &[u8], are_wanted: impl Fn(u8, u8) -> bool) -> u64 {
    let count = |(one, other): (&[u8], &[u8])| {
        let pairs = one.iter().zip(other);
        u64::from(pairs.fold(0u8, |count, (&one, &other)| count.wrapping_add(u8::from(are_wanted(one, other)))))
    };
    one.chunks(IN_A_BYTE).zip(other.chunks(IN_A_BYTE)).map(count).sum()
}
