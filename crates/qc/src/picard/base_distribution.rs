//! CollectBaseDistributionByCycle (picard.analysis), with its defaults: of primary records, also of those that are not
//! mapped or failed the sequencer's filters. Bases are counted as they stand in the records, cycles as they were
//! sequenced.

use super::{MATES, Table, file};
use crate::cycles::Cycles;
use zerohop_model::htsjdk::decimal;

pub(super) fn text(cycles: &Cycles, heading: &str) -> String {
    let (mut rows, mut before) = (Vec::new(), 0);
    for (mate, orders) in MATES.iter().enumerate() {
        let cycles = cycles.bases_in_records(orders);
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
