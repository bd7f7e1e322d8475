//! What a run of `zerohop search` shows of itself.

use crate::lanes::{Band, Lane, Lanes};
use crate::page::{Page, Table};
use crate::steps::{by_step, together};
use crate::text::seconds;
use serde::Deserialize;
use std::time::Duration;
use zerohop_model::exchange::RankReport;
use zerohop_model::thousands::grouped;
use zerohop_model::timeline::{SearchStage, SearchTimeline};

/// More ranks than these are shown in groups.
const MOST_RANKS: usize = 16;

/// The stages, in the order of [`SearchStage::ALL`]: blue is the search, greys are waiting.
const BANDS: [Band; SearchStage::ALL.len()] = [
    ("search", "#0072b2"),
    ("wait for the exchange", "#808080"),
    ("wait for the search", "#d8d8d8"),
    ("put", "#e69f00"),
    ("wait for records", "#505050"),
    ("merge", "#009e73"),
    ("get", "#cc79a7"),
    ("write", "#d55e00"),
];

/// Of what `zerohop search --json` writes, what is shown.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct SearchRun {
    version: String,
    command: String,
    transport: String,
    /// How ranks exchanged results, in files of an earlier zerohop: it had several ways.
    variant: Option<String>,
    queries: u64,
    output_bytes: u64,
    ranks: Vec<RankReport>,
}

/// The sections of one run.
pub(crate) fn add(page: &mut Page, name: &str, run: &SearchRun) {
    page.subheading(name).facts(&facts(run));
    page.caption("Where the time of each rank went");
    page.note(
        "A rank has two threads: one searches, the other gives records to the other ranks, waits for theirs, \
        merges, fetches and writes.",
    );
    page.table(&by_rank(run));
    if run.ranks.iter().all(|rank| rank.talking.steps.is_empty()) {
        page.note("There is no time line in this file: it is from an earlier zerohop, or the run was too short.");
        return;
    }
    page.caption("What the ranks did when");
    if run.ranks.len() > MOST_RANKS {
        page.note("There are many ranks: a lane is a group of them, and its height all their time.");
    }
    page.lanes(&lanes(run));
    let all = together(run.ranks.iter().flat_map(|rank| [&rank.searching, &rank.talking]));
    page.folded("The same in numbers: all ranks together, over time", &by_step(&BANDS, &all));
}

/// From the first batch of any rank to its last.
fn wall(run: &SearchRun) -> Duration {
    run.ranks.iter().map(|rank| rank.wall).max().unwrap_or_default()
}

fn facts(run: &SearchRun) -> Vec<(&'static str, String)> {
    let ranks = format!("{} ({})", run.ranks.len(), run.transport);
    let ranks = run.variant.iter().fold(ranks, |ranks, variant| ranks + ", " + variant);
    vec![
        ("command", run.command.clone()),
        ("zerohop", run.version.clone()),
        ("ranks", ranks),
        ("queries", format!("{0} in, {0} answered", grouped(run.queries))),
        ("results", format!("{} bytes", grouped(run.output_bytes))),
        ("time", format!("{} from the first batch to the last", seconds(wall(run)))),
    ]
}

fn by_rank(run: &SearchRun) -> Table {
    let head = ["rank", "batches", "written", "hits", "survived", "fetched bytes"].into_iter();
    let head = head.chain(BANDS[2..].iter().map(|(name, _)| *name)).chain(["all (s)"]).map(str::to_owned);
    let row = |rank: &RankReport| {
        let numbers = [rank.batches, rank.written, rank.records, rank.survived, rank.fetched_bytes].map(grouped);
        let times = &rank.times;
        let times = [times.search, times.put, times.wait, times.merge, times.get, times.write, rank.wall];
        let times = times.map(|time| format!("{:.3}", time.as_secs_f64()));
        std::iter::once(rank.rank.to_string()).chain(numbers).chain(times).collect()
    };
    Table { head: head.collect(), rows: run.ranks.iter().map(row).collect() }
}

/// Two lanes for each rank, or group of ranks: what searches lies above what exchanges, over the same time.
fn lanes(run: &SearchRun) -> Lanes {
    let size = run.ranks.len().div_ceil(MOST_RANKS).max(1);
    let of = |(number, ranks): (usize, &[RankReport])| {
        let first = number * size;
        let who = match ranks.len() {
            1 => format!("rank {first}"),
            many => format!("ranks {first}-{}", first + many - 1),
        };
        let lane = |what: &str, timeline: fn(&RankReport) -> &SearchTimeline| {
            Lane::new(format!("{who}, {what}"), ranks.len(), &together(ranks.iter().map(timeline)))
        };
        [lane("search", |rank| &rank.searching), lane("exchange", |rank| &rank.talking)]
    };
    let lanes: Vec<Lane> = run.ranks.chunks(size).enumerate().flat_map(of).collect();
    let longest = lanes.iter().map(Lane::seconds).fold(0.0, f64::max);
    Lanes { bands: &BANDS, seconds: wall(run).as_secs_f64().max(longest), lanes }
}
