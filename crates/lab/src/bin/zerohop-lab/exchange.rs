//! `zerohop-lab exchange`: the variants of the exchange side by side, with searches that are made up or were recorded.

use crate::args::ExchangeArgs;
use crate::failure::Failure;
use crate::predictions::{self, Measured};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;
use tempfile::TempDir;
use zerohop_lab::exchange::{self, MadeUp, Searches, Settings, Variant, calibrate, recording};
use zerohop_model::timeline::SearchTimeline;
use zerohop_process::{overwrite, standard};
use zerohop_ranks::exchange::{Batch, Output, RankReport};
use zerohop_ranks::{Ranks, Transport, TransportError, Twin, find};

/// How long a rank may be waited for.
const LIMIT: Duration = Duration::from_secs(120);
/// How often the network is looked after while a search goes on.
const LOOK: Duration = Duration::from_millis(1);

/// One run of one variant.
#[derive(Debug, Serialize)]
struct VariantRun {
    variant: String,
    transport: String,
    repetition: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    made_up: Option<MadeUp>,
    /// The recording that was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<String>,
    /// How many times faster than recorded.
    speed: f64,
    /// What the slowest rank needs for searching alone, in seconds: no exchange can be faster.
    search_s: f64,
    ranks: Vec<RankReport>,
}

impl VariantRun {
    /// From the first batch to the last, of the slowest rank.
    fn wall_s(&self) -> f64 {
        self.ranks.iter().map(|rank| rank.wall.as_secs_f64()).fold(0.0, f64::max)
    }
}

/// Runs the command.
///
/// # Errors
/// Ranks that cannot go on, files that cannot be written.
pub fn run(args: &ExchangeArgs) -> Result<(), Failure> {
    overwrite::apart(
        args.replay.iter().chain(&find(args.mpi.as_deref())),
        args.output.iter().chain(&args.predictions),
    )?;
    if args.ranks.is_none() {
        return with_threads(args);
    }
    let (ranks, ()) = Ranks::join(args.ranks, args.mpi.as_deref(), LIMIT, Ok::<_, Failure>(()))?;
    let outcome = on_rank(args, ranks.transport());
    ranks.end(outcome)
}

fn with_threads(args: &ExchangeArgs) -> Result<(), Failure> {
    let mut outcomes: Vec<Result<(), Failure>> = std::thread::scope(|scope| {
        let start = |twin: Twin| {
            scope.spawn(move || {
                let outcome = on_rank(args, &twin);
                if outcome.is_err() {
                    twin.fail();
                }
                outcome
            })
        };
        let threads: Vec<_> = Twin::ranks(args.threads, LIMIT).into_iter().map(start).collect();
        let lost = || Err(Failure::Other("a rank ended early".to_owned()));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    // Who failed first says why; the others know only that somebody has.
    let hearsay = TransportError::PeerFailed.to_string();
    let is_cause =
        |outcome: &Result<(), Failure>| outcome.as_ref().is_err_and(|failure| failure.to_string() != hearsay);
    let cause = outcomes.iter().position(is_cause).unwrap_or(0);
    outcomes.rotate_left(cause);
    outcomes.into_iter().collect()
}

/// What is searched.
fn searches(args: &ExchangeArgs) -> Result<Searches, Failure> {
    match &args.replay {
        Some(path) => Ok(Searches::Recorded(recording::faster(recording::read(path)?, args.speed))),
        None => Ok(Searches::MadeUp(MadeUp {
            batches: args.batches,
            queries: args.queries,
            hits: args.hits,
            result_bytes: args.result_bytes,
            search_s: args.search_ms / 1e3,
            skew: args.skew.max(1.0),
        })),
    }
}

fn on_rank(args: &ExchangeArgs, transport: &dyn Transport) -> Result<(), Failure> {
    let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let variants = if args.variants.is_empty() { Variant::ALL.to_vec() } else { args.variants.clone() };
    let searches = searches(args)?;
    let (folder, _owned) = common_folder(args, transport)?;
    let path = folder.join("output");
    let rank = transport.rank();
    // Made before the first run: searches are asleep while they go on, so that more ranks than cores can be measured.
    let work: Vec<Work> = (0..searches.batches())
        .map(|number| Work { found: searches.batch(rank, number), time: searches.search_time(rank, number) })
        .collect();
    let search_s = searches.slowest_s(transport.size());
    let made_up = if let Searches::MadeUp(made_up) = &searches { Some(*made_up) } else { None };
    let mut runs: Vec<VariantRun> = Vec::new();
    // Repetition 0 warms up, and does not count.
    for repetition in 0..=args.repeats {
        for &variant in &variants {
            transport.barrier().map_err(|error| other(&error))?;
            let report = one(transport, Settings::new(variant, args.max_target_seqs), &work, &path)?;
            let ranks = zerohop_ranks::values(transport, &report).map_err(|error| other(&error))?;
            let (variant, transport) = (variant.to_string(), transport.name());
            // A path need not be text; JSON is.
            let replay = args.replay.as_ref().map(|path| path.to_string_lossy().into_owned());
            let speed = args.speed;
            runs.push(VariantRun { variant, transport, repetition, made_up, replay, speed, search_s, ranks });
        }
    }
    let cores = predictions::cores_of_all(transport)?;
    let costs = match args.predict.is_empty() {
        true => None,
        false => {
            let mut output = WrittenFile(open(&folder.join("calibration"))?);
            Some(calibrate(transport, &mut output, cores).map_err(|error| other(&error))?)
        }
    };
    if rank > 0 {
        return Ok(());
    }
    if let Some(path) = &args.output {
        let lines = runs.iter().map(|run| serde_json::to_string(run).map(|line| line + "\n"));
        let text = lines.collect::<Result<String, _>>().map_err(|error| other(&error))?;
        zerohop_process::write(path, text.as_bytes())?;
    }
    let mut text = table(&runs, search_s);
    if let Some(costs) = &costs {
        let wall = |variant: &Variant| median(&counted(&runs, &variant.to_string()), &VariantRun::wall_s);
        let wall_s = variants.iter().map(|variant| (*variant, wall(variant))).collect();
        let measured = Measured { ranks: transport.size(), cores, transport: transport.name(), wall_s };
        text += &predictions::tell(args, &searches, costs, &measured)?;
    }
    Ok(standard::print(text.as_bytes())?)
}

/// A folder that all ranks know: rank 0 makes it, and has it removed when it ends.
fn common_folder(args: &ExchangeArgs, transport: &dyn Transport) -> Result<(PathBuf, Option<TempDir>), Failure> {
    let make = || {
        let within = args.folder.clone().unwrap_or_else(std::env::temp_dir);
        let made = tempfile::Builder::new().prefix("zerohop-lab-").tempdir_in(&within);
        made.map_err(|error| Failure::Other(format!("{}: a folder cannot be made in it: {error}", within.display())))
    };
    let owned = (transport.rank() == 0).then(make).transpose()?;
    // Names of files are bytes, and need not be text.
    let path = owned.as_ref().map(|owned| owned.path().as_os_str().as_bytes()).unwrap_or_default();
    let all = transport.all_gather(path).map_err(|error| Failure::Other(error.to_string()))?;
    let first = all.into_iter().next().unwrap_or_default();
    Ok((PathBuf::from(OsString::from_vec(first)), owned))
}

struct WrittenFile(File);

impl Output for WrittenFile {
    fn write(&mut self, _: u64, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
}

fn open(path: &Path) -> Result<File, Failure> {
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    opened.map_err(|error| Failure::Other(format!("{}: cannot write: {error}", path.display())))
}

/// A batch of one rank: how long it searches, and what it finds.
struct Work {
    time: Duration,
    found: Batch,
}

fn one(transport: &dyn Transport, settings: Settings, work: &[Work], path: &Path) -> Result<RankReport, Failure> {
    let file = open(path)?;
    let (send, receive) = sync_channel(1);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for batch in work {
                let Batch { records, text, .. } = &batch.found;
                let found = Batch { records: records.clone(), text: text.clone(), frame: None };
                std::thread::sleep(batch.time);
                if send.send(found).is_err() {
                    break;
                }
            }
        });
        let mut next = || loop {
            transport.poll().map_err(|error| error.to_string())?;
            match receive.recv_timeout(LOOK) {
                Ok(batch) => return Ok(Some(batch)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        let outcome = exchange::run(transport, settings, (0, 0), &mut next, &mut WrittenFile(file));
        drop(receive);
        // There are many runs: a time line is for one.
        let report = |(report, _)| RankReport { talking: SearchTimeline::default(), ..report };
        outcome.map(report).map_err(|error| Failure::Other(error.to_string()))
    })
}

/// The runs of a variant that count.
fn counted<'r>(runs: &'r [VariantRun], variant: &str) -> Vec<&'r VariantRun> {
    runs.iter().filter(|run| run.variant == variant && run.repetition > 0).collect()
}

/// Of no runs it is no number.
fn median(runs: &[&VariantRun], of: &dyn Fn(&VariantRun) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(|run| of(run)).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A line per variant: medians over the runs.
fn table(runs: &[VariantRun], search_s: f64) -> String {
    let (ranks, transport) = runs.first().map_or((0, ""), |run| (run.ranks.len(), &run.transport));
    let made = runs.first().and_then(|run| run.replay.as_ref()).map_or("made up", |_| "recorded; here it sleeps");
    let mut text = format!(
        "{ranks} ranks, {transport}; the slowest rank searches for {search_s:.3} s \
         ({})\n\n{:15}{:>9}{:>12}{:>9}{:>9}{:>9}{:>9}{:>9}\n",
        made, "variant", "wall s", "exchange %", "put", "wait", "merge", "get", "write"
    );
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&&*run.variant) {
            names.push(&run.variant);
        }
    }
    for name in names {
        let counted = counted(runs, name);
        let median = |of: &dyn Fn(&VariantRun) -> f64| median(&counted, of);
        // Of all ranks, on average.
        let stage = |of: &dyn Fn(&RankReport) -> Duration| {
            median(&|run| run.ranks.iter().map(|rank| of(rank).as_secs_f64()).sum::<f64>() / run.ranks.len() as f64)
        };
        let wall = median(&VariantRun::wall_s);
        text += &format!(
            "{name:15}{wall:>9.3}{:>12.1}{:>9.3}{:>9.3}{:>9.3}{:>9.3}{:>9.3}\n",
            100.0 * (wall - search_s) / search_s.max(1e-9),
            stage(&|rank| rank.times.put),
            stage(&|rank| rank.times.wait),
            stage(&|rank| rank.times.merge),
            stage(&|rank| rank.times.get),
            stage(&|rank| rank.times.write)
        );
    }
    text
}
