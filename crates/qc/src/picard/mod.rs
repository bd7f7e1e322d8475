//! Metrics of Picard 3.4.0, as CollectMultipleMetrics writes them. Each has its rules in its own file: which records
//! count, and what is told of them.

mod adapters;
mod alignment_summary;
mod base_distribution;
mod depths;
mod gc_bias;
mod histogram;
mod hs;
mod insert_size;
mod pileup;
mod quality;
mod records;
mod roulette;
mod sensitivity;
mod spec;
mod sweep;
mod targets;
mod wgs;
mod worth;

use crate::cycles::Cycles;
use crate::depth::by_contig;
use crate::record::{ReadOrder, Record};
use crate::reference::Window;
use alignment_summary::AlignmentSummary;
use gc_bias::GcBias;
pub use hs::Capture;
use hs::HsMetrics;
use insert_size::InsertSizes;
pub(crate) use pileup::Pileup;
use quality::NotCalled;
use serde::{Deserialize, Serialize};
pub use spec::PicardSpec;
use std::ops::AddAssign;
pub(crate) use sweep::PartBases;
use sweep::count_bases;
pub use targets::{NotTargets, Targets};
use wgs::WgsMetrics;
use zerohop_model::error::Error;
use zerohop_model::htsjdk;
use zerohop_model::record::{Contig, SECONDARY, SUPPLEMENTARY};

/// What is summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Picard {
    alignments: AlignmentSummary,
    inserts: InsertSizes,
    not_called: NotCalled,
    gc: GcBias,
    wgs: WgsMetrics,
    hs: HsMetrics,
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
    /// CollectGcBiasMetrics: `gc_bias.detail_metrics`.
    pub gc_detail: T,
    /// The same: `gc_bias.summary_metrics`.
    pub gc_summary: T,
    /// CollectWgsMetrics: `wgs_metrics`; of targets CollectHsMetrics: `hs_metrics`.
    pub coverage: T,
}

impl<T> PicardFiles<T> {
    /// What `make` makes of each.
    pub fn map<U>(self, make: impl FnMut(T) -> U) -> PicardFiles<U> {
        let [alignment_summary, insert_size, quality_distribution, quality_by_cycle, base_distribution, rest @ ..] =
            self.into_all().map(make);
        let [gc_detail, gc_summary, coverage] = rest;
        PicardFiles {
            alignment_summary,
            insert_size,
            quality_distribution,
            quality_by_cycle,
            base_distribution,
            gc_detail,
            gc_summary,
            coverage,
        }
    }

    /// All of them, in their order.
    pub fn into_all(self) -> [T; 8] {
        [
            self.alignment_summary,
            self.insert_size,
            self.quality_distribution,
            self.quality_by_cycle,
            self.base_distribution,
            self.gc_detail,
            self.gc_summary,
            self.coverage,
        ]
    }
}

impl PicardFiles<&'static str> {
    /// How their names end; of a capture, if there is one.
    pub fn suffixes(has_targets: bool) -> Self {
        PicardFiles {
            alignment_summary: ".alignment_summary_metrics",
            insert_size: ".insert_size_metrics",
            quality_distribution: ".quality_distribution_metrics",
            quality_by_cycle: ".quality_by_cycle_metrics",
            base_distribution: ".base_distribution_by_cycle_metrics",
            gc_detail: ".gc_bias.detail_metrics",
            gc_summary: ".gc_bias.summary_metrics",
            coverage: if has_targets { ".hs_metrics" } else { ".wgs_metrics" },
        }
    }
}

impl Picard {
    /// Adds a record with these bases; those that may count as coverage to the pileup of its part.
    pub(crate) fn add(
        &mut self,
        record: &Record<'_>,
        codes: &[u8],
        (window, capture): (&mut Window<'_>, Option<&Capture>),
        pileup: &mut Pileup,
    ) -> Result<(), Error> {
        if !record.flags.any(SECONDARY | SUPPLEMENTARY) {
            self.inserts.add(record);
            self.not_called.add(record, codes);
            self.alignments.add(record, codes, window)?;
        }
        self.gc.add(record, codes, window)?;
        match capture {
            Some(capture) => self.hs.add(record, codes, capture, pileup),
            None => self.wgs.add(record, codes, window, pileup)?,
        }
        Ok(())
    }

    /// Counts the places of a part: what reaches into it, and its own bases.
    ///
    /// # Errors
    /// A reference that cannot be read.
    pub(crate) fn settle(&mut self, part: &PartBases<'_>, contigs: &[Contig], spec: &PicardSpec) -> Result<(), Error> {
        match spec.capture {
            Some(_) => count_bases(part, &mut self.hs),
            None => count_bases(part, &mut self.wgs),
        }
        let mut windows = Ok(());
        by_contig(part.places.clone(), contigs, |contig, positions| {
            if windows.is_ok() {
                windows = self.gc.windows(contig, positions, &spec.reference);
            }
        });
        windows
    }

    /// The files.
    ///
    /// # Errors
    /// A reference that cannot be read.
    pub(crate) fn files(&self, cycles: &Cycles, spec: &PicardSpec) -> Result<PicardFiles<String>, Error> {
        let PicardSpec { reference, capture, input, made_by, rounds } = spec;
        let heading = |program: &str| htsjdk::heading([&*format!("{program} INPUT={input}"), made_by]);
        Ok(PicardFiles {
            alignment_summary: self.alignments.text(&heading("CollectAlignmentSummaryMetrics")),
            insert_size: self.inserts.text(&heading("CollectInsertSizeMetrics")),
            quality_distribution: self.not_called.distribution(cycles, &heading("QualityScoreDistribution")),
            quality_by_cycle: quality::by_cycle(cycles, &heading("MeanQualityByCycle")),
            base_distribution: base_distribution::text(cycles, &heading("CollectBaseDistributionByCycle")),
            gc_detail: self.gc.detail(&heading("CollectGcBiasMetrics")),
            gc_summary: self.gc.summary(&heading("CollectGcBiasMetrics")),
            coverage: match capture {
                Some(capture) => self.hs.text(capture, spec, &heading("CollectHsMetrics"))?,
                None => self.wgs.text((reference.known_bases(), *rounds), &heading("CollectWgsMetrics")),
            },
        })
    }
}

impl AddAssign<&Picard> for Picard {
    fn add_assign(&mut self, more: &Picard) {
        self.alignments += &more.alignments;
        self.inserts += &more.inserts;
        self.not_called += &more.not_called;
        self.gc += &more.gc;
        self.wgs += &more.wgs;
        self.hs += &more.hs;
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
