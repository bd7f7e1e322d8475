//! Time lines added up, and in numbers.

use crate::lanes::Band;
use crate::page::Table;
use zerohop_model::timeline::Timeline;

/// The most rows of a table.
const MOST_ROWS: usize = 32;

/// What several threads did, as one.
pub(crate) fn together<'t, const COUNT: usize>(
    timelines: impl IntoIterator<Item = &'t Timeline<COUNT>>,
) -> Timeline<COUNT> {
    let mut timelines = timelines.into_iter();
    let mut sum = timelines.next().cloned().unwrap_or_default();
    timelines.for_each(|other| sum.join(other.clone()));
    sum
}

/// A time line in numbers, in few rows.
pub(crate) fn by_step<const COUNT: usize>(bands: &[Band; COUNT], timeline: &Timeline<COUNT>) -> Table {
    let Timeline { step_us, steps } = timeline;
    let joined = steps.len().div_ceil(MOST_ROWS).max(1);
    let row = |(i, steps): (usize, &[[u64; COUNT]])| {
        let sum = |stage: usize| steps.iter().map(|step| step[stage]).sum::<u64>() as f64 / 1e6;
        let begin = format!("{:.3}", (i * joined) as f64 * *step_us as f64 / 1e6);
        std::iter::once(begin).chain((0..COUNT).map(|stage| format!("{:.3}", sum(stage)))).collect()
    };
    let head = std::iter::once("from second").chain(bands.iter().map(|(name, _)| *name));
    Table { head: head.map(str::to_owned).collect(), rows: steps.chunks(joined).enumerate().map(row).collect() }
}
