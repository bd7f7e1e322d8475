//! What mosdepth is asked for: its options.

use super::bed::Bed;
use crate::record::Record;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use zerohop_model::record::{DUPLICATE, QC_FAIL, SECONDARY, UNMAPPED};

/// What mosdepth is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MosdepthSpec {
    /// Records with one of these flags do not count (`--flag`).
    pub without: u16,
    /// Records need one of these flags, if there are any (`--include-flag`).
    pub with: u16,
    /// Records of a lower mapping quality do not count (`--mapq`).
    pub least_mapq: u8,
    /// Records count whose TLEN is so long, in either direction (`--min-frag-len`, `--max-frag-len`).
    pub template_lengths: RangeInclusive<u32>,
    /// Records of these read groups count; of all, if none is named (`--read-groups`).
    pub read_groups: Vec<String>,
    /// A record counts from its first base to its last, and mates count twice where they overlap (`--fast-mode`).
    pub is_fast: bool,
    /// The depth of all places is told (without `--no-per-base`).
    pub has_per_base: bool,
    /// The regions whose depth is told (`--by`).
    pub by: Option<By>,
    /// The regions tell their median, not their mean (`--use-median`).
    pub tells_median: bool,
    /// How many places of a region are so deep at least, ascending (`--thresholds`).
    pub thresholds: Vec<u32>,
    /// Bounds of depth: places between the same two are told together (`--quantize`).
    pub quantize: Option<Quantizer>,
}

/// Regions whose depth is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// Windows of so many places over all contigs.
    Windows(NonZeroU32),
    /// Those of a file.
    Bed(Bed),
}

/// Bounds of depth, ascending; behind the last one there may be an end of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantizer {
    bounds: Vec<u32>,
    is_open: bool,
}

/// What mosdepth leaves out if nothing else is said.
pub const LEFT_OUT: u16 = UNMAPPED | SECONDARY | QC_FAIL | DUPLICATE;

impl MosdepthSpec {
    /// mosdepth without an option.
    pub fn plain() -> Self {
        MosdepthSpec {
            without: LEFT_OUT,
            with: 0,
            least_mapq: 0,
            template_lengths: 0..=u32::MAX,
            read_groups: Vec::new(),
            is_fast: false,
            has_per_base: true,
            by: None,
            tells_median: false,
            thresholds: Vec::new(),
            quantize: None,
        }
    }

    /// Whether a record counts.
    #[inline]
    pub(crate) fn counts(&self, record: &Record<'_>) -> bool {
        !record.flags.any(self.without)
            && (self.with == 0 || record.flags.any(self.with))
            && record.mapq >= self.least_mapq
            && self.template_lengths.contains(&record.template_length.unsigned_abs())
            && (self.read_groups.is_empty()
                || record.read_group().is_some_and(|group| self.read_groups.iter().any(|it| it.as_bytes() == group)))
    }

    /// Whether contigs without a region are not even looked at.
    pub(crate) fn leaves_out_contigs(&self) -> bool {
        matches!(self.by, Some(By::Bed(_)))
            && !self.has_per_base
            && self.thresholds.is_empty()
            && self.quantize.is_none()
    }
}

impl Quantizer {
    /// `text` as mosdepth takes it: bounds with colons between them, such as `0:1:4:100:`. Without a first bound it is
    /// 0; without a last one, there is none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = if text.contains(':') { text.to_owned() } else { format!(":{text}:") };
        let text = if text.starts_with(':') { format!("0{text}") } else { text };
        let (text, is_open) = text.strip_suffix(':').map_or((&*text, false), |text| (text, true));
        let mut bounds: Vec<u32> = text.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
        bounds.sort_unstable();
        Some(Quantizer { bounds, is_open })
    }

    /// Between which bounds a depth is, from 0; none if it is not between any.
    pub(crate) fn bin(&self, depth: u32) -> Option<u32> {
        // Of equal bounds the first counts.
        let equal = self.bounds.iter().position(|bound| *bound == depth);
        let at = equal.or_else(|| self.bounds.iter().rposition(|bound| *bound < depth))?;
        (at + 1 < self.bounds.len() || self.is_open).then_some(at as u32)
    }

    /// How a bin is named.
    pub(crate) fn label(&self, bin: u32) -> String {
        let bound = |at: u32| self.bounds.get(at as usize).map_or("inf".to_owned(), u32::to_string);
        format!("{}:{}", bound(bin), bound(bin + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantizers_are_read_as_mosdepth_reads_them() {
        let bins = |text: &str, depths: &[u32]| {
            let quantizer = Quantizer::parse(text).unwrap();
            let label = |depth: &u32| quantizer.bin(*depth).map_or("-".to_owned(), |bin| quantizer.label(bin));
            depths.iter().map(label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(bins("0:1:4:", &[0, 1, 3, 4, 99]), "0:1 1:4 1:4 4:inf 4:inf");
        assert_eq!(bins(":2", &[0, 1, 2, 3]), "0:2 0:2 - -");
        assert_eq!(bins("5", &[0, 4, 5]), "0:5 0:5 5:inf");
        assert_eq!(bins("3:7", &[2, 3, 6, 7]), "- 3:7 3:7 -");
        assert_eq!(bins("10:2:", &[2, 10]), "2:10 10:inf");
        assert_eq!([Quantizer::parse("a:b"), Quantizer::parse("1:-2"), Quantizer::parse("")], [None, None, None]);
    }
}
