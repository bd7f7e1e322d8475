//! What a search came to, told.

use super::SearchJob;
use super::error::JobError;
use super::searching::Searching;
use crate::local::Search;
use serde::Serialize;
use zerohop_model::exchange::{RECORDING_VERSION, RankReport, Recording, SEARCH_VERSION, Searched};
use zerohop_model::plan::InstancePlan;
use zerohop_process::{json, tell};
use zerohop_topology::cpulist;

/// What a search says of itself.
#[derive(Debug, Serialize)]
struct SearchReport {
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

/// That programs hung, if any did.
fn hung(search: &Search) -> Option<String> {
    let (program, restarts) = (search.settings().program.name(), search.restarts());
    let note = || format!("{program} hung and was started again, {restarts} times: its results are complete");
    (restarts > 0).then(note)
}

/// What a search came to.
pub struct SearchTold {
    /// How ranks reach one another.
    pub transport: String,
    /// What each of them did.
    pub ranks: Vec<RankReport>,
    /// Of each, where its programs ran.
    pub instances: Vec<Vec<InstancePlan>>,
    /// Queries that were read, and answered.
    pub queries: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
}

/// Says it, on standard error and in the file that the job asks for.
///
/// # Errors
/// A file that cannot be written.
pub fn tell(job: &SearchJob, told: SearchTold) -> Result<(), JobError> {
    let SearchTold { transport, ranks, instances, queries, output_bytes } = told;
    let report = SearchReport {
        schema_version: SEARCH_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: job.command.clone(),
        transport,
        queries,
        output_bytes,
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

/// Records what each rank searched, if that was asked for.
///
/// # Errors
/// A file that cannot be written.
pub fn record(job: &SearchJob, ranks: Vec<Vec<Searched>>) -> Result<(), JobError> {
    let Some(path) = &job.record else { return Ok(()) };
    Ok(json::write(path, &Recording { schema_version: RECORDING_VERSION, command: job.command.clone(), ranks })?)
}

/// The notes of one rank, if the job is not quiet.
pub fn notes(job: &SearchJob, rank: usize, searching: &Searching, of_ranks: impl IntoIterator<Item = String>) {
    let own = of_ranks.into_iter().chain(hung(&searching.search)).chain(searching.instances.refused());
    own.filter(|_| !job.quiet).for_each(|note| tell::note(&format!("rank {rank}: {note}")));
}

fn words(report: &SearchReport) -> String {
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
