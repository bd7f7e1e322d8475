//! Metrics of Picard 3.4.0, as CollectMultipleMetrics writes them. Each has its rules in its own file: which records
//! count, and what is told of them.

mod alignment_summary;
mod base_distribution;
mod histogram;
mod insert_size;
mod quality;

use crate::cycles::Cycles;
use crate::record::{ReadOrder, Record};
use crate::reference::Window;
use alignment_summary::AlignmentSummary;
use insert_size::InsertSizes;
use quality::NotCalled;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use zerohop_model::error::Error;
use zerohop_model::htsjdk;

/// What is summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Picard {
    alignments: AlignmentSummary,
    inserts: InsertSizes,
    not_called: NotCalled,
}

/// The files of Picard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PicardFiles<T> {
    /// CollectAlignmentSummaryMetrics: `alignment_summary_metrics`.
    pub alignment_summary: T,
    /// CollectInsertSizeMetrics: `insert_size_metrics`.
    pub insert_size: T,
    /// QualityScoreDistribution: `quality_distribution_metrics`.
    pub quality_distribution: T,
    /// MeanQualityByCycle: `quality_by_cycle_metrics`.
    pub quality_by_cycle: T,
    /// CollectBaseDistributionByCycle: `base_distribution_by_cycle_metrics`.
    pub base_distribution: T,
}

impl<T> PicardFiles<T> {
    /// What `make` makes of each.
    pub fn map<U>(self, make: impl FnMut(T) -> U) -> PicardFiles<U> {
        let [alignment_summary, insert_size, quality_distribution, quality_by_cycle, base_distribution] =
            self.into_all().map(make);
        PicardFiles { alignment_summary, insert_size, quality_distribution, quality_by_cycle, base_distribution }
    }

    /// All of them, in their order.
    pub fn into_all(self) -> [T; 5] {
        [
            self.alignment_summary,
            self.insert_size,
            self.quality_distribution,
            self.quality_by_cycle,
            self.base_distribution,
        ]
    }
}

impl PicardFiles<&'static str> {
    /// How their names end.
    pub const SUFFIXES: Self = PicardFiles {
        alignment_summary: ".alignment_summary_metrics",
        insert_size: ".insert_size_metrics",
        quality_distribution: ".quality_distribution_metrics",
        quality_by_cycle: ".quality_by_cycle_metrics",
        base_distribution: ".base_distribution_by_cycle_metrics",
    };
}

impl Picard {
    /// Adds a primary record with these bases.
    #[inline]
    pub(crate) fn add(&mut self, record: &Record<'_>, codes: &[u8], window: &mut Window<'_>) -> Result<(), Error> {
        self.inserts.add(record);
        self.not_called.add(record, codes);
        self.alignments.add(record, codes, window)
    }

    /// The files; `input` is what they are of, `comment` who made them.
    pub(crate) fn files(&self, cycles: &Cycles, input: &str, comment: &str) -> PicardFiles<String> {
        let heading = |program: &str| htsjdk::heading([&*format!("{program} INPUT={input}"), comment]);
        PicardFiles {
            alignment_summary: self.alignments.text(&heading("CollectAlignmentSummaryMetrics")),
            insert_size: self.inserts.text(&heading("CollectInsertSizeMetrics")),
            quality_distribution: self.not_called.distribution(cycles, &heading("QualityScoreDistribution")),
            quality_by_cycle: quality::by_cycle(cycles, &heading("MeanQualityByCycle")),
            base_distribution: base_distribution::text(cycles, &heading("CollectBaseDistributionByCycle")),
        }
    }
}

impl AddAssign<&Picard> for Picard {
    fn add_assign(&mut self, more: &Picard) {
        self.alignments += &more.alignments;
        self.inserts += &more.inserts;
        self.not_called += &more.not_called;
    }
}

/// A table of a file: the line that says what it is, titles, and rows.
struct Table {
    kind: String,
    titles: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new<T: ToString>(kind: &str, titles: impl IntoIterator<Item = T>, rows: Vec<Vec<String>>) -> Self {
        Table { kind: kind.to_owned(), titles: titles.into_iter().map(|title| title.to_string()).collect(), rows }
    }
}

/// A file: metrics, then a histogram. Where there is nothing, the line that would follow it stays.
fn file(heading: &str, metrics: Option<Table>, histogram: Option<Table>) -> String {
    let mut text = format!("{heading}\n");
    for table in [metrics, histogram] {
        if let Some(Table { kind, titles, rows }) = table.filter(|table| !table.rows.is_empty()) {
            text += &format!("## {kind}\n{}\n", titles.join("\t"));
            rows.iter().for_each(|row| text += &format!("{}\n", row.join("\t")));
        }
        text.push('\n');
    }
    text
}

/// How the mates of a pair lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orientation {
    ForwardReverse,
    ReverseForward,
    Tandem,
}

/// How a record and its mate on the same contig lie: where the one on the forward strand begins is compared with where
/// the other one ends, or, where that is not in the record, with what TLEN says (htsjdk 4.2.0,
/// samtools.SamPairUtil.getPairOrientation; 5.0.0 has other rules).
fn orientation(record: &Record<'_>) -> Orientation {
    let flags = record.flags;
    let points_inward = match flags.is_reverse() {
        true => i64::from(record.mate_position) + 1 < i64::from(record.span().end),
        false => record.template_length > 0,
    };
    match (flags.is_reverse() == flags.is_mate_reverse(), points_inward) {
        (true, _) => Orientation::Tandem,
        (false, true) => Orientation::ForwardReverse,
        (false, false) => Orientation::ReverseForward,
    }
}

/// The reads that Picard takes for first ones of pairs, and for second ones.
const MATES: [[ReadOrder; 2]; 2] = [[ReadOrder::First, ReadOrder::Neither], [ReadOrder::Last, ReadOrder::Both]];
