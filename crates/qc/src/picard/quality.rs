//! QualityScoreDistribution and MeanQualityByCycle (picard.analysis), with their defaults: of primary records, also of
//! those that are not mapped or failed the sequencer's filters. Original qualities (OQ) are not told.

use super::{MATES, Table, file};
use crate::counts::{add_all, count_at};
use crate::cycles::Cycles;
use crate::record::{NO_CALL, Record};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use zerohop_model::htsjdk::decimal;

/// Higher qualities are none.
const QUALITIES: usize = 128;

/// Qualities that are by cycle, and not in the distribution: those of bases that were not called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NotCalled(Vec<u64>);

impl NotCalled {
    /// Adds a primary record with these bases.
    #[inline]
    pub(super) fn add(&mut self, record: &Record<'_>, codes: &[u8]) {
        let qualities = record.qualities;
        let has_qualities = qualities.first().is_some_and(|first| *first != u8::MAX);
        if has_qualities && codes.contains(&NO_CALL) {
            let not_called = codes.iter().zip(qualities).filter(|(code, _)| **code == NO_CALL);
            not_called.for_each(|(_, quality)| count_at(&mut self.0, usize::from(*quality)));
        }
    }

    pub(super) fn distribution(&self, cycles: &Cycles, heading: &str) -> String {
        let of_mates = MATES.map(|mate| cycles.qualities(&mate));
        let of_quality = |quality: usize| -> u64 {
            let of_mate = of_mates.iter().flat_map(|mate| (0..mate.longest).map(move |cycle| mate.at(cycle, quality)));
            of_mate.sum::<u64>() - self.0.get(quality).copied().unwrap_or(0)
        };
        let counts = (0..QUALITIES).map(|quality| (quality, of_quality(quality))).filter(|(_, count)| *count > 0);
        let rows = counts.map(|(quality, count)| vec![quality.to_string(), count.to_string()]).collect();
        let table = Table::new("HISTOGRAM\tjava.lang.Byte", ["QUALITY", "COUNT_OF_Q"], rows);
        file(heading, None, Some(table))
    }
}

/// MeanQualityByCycle.
pub(super) fn by_cycle(cycles: &Cycles, heading: &str) -> String {
    let (mut rows, mut before) = (Vec::new(), 0);
    for qualities in MATES.map(|mate| cycles.qualities(&mate)) {
        let mean = |cycle: usize| decimal(qualities.mean(cycle, QUALITIES));
        rows.extend((0..qualities.longest).map(|cycle| vec![(before + cycle + 1).to_string(), mean(cycle)]));
        before += qualities.longest;
    }
    let table = Table::new("HISTOGRAM\tjava.lang.Integer", ["CYCLE", "MEAN_QUALITY"], rows);
    file(heading, None, Some(table))
}

impl AddAssign<&NotCalled> for NotCalled {
    fn add_assign(&mut self, more: &NotCalled) {
        add_all(&mut self.0, &more.0);
    }
}
