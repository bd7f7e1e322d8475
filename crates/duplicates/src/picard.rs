//! What is Picard's own (picard.sam.markduplicates.MarkDuplicates: buildSortedReadEndLists; htsjdk's
//! DuplicateScoringStrategy).

use crate::primary::Primary;
use zerohop_model::record::QC_FAIL;

/// The highest score of a record, so that the sum of two fits into 16 bits (Short.MAX_VALUE / 2).
const HIGHEST: u64 = 16383;
/// What a record that failed the filters loses (Short.MIN_VALUE / 2).
const FAILED: i64 = 16384;

/// How good a record is.
pub(crate) fn score(primary: &Primary) -> i64 {
    let failed = if primary.has(QC_FAIL) { FAILED } else { 0 };
    primary.qualities.min(HIGHEST) as i64 - failed
}

/// Where a read began, with what was clipped.
pub(crate) fn begin(primary: &Primary) -> i64 {
    if primary.is_reverse() { primary.end_of_picard } else { primary.start }
}

/// Whether a record is the first end of its pair: the one that began at the lesser place; of equal places, the one that
/// comes first in the output.
pub(crate) fn is_first_end(this: &Primary, mate: &Primary) -> bool {
    let place = |end: &Primary| (end.contig, begin(end), end.order, end.record);
    place(this) <= place(mate)
}

/// How a pair lies: strands of its first and its second end. Where both began at one place, these are not told apart by
/// strand.
pub(crate) fn orientation(first: &Primary, second: &Primary) -> u8 {
    match (first.is_reverse(), second.is_reverse()) {
        (true, false) if (first.contig, begin(first)) == (second.contig, begin(second)) => 1,
        (first, second) => u8::from(first) << 1 | u8::from(second),
    }
}
