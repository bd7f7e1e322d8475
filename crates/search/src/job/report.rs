//! What all ranks did, gathered and told.

use super::SearchJob;
use super::error::JobError;
use super::instances::Instances;
use super::searching::Done;
use crate::local::Search;
use serde::Serialize;
use zerohop_model::exchange::{RECORDING_VERSION, RankReport, Recording, SEARCH_VERSION};
use zerohop_model::plan::InstancePlan;
use zerohop_process::{json, tell};
use zerohop_ranks::Transport;
use zerohop_topology::cpulist;

/// What a search says of itself.
#[derive(Debug, Serialize)]
struct Report {
    schema_version: u32,
    version: String,
    command: String,
    transport: String,
    /// Queries that were read; each was answered by every rank, also if nothing was found.
    queries: u64,
    output_bytes: u64,
    ranks: Vec<RankReport>,
    /// Of each rank, where its programs ran.
    instances: Vec<Vec<InstancePlan>>,
}

/// What all ranks did; they must have answered the same queries.
///
/// # Errors
/// Ranks that cannot go on together, or answered different queries.
pub fn gathered(transport: &dyn Transport, report: &RankReport, queries: u64) -> Result<Vec<RankReport>, JobError> {
    let other = |error: &dyn std::fmt::Display| JobError::Failed(error.to_string());
    let own = serde_json::to_vec(&(report, queries)).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    let read = |text: &Vec<u8>| serde_json::from_slice::<(RankReport, u64)>(text).map_err(|error| other(&error));
    let all = all.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let differs = all.iter().map(|(_, queries)| *queries).enumerate().find(|(_, answered)| *answered != queries);
    if let Some((rank, wrong)) = differs {
        let own = transport.rank();
        let words = format!("rank {own} has answered {queries} queries and rank {rank} {wrong}: please report this");
        return Err(JobError::Failed(words));
    }
    Ok(all.into_iter().map(|(report, _)| report).collect())
}

/// Where the programs of all ranks ran.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn gathered_instances(transport: &dyn Transport, own: &Instances) -> Result<Vec<Vec<InstancePlan>>, JobError> {
    let other = |error: &dyn std::fmt::Display| JobError::Failed(error.to_string());
    let own = serde_json::to_vec(&own.plans()).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    all.iter().map(|text| serde_json::from_slice(text).map_err(|error| other(&error))).collect()
}

/// That programs hung, if any did.
pub fn hung(search: &Search) -> Option<String> {
    let (program, restarts) = (search.settings().program.name(), search.restarts());
    let note = || format!("{program} hung and was started again, {restarts} times: its results are complete");
    (restarts > 0).then(note)
}

/// What the programs of all ranks said although they ended well, each line once, for rank 0 to tell.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn gathered_warnings(transport: &dyn Transport, search: &Search) -> Result<Vec<String>, JobError> {
    let other = |error: &dyn std::fmt::Display| JobError::Failed(error.to_string());
    let own = serde_json::to_vec(&search.warnings()).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    let mut told: Vec<String> = Vec::new();
    for text in all.iter().filter(|_| transport.rank() == 0) {
        let lines: Vec<String> = serde_json::from_slice(text).map_err(|error| other(&error))?;
        let new = lines.into_iter().filter(|line| !told.contains(line)).collect::<Vec<_>>();
        told.extend(new);
    }
    Ok(told)
}

/// Records what all ranks searched, if that was asked for; one of them does.
///
/// # Errors
/// A file that cannot be written.
pub fn record(job: &SearchJob, transport: &dyn Transport, done: &Done) -> Result<(), JobError> {
    let Some(path) = &job.record else { return Ok(()) };
    let other = |error: &dyn std::fmt::Display| JobError::Failed(error.to_string());
    let own = serde_json::to_vec(&done.searched).map_err(|error| other(&error))?;
    let all = transport.all_gather(&own).map_err(|error| other(&error))?;
    let ranks = all.iter().map(|text| serde_json::from_slice(text)).collect::<Result<_, _>>();
    if transport.rank() > 0 {
        return Ok(());
    }
    let ranks = ranks.map_err(|error| other(&error))?;
    Ok(json::write(path, &Recording { schema_version: RECORDING_VERSION, command: job.command.clone(), ranks })?)
}

/// Says what all ranks did; one of them does.
///
/// # Errors
/// A file that cannot be written.
pub fn tell(
    job: &SearchJob,
    transport: &dyn Transport,
    (ranks, instances): (Vec<RankReport>, Vec<Vec<InstancePlan>>),
    queries: u64,
    end: u64,
) -> Result<(), JobError> {
    if transport.rank() > 0 {
        return Ok(());
    }
    let report = Report {
        schema_version: SEARCH_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: job.command.clone(),
        transport: transport.name(),
        queries,
        output_bytes: end,
        ranks,
        instances,
    };
    if let Some(path) = &job.json {
        json::write(path, &report)?;
    }
    if !job.quiet {
        tell::text(&words(&report));
    }
    Ok(())
}

fn words(report: &Report) -> String {
    let mut text = format!(
        "queries    {} in, {} answered; {} bytes of results\nranks      {} ({})\n",
        report.queries,
        report.queries,
        report.output_bytes,
        report.ranks.len(),
        report.transport
    );
    for (rank, instances) in report.ranks.iter().zip(&report.instances) {
        let cpus = |plan: &InstancePlan| cpulist::format(&plan.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>());
        let cpus = instances.iter().map(cpus).collect::<Vec<_>>().join(" | ");
        let times = &rank.times;
        let [search, put, wait, merge, get, write] =
            [times.search, times.put, times.wait, times.merge, times.get, times.write].map(|time| time.as_secs_f64());
        text += &format!(
            "rank {:<5} CPUs {cpus}; {} batches, wrote {}, {} of {} hits survived; s: search {search:.2}, put \
             {put:.3}, wait {wait:.3}, merge \
             {merge:.3}, get {get:.3}, write {write:.3}\n",
            rank.rank, rank.batches, rank.written, rank.survived, rank.records
        );
    }
    text
}
