//! Several runs of `zerohop align` beside each other.

use crate::bars::{Bar, Bars};
use crate::chart::{Axes, Chart, ChartError, Kind, Series};
use crate::page::{Page, Table};
use crate::summary::{Summary, percent};
use std::collections::BTreeMap;
use zerohop_model::thousands::grouped;

/// A run with its name.
pub(crate) type Named<'r> = (&'r str, &'r Summary);

/// What several runs have to say together; nothing of one alone. Only runs of the same reads on the same machine are
/// compared.
pub(crate) fn add(page: &mut Page, runs: &[Named<'_>]) -> Result<(), ChartError> {
    let mut groups: BTreeMap<(String, String, u64), Vec<Named<'_>>> = BTreeMap::new();
    for &(name, run) in runs {
        let inputs: Vec<String> = run.inputs.iter().map(|lane| lane.join(" and ")).collect();
        groups.entry((run.machine.name.clone(), inputs.join("; "), run.run.tally.reads)).or_default().push((name, run));
    }
    for ((machine, inputs, reads), runs) in groups.into_iter().filter(|(_, runs)| runs.len() > 1) {
        page.subheading("Runs compared");
        page.paragraph(&format!(
            "{} runs on {machine}, each of the same {} reads from {inputs}.",
            runs.len(),
            grouped(reads)
        ));
        let chart = times(&runs);
        if chart.series.iter().any(|series| series.points.windows(2).any(|pair| pair[0].0 < pair[1].0)) {
            page.chart(&chart)?;
        }
        page.bars(&bars(&runs)).table(&table(&runs));
    }
    Ok(())
}

/// How a run used the machine: engine, copies and page policy.
fn policy(run: &Summary) -> String {
    let (copies, pages) = (
        run.plan.replicas.len(),
        run.plan.replicas.first().map_or("-".to_owned(), |replica| replica.pages.to_string()),
    );
    let engine = &run.engine.0;
    let farm = run.run.instances.len() > copies;
    let copies = if copies == 1 { "1 copy".to_owned() } else { format!("{copies} copies") };
    format!("{engine}, {copies}, {pages}{}", if farm { ", farm" } else { "" })
}

fn times(runs: &[Named<'_>]) -> Chart {
    let mut by_policy: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for (_, run) in runs {
        let point = (run.threads() as f64, run.wall.as_secs_f64());
        by_policy.entry(policy(run)).or_default().push(point);
    }
    let series = by_policy.into_iter().enumerate().map(|(colour, (name, mut points))| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Series { name, points, kind: Kind::Measured, colour }
    });
    Chart {
        title: "Execution time by threads and policy".to_owned(),
        x: "threads".to_owned(),
        y: "time in all (s)".to_owned(),
        axes: Axes::FromZero,
        series: series.collect(),
        parts: Vec::new(),
    }
}

fn bars(runs: &[Named<'_>]) -> Bars {
    let mut policies: Vec<String> = runs.iter().map(|(_, run)| policy(run)).collect();
    policies.sort();
    policies.dedup();
    let bar = |&(name, run): &Named<'_>| {
        let (policy, value) = (policy(run), run.wall.as_secs_f64());
        let colour = policies.iter().position(|other| *other == policy).unwrap_or(0);
        let name = format!("{policy}, {} threads ({name})", run.threads());
        Bar { name, value, shown: format!("{value:.2} s"), colour }
    };
    Bars { title: "Time in all".to_owned(), bars: runs.iter().map(bar).collect(), ..Bars::default() }
}

fn table(runs: &[Named<'_>]) -> Table {
    let head = [
        "run",
        "policy",
        "threads",
        "time in all s",
        "index s",
        "mapping s",
        "reads/s",
        "CPU s",
        "peak memory",
        "mapped %",
    ];
    let row = |&(name, run): &Named<'_>| {
        vec![
            name.to_owned(),
            policy(run),
            run.threads().to_string(),
            format!("{:.3}", run.wall.as_secs_f64()),
            format!("{:.3}", run.index.time.as_secs_f64()),
            format!("{:.3}", run.run.wall.as_secs_f64()),
            grouped(run.reads_per_second() as u64),
            format!("{:.2}", run.resources.user.as_secs_f64() + run.resources.system.as_secs_f64()),
            run.resources.peak_memory.to_string(),
            format!("{:.2}", percent(run.run.tally.mapped, run.run.tally.reads)),
        ]
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: runs.iter().map(row).collect() }
}
