//! QualityScoreDistribution and MeanQualityByCycle (picard.analysis), with their defaults: of primary records, also of
//! those that are not mapped or failed the sequencer's filters. Original qualities (OQ) are not told.

use super::{Table, file, is_second};
use crate::counts::{add_all, count_at};
use crate::cycles::QualityCycles;
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use zerohop_model::htsjdk::decimal;

/// The code of N in BAM.
const NO_CALL: u8 = 15;
/// Higher qualities are none.
const QUALITIES: usize = 128;

/// Qualities of first reads and of second ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Qualities {
    cycles: [QualityCycles; 2],
    /// The longest of each.
    longest: [usize; 2],
    /// Of bases that were not called, by quality: they are not in the distribution.
    not_called: Vec<u64>,
}

impl Qualities {
    #[inline]
    pub(super) fn add(&mut self, record: &Record<'_>) {
        let Record { flags, qualities, sequence, .. } = *record;
        if flags.is_secondary() || flags.is_supplementary() || qualities.first().is_none_or(|first| *first == u8::MAX) {
            return;
        }
        let mate = usize::from(is_second(record));
        self.cycles[mate].add(qualities, flags.is_reverse());
        self.longest[mate] = self.longest[mate].max(qualities.len());
        if has_no_call(sequence) {
            let codes = sequence.iter().flat_map(|two| [two >> 4, two & 15]);
            for (_, quality) in codes.zip(qualities).filter(|(code, _)| *code == NO_CALL) {
                count_at(&mut self.not_called, usize::from(*quality));
            }
        }
    }

    pub(super) fn settle(&mut self) {
        self.cycles.iter_mut().for_each(QualityCycles::settle);
    }

    pub(super) fn distribution(&self, heading: &str) -> String {
        let of_quality = |quality: usize| -> u64 {
            let of_mate = |mate: usize| (0..self.longest[mate]).map(move |cycle| self.cycles[mate].at(cycle, quality));
            let all: u64 = (0..2).flat_map(of_mate).sum();
            all - self.not_called.get(quality).copied().unwrap_or(0)
        };
        let counts = (0..QUALITIES).map(|quality| (quality, of_quality(quality))).filter(|(_, count)| *count > 0);
        let rows = counts.map(|(quality, count)| vec![quality.to_string(), count.to_string()]).collect();
        let table = Table::new("HISTOGRAM\tjava.lang.Byte", ["QUALITY", "COUNT_OF_Q"], rows);
        file(heading, None, Some(table))
    }

    pub(super) fn by_cycle(&self, heading: &str) -> String {
        let (mut rows, mut before) = (Vec::new(), 0);
        for mate in 0..2 {
            for cycle in 0..self.longest[mate] {
                let of_quality = |quality| (quality as u64, self.cycles[mate].at(cycle, quality));
                let counts: Vec<(u64, u64)> = (0..QUALITIES).map(of_quality).collect();
                let bases: u64 = counts.iter().map(|(_, count)| count).sum();
                let sum: u64 = counts.iter().map(|(quality, count)| quality * count).sum();
                rows.push(vec![(before + cycle + 1).to_string(), decimal(sum as f64 / bases as f64)]);
            }
            before += self.longest[mate];
        }
        let table = Table::new("HISTOGRAM\tjava.lang.Integer", ["CYCLE", "MEAN_QUALITY"], rows);
        file(heading, None, Some(table))
    }
}

/// Whether a sequence may have a base that was not called: most have none.
fn has_no_call(sequence: &[u8]) -> bool {
    sequence.iter().fold(false, |found, two| found | (two >> 4 == NO_CALL) | (two & 15 == NO_CALL))
}

impl AddAssign<&Qualities> for Qualities {
    /// Both are settled.
    fn add_assign(&mut self, more: &Qualities) {
        self.cycles.iter_mut().zip(&more.cycles).for_each(|(all, more)| *all += more);
        self.longest.iter_mut().zip(more.longest).for_each(|(all, more)| *all = (*all).max(more));
        add_all(&mut self.not_called, &more.not_called);
    }
}
