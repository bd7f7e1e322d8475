//! Several samples in one table, from which links lead to what each of them shows.

use crate::natural;
use crate::outliers::Usual;
use crate::page::Page;
use crate::sample_table::{SampleCell, SampleTable};
use crate::sequenced::Sequenced;
use crate::summary::Summary;
use crate::utc::utc;
use std::collections::BTreeSet;
use zerohop_model::thousands::grouped;

/// A run on the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownRun<'r> {
    /// The name of its file.
    pub file: &'r str,
    /// What it says.
    pub run: &'r Summary,
    /// Its place in the order of the page, from 0.
    pub number: usize,
}

impl ShownRun<'_> {
    /// The sample; the file where the name is not known.
    fn name(&self) -> &str {
        if self.run.sample.is_empty() { self.file } else { &self.run.sample }
    }

    /// What stands above it.
    pub fn title(&self) -> String {
        match self.run.sample.as_str() {
            "" => self.file.to_owned(),
            sample => format!("{sample} ({})", self.file),
        }
    }

    /// Where links to it lead.
    pub fn anchor(&self) -> String {
        format!("run-{}", self.number + 1)
    }
}

/// A column of numbers.
struct Column {
    name: &'static str,
    digits: usize,
    /// A difference that is none.
    least: f64,
    value: fn(&Sequenced) -> Option<f64>,
}

/// A column of parts of a hundred: a tenth of a percent is no difference.
const fn of_percent(name: &'static str, digits: usize, value: fn(&Sequenced) -> Option<f64>) -> Column {
    Column { name, digits, least: 0.1, value }
}

const COLUMNS: [Column; 9] = [
    Column { name: "reads", digits: 0, least: 1.0, value: |s| Some(s.reads as f64) },
    of_percent("mapped %", 2, |s| Some(s.mapped)),
    of_percent("proper pairs %", 2, |s| s.proper),
    Column { name: "median insert", digits: 0, least: 1.0, value: |s| s.insert.map(f64::from) },
    of_percent("duplicates %", 2, |s| s.duplicates),
    Column { name: "mean depth", digits: 1, least: 0.1, value: |s| s.depth },
    of_percent("20x or deeper %", 2, Sequenced::covered_20),
    Column { name: "error rate %", digits: 3, least: 0.01, value: |s| s.error_rate },
    of_percent("GC %", 1, |s| s.gc),
];

/// The table of all samples, if there are several, or if the page does not show each run by itself: then no links lead
/// there, and all files are named.
pub(crate) fn add(page: &mut Page, runs: &[ShownRun<'_>], with_each: bool) {
    let names: BTreeSet<&str> = runs.iter().map(ShownRun::name).collect();
    if names.len() < 2 && with_each {
        return;
    }
    page.heading("Samples").samples(&table(runs, names.len() < runs.len() || !with_each, with_each));
    page.note(
        "\u{25b2} and \u{25bc} mark what stands out: more than 3 robust standard deviations (1.4826 times the median \
        absolute deviation) above or below the median of four samples or more.",
    );
}

fn table(runs: &[ShownRun<'_>], with_files: bool, with_links: bool) -> SampleTable {
    let mut runs: Vec<(ShownRun<'_>, Sequenced)> = runs.iter().map(|&run| (run, Sequenced::of(run.run))).collect();
    runs.sort_by(|(a, _), (b, _)| natural::compare(a.name(), b.name()));
    let values = |column: &Column| runs.iter().map(|(_, sequenced)| (column.value)(sequenced)).collect::<Vec<_>>();
    let columns: Vec<(&Column, Vec<Option<f64>>)> = COLUMNS
        .iter()
        .map(|column| (column, values(column)))
        .filter(|(_, values)| values.iter().any(Option::is_some))
        .collect();
    let numbers: Vec<Vec<SampleCell>> = columns.iter().map(|(column, values)| cells(column, values)).collect();
    let row = |(place, (run, _)): (usize, &(ShownRun<'_>, Sequenced))| {
        let file = if with_files { format!(" ({})", run.file) } else { String::new() };
        let name = SampleCell {
            text: format!("{}{file}", run.name()),
            value: Some(place as f64),
            anchor: with_links.then(|| run.anchor()),
            ..SampleCell::default()
        };
        let finished = run.run.finished;
        let finished = SampleCell {
            text: finished.map_or(String::new(), utc),
            value: finished.map(|seconds| seconds as f64),
            ..SampleCell::default()
        };
        [name, finished].into_iter().chain(numbers.iter().map(|cells| cells[place].clone())).collect()
    };
    let head = ["sample", "finished"].into_iter().chain(columns.iter().map(|(column, _)| column.name)).collect();
    SampleTable { head, rows: runs.iter().enumerate().map(row).collect() }
}

/// The cells of a column.
fn cells(column: &Column, values: &[Option<f64>]) -> Vec<SampleCell> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let usual = Usual::of(&known, column.least);
    let shown = |value: f64| match column.digits {
        0 => grouped(value.round() as u64),
        digits => format!("{value:.digits$}"),
    };
    let words = |far: f64, usual: &Usual| {
        let (times, side) = (far.abs(), if far > 0.0 { "above" } else { "below" });
        format!("{}: {times:.1} robust deviations {side} the median, {}", column.name, shown(usual.median))
    };
    let outlier = |value: f64| {
        let usual = usual.as_ref()?;
        usual.far(value).map(|far| (far > 0.0, words(far, usual)))
    };
    let cell = |value: &Option<f64>| SampleCell {
        text: value.map_or("-".to_owned(), shown),
        value: *value,
        outlier: value.and_then(outlier),
        ..SampleCell::default()
    };
    values.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn html(samples: &[(&str, u64)]) -> String {
        let run = |(sample, mapped): &(&str, u64)| {
            let mut run = fixtures::with_figures(sample);
            run.run.tally.mapped = *mapped;
            run
        };
        let runs: Vec<Summary> = samples.iter().map(run).collect();
        let shown = |(number, run)| ShownRun { file: "f.json", run, number };
        let mut page = Page::new("t");
        add(&mut page, &runs.iter().enumerate().map(shown).collect::<Vec<_>>(), true);
        page.html()
    }

    #[test]
    fn samples_are_in_natural_order_and_what_stands_out_is_marked() {
        let html = html(&[("S10", 12_000_000), ("S2", 12_000_001), ("S<1>", 12_000_002), ("S3", 6_000_000)]);
        let place = |words: &str| html.find(words).unwrap_or_else(|| panic!("{words} is not in {html}"));
        assert!(place("<a href=\"#run-2\">S2</a>") < place("<a href=\"#run-1\">S10</a>"));
        assert!(
            html.contains("class=\"outlier\" title=\"mapped %: ") && html.contains("\u{25bc}\u{a0}48.60"),
            "{html}"
        );
        assert_eq!(html.matches("class=\"outlier\"").count(), 1, "{html}");
        assert!(html.contains("S&lt;1&gt;") && html.contains("<td data-value=\"1795000000\">2026-11-18 "), "{html}");
        assert!(html.contains("<th scope=\"col\">finished</th>"), "{html}");
        assert_eq!(html.matches("<script>").count(), 1);
    }

    #[test]
    fn one_sample_has_no_table() {
        assert!(!html(&[("S1", 1)]).contains("<table"));
        assert!(!html(&[("S1", 1), ("S1", 2)]).contains("<script"));
    }
}
