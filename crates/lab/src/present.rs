//! Tables, charts and a page of everything that a folder holds.

use crate::arm::Arm;
use crate::error::LabError;
use crate::experiment::{Experiment, Point};
use crate::summary::{Group, experiments, groups};
use std::collections::BTreeMap;
use std::path::Path;
use zerohop_report::{Axes, Chart, ChartError, Kind, Page, Series, Table};

/// Threads of the machine that predictions are made for.
const FARTHEST: usize = 512;
/// Predictions are compared with measurements up to so many threads per CPU.
const CHECKED_PER_CPU: usize = 4;

/// What one experiment shows: charts, and tables with titles.
struct Section {
    name: String,
    charts: Vec<Chart>,
    tables: Vec<(&'static str, Table)>,
}

/// Writes `index.html`, `summary.md` and an `.svg` for each chart of the points in `folder`.
///
/// # Errors
/// A chart that cannot be drawn, a file that cannot be written.
pub fn present(points: &[Point], folder: &Path) -> Result<(), LabError> {
    let mut page = Page::new("Thread scaling");
    show(points, &mut page).map_err(|error| LabError::file(folder, error))?;
    let mut markdown = String::from("# Thread scaling\n");
    let mut number = 0;
    for Section { name, charts, tables } in sections(points) {
        markdown += &format!("\n## {name}\n\n");
        for chart in charts {
            number += 1;
            let path = folder.join(format!("chart-{number:02}.svg"));
            let svg = chart.svg().map_err(|error| LabError::file(&path, error))?;
            std::fs::write(&path, svg).map_err(|error| LabError::file(&path, error))?;
        }
        tables.iter().for_each(|(title, table)| markdown += &format!("{title}:\n\n{}\n", table.markdown()));
    }
    let write = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).map_err(|error| LabError::file(&folder.join(name), error))
    };
    write("index.html", page.html())?;
    write("summary.md", markdown)
}

/// Adds to `page` what there is to show of `points`.
///
/// # Errors
/// A chart that cannot be drawn.
pub fn show(points: &[Point], page: &mut Page) -> Result<(), ChartError> {
    let mut machines: Vec<&str> = experiments(points).iter().map(|experiment| &*experiment.machine).collect();
    machines.sort_unstable();
    machines.dedup();
    page.paragraph(&format!("Measured on {}. Every chart has its points in the table below it.", machines.join("; ")));
    page.note(
        "Time is that of the slowest thread, without the making of the index; medians over the repetitions. \
        Solid lines with points are measured, dashed lines are computed.",
    );
    for Section { name, charts, tables } in sections(points) {
        page.heading(&name);
        for chart in &charts {
            page.chart(chart)?;
        }
        for (title, table) in &tables {
            page.folded(title, table);
        }
    }
    Ok(())
}

/// A section per experiment.
fn sections(points: &[Point]) -> Vec<Section> {
    let experiments = experiments(points);
    let section = |(place, experiment): (usize, &&Experiment)| {
        let (groups, cpus) = (groups(points, experiment), experiment.cpus);
        let namesakes = experiments[..place].iter().filter(|other| other.name() == experiment.name()).count();
        let name =
            if namesakes == 0 { experiment.name() } else { format!("{} ({})", experiment.name(), namesakes + 1) };
        let tables = [("What was measured", measured(&groups)), ("Predicted and measured", predicted(&groups, cpus))];
        let tables = tables.into_iter().filter(|(_, table)| !table.rows.is_empty()).collect();
        Section { name, charts: charts(&groups, cpus), tables }
    };
    experiments.iter().enumerate().map(section).collect()
}

/// One dimension of an arm, and what the arms of one chart have in common.
struct Dimension {
    name: &'static str,
    value: fn(&Arm) -> String,
    rest: fn(&Arm) -> String,
}

const DIMENSIONS: [Dimension; 4] = [
    Dimension {
        name: "lock",
        value: |arm| arm.lock.to_string(),
        rest: |arm| format!("{} input, {} output, {}", arm.input, arm.output, processes(arm)),
    },
    Dimension {
        name: "input",
        value: |arm| arm.input.to_string(),
        rest: |arm| format!("{} lock, {} output, {}", arm.lock, arm.output, processes(arm)),
    },
    Dimension {
        name: "output",
        value: |arm| arm.output.to_string(),
        rest: |arm| format!("{} input, {} lock, {}", arm.input, arm.lock, processes(arm)),
    },
    Dimension {
        name: "processes",
        value: processes,
        rest: |arm| format!("{} input, {} lock, {} output", arm.input, arm.lock, arm.output),
    },
];

fn processes(arm: &Arm) -> String {
    match arm.processes {
        1 => "one process".to_owned(),
        n if n == arm.threads => "a process per thread".to_owned(),
        n => format!("{n} processes"),
    }
}

/// A chart for each dimension and everything else that is the same, where there is something to compare; then the
/// predictions.
fn charts(groups: &[Group<'_>], cpus: usize) -> Vec<Chart> {
    let mut charts = Vec::new();
    for dimension in DIMENSIONS {
        let mut by_rest: BTreeMap<String, Vec<&Group<'_>>> = BTreeMap::new();
        for group in groups.iter().filter(|group| dimension.name != "lock" || group.arm.uses_lock()) {
            by_rest.entry((dimension.rest)(&group.arm)).or_default().push(group);
        }
        for (rest, groups) in by_rest {
            let mut values: Vec<String> = groups.iter().map(|group| (dimension.value)(&group.arm)).collect();
            values.sort();
            values.dedup();
            let several_threads = groups.iter().any(|group| group.arm.threads != groups[0].arm.threads);
            if values.len() < 2 || !several_threads {
                continue;
            }
            let series = values.iter().enumerate().map(|(colour, value)| {
                let of_value = groups.iter().filter(|group| (dimension.value)(&group.arm) == *value);
                Series { name: value.clone(), points: times(of_value.copied()), kind: Kind::Measured, colour }
            });
            charts.push(chart(format!("By {}: {rest}", dimension.name), series.collect()));
        }
    }
    charts.extend(prediction_chart(groups, cpus));
    charts
}

fn chart(title: String, series: Vec<Series>) -> Chart {
    Chart {
        title,
        x: "threads".to_owned(),
        y: "time of the slowest thread (s)".to_owned(),
        axes: Axes::Logarithmic,
        series,
        parts: Vec::new(),
    }
}

fn times<'g>(groups: impl Iterator<Item = &'g Group<'g>>) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> =
        groups.map(|group| (group.arm.threads as f64, group.median(|point| point.slowest_s))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The arms of one process and one thread: what predictions are made from.
fn roots<'g, 'p>(groups: &'g [Group<'p>]) -> impl Iterator<Item = &'g Group<'p>> {
    groups.iter().filter(|group| (group.arm.threads, group.arm.processes) == (1, 1) && group.rounds() > 0.0)
}

/// Seconds for the slowest of `threads` threads if each does as much as the one of `root` did.
fn predict(root: &Group<'_>, threads: usize, cpus: usize) -> f64 {
    root.rounds() * threads as f64 / root.round().throughput(threads, cpus)
}

fn is_weak(root: &Group<'_>, groups: &[Group<'_>]) -> bool {
    let fragments = |group: &Group<'_>| group.points.first().map_or(0, |point| point.fragments);
    groups.iter().all(|group| fragments(group) == fragments(root) * group.arm.threads)
}

/// What a machine with as many cores as threads would make of it, beside what was measured here.
fn prediction_chart(groups: &[Group<'_>], cpus: usize) -> Option<Chart> {
    let counts: Vec<usize> = std::iter::successors(Some(1), |&n| (n < FARTHEST).then_some(2 * n)).collect();
    let mut series = Vec::new();
    for root in roots(groups).filter(|root| is_weak(root, groups)) {
        let colour = series.len() / 2;
        let curve = |threads: usize| (threads as f64, predict(root, threads, threads.max(cpus)));
        let of_arm =
            groups.iter().filter(|group| Arm { threads: 1, ..group.arm } == root.arm && group.arm.threads <= cpus);
        let label = format!(
            "{} {} {}",
            root.arm.input,
            if root.arm.uses_lock() { root.arm.lock.to_string() } else { String::new() },
            root.arm.output
        );
        series.push(Series { name: String::new(), points: times(of_arm), kind: Kind::Measured, colour });
        series.push(Series {
            name: label,
            points: counts.iter().map(|&n| curve(n)).collect(),
            kind: Kind::Predicted,
            colour,
        });
    }
    let title = format!("Predicted for as many cores as threads; measured up to {cpus} CPUs (points)");
    (!series.is_empty()).then(|| chart(title, series))
}

fn measured(groups: &[Group<'_>]) -> Table {
    let head = [
        "input",
        "lock",
        "output",
        "processes x threads",
        "slowest thread s (range)",
        "reads/s",
        "held input ns/fragment",
        "held output ns/fragment",
        "claim %",
        "parse %",
        "map %",
        "commit %",
    ];
    let row = |group: &Group<'_>| {
        let (low, high) = group.range(|point| point.slowest_s);
        let reads = |point: &Point| point.sum(|thread| thread.reads as f64) / point.slowest_s;
        let part = |of: fn(&crate::worker::ThreadReport) -> f64| {
            100.0 * group.median(|point| point.sum(of) / point.sum(|thread| thread.wall_s).max(1e-12))
        };
        let Arm { input, lock, output, threads, processes } = group.arm;
        vec![
            input.to_string(),
            if group.arm.uses_lock() { lock.to_string() } else { "none".to_owned() },
            output.to_string(),
            format!("{processes}x{}", threads / processes),
            format!("{:.3} ({low:.3}-{high:.3})", group.median(|point| point.slowest_s)),
            format!("{:.0}", group.median(reads)),
            format!("{:.0}", 1e9 * group.median(Point::input_hold_s)),
            format!("{:.0}", 1e9 * group.median(Point::output_hold_s)),
            format!("{:.1}", part(|thread| thread.claim_s)),
            format!("{:.1}", part(|thread| thread.parse_s)),
            format!("{:.1}", part(|thread| thread.map_s)),
            format!("{:.1}", part(|thread| thread.commit_s)),
        ]
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: groups.iter().map(row).collect() }
}

/// For each arm with one thread measured: what the simulation says of more threads here, against what was measured, and
/// where the arm would saturate.
fn predicted(groups: &[Group<'_>], cpus: usize) -> Table {
    let head = ["input", "lock", "output", "threads", "measured s", "simulated s", "error %", "saturates at threads"];
    let mut rows = Vec::new();
    for root in roots(groups).filter(|root| is_weak(root, groups)) {
        let limit = root.round().saturates_at();
        for group in groups
            .iter()
            .filter(|group| Arm { threads: 1, ..group.arm } == root.arm && group.arm.threads <= CHECKED_PER_CPU * cpus)
        {
            let (measured, simulated) = (group.median(|point| point.slowest_s), predict(root, group.arm.threads, cpus));
            let Arm { input, lock, output, threads, .. } = group.arm;
            rows.push(vec![
                input.to_string(),
                if group.arm.uses_lock() { lock.to_string() } else { "none".to_owned() },
                output.to_string(),
                threads.to_string(),
                format!("{measured:.3}"),
                format!("{simulated:.3}"),
                format!("{:+.1}", 100.0 * (simulated / measured - 1.0)),
                if limit.is_finite() { format!("{limit:.0}") } else { "-".to_owned() },
            ]);
        }
    }
    Table { head: head.map(str::to_owned).to_vec(), rows }
}
