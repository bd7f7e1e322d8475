//! What `zerohop-lab exchange -o` measured: the variants of the exchange side by side.

use serde::Deserialize;
use serde::de::IgnoredAny;
use std::time::Duration;
use zerohop_model::exchange::RankReport;
use zerohop_report::{Page, Table};

/// One run of one variant, of which repetition 0 warms up; what is shown of it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ExchangeRun {
    variant: String,
    transport: String,
    repetition: usize,
    speed: f64,
    search_s: f64,
    ranks: Vec<RankReport>,
    #[serde(default, rename = "replay", deserialize_with = "is_there")]
    is_replay: bool,
}

fn is_there<'d, D: serde::Deserializer<'d>>(from: D) -> Result<bool, D::Error> {
    Option::<IgnoredAny>::deserialize(from).map(|value| value.is_some())
}

impl ExchangeRun {
    /// From the first batch to the last, of the slowest rank.
    fn wall(&self) -> f64 {
        self.ranks.iter().map(|rank| rank.wall.as_secs_f64()).fold(0.0, f64::max)
    }

    /// What a rank needs for one stage, on average.
    fn stage(&self, of: fn(&RankReport) -> Duration) -> f64 {
        let all: f64 = self.ranks.iter().map(|rank| of(rank).as_secs_f64()).sum();
        all / self.ranks.len().max(1) as f64
    }
}

/// The name of a stage, and what a rank spent in it.
type ExchangeStage = (&'static str, fn(&RankReport) -> Duration);

/// The stages of the exchange that are shown.
const STAGES: [ExchangeStage; 5] = [
    ("put (s)", |rank| rank.times.put),
    ("wait for records (s)", |rank| rank.times.wait),
    ("merge (s)", |rank| rank.times.merge),
    ("get (s)", |rank| rank.times.get),
    ("write (s)", |rank| rank.times.write),
];

/// The runs in `text`, a line each.
///
/// # Errors
/// Says what is no run.
pub fn exchange_runs_of(text: &str) -> Result<Vec<ExchangeRun>, String> {
    let runs = serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>();
    runs.map_err(|error| format!("it looks like what 'zerohop-lab exchange -o' writes, but cannot be used: {error}"))
}

/// Adds to `page` the section of the file `name`.
pub fn show_exchange(name: &str, runs: &[ExchangeRun], page: &mut Page) {
    let Some(first) = runs.first() else { return };
    let searches = match first.is_replay {
        true => format!("recorded, slept {} times as fast", first.speed),
        false => "made up, slept".to_owned(),
    };
    page.subheading(name).facts(&[
        ("ranks", format!("{} ({})", first.ranks.len(), first.transport)),
        ("searches", searches),
        ("search of the slowest rank", format!("{:.2} s", first.search_s.max(0.0))),
    ]);
    page.caption("Variants of the exchange, medians");
    page.note("No exchange can be faster than the searches of the slowest rank. Stages are means over all ranks.");
    page.table(&by_variant(runs));
}

fn by_variant(runs: &[ExchangeRun]) -> Table {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&&*run.variant) {
            names.push(&run.variant);
        }
    }
    let head = ["variant", "runs", "time (s)", "shortest", "longest", "more than the searches"].into_iter();
    let head = head.chain(STAGES.iter().map(|(name, _)| *name)).map(str::to_owned).collect();
    let row = |name: &&str| {
        let counted: Vec<&ExchangeRun> = runs.iter().filter(|run| run.variant == *name && run.repetition > 0).collect();
        let sorted = |of: &dyn Fn(&ExchangeRun) -> f64| {
            let mut values: Vec<f64> = counted.iter().map(|run| of(run)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (walls, search) = (sorted(&ExchangeRun::wall), runs.first().map_or(0.0, |run| run.search_s));
        let at = |values: &[f64], place: usize| values.get(place).map_or("-".to_owned(), |value| format!("{value:.3}"));
        let median = |values: &[f64]| at(values, values.len() / 2);
        let more = walls.get(walls.len() / 2).filter(|_| search > 0.0);
        let more = more.map_or("-".to_owned(), |wall| format!("{:.1} %", 100.0 * (wall / search - 1.0)));
        let facts = [name.to_string(), counted.len().to_string(), median(&walls), at(&walls, 0)];
        let facts = facts.into_iter().chain([at(&walls, walls.len().saturating_sub(1)), more]);
        facts.chain(STAGES.map(|(_, of)| median(&sorted(&|run| run.stage(of))))).collect()
    };
    Table { head, rows: names.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `zerohop-lab exchange -o` writes of a run of two ranks; warming up takes much longer.
    fn line(repetition: usize) -> String {
        let wall = Duration::from_millis(if repetition == 0 { 9000 } else { 1200 });
        let ranks = [0, 1].map(|rank| RankReport { rank, batches: 10, wall, ..RankReport::default() });
        let run = serde_json::json!({
            "variant": "two-sided", "transport": "a <b> network", "repetition": repetition, "speed": 1.0,
            "search_s": 1.0, "ranks": ranks,
        });
        format!("{run}\n")
    }

    #[test]
    fn an_exchange_shows_its_variants() {
        let lines = |repetitions: usize| (0..=repetitions).map(line).collect::<String>();
        let html = |repetitions| {
            let mut page = Page::new("t");
            show_exchange("e.jsonl", &exchange_runs_of(&lines(repetitions)).unwrap(), &mut page);
            page.html()
        };
        for wanted in ["2 (a &lt;b&gt; network)", ">two-sided</th><td>3</td>", "<td>1.200</td>", "<td>20.0 %</td>"] {
            assert!(html(3).contains(wanted), "{wanted} is not in {}", html(3));
        }
        let told = exchange_runs_of(&(lines(1) + "{\"variant\"")).unwrap_err();
        assert!(told.starts_with("it looks like what 'zerohop-lab exchange -o' writes, but"), "{told}");
        // Of warming up alone there is nothing to tell.
        assert!(html(0).contains("<td>0</td><td>-</td>"));
    }
}
