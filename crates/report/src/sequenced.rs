//! What a run says of the reads that were sequenced.

use crate::summary::{Summary, percent};
use zerohop_model::qc_figures::QcFigures;
use zerohop_model::thousands::grouped;

/// Depths for which it is told how much of the reference is covered so deep.
const DEPTHS: [usize; 4] = [1, 10, 20, 30];

/// Facts about the reads of a run; none where there is nothing to count, or it was not looked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sequenced {
    pub reads: u64,
    pub bases: u64,
    /// Reads that are mapped, in percent.
    pub mapped: f64,
    /// Paired reads that are properly paired, in percent.
    pub proper: Option<f64>,
    /// Median insert size, in bases.
    pub insert: Option<u32>,
    /// Duplicates among mapped reads, in percent.
    pub duplicates: Option<f64>,
    /// Different fragments in the library, estimated.
    pub library_size: Option<u64>,
    /// Mean depth of the reference.
    pub depth: Option<f64>,
    /// The part of the reference that is covered as deep as [`DEPTHS`] say, in percent.
    pub covered: [Option<f64>; DEPTHS.len()],
    /// Edits by bases on the reference, in percent.
    pub error_rate: Option<f64>,
    /// The mean of the mean qualities of all cycles.
    pub quality: Option<f64>,
    /// The mean share of G and C in reads, in percent.
    pub gc: Option<f64>,
    /// Of long reads, how long they are, and how they were aligned.
    pub lengths: Option<String>,
    pub aligned: Option<String>,
}

impl Sequenced {
    /// What `run` says.
    pub fn of(run: &Summary) -> Self {
        let (figures, nothing) = (run.figures(), QcFigures::default());
        let qc = run.qc_figures().unwrap_or(&nothing);
        Sequenced {
            reads: figures.reads,
            bases: run.run.tally.bases,
            mapped: figures.mapped,
            proper: figures.proper,
            insert: figures.insert,
            duplicates: figures.duplicates,
            library_size: figures.library_size,
            depth: depth(qc),
            covered: DEPTHS.map(|depth| covered(&qc.places, depth)),
            error_rate: (qc.mapped_bases > 0).then(|| percent(qc.edits, qc.mapped_bases)),
            quality: mean(qc.quality.iter().flatten().copied()),
            gc: mean_place(&qc.gc),
            lengths: run.lengths_words(),
            aligned: run.aligned_words(),
        }
    }

    /// The part of the reference that is covered 20 times or more, in percent.
    pub fn covered_20(&self) -> Option<f64> {
        self.covered[2]
    }

    /// The facts, with their names.
    pub fn facts(&self, sample: &str) -> Vec<(&'static str, String)> {
        let in_percent = |value: f64| format!("{value:.2} %");
        let covered = DEPTHS.iter().zip(self.covered);
        let covered: Vec<String> =
            covered.filter_map(|(depth, part)| Some(format!("{:.2} % at least {depth}x", part?))).collect();
        let facts = [
            ("sample", Some(sample.to_owned()).filter(|sample| !sample.is_empty())),
            ("reads", Some(grouped(self.reads))),
            ("bases", Some(grouped(self.bases))),
            ("read lengths", self.lengths.clone()),
            ("mapped reads", Some(in_percent(self.mapped))),
            ("aligned", self.aligned.clone()),
            ("properly paired", self.proper.map(|part| format!("{part:.2} % of paired reads"))),
            ("insert size", self.insert.map(|bases| format!("{bases} bases in the median"))),
            ("duplicates", self.duplicates.map(|part| format!("{part:.2} % of mapped reads"))),
            ("library", self.library_size.map(|size| format!("about {} different fragments", grouped(size)))),
            ("mean depth", self.depth.map(|depth| format!("{depth:.1}x"))),
            ("reference covered", Some(covered.join(", ")).filter(|words| !words.is_empty())),
            ("error rate", self.error_rate.map(|part| format!("{part:.3} % (edits of bases on the reference)"))),
            ("mean quality", self.quality.map(|quality| format!("{quality:.1} (of all cycles)"))),
            ("GC content", self.gc.map(|part| format!("{part:.1} % of a read in the mean"))),
        ];
        facts.into_iter().filter_map(|(name, words)| Some((name, words?))).collect()
    }
}

impl Summary {
    /// What reports found in the records, if any were made.
    pub(crate) fn qc_figures(&self) -> Option<&QcFigures> {
        Some(&self.run.sorted.as_ref()?.reports.as_ref()?.figures)
    }
}

/// By the depths of all places; where some are deeper than were counted apart, by the contigs with the most bases.
fn depth(figures: &QcFigures) -> Option<f64> {
    let QcFigures { places, contigs, .. } = figures;
    let bases: u64 = contigs.iter().map(|contig| contig.length).sum();
    if bases > 0 && places.last().is_some_and(|&deeper| deeper > 0) {
        return Some(contigs.iter().map(|contig| contig.depth * contig.length as f64).sum::<f64>() / bases as f64);
    }
    mean_place(places)
}

/// The part of these places that are so deep or deeper, in percent.
fn covered(places: &[u64], depth: usize) -> Option<f64> {
    let all = places.iter().sum();
    (all > 0).then(|| percent(places.iter().skip(depth).sum(), all))
}

/// The mean of numbers of which `counts` says how often each, from 0, occurs.
pub(crate) fn mean_place(counts: &[u64]) -> Option<f64> {
    let all: u64 = counts.iter().sum();
    let sum: f64 = counts.iter().enumerate().map(|(place, &count)| place as f64 * count as f64).sum();
    (all > 0).then(|| sum / all as f64)
}

/// The mean; none of nothing.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn facts_are_those_of_the_figures() {
        let with = Sequenced::of(&fixtures::with_figures("S1"));
        let facts = with.facts("S1");
        let fact = |name: &str| facts.iter().find(|(other, _)| *other == name).map(|(_, words)| words.as_str());
        assert_eq!(fact("reads"), Some("12,345,678"));
        assert_eq!(fact("mean depth"), Some("22.1x"));
        let covered = "99.00 % at least 1x, 80.00 % at least 10x, 60.00 % at least 20x, 0.00 % at least 30x";
        assert_eq!((fact("reference covered"), with.covered_20()), (Some(covered), Some(60.0)));
        assert_eq!(fact("error rate"), Some("0.500 % (edits of bases on the reference)"));
        assert_eq!(fact("GC content"), Some("45.0 % of a read in the mean"));
        assert_eq!(fact("mean quality"), Some("35.0 (of all cycles)"));
        let without = Sequenced::of(&fixtures::summary(1, 1, 1.0)).facts("");
        assert_eq!(without.len(), 3, "{without:?}");
    }

    #[test]
    fn without_mapped_reads_no_part_of_them_is_told() {
        let mut run = fixtures::with_figures("S1");
        let duplicates = run.run.sorted.as_mut().and_then(|sorted| sorted.duplicates.as_mut()).unwrap();
        (duplicates.paired, duplicates.paired_duplicates) = (0, 0);
        assert_eq!(Sequenced::of(&run).duplicates, None);
        assert!(run.figures().duplicates.is_none() && !run.line().contains("duplicates"), "{}", run.line());
        assert!(run.text().contains("duplicates no mapped reads; looked for in 0.00 s"), "{}", run.text());
    }
}
