//! A search by one process, to standard output: nothing of it is on record.

use super::SearchJob;
use super::error::JobError;
use super::report::{self, SearchTold};
use super::searching::{DIED, NextAnswers, Searching, search_beside};
use std::io::{ErrorKind, Write};
use std::sync::mpsc::Receiver;
use std::time::Instant;
use zerohop_model::exchange::RankReport;
use zerohop_model::timeline::SearchStage;
use zerohop_process::tell;

/// What stands in the report for the way to other ranks.
const TRANSPORT: &str = "threads of one process";

/// Searches, and writes batch by batch.
///
/// # Errors
/// Whatever goes wrong.
pub fn search(job: &SearchJob) -> Result<(), JobError> {
    let searching = Searching::new(job, (0, 1))?;
    let ((mut report, output_bytes), mut done) = search_beside(&searching, 0, write_all)?;
    report.searching = std::mem::take(&mut done.timeline);
    report::record(job, vec![done.searched])?;
    report::notes(job, 0, &searching, None);
    searching.search.warnings().iter().filter(|_| !job.quiet).for_each(|warning| tell::note(warning));
    let (transport, instances) = (TRANSPORT.to_owned(), vec![searching.instances.plans()]);
    report::tell(job, SearchTold { transport, ranks: vec![report], instances, queries: done.queries, output_bytes })
}

/// Writes what is found. Gives what was done, and the bytes of all.
fn write_all(found: &Receiver<NextAnswers>) -> Result<(RankReport, u64), JobError> {
    let (started, mut report, mut bytes) = (Instant::now(), RankReport::default(), 0);
    let spent = |report: &mut RankReport, stage, begun: Instant| report.spent(stage, begun - started, begun.elapsed());
    loop {
        let begun = Instant::now();
        // Without its last word the search has not come to the end.
        let next = found.recv().map_err(|_| JobError::Failed(DIED.to_owned()))?;
        spent(&mut report, SearchStage::WaitSearch, begun);
        let Some(answers) = next.map_err(|error| JobError::Failed(error.to_string()))? else { break };
        let begun = Instant::now();
        let text = answers.framed();
        let mut out = std::io::stdout().lock();
        out.write_all(&text).and_then(|()| out.flush()).map_err(unwritten)?;
        spent(&mut report, SearchStage::Write, begun);
        report.batches += 1;
        report.written += 1;
        report.records += answers.hits.len() as u64;
        report.survived += answers.hits.len() as u64;
        report.result_bytes += answers.text.len() as u64;
        bytes += text.len() as u64;
    }
    report.wall = started.elapsed();
    Ok((report, bytes))
}

fn unwritten(error: std::io::Error) -> JobError {
    match error.kind() {
        ErrorKind::BrokenPipe => JobError::BrokenPipe,
        _ => JobError::Failed(format!("the output cannot be written: {error}")),
    }
}
