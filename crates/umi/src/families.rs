//! How many templates molecules have, and what was dropped before they were grouped: the two tables of
//! `fgbio GroupReadsByUmi` (options -f and -g; `TagFamilySizeMetric` and `UmiGroupingMetric`).

use crate::grouper::{Assignment, Strand};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::AddAssign;

/// How many families have which size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilySizes(BTreeMap<u64, u64>);

impl FamilySizes {
    /// Adds the families of one place. The strands of a molecule are families of their own, as in fgbio.
    pub fn add_place(&mut self, assignments: &[Assignment]) {
        let Some(last) = assignments.iter().map(|assignment| assignment.molecule).max() else { return };
        let mut sizes = vec![[0u64; 2]; last as usize + 1];
        for Assignment { molecule, strand } in assignments {
            sizes[*molecule as usize][usize::from(*strand == Some(Strand::B))] += 1;
        }
        sizes.iter().flatten().filter(|size| **size > 0).for_each(|size| self.add(*size, 1));
    }

    /// The sizes in templates that families have, and how many have each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(size, families)| (*size, *families))
    }

    /// The text that fgbio writes.
    pub fn text(&self) -> String {
        let total = self.0.values().sum::<u64>() as f64;
        let fractions: Vec<f64> = self.0.values().map(|families| *families as f64 / total).collect();
        let mut text = "family_size\tcount\tfraction\tfraction_gt_or_eq_family_size\n".to_owned();
        for (at, (size, families)) in self.iter().enumerate() {
            // Added anew for each size, from it upwards: the last digit depends on the order.
            let at_least: f64 = fractions[at..].iter().sum();
            let (fraction, at_least) = (decimal(fractions[at]), decimal(at_least));
            let _ = writeln!(text, "{size}\t{families}\t{fraction}\t{at_least}");
        }
        text
    }

    fn add(&mut self, size: u64, families: u64) {
        *self.0.entry(size).or_default() += families;
    }
}

impl AddAssign<&FamilySizes> for FamilySizes {
    fn add_assign(&mut self, other: &Self) {
        other.iter().for_each(|(size, families)| self.add(size, families));
    }
}

/// A number as fgbio's tables have it (util/Metric.scala, `formatValue`: Java's formats `0.######` and, below 0.00001,
/// `0.#####E0`). What lies in the middle becomes even.
fn decimal(value: f64) -> String {
    let trimmed = |digits: &str| digits.trim_end_matches('0').trim_end_matches('.').to_owned();
    if value == 0.0 || value >= 0.00001 {
        return trimmed(&format!("{value:.6}"));
    }
    let text = format!("{value:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}E{exponent}", trimmed(digits))
}

/// How many primary records were grouped, and how many were dropped. Each is counted for the first reason that it has,
/// in the order of the fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupingCounts {
    /// Records whose templates were grouped.
    pub accepted: u64,
    /// Records with the flag for failed quality checks.
    pub not_passing_filter: u64,
    /// Records that are unmapped, as their mates are, or one of which has a low mapping quality.
    pub poor_alignment: u64,
    /// Records whose UMI has a base that was not called ([`crate::has_no_call`]).
    pub no_calls: u64,
    /// Records whose UMI has fewer bases than was asked for ([`crate::Rules::is_too_short`]).
    pub too_short: u64,
}

impl GroupingCounts {
    /// The text that fgbio writes.
    pub fn text(&self) -> String {
        let GroupingCounts { accepted, not_passing_filter, poor_alignment, no_calls, too_short } = self;
        format!(
            "accepted_sam_records\tdiscarded_non_pf\tdiscarded_poor_alignment\tdiscarded_ns_in_umi\t\
             discarded_umis_to_short\n{accepted}\t{not_passing_filter}\t{poor_alignment}\t{no_calls}\t{too_short}\n"
        )
    }
}

impl AddAssign for GroupingCounts {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.not_passing_filter += other.not_passing_filter;
        self.poor_alignment += other.poor_alignment;
        self.no_calls += other.no_calls;
        self.too_short += other.too_short;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(families: &[(u64, u64)]) -> FamilySizes {
        FamilySizes(families.iter().copied().collect())
    }

    #[test]
    fn numbers_are_java_s() {
        let numbers = [0.0, 1.0, 0.5, 1.0 / 3.0, 2.0 / 3.0, 0.00001, 9.99999e-6, 1e-6, 1.0 / 300_001.0];
        assert_eq!(
            numbers.map(decimal),
            ["0", "1", "0.5", "0.333333", "0.666667", "0.00001", "9.99999E-6", "1E-6", "3.33332E-6"]
        );
        // Middles become even.
        assert_eq!([1.0 / 128.0, 3.0 / 128.0].map(decimal), ["0.007812", "0.023438"]);
    }

    #[test]
    fn the_table_is_fgbio_s() {
        assert_eq!(
            sizes(&[(1, 5), (2, 2), (7, 1)]).text(),
            "family_size\tcount\tfraction\tfraction_gt_or_eq_family_size\n\
             1\t5\t0.625\t1\n\
             2\t2\t0.25\t0.375\n\
             7\t1\t0.125\t0.125\n"
        );
        assert_eq!(FamilySizes::default().text(), "family_size\tcount\tfraction\tfraction_gt_or_eq_family_size\n");
    }

    #[test]
    fn strands_are_families() {
        let of = |molecule, strand| Assignment { molecule, strand };
        let mut all = FamilySizes::default();
        all.add_place(&[of(0, None), of(1, None), of(0, None)]);
        all.add_place(&[
            of(0, Some(Strand::A)),
            of(0, Some(Strand::B)),
            of(0, Some(Strand::A)),
            of(1, Some(Strand::B)),
        ]);
        all.add_place(&[]);
        assert_eq!(all, sizes(&[(1, 3), (2, 2)]));
        let mut twice = all.clone();
        twice += &all;
        assert_eq!(twice.iter().collect::<Vec<_>>(), [(1, 6), (2, 4)]);
    }

    #[test]
    fn counts_add_up() {
        let mut counts =
            GroupingCounts { accepted: 4, not_passing_filter: 3, poor_alignment: 2, no_calls: 1, too_short: 0 };
        counts += counts;
        assert_eq!(
            counts.text(),
            "accepted_sam_records\tdiscarded_non_pf\tdiscarded_poor_alignment\tdiscarded_ns_in_umi\t\
             discarded_umis_to_short\n8\t6\t4\t2\t0\n"
        );
    }
}
