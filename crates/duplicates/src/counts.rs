//! How many records were looked at, and found to be duplicates.

use crate::template::Dropped;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;
use zerohop_umi::{FamilySizes, GroupingCounts};

/// The records of one library.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryCounts {
    /// Records that were looked at, and whose mate is mapped, too.
    pub paired: u64,
    /// Others that were looked at.
    pub single: u64,
    /// Mapped secondary and supplementary records.
    pub secondary_or_supplementary: u64,
    /// Unmapped records.
    pub unmapped: u64,
    /// Primary records with the barcode of a molecule.
    #[serde(default)]
    pub barcoded: u64,
    /// Pairs of which one mate has a barcode, and the other has none.
    #[serde(default)]
    pub barcoded_alone: u64,
    /// Reads whose templates were grouped by their UMIs.
    #[serde(default)]
    pub grouped: u64,
    /// Reads whose templates were not: they have no UMI, ...
    #[serde(default)]
    pub without_umi: u64,
    /// ... a read failed the filters of the sequencer, ...
    #[serde(default)]
    pub not_passing_filter: u64,
    /// ... none is mapped, or one of a low mapping quality, ...
    #[serde(default)]
    pub poor_alignment: u64,
    /// ... a base of the UMI was not called, ...
    #[serde(default)]
    pub no_calls: u64,
    /// ... or it has too few.
    #[serde(default)]
    pub too_short: u64,
    /// Duplicates among the first.
    pub paired_duplicates: u64,
    /// Duplicates among the others.
    pub single_duplicates: u64,
    /// Pairs that are optical duplicates.
    pub optical_pairs: u64,
}

/// Bytes of the counts of a library, as they travel with a chunk.
const STORED: usize = 2 + COUNTED * 4;
/// Counts of a library that are known of a chunk before anything is decided.
const COUNTED: usize = 12;

impl LibraryCounts {
    /// What is known before anything is decided.
    fn counted(&self) -> [u64; COUNTED] {
        [
            self.paired,
            self.single,
            self.secondary_or_supplementary,
            self.unmapped,
            self.barcoded,
            self.barcoded_alone,
            self.grouped,
            self.without_umi,
            self.not_passing_filter,
            self.poor_alignment,
            self.no_calls,
            self.too_short,
        ]
    }

    /// The same from [`LibraryCounts::counted`].
    fn of_counted(counted: [u64; COUNTED]) -> Self {
        let [paired, single, secondary_or_supplementary, unmapped, barcoded, barcoded_alone, of_umis @ ..] = counted;
        let [grouped, without_umi, not_passing_filter, poor_alignment, no_calls, too_short] = of_umis;
        LibraryCounts {
            paired,
            single,
            secondary_or_supplementary,
            unmapped,
            barcoded,
            barcoded_alone,
            grouped,
            without_umi,
            not_passing_filter,
            poor_alignment,
            no_calls,
            too_short,
            ..LibraryCounts::default()
        }
    }

    /// Counts so many reads whose template was not grouped.
    pub(crate) fn dropped(&mut self, why: Dropped, reads: u64) {
        *match why {
            Dropped::WithoutUmi => &mut self.without_umi,
            Dropped::NotPassingFilter => &mut self.not_passing_filter,
            Dropped::PoorAlignment => &mut self.poor_alignment,
            Dropped::NoCall => &mut self.no_calls,
            Dropped::TooShort => &mut self.too_short,
        } += reads;
    }
}

impl AddAssign for LibraryCounts {
    fn add_assign(&mut self, other: Self) {
        self.paired += other.paired;
        self.single += other.single;
        self.secondary_or_supplementary += other.secondary_or_supplementary;
        self.unmapped += other.unmapped;
        self.barcoded += other.barcoded;
        self.barcoded_alone += other.barcoded_alone;
        self.grouped += other.grouped;
        self.without_umi += other.without_umi;
        self.not_passing_filter += other.not_passing_filter;
        self.poor_alignment += other.poor_alignment;
        self.no_calls += other.no_calls;
        self.too_short += other.too_short;
        self.paired_duplicates += other.paired_duplicates;
        self.single_duplicates += other.single_duplicates;
        self.optical_pairs += other.optical_pairs;
    }
}

/// How many sets of pairs have one size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sets {
    /// That many pairs are duplicates of each other, that which stays with them.
    pub all: u64,
    /// That many are optical duplicates, and one more.
    pub optical: u64,
    /// That many are not optical duplicates.
    pub non_optical: u64,
}

/// What was counted while duplicates were looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// For each library, by its number.
    pub libraries: Vec<LibraryCounts>,
    /// Sets of duplicates, by their size in pairs.
    pub sets: BTreeMap<u64, Sets>,
    /// Families of templates with UMIs, by their size.
    #[serde(default)]
    pub families: FamilySizes,
}

impl Counts {
    pub(crate) fn library(&mut self, number: u16) -> &mut LibraryCounts {
        let number = usize::from(number);
        if self.libraries.len() <= number {
            self.libraries.resize(number + 1, LibraryCounts::default());
        }
        &mut self.libraries[number]
    }

    /// Adds a set of so many pairs, of which so many are optical duplicates.
    pub(crate) fn add_set(&mut self, pairs: u64, optical: u64) {
        self.sets.entry(pairs).or_default().all += 1;
        self.sets.entry(pairs - optical).or_default().non_optical += 1;
        if optical > 0 {
            self.sets.entry(optical + 1).or_default().optical += 1;
        }
    }

    /// What became of reads with UMIs, as fgbio counts it.
    pub fn grouping(&self) -> GroupingCounts {
        let LibraryCounts { grouped, not_passing_filter, poor_alignment, no_calls, too_short, .. } = self.total();
        GroupingCounts { accepted: grouped, not_passing_filter, poor_alignment, no_calls, too_short }
    }

    /// The sums over all libraries.
    pub fn total(&self) -> LibraryCounts {
        let mut total = LibraryCounts::default();
        self.libraries.iter().for_each(|library| total += *library);
        total
    }

    /// Appends what is known of a chunk before anything is decided: what [`Counts::add_stored`] adds.
    pub(crate) fn store(&self, out: &mut Vec<u8>) {
        for (number, counts) in (0u16..).zip(&self.libraries) {
            out.extend_from_slice(&number.to_le_bytes());
            for count in counts.counted() {
                out.extend_from_slice(&(count as u32).to_le_bytes());
            }
        }
    }

    /// Adds what [`Counts::store`] wrote.
    pub(crate) fn add_stored(&mut self, stored: &[u8]) {
        for stored in stored.as_chunks::<STORED>().0 {
            let count = |at: usize| u64::from(u32::from_le_bytes([0, 1, 2, 3].map(|byte| stored[2 + 4 * at + byte])));
            *self.library(u16::from_le_bytes([stored[0], stored[1]])) +=
                LibraryCounts::of_counted(std::array::from_fn(count));
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        for (number, counts) in (0u16..).zip(other.libraries) {
            *self.library(number) += counts;
        }
        for (size, sets) in other.sets {
            let own = self.sets.entry(size).or_default();
            own.all += sets.all;
            own.optical += sets.optical;
            own.non_optical += sets.non_optical;
        }
        self.families += &other.families;
    }
}
