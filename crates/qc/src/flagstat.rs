//! `samtools flagstat` (bam_stat.c of samtools 1.24): how many records have which flags.

use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::ops::AddAssign;

/// What is counted.
#[derive(Debug, Clone, Copy)]
enum Kind {
    All,
    Primary,
    Secondary,
    Supplementary,
    Duplicate,
    PrimaryDuplicate,
    Mapped,
    PrimaryMapped,
    Paired,
    First,
    Last,
    ProperlyPaired,
    BothMapped,
    Singleton,
    MateElsewhere,
    /// The same, with a mapping quality of 5 or more.
    MateElsewhereSurely,
}

/// How many kinds there are.
const KINDS: usize = Kind::MateElsewhereSurely as usize + 1;

/// The lines of the report: what is counted, of what a share is told, and the words.
#[rustfmt::skip]
const LINES: [(Kind, Option<Kind>, &str); KINDS] = [
    (Kind::All, None, "in total (QC-passed reads + QC-failed reads)"),
    (Kind::Primary, None, "primary"),
    (Kind::Secondary, None, "secondary"),
    (Kind::Supplementary, None, "supplementary"),
    (Kind::Duplicate, None, "duplicates"),
    (Kind::PrimaryDuplicate, None, "primary duplicates"),
    (Kind::Mapped, Some(Kind::All), "mapped"),
    (Kind::PrimaryMapped, Some(Kind::Primary), "primary mapped"),
    (Kind::Paired, None, "paired in sequencing"),
    (Kind::First, None, "read1"),
    (Kind::Last, None, "read2"),
    (Kind::ProperlyPaired, Some(Kind::Paired), "properly paired"),
    (Kind::BothMapped, None, "with itself and mate mapped"),
    (Kind::Singleton, Some(Kind::Paired), "singletons"),
    (Kind::MateElsewhere, None, "with mate mapped to a different chr"),
    (Kind::MateElsewhereSurely, None, "with mate mapped to a different chr (mapQ>=5)"),
];

/// Counts of the records that passed the sequencer's filters, and of those that failed them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlagStat([[u64; KINDS]; 2]);

impl FlagStat {
    /// Counts a record.
    #[inline]
    pub fn add(&mut self, record: &Record<'_>) {
        let flags = record.flags;
        let counts = &mut self.0[usize::from(flags.failed_filters())];
        let mut count = |kind: Kind, is_so: bool| counts[kind as usize] += u64::from(is_so);
        let is_mapped = flags.is_mapped();
        count(Kind::All, true);
        count(Kind::Mapped, is_mapped);
        count(Kind::Duplicate, flags.is_duplicate());
        if flags.is_secondary() {
            return count(Kind::Secondary, true);
        }
        if flags.is_supplementary() {
            return count(Kind::Supplementary, true);
        }
        count(Kind::Primary, true);
        count(Kind::PrimaryMapped, is_mapped);
        count(Kind::PrimaryDuplicate, flags.is_duplicate());
        if !flags.is_paired() {
            return;
        }
        count(Kind::Paired, true);
        count(Kind::First, flags.is_first());
        count(Kind::Last, flags.is_last());
        count(Kind::ProperlyPaired, is_mapped && flags.is_proper());
        count(Kind::Singleton, is_mapped && !flags.is_mate_mapped());
        let both = is_mapped && flags.is_mate_mapped();
        let is_elsewhere = both && record.mate_contig != record.contig;
        count(Kind::BothMapped, both);
        count(Kind::MateElsewhere, is_elsewhere);
        count(Kind::MateElsewhereSurely, is_elsewhere && record.mapq >= 5);
    }

    /// The report.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let [passed, failed] = &self.0;
        for (kind, of, words) in LINES {
            let _ = write!(text, "{} + {} {words}", passed[kind as usize], failed[kind as usize]);
            if let Some(of) = of {
                let share = |counts: &[u64; KINDS]| percent(counts[kind as usize], counts[of as usize]);
                let _ = write!(text, " ({} : {})", share(passed), share(failed));
            }
            text.push('\n');
        }
        text
    }
}

/// samtools divides numbers of 32 bits, and multiplies one of 64.
fn percent(count: u64, of: u64) -> String {
    match of {
        0 => "N/A".to_owned(),
        of => format!("{:.2}%", f64::from(count as f32 / of as f32) * 100.0),
    }
}

impl AddAssign for FlagStat {
    fn add_assign(&mut self, other: Self) {
        let all = self.0.iter_mut().flatten();
        all.zip(other.0.iter().flatten()).for_each(|(all, more)| *all += more);
    }
}
