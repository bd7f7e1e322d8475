//! Reads of adapters (picard.analysis.AdapterUtility).

use crate::record::{NO_CALL, Record};
use crate::reference::code_of;
use std::sync::LazyLock;

/// Bases of a read that are looked for in adapters, and how many may differ.
const ADAPTER_BASES: usize = 16;
const ADAPTER_ERRORS: usize = 1;
/// Illumina's adapters for single reads, pairs, and reads with an index (picard.util.IlluminaUtil).
const ADAPTERS: [&str; 4] = [
    "AATGATACGGCGACCACCGAGATCTACACTCTTTCCCTACACGACGCTCTTCCGATCT",
    "AGATCGGAAGAGCTCGTATGCCGTCTTCTGCTTG",
    "AGATCGGAAGAGCGGTTCAGCAGGAATGCCGAGACCGATCTCGTATGCCGTCTTCTGCTTG",
    "AGATCGGAAGAGCACACGTCTGAACTCCAGTCACNNNNNNNNATCTCGTATGCCGTCTTCTGCTTG",
];

/// Pieces of adapters and their reverse complements, as BAM codes bases: [`ADAPTER_BASES`] in a number, 4 bits each.
struct Pieces {
    all: Vec<u64>,
    /// Their first halves, and their second ones, ascending: with one error, one of both is as it should be.
    halves: [Vec<u32>; 2],
}

static ADAPTER_PIECES: LazyLock<Pieces> = LazyLock::new(|| {
    let mut all = Vec::new();
    for adapter in ADAPTERS {
        let codes: Vec<u8> = adapter.bytes().map(code_of).collect();
        for piece in codes.windows(ADAPTER_BASES) {
            if piece.iter().filter(|code| **code == NO_CALL).count() <= ADAPTER_ERRORS {
                all.push(number(piece.iter().copied()));
                all.push(number(piece.iter().rev().map(|code| complement(*code))));
            }
        }
    }
    let halves = [0, 1].map(|half| {
        let mut halves: Vec<u32> = all.iter().map(|piece| self::halves(*piece)[half]).collect();
        halves.sort_unstable();
        halves.dedup();
        halves
    });
    Pieces { all, halves }
});

/// The number of a piece.
fn number(codes: impl Iterator<Item = u8>) -> u64 {
    codes.fold(0, |number, code| number << 4 | u64::from(code))
}

fn halves(piece: u64) -> [u32; 2] {
    [(piece >> 32) as u32, piece as u32]
}

/// The complement of a base as BAM codes it: its bits in the other order.
fn complement(code: u8) -> u8 {
    code.reverse_bits() >> 4
}

/// Whether a read that is not mapped, or with a mapping quality of 0, begins with a piece of an adapter.
pub(super) fn is_adapter(record: &Record<'_>, codes: &[u8]) -> bool {
    let flags = record.flags;
    if flags.is_mapped() && record.mapq > 0 || record.bases < ADAPTER_BASES {
        return false;
    }
    let is_turned = flags.is_mapped() && flags.is_reverse();
    let begin = match is_turned {
        true => number(codes.iter().rev().take(ADAPTER_BASES).map(|code| complement(*code))),
        false => number(codes.iter().take(ADAPTER_BASES).copied()),
    };
    is_piece(begin)
}

/// Whether it is a piece of an adapter, with [`ADAPTER_ERRORS`] at most.
fn is_piece(begin: u64) -> bool {
    let Pieces { all, halves } = &*ADAPTER_PIECES;
    let has_half =
        || halves.iter().zip(self::halves(begin)).any(|(of_pieces, half)| of_pieces.binary_search(&half).is_ok());
    has_half() && all.iter().any(|piece| errors(begin, *piece) <= ADAPTER_ERRORS)
}

/// How many bases of two pieces differ.
fn errors(one: u64, other: u64) -> usize {
    (0..ADAPTER_BASES).filter(|at| (one ^ other) >> (4 * at) & 15 != 0).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_those_of_a_look_at_all(
            piece in any::<prop::sample::Index>(),
            errors in prop::collection::vec((0..16, 0..16u64), 0..4),
            other in any::<u64>(),
        ) {
            let all = &ADAPTER_PIECES.all;
            let naive = |begin: u64| all.iter().any(|piece| super::errors(begin, *piece) <= ADAPTER_ERRORS);
            let piece = *piece.get(all);
            let wrong = errors.iter().fold(piece, |piece, (at, by)| piece ^ by << (4 * at));
            for begin in [piece, wrong, other] {
                prop_assert_eq!(is_piece(begin), naive(begin));
            }
            prop_assert!(is_piece(piece) && (errors.len() > 1 || is_piece(wrong)));
        }
    }

    #[test]
    fn numbers_have_the_first_base_first() {
        assert_eq!(number([1, 2, 4, 8].into_iter()), 0x1248);
        assert_eq!(errors(0x1248, 0x1241), 1);
        assert_eq!((errors(0x1248, 0x1248), errors(0xf248 << 48, 0x1244 << 48)), (0, 2));
    }
}
