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

/// Pieces of adapters and their reverse complements, as BAM codes bases.
static ADAPTER_PIECES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut pieces = Vec::new();
    for adapter in ADAPTERS {
        let codes: Vec<u8> = adapter.bytes().map(code_of).collect();
        for piece in codes.windows(ADAPTER_BASES) {
            if piece.iter().filter(|code| **code == NO_CALL).count() <= ADAPTER_ERRORS {
                pieces.push(piece.to_vec());
                pieces.push(piece.iter().rev().map(|code| complement(*code)).collect());
            }
        }
    }
    pieces.sort_unstable();
    pieces.dedup();
    pieces
});

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
    let begin: [u8; ADAPTER_BASES] = std::array::from_fn(|at| match is_turned {
        true => complement(codes[codes.len() - 1 - at]),
        false => codes[at],
    });
    let is_piece = |piece: &Vec<u8>| {
        begin.iter().zip(piece).filter(|(base, other)| base != other).take(ADAPTER_ERRORS + 1).count() <= ADAPTER_ERRORS
    };
    ADAPTER_PIECES.iter().any(is_piece)
}
