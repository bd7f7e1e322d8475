//! How alike reads are to the reference, and how much of it they cover.

use crate::alignment::Aligned;
use crate::record::TagValue;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The field with the edits of a record.
const EDITS: [u8; 2] = *b"NM";

/// What alignments that are not secondary cover, where the engine says how many edits they have (NM).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignedBases {
    /// Bases of the reference.
    pub reference: u64,
    /// Columns: bases that lie on another one, and those that are inserted or deleted.
    pub columns: u64,
    /// Columns that differ (NM).
    pub edits: u64,
}

impl AlignedBases {
    /// Counts an alignment, if it has NM.
    pub(crate) fn add(&mut self, aligned: &Aligned<'_>) {
        let edits = aligned.tags().find_map(|tag| match (tag.key, tag.value) {
            (EDITS, TagValue::Int(edits)) => Some(edits),
            _ => None,
        });
        let Some(edits) = edits.and_then(|edits| u64::try_from(edits).ok()) else { return };
        self.edits += edits;
        for op in aligned.cigar {
            let bases = u64::from(op.length());
            match op.letter() {
                b'M' | b'=' | b'X' | b'D' => {
                    (self.columns, self.reference) = (self.columns + bases, self.reference + bases)
                }
                b'I' => self.columns += bases,
                _ => {}
            }
        }
    }

    /// Columns that do not differ, in percent; none of no column.
    pub fn identity(&self) -> Option<f64> {
        (self.columns > 0).then(|| 100.0 * (1.0 - self.edits as f64 / self.columns as f64))
    }
}

impl AddAssign for AlignedBases {
    fn add_assign(&mut self, more: AlignedBases) {
        self.reference += more.reference;
        self.columns += more.columns;
        self.edits += more.edits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alignment::{Alignment, Alignments};
    use crate::record::{CigarOp, Tag};

    #[test]
    fn columns_are_those_of_bases_and_gaps_and_count_where_edits_are_told() {
        let cigar = [(5, b'S'), (10, b'M'), (2, b'I'), (3, b'D'), (100, b'N'), (5, b'='), (1, b'H')];
        let cigar = cigar.map(|(length, letter)| CigarOp::new(length, letter).unwrap());
        let mut out = Alignments::default();
        let edits = Tag { key: *b"NM", value: TagValue::Int(6) };
        out.push(Alignment::default(), cigar, [edits]);
        out.push(Alignment::default(), cigar, []);
        out.end_fragment();
        let mut all = AlignedBases::default();
        out.fragment(0).for_each(|aligned| all.add(&aligned));
        assert_eq!(all, AlignedBases { reference: 18, columns: 20, edits: 6 });
        assert_eq!((all.identity(), AlignedBases::default().identity()), (Some(70.0), None));
    }
}
