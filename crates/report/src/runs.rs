//! What a run of `zerohop align` shows: what was sequenced, and how the program ran.

use crate::chart::ChartError;
use crate::lanes::{Lane, Lanes};
use crate::methylation;
use crate::page::{Page, Table};
use crate::pictures;
use crate::samples_page::ShownRun;
use crate::sequenced::Sequenced;
use crate::stages::{self, BANDS};
use crate::steps::{by_step, together};
use crate::summary::{Summary, percent};
use crate::text::{machine_words, rank_words, reads_words, seconds};
use crate::topology::Topology;
use std::collections::BTreeMap;
use std::time::Duration;
use zerohop_model::measurement::WorkerReport;
use zerohop_model::thousands::grouped;

/// More workers than these are shown in groups.
const MOST_LANES: usize = 32;

/// What one run shows: what was sequenced, and, folded, how the program ran.
pub(crate) fn add(page: &mut Page, shown: &ShownRun<'_>) -> Result<(), ChartError> {
    let run = shown.run;
    page.named_subheading(&shown.anchor(), &shown.title());
    page.caption("What was sequenced").facts(&Sequenced::of(run).facts(&run.sample));
    pictures::add(page, run)?;
    page.fold("How the program ran", |page| {
        add_program(page, run);
        Ok(())
    })
}

fn add_program(page: &mut Page, run: &Summary) {
    page.facts(&facts(run));
    for note in run.notes.iter().chain(&run.run.refused) {
        page.note(note);
    }
    if run.has_other_ranks() {
        page.note("CPU time, memory, plan and machine, and all that follows here, are those of rank 0.");
    }
    if let Some(words) = run.process_words() {
        page.note(&format!(
            "CPU time and peak memory are those of {words}. Samples whose index is the same share its copies. Times \
             and workers are this sample's own, but its neighbours ran at the same time."
        ));
    }
    add_times(page, run);
    page.caption("Where the memory lay");
    match run.placement() {
        Some(heat) => page.heat(&heat),
        None => page.note("No large pages were there to look at: the index is small, or the aligner ended at once."),
    };
    page.caption("The machine, and what was put on it");
    let found = run.found();
    page.topology(&Topology { machine: &run.machine, plan: Some(&run.plan), found: &found });
}

fn facts(run: &Summary) -> Vec<(&'static str, String)> {
    let (tally, used) = (&run.run.tally, &run.resources);
    let inputs: Vec<String> = run.inputs.iter().map(|lane| lane.join(" and ")).collect();
    let of_process = run.process_words().map_or(String::new(), |words| format!(", of {words}"));
    let mut facts = vec![
        ("command", run.command.clone()),
        ("engine", format!("{} {} (zerohop {})", run.engine.0, run.engine.1, run.version)),
        ("reads from", inputs.join("; ")),
        ("reads", reads_words(tally)),
        ("mapped", format!("{:.2} %", percent(tally.mapped, tally.reads))),
        (
            "time",
            format!(
                "{} in all, {} mapping ({} reads/s)",
                seconds(run.wall),
                seconds(run.run.wall),
                grouped(run.reads_per_second() as u64)
            ),
        ),
        ("CPU", format!("{} user, {} system{of_process}", seconds(used.user), seconds(used.system))),
        ("memory", format!("{} at the peak{of_process}", used.peak_memory)),
        ("index", run.index_line()),
        ("plan", run.plan.reasons.join(" ")),
        ("machine", machine_words(&run.machine)),
    ];
    facts.extend(run.proper_words().map(|words| ("proper", words)));
    if let Some(found) = &run.run.methylation {
        facts.push(("cytosines", methylation::words(found)));
        facts.extend(methylation::controls(found).map(|words| ("control", words)));
    }
    facts.extend(run.ranks.iter().map(|rank| ("rank", format!("{} {}", rank.rank, rank_words(rank)))));
    if let Some(comparison) = &run.comparison {
        facts.push(("compared", crate::text::comparison_words(comparison)));
    }
    facts.extend(run.run.trimmed.iter().map(|trimmed| ("trimmed", crate::text::trimmed_words(trimmed))));
    if let Some(sorted) = &run.run.sorted {
        facts.push(("sorted", crate::text::sorted_words(sorted)));
        if let Some(found) = &sorted.duplicates {
            facts.push(("duplicates", crate::text::duplicate_words(found)));
            facts.extend(crate::text::libraries_words(&found.libraries).map(|words| ("library", words)));
            facts.extend(found.umis.iter().map(|umis| ("molecules", crate::text::umi_words(umis))));
        }
        facts.extend(sorted.reports.iter().map(|reports| ("reports", crate::text::reports_words(reports))));
    }
    facts
}

/// The stages of a worker, in the order of their names.
fn stages(worker: &WorkerReport) -> [Duration; BANDS.len()] {
    let WorkerReport { claim, wait_input, parse, map, encode, commit, wait_output, .. } = *worker;
    [claim, wait_input, parse, map, encode, commit, wait_output]
}

fn add_times(page: &mut Page, run: &Summary) {
    page.caption("Where the time of all workers went");
    let external = !run.run.instances.is_empty();
    if external {
        page.note(
            "The aligner is a program of its own: 'map' is the feeding of that program, and a worker here is the \
            threads around one instance, whose times add up.",
        );
    }
    page.table(&shares(run, external)).folded("What the stages are", &stages::words());
    let lanes = lanes(run);
    if lanes.lanes.iter().all(|lane| lane.steps.is_empty()) {
        page.note("There is no time line in this file: it is from an earlier zerohop, or the run was too short.");
        return;
    }
    page.caption("What the workers did when");
    if lanes.lanes.len() < run.run.workers.len() {
        page.note("There are many workers: a lane is a group of them, and its height all their time.");
    }
    page.lanes(&lanes).folded("The same in numbers: each worker", &by_worker(run));
    let all = together(run.run.workers.iter().map(|worker| &worker.timeline));
    page.folded("The same in numbers: all workers together, over time", &by_step(&BANDS, &all));
}

fn shares(run: &Summary, external: bool) -> Table {
    let workers = &run.run.workers;
    let all: f64 = workers.iter().map(|worker| worker.wall.as_secs_f64()).sum();
    let sum = |stage: usize| workers.iter().map(|worker| stages(worker)[stage].as_secs_f64()).sum::<f64>();
    let share = |part: f64| if all > 0.0 { format!("{:.1} %", 100.0 * part / all) } else { "-".to_owned() };
    let row = |name: &str, part: f64| vec![name.to_owned(), format!("{part:.3}"), share(part)];
    let mut rows: Vec<Vec<String>> = (0..BANDS.len()).map(|stage| row(BANDS[stage].0, sum(stage))).collect();
    let rest = all - (0..BANDS.len()).map(sum).sum::<f64>();
    if rest >= 0.0 && !external {
        rows.push(row("not running, or between stages", rest));
    }
    let serial = &run.run.serial;
    rows.push(vec![
        "of these, serial: cutting input".to_owned(),
        format!("{:.3}", serial.cut.as_secs_f64()),
        share(serial.cut.as_secs_f64()),
    ]);
    rows.push(vec![
        "of these, serial: ordering output".to_owned(),
        format!("{:.3}", serial.order.as_secs_f64()),
        share(serial.order.as_secs_f64()),
    ]);
    Table { head: ["stage", "seconds", "share"].map(str::to_owned).to_vec(), rows }
}

/// A lane per worker; of many workers a lane per node, or per group of neighbours.
fn lanes(run: &Summary) -> Lanes {
    let workers = &run.run.workers;
    let nodes: Vec<Option<_>> =
        workers.iter().map(|worker| worker.cpus.first().and_then(|&cpu| run.machine.node_of(cpu))).collect();
    let several_nodes = nodes.iter().any(|node| *node != nodes[0]);
    let what = if run.run.instances.len() == workers.len() { "instance" } else { "worker" };
    let mut groups: BTreeMap<(usize, String), Vec<&WorkerReport>> = BTreeMap::new();
    let size = workers.len().div_ceil(MOST_LANES);
    for (i, (worker, node)) in workers.iter().zip(&nodes).enumerate() {
        let key = match node {
            _ if workers.len() <= MOST_LANES => (i, format!("{what} {i}")),
            Some(node) if several_nodes => (node.0 as usize, format!("node {node}")),
            None if several_nodes => (usize::MAX, "not pinned".to_owned()),
            _ => (i / size, format!("workers {}-{}", i / size * size, ((i / size + 1) * size).min(workers.len()) - 1)),
        };
        groups.entry(key).or_default().push(worker);
    }
    let lane = |((_, name), workers): ((usize, String), Vec<&WorkerReport>)| {
        let name =
            if several_nodes && workers.len() > 1 { format!("{name} ({} workers)", workers.len()) } else { name };
        Lane::new(name, workers.len(), &together(workers.iter().map(|worker| &worker.timeline)))
    };
    let lanes: Vec<Lane> = groups.into_iter().map(lane).collect();
    let longest = lanes.iter().map(Lane::seconds).fold(0.0, f64::max);
    Lanes { bands: &BANDS, seconds: run.run.wall.as_secs_f64().max(longest), lanes }
}

fn head(first: &[&str]) -> Vec<String> {
    first.iter().copied().chain(BANDS.map(|(name, _)| name)).map(str::to_owned).collect()
}

fn by_worker(run: &Summary) -> Table {
    let row = |(i, worker): (usize, &WorkerReport)| {
        let cpus: Vec<String> = worker.cpus.iter().map(|cpu| cpu.to_string()).collect();
        let mut row = vec![i.to_string(), cpus.join(","), worker.replica.to_string(), worker.chunks.to_string()];
        row.extend(stages(worker).iter().chain([&worker.wall]).map(|time| format!("{:.3}", time.as_secs_f64())));
        row
    };
    let mut head = head(&["worker", "CPUs", "copy", "chunks"]);
    head.push("all (s)".to_owned());
    Table { head, rows: run.run.workers.iter().enumerate().map(row).collect() }
}
