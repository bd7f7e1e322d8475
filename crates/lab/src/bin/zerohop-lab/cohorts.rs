//! `zerohop-lab cohorts`: how well workers are used where an engine maps in two phases.

use crate::args::CohortsArgs;
use crate::failure::Failure;
use serde::Serialize;
use std::time::Duration;
use zerohop_lab::cohorts::{Case, Costs, measure, simulate, with_barriers, with_whole_cohorts};
use zerohop_process::standard;

/// What came of one number of workers.
#[derive(Debug, Serialize)]
struct Row {
    workers: usize,
    cohorts: u64,
    /// Parts of the workers' time that are work.
    simulated: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<f64>,
    with_barriers: f64,
    with_whole_cohorts: f64,
    /// The most pieces that were claimed and not finished at one time.
    most_held: usize,
}

/// Runs the command.
///
/// # Errors
/// A run that fails, a file that cannot be written.
pub fn run(args: &CohortsArgs) -> Result<(), Failure> {
    if args.first_ms + args.second_ms <= 0.0 {
        return Err(Failure::Usage("--first-ms or --second-ms must be more than 0".to_owned()));
    }
    let mut numbers: Vec<usize> = args.workers.iter().chain(&args.measure).copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    let rows = numbers.into_iter().map(|workers| row(args, workers)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &args.output {
        let text = serde_json::to_string_pretty(&rows).map_err(|error| Failure::Other(error.to_string()))?;
        zerohop_process::write(path, format!("{text}\n").as_bytes())?;
    }
    Ok(standard::print(table(&rows).as_bytes())?)
}

fn row(args: &CohortsArgs, workers: usize) -> Result<Row, Failure> {
    let time = |milliseconds: f64| Duration::from_secs_f64(milliseconds / 1e3);
    let costs = Costs {
        first: time(args.first_ms),
        second: time(args.second_ms),
        combine: time(args.combine_ms),
        spread: args.spread,
    };
    let cohorts = (workers as u64 * args.pieces_per_worker).div_ceil(u64::from(args.pieces));
    let case = Case { workers, cohorts, pieces: args.pieces, costs };
    let simulated =
        simulate(&case).map_err(|_| Failure::Other("the rules lost a piece: please report this".to_owned()))?;
    let measured = match args.measure.contains(&workers) {
        true => {
            let folder = tempfile::tempdir().map_err(|error| Failure::Other(error.to_string()))?;
            Some(case.efficiency(measure(&case, folder.path())?))
        }
        false => None,
    };
    Ok(Row {
        workers,
        cohorts,
        simulated: case.efficiency(simulated.makespan),
        measured,
        with_barriers: case.efficiency(with_barriers(&case)),
        with_whole_cohorts: case.efficiency(with_whole_cohorts(&case)),
        most_held: simulated.most_held,
    })
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("workers  simulated  measured  with barriers  whole cohorts  most pieces held\n");
    for row in rows {
        let part = |part: f64| format!("{:.1} %", 100.0 * part);
        text += &format!(
            "{:>7}  {:>9}  {:>8}  {:>13}  {:>13}  {:>16}\n",
            row.workers,
            part(row.simulated),
            row.measured.map_or("-".to_owned(), part),
            part(row.with_barriers),
            part(row.with_whole_cohorts),
            row.most_held
        );
    }
    text
}
