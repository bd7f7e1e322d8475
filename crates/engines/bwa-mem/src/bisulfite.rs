//! What bwameth.py 0.2.9 does with records of bisulfite reads and the library does not.

use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::record::{CigarOp, FIRST, LAST};

/// A read is chimeric if its longest match is less than so many percent of it (`handle_reads` of bwameth.py).
const LEAST_MATCH_PERCENT: u64 = 44;
/// The highest mapping quality of a chimeric read.
pub(crate) const MAPQ_OF_CHIMERIC: u8 = 1;

/// Whether an alignment with this CIGAR is of a chimeric read, clipped bases counted.
pub(crate) fn is_chimeric(cigar: impl Iterator<Item = CigarOp>) -> bool {
    let (mut longest, mut bases) = (0, 0);
    for op in cigar {
        let length = u64::from(op.length());
        if op.letter() == b'M' {
            longest = longest.max(length);
        }
        if op.consumes_query() || op.is_hard_clip() {
            bases += length;
        }
    }
    100 * longest < LEAST_MATCH_PERCENT * bases
}

/// Moves the records of a pair whose mates were exchanged before it was aligned to `out`, with the mates as they are in
/// the input.
pub(crate) fn exchange(of_pair: &mut Alignments, out: &mut Alignments) {
    for mate in [1, 0] {
        for found in of_pair.fragment(0).filter(|found| found.alignment.mate == mate) {
            let alignment =
                Alignment { mate: 1 - mate, flags: found.alignment.flags ^ (FIRST | LAST), ..found.alignment };
            out.push(alignment, found.cigar.iter().copied(), found.tags());
        }
    }
    out.end_fragment();
    of_pair.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_chimeric_if_its_longest_match_is_short() {
        for (cigar, wanted) in [
            (&[(44, b'M'), (56, b'S')][..], false),
            (&[(43, b'M'), (57, b'S')], true),
            (&[(40, b'M'), (1, b'I'), (40, b'M'), (19, b'H')], true),
            (&[(40, b'M'), (100, b'D'), (40, b'M')], false),
            (&[(100, b'M')], false),
        ] {
            let ops = cigar.iter().map(|(length, letter)| CigarOp::new(*length, *letter).unwrap());
            assert_eq!(is_chimeric(ops), wanted, "{cigar:?}");
        }
    }
}
