//! The file of metrics that Picard's MarkDuplicates writes (picard.sam.DuplicationMetrics, htsjdk's MetricsFile), which
//! MultiQC and others read.

use crate::counts::{LibraryCounts, Sets};
use std::collections::BTreeMap;
use zerohop_model::htsjdk::{self, decimal, heading};

/// The columns of Picard's metrics.
const COLUMNS: [&str; 10] = [
    "LIBRARY",
    "UNPAIRED_READS_EXAMINED",
    "READ_PAIRS_EXAMINED",
    "SECONDARY_OR_SUPPLEMENTARY_RDS",
    "UNMAPPED_READS",
    "UNPAIRED_READ_DUPLICATES",
    "READ_PAIR_DUPLICATES",
    "READ_PAIR_OPTICAL_DUPLICATES",
    "PERCENT_DUPLICATION",
    "ESTIMATED_LIBRARY_SIZE",
];
/// How many times the sequencing is extrapolated.
const MULTIPLES: u64 = 100;

impl LibraryCounts {
    /// Pairs that were looked at.
    pub fn pairs(&self) -> u64 {
        self.paired / 2
    }

    /// Pairs that are duplicates.
    pub fn pair_duplicates(&self) -> u64 {
        self.paired_duplicates / 2
    }

    /// Duplicates among the reads that were looked at, from 0 to 1.
    pub fn duplication(&self) -> f64 {
        match self.single + 2 * self.pairs() {
            0 => 0.0,
            reads => (self.single_duplicates + 2 * self.pair_duplicates()) as f64 / reads as f64,
        }
    }

    /// How many different molecules the library has, as far as the pairs say: the X of the equation of Lander and
    /// Waterman, C / X = 1 - exp(-N / X), for N pairs, C of them no duplicates. None if there are no duplicates.
    pub fn estimated_size(&self) -> Option<u64> {
        let of_pairs = |pairs| self.pairs().saturating_sub(pairs);
        let (pairs, unique) = (of_pairs(self.optical_pairs), of_pairs(self.pair_duplicates()));
        htsjdk::library_size(pairs, unique)
    }

    /// How many times as many different pairs `multiple` times the sequencing would bring.
    fn gain(&self, size: u64, multiple: u64) -> f64 {
        let unique = self.pairs().saturating_sub(self.pair_duplicates());
        let (size, pairs, unique) = (size as f64, self.pairs() as f64, unique as f64);
        size * (1.0 - (-(multiple as f64 * pairs) / size).exp()) / unique
    }
}

/// The text of the file: libraries in the order of their names, `comments` before them, and how many sets of pairs have
/// which size.
pub fn metrics_text(comments: &[String], libraries: &[(String, LibraryCounts)], sets: &BTreeMap<u64, Sets>) -> String {
    let mut text = heading(comments.iter().map(String::as_str));
    text += &format!("\n## METRICS CLASS\tpicard.sam.DuplicationMetrics\n{}\n", COLUMNS.join("\t"));
    for (name, library) in libraries {
        let counts = [
            library.single,
            library.pairs(),
            library.secondary_or_supplementary,
            library.unmapped,
            library.single_duplicates,
            library.pair_duplicates(),
            library.optical_pairs,
        ];
        let size = library.estimated_size().map(|size| size.to_string()).unwrap_or_default();
        let counts = counts.map(|count| count.to_string()).join("\t");
        text += &format!("{name}\t{counts}\t{}\t{size}\n", decimal(library.duplication()));
    }
    text += "\n";
    text += &histogram(libraries, sets);
    text + "\n"
}

/// One column of a histogram: its title, and its values.
type Column = (&'static str, BTreeMap<u64, f64>);

/// What more sequencing would bring, if there is one library, and the sizes of sets; nothing where there are none.
fn histogram(libraries: &[(String, LibraryCounts)], sets: &BTreeMap<u64, Sets>) -> String {
    let gains = match libraries {
        [(_, library)] => library.estimated_size().map(|size| {
            let gain = |multiple| (multiple, library.gain(size, multiple));
            (1..=MULTIPLES).map(gain).collect()
        }),
        _ => None,
    };
    let sizes = |count: fn(&Sets) -> u64| {
        let sizes = sets.iter().map(|(size, sets)| (*size, count(sets) as f64));
        sizes.filter(|(_, count)| *count > 0.0).collect()
    };
    let columns: [Column; 4] = [
        ("CoverageMult", gains.unwrap_or_default()),
        ("all_sets", sizes(|sets| sets.all)),
        ("optical_sets", sizes(|sets| sets.optical)),
        ("non_optical_sets", sizes(|sets| sets.non_optical)),
    ];
    let first = if columns[0].1.is_empty() { "set_size" } else { "BIN" };
    let columns: Vec<Column> = columns.into_iter().filter(|(_, values)| !values.is_empty()).collect();
    if columns.is_empty() {
        return String::new();
    }
    let titles: Vec<&str> = [first].into_iter().chain(columns.iter().map(|(title, _)| *title)).collect();
    let mut text = format!("## HISTOGRAM\tjava.lang.Double\n{}\n", titles.join("\t"));
    let rows: std::collections::BTreeSet<u64> = columns.iter().flat_map(|(_, values)| values.keys().copied()).collect();
    for row in rows {
        text += &format!("{row}.0");
        columns.iter().for_each(|(_, values)| text += &format!("\t{}", decimal(*values.get(&row).unwrap_or(&0.0))));
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_equation() {
        let library =
            LibraryCounts { paired: 2000, paired_duplicates: 400, optical_pairs: 50, ..LibraryCounts::default() };
        let size = library.estimated_size().unwrap() as f64;
        assert!((800.0 / size - (1.0 - (-950.0 / size).exp())).abs() < 1e-3, "{size}");
        assert_eq!(LibraryCounts { paired: 2000, ..LibraryCounts::default() }.estimated_size(), None);
        assert_eq!(LibraryCounts::default().estimated_size(), None);
        let all = LibraryCounts { paired: 2000, paired_duplicates: 2000, ..LibraryCounts::default() };
        assert_eq!((all.estimated_size(), all.duplication()), (None, 1.0));
    }

    #[test]
    fn a_file_without_pairs_has_no_histogram() {
        let counts = LibraryCounts { single: 43, single_duplicates: 2, ..LibraryCounts::default() };
        let text = metrics_text(&["zerohop".to_owned()], &[("lib".to_owned(), counts)], &BTreeMap::new());
        assert!(text.contains("\nlib\t43\t0\t0\t0\t2\t0\t0\t0.046512\t\n"), "{text}");
        assert!(!text.contains("HISTOGRAM"));
    }
}
