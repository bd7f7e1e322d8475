//! What MethylDackel extract is asked for.

use crate::record::Record;
use std::sync::Arc;
use zerohop_cram::ContigBases;
use zerohop_model::record::{MATE_UNMAPPED, PAIRED, PROPER_PAIR, UNMAPPED};

/// Records that do not count, unless something else is asked for: `--ignoreFlags`.
pub const LEFT_OUT: u16 = 0xf00;

/// What lines say of a cytosine, besides its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SiteColumns {
    /// The part of methylated bases in percent, without its fraction, and both counts.
    #[default]
    Percent,
    /// That part as a fraction: `--fraction`.
    Fraction,
    /// The sum of both counts: `--counts`.
    Counts,
    /// What the R package methylKit reads: `--methylKit`.
    MethylKit,
}

/// Bases at the ends of reads that do not count, of one strand: of first and of second mates, at their left and right
/// ends on the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// At the left, and the place from which on those at the right do not count, or 0: `--OT 1,2,3,4`.
    pub places: [[u32; 2]; 2],
    /// How many at each end: `--nOT 1,2,3,4`.
    pub counts: [[u32; 2]; 2],
}

/// The options of MethylDackel 0.6.1 that are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethylDackelSpec {
    /// Whether CpG, CHG and CHH are told of.
    pub contexts: [bool; 3],
    /// `-q`.
    pub least_mapq: u8,
    /// `-p`.
    pub least_quality: u8,
    /// `-d`.
    pub least_depth: u32,
    /// `-F`.
    pub without: u16,
    /// `-R`.
    pub with: u16,
    /// `--keepSingleton`.
    pub keeps_singletons: bool,
    /// `--keepDiscordant`.
    pub keeps_discordant: bool,
    /// `--ignoreNH`.
    pub ignores_nh: bool,
    /// `--mergeContext`: both strands of CpG and CHG are one.
    pub merges: bool,
    /// What lines say.
    pub columns: SiteColumns,
    /// Of the original top and bottom strands, and of those complementary to them.
    pub bounds: [Bounds; 4],
}

impl MethylDackelSpec {
    /// Without options.
    pub fn plain() -> Self {
        MethylDackelSpec {
            contexts: [true, false, false],
            least_mapq: 10,
            least_quality: 5,
            least_depth: 1,
            without: LEFT_OUT,
            with: 0,
            keeps_singletons: false,
            keeps_discordant: false,
            ignores_nh: false,
            merges: false,
            columns: SiteColumns::Percent,
            bounds: [Bounds::default(); 4],
        }
    }

    /// How the names of its files end, in the order of the contexts.
    pub fn suffixes(&self) -> Vec<String> {
        let kind = match self.columns {
            SiteColumns::Percent => ".bedGraph",
            SiteColumns::Fraction => ".meth.bedGraph",
            SiteColumns::Counts => ".counts.bedGraph",
            SiteColumns::MethylKit => ".methylKit",
        };
        self.told().map(|context| format!("_{}{kind}", NAMES[context])).collect()
    }

    /// The contexts that are told of.
    pub(crate) fn told(&self) -> impl Iterator<Item = usize> {
        (0..NAMES.len()).filter(|context| self.contexts[*context])
    }

    /// Whether a record counts (`filter_func` of common.c).
    pub(crate) fn counts(&self, record: &Record<'_>) -> bool {
        let flags = record.flags;
        let is = |wanted: u16, of: u16| flags.0 & of == wanted;
        !flags.any(UNMAPPED)
            && record.contig >= 0
            && record.mapq >= self.least_mapq
            && !flags.any(self.without)
            && is(self.with, self.with)
            && (self.keeps_singletons || !is(PAIRED | MATE_UNMAPPED, PAIRED | MATE_UNMAPPED))
            && (self.keeps_discordant || !is(PAIRED, PAIRED | PROPER_PAIR))
            && (self.ignores_nh || record.hits().is_none_or(|hits| hits <= 1))
    }
}

/// The contexts, as they are called.
pub(crate) const NAMES: [&str; 3] = ["CpG", "CHG", "CHH"];

/// What lines of cytosines are made of.
#[derive(Debug, Clone)]
pub struct MethylDackel {
    /// The options.
    pub spec: MethylDackelSpec,
    /// Whose cytosines they are.
    pub reference: Arc<ContigBases>,
    /// The beginning of the names of the files, as the first line of bedGraph tells it.
    pub prefix: String,
}
