//! What `zerohop-lab exchange` says about ranks that it has not got: simulated, and never among what was measured.

use crate::args::ExchangeArgs;
use crate::failure::Failure;
use serde::Serialize;
use std::collections::BTreeSet;
use zerohop_lab::exchange::model::{self, Costs};
use zerohop_lab::exchange::{Searches, Settings, Variant};
use zerohop_process::json;
use zerohop_ranks::Transport;

/// What was measured before.
pub struct Measured {
    /// Ranks.
    pub ranks: usize,
    /// Cores that they share, if they do.
    pub cores: Option<usize>,
    /// What connects them.
    pub transport: String,
    /// Seconds from the first batch to the last, by variant.
    pub wall_s: Vec<(Variant, f64)>,
}

/// A prediction, with what was measured of the same.
#[derive(Debug, Serialize)]
struct Prediction {
    variant: String,
    ranks: usize,
    /// Cores that the ranks share; without a number each has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<usize>,
    simulated_wall_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_wall_s: Option<f64>,
    /// How much longer the simulation takes than the measured run, of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_percent: Option<f64>,
}

/// The file of predictions.
#[derive(Debug, Serialize)]
struct PredictionReport<'r> {
    schema_version: u32,
    what: &'static str,
    command: String,
    /// Where the times of single calls were measured.
    transport: &'r str,
    ranks: usize,
    costs: &'r Costs,
    predictions: &'r [Prediction],
}

/// The cores that all ranks share, if all are on one host.
///
/// # Errors
/// Ranks that cannot go on; a machine that cannot be looked at.
pub fn cores_of_all(transport: &dyn Transport) -> Result<Option<usize>, Failure> {
    let machine = zerohop_topology::detect()?;
    // A launcher may have given each rank some of them.
    let own = (machine.name, machine.allowed.cpus);
    let all = zerohop_ranks::values(transport, &own).map_err(|error| Failure::Other(error.to_string()))?;
    let cpus: BTreeSet<_> = all.iter().flat_map(|(_, cpus)| cpus).collect();
    Ok(all.iter().all(|(host, _)| *host == all[0].0).then_some(cpus.len()))
}

/// Predicts what was asked for and what was measured, and says it; writes the file, if there is to be one.
///
/// # Errors
/// A file that cannot be written.
pub fn tell(args: &ExchangeArgs, searches: &Searches, costs: &Costs, measured: &Measured) -> Result<String, Failure> {
    let mut all = Vec::new();
    for &(variant, wall_s) in &measured.wall_s {
        let settings = Settings::new(variant, args.max_target_seqs);
        let predict = |ranks, cores| model::predict(settings, searches, ranks, costs, cores);
        let simulated = predict(measured.ranks, measured.cores);
        all.push(Prediction {
            variant: variant.to_string(),
            ranks: measured.ranks,
            cores: measured.cores,
            simulated_wall_s: simulated,
            measured_wall_s: Some(wall_s).filter(|wall| wall.is_finite()),
            error_percent: Some(100.0 * (simulated / wall_s - 1.0)).filter(|error| error.is_finite()),
        });
        all.extend(args.predict.iter().map(|&ranks| Prediction {
            variant: variant.to_string(),
            ranks,
            cores: args.predict_cores,
            simulated_wall_s: predict(ranks, args.predict_cores),
            measured_wall_s: None,
            error_percent: None,
        }));
    }
    if let Some(path) = &args.predictions {
        let report = PredictionReport {
            schema_version: 1,
            what: "simulated, not measured",
            command: zerohop_process::command_line("zerohop-lab"),
            transport: &measured.transport,
            ranks: measured.ranks,
            costs,
            predictions: &all,
        };
        json::write(path, &report)?;
    }
    Ok(table(args, measured, &all))
}

/// A line per variant, a column per number of ranks.
fn table(args: &ExchangeArgs, measured: &Measured, all: &[Prediction]) -> String {
    let shared = match args.predict_cores {
        Some(cores) => format!("all ranks share {cores} cores"),
        None => "each rank has a core of its own".to_owned(),
    };
    let here = match measured.cores {
        Some(cores) => format!("{cores} cores for all"),
        None => "one core for each".to_owned(),
    };
    let mut text = format!(
        "\nSIMULATED, not measured: wall s, from single calls timed over these ranks\nhere: {} ranks, {here}; then \
         {shared}\n\n{:15}{:>10}{:>10}{:>9}",
        measured.ranks, "variant", "here", "measured", "error %"
    );
    let rows = |text: &mut String, cells: &dyn Fn(&Prediction) -> String| {
        all.iter().filter(|one| one.measured_wall_s.is_none()).for_each(|one| *text += &cells(one));
    };
    for ranks in &args.predict {
        text += &format!("{ranks:>10}");
    }
    text += "\n";
    for here in all.iter().filter(|one| one.measured_wall_s.is_some()) {
        let (wall, error) = (here.measured_wall_s.unwrap_or(f64::NAN), here.error_percent.unwrap_or(f64::NAN));
        text += &format!("{:15}{:>10.3}{wall:>10.3}{error:>9.1}", here.variant, here.simulated_wall_s);
        rows(&mut text, &|one| match one.variant == here.variant {
            true => format!("{:>10.3}", one.simulated_wall_s),
            false => String::new(),
        });
        text += "\n";
    }
    text
}
