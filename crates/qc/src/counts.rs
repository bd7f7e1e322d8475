//! Lists of counts that grow.

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
