//! What is samtools' own (bam_markdup.c: make_pair_key, has_mate, calc_score; bam_mate.c: sync_mate).

use crate::primary::Primary;
use zerohop_model::record::FIRST;

/// Where a read began, with what was clipped.
pub(crate) fn begin(primary: &Primary) -> i64 {
    if primary.is_reverse() { primary.end } else { primary.start }
}

/// How the mates of a pair lie to each other. The first letter is that of the left one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orientation {
    ForwardForward = 2,
    ReverseReverse = 3,
    ForwardReverse = 5,
    ReverseForward = 7,
}

/// The place of a pair, as the key of one of its mates has it.
pub(crate) struct PairPlace {
    pub(crate) this_at: i64,
    pub(crate) mate_at: i64,
    pub(crate) is_left: bool,
    pub(crate) orientation: Orientation,
}

impl PairPlace {
    pub(crate) fn of(this: &Primary, mate: &Primary) -> Self {
        use Orientation::{ForwardForward, ForwardReverse, ReverseForward, ReverseReverse};
        let (is_reverse, same_strand) = (this.is_reverse(), this.is_reverse() == mate.is_reverse());
        let is_left = match (this.contig == mate.contig, same_strand, is_reverse) {
            (false, ..) => this.contig < mate.contig,
            (_, true, false) => this.start <= mate.start,
            (_, true, true) => this.end <= mate.end_as_mate,
            (_, false, true) => this.end <= mate.start,
            (_, false, false) => this.start <= mate.end_as_mate,
        };
        if same_strand {
            // As one sees it from the first mate.
            let forward = is_reverse != this.has(FIRST);
            let orientation = if forward == is_left { ForwardForward } else { ReverseReverse };
            let (this_at, mate_at) = if is_left { (this.start, mate.end_as_mate) } else { (this.end, mate.start) };
            return PairPlace { this_at, mate_at, is_left, orientation };
        }
        let (this_at, mate_at) = if is_reverse { (this.end, mate.start) } else { (this.start, mate.end_as_mate) };
        let orientation = if is_reverse == is_left { ReverseForward } else { ForwardReverse };
        PairPlace { this_at, mate_at, is_left, orientation }
    }
}

/// Whether this record's signature is the one that stands for the pair where pairs are counted: each mate has one. It
/// is that of the left mate; of the first one where both are left, or none.
pub(crate) fn stands_for_pair(this: &Primary, mate: &Primary) -> bool {
    match (PairPlace::of(this, mate).is_left, PairPlace::of(mate, this).is_left) {
        (this_is_left, mate_is_left) if this_is_left != mate_is_left => this_is_left,
        _ => this.has(FIRST),
    }
}
