//! What a tuning shows of itself.

use crate::bars::{Bar, Bars};
use crate::chart::{Axes, Chart, ChartError, Kind, Series};
use crate::page::{Page, Table};
use crate::text::machine_words;
use crate::topology::Topology;
use zerohop_model::plan::Pages;
use zerohop_model::thousands::grouped;
use zerohop_model::tuning::{Choice, Finding, Part, Tuning};

/// The sections of one tuning.
pub(crate) fn add(page: &mut Page, name: &str, tuning: &Tuning) -> Result<(), ChartError> {
    page.subheading(name).facts(&facts(tuning));
    if !tuning.full {
        page.note(
            "Choices were tried on part of the reads. Times for all reads are projected from these trials: \
            dashed lines with hollow marks, hatched bars.",
        );
    }
    for part in [Part::A, Part::B] {
        let chart = chart(tuning, part);
        if chart.series.iter().any(|series| series.points.len() > 1) {
            page.chart(&chart)?;
        }
    }
    match speed_ups(tuning) {
        Some(bars) => page.bars(&bars),
        None => page.note(
            "The unchanged program ('original') did not run to its end in Part A, so there are no speed-ups to show.",
        ),
    };
    page.caption("What was found").table(&findings(tuning)).folded("Each run", &trials(tuning));
    page.caption("The plan").paragraph(&tuning.plan.reasons.join(" ")).paragraph(&tuning.sure);
    page.topology(&Topology { machine: &tuning.machine, plan: Some(&tuning.plan), found: &[] });
    Ok(())
}

fn facts(tuning: &Tuning) -> Vec<(&'static str, String)> {
    let best = tuning.findings.first().map_or("none".to_owned(), |best| best.choice.to_string());
    let reads = match tuning.full {
        true => format!("{}, all of them in each trial", grouped(tuning.reads)),
        false => format!("about {}, part of them in each trial", grouped(tuning.reads)),
    };
    vec![
        ("command", tuning.command.clone()),
        ("best choice", best),
        ("how sure", tuning.sure.clone()),
        ("engine", format!("{} {} (zerohop {})", tuning.engine.0, tuning.engine.1, tuning.version)),
        ("reads from", tuning.inputs.join(" and ")),
        ("reads", reads),
        ("index", format!("{} per copy", tuning.index)),
        ("trials", format!("{}, which took {:.1} s", tuning.trials.len(), tuning.took_s)),
        ("machine", machine_words(&tuning.machine)),
    ]
}

fn policy(choice: &Choice) -> String {
    let pages = if original(choice) { "original".to_owned() } else { choice.pages.to_string() };
    match (choice.part(), choice.farm) {
        (Part::A, _) => pages,
        (Part::B, farm) => format!("{} x {pages}{}", choice.copies, if farm { ", farm" } else { "" }),
    }
}

/// Whether it is the unchanged program.
fn original(choice: &Choice) -> bool {
    choice.part() == Part::A && choice.pages == Pages::FirstTouch
}

/// Findings that rest on trials that ran to their end, with their seconds.
fn measured(tuning: &Tuning) -> impl Iterator<Item = (&Finding, f64)> {
    let ended = tuning.findings.iter().filter(|finding| finding.trials > 0);
    ended.filter_map(|finding| Some((finding, finding.seconds.filter(|seconds| *seconds > 0.0)?)))
}

/// The policies of a part, in the order of their names.
fn policies(tuning: &Tuning, part: Part) -> Vec<String> {
    let mut policies: Vec<_> = measured(tuning)
        .filter(|(f, _)| f.choice.part() == part)
        .map(|(f, _)| (f.choice.copies, policy(&f.choice)))
        .collect();
    policies.sort();
    policies.dedup();
    policies.into_iter().map(|(_, policy)| policy).collect()
}

fn chart(tuning: &Tuning, part: Part) -> Chart {
    let series = policies(tuning, part).into_iter().enumerate().map(|(colour, name)| {
        let of = measured(tuning).filter(|(f, _)| f.choice.part() == part && policy(&f.choice) == name);
        let mut points: Vec<(f64, f64)> = of.map(|(f, seconds)| (f.choice.threads as f64, seconds)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name, points, kind: if tuning.full { Kind::Measured } else { Kind::Projected }, colour }
    });
    let what = match part {
        Part::A => "Part A: one copy of the index, threads and page policy",
        Part::B => "Part B: several copies, instances and page policy",
    };
    let y = if tuning.full { "time for all reads (s)" } else { "time for all reads, projected (s)" };
    Chart {
        title: what.to_owned(),
        x: "threads".to_owned(),
        y: y.to_owned(),
        axes: Axes::FromZero,
        series: series.collect(),
        parts: Vec::new(),
    }
}

/// The best of each policy against the best run of the unchanged program.
fn speed_ups(tuning: &Tuning) -> Option<Bars> {
    let fastest = |a: &(&Finding, f64), b: &(&Finding, f64)| a.1.total_cmp(&b.1);
    let (base, base_s) = measured(tuning).filter(|(finding, _)| original(&finding.choice)).min_by(fastest)?;
    let mut bars = Vec::new();
    for (colour, part) in [Part::A, Part::B].into_iter().enumerate() {
        for name in policies(tuning, part) {
            let of = measured(tuning).filter(|(f, _)| f.choice.part() == part && policy(&f.choice) == name);
            let Some((best, best_s)) = of.min_by(fastest) else { continue };
            let (value, name) = (base_s / best_s, format!("{part:?}: {}", best.choice));
            bars.push(Bar { name, value, shown: format!("{value:.2}x"), colour });
        }
    }
    let projected = if tuning.full { "" } else { ", projected" };
    let title = format!(
        "Speed-up over the best 'original' run, {} with {:.2} s{projected} (the line is 1.00x); the best number of \
         threads of each strategy, by part",
        base.choice, base_s
    );
    Some(Bars { title, bars, line: Some(1.0), computed: !tuning.full })
}

fn findings(tuning: &Tuning) -> Table {
    let seconds = if tuning.full { "mean s" } else { "mean s, projected" };
    let head = ["choice", "part", "trials", seconds, "relative error", "against best", "dropped"];
    let row = |finding: &Finding| {
        let of = |number: Option<f64>, unit: &str| number.map_or("-".to_owned(), |number| format!("{number:.3}{unit}"));
        let (seconds, against) = (of(finding.seconds, ""), of(finding.against_best, "x"));
        vec![
            finding.choice.to_string(),
            format!("{:?}", finding.choice.part()),
            finding.trials.to_string(),
            seconds,
            finding.relative_error.map_or("-".to_owned(), |error| format!("{:.1} %", 100.0 * error)),
            against,
            finding.dropped.clone().unwrap_or_else(|| "stayed to the end".to_owned()),
        ]
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: tuning.findings.iter().map(row).collect() }
}

fn trials(tuning: &Tuning) -> Table {
    let head = ["choice", "round", "reads", "load s", "mapping s", "CPU s", "ended"];
    let row = |trial: &zerohop_model::tuning::Trial| {
        vec![
            trial.choice.to_string(),
            trial.round.to_string(),
            grouped(trial.reads),
            format!("{:.3}", trial.load_s),
            format!("{:.3}", trial.map_s),
            format!("{:.2}", trial.cpu_s),
            if trial.broken_off { "early: times are lower bounds" } else { "complete" }.to_owned(),
        ]
    };
    Table { head: head.map(str::to_owned).to_vec(), rows: tuning.trials.iter().map(row).collect() }
}
