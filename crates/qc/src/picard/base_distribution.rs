//! CollectBaseDistributionByCycle (picard.analysis), with its defaults: of primary records, also of those that are not
//! mapped or failed the sequencer's filters. Bases are counted as they stand in the records, cycles as they were
//! sequenced.

use super::{Table, file, is_second};
use crate::cycles::BaseCycles;
use crate::record::Record;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use zerohop_model::htsjdk::decimal;

/// Bases of first reads and of second ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BaseDistribution {
    cycles: BaseCycles,
}

impl BaseDistribution {
    #[inline]
    pub(super) fn add(&mut self, record: &Record<'_>) {
        if !record.flags.is_secondary() && !record.flags.is_supplementary() {
            self.cycles.add(record, usize::from(is_second(record)));
        }
    }

    pub(super) fn settle(&mut self) {
        self.cycles.settle();
    }

    pub(super) fn text(&self, heading: &str) -> String {
        let (mut rows, mut before) = (Vec::new(), 0);
        for mate in 0..2 {
            let cycles = self.cycles.in_records(mate);
            for (cycle, [a, c, g, t, n, others]) in cycles.iter().enumerate() {
                let all: u64 = a + c + g + t + n + others;
                let share = |count: u64| decimal(100.0 * count as f64 / all as f64);
                let shares = [*a, *c, *g, *t, n + others].map(share);
                let numbers = [mate + 1, before + cycle + 1].map(|number| number.to_string());
                rows.push(numbers.into_iter().chain(shares).collect());
            }
            before += cycles.len();
        }
        let titles = ["READ_END", "CYCLE", "PCT_A", "PCT_C", "PCT_G", "PCT_T", "PCT_N"];
        let table = Table::new("METRICS CLASS\tpicard.analysis.BaseDistributionByCycleMetrics", titles, rows);
        file(heading, Some(table), None)
    }
}

impl AddAssign<&BaseDistribution> for BaseDistribution {
    /// Both are settled.
    fn add_assign(&mut self, more: &BaseDistribution) {
        self.cycles += &more.cycles;
    }
}
