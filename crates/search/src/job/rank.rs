//! One rank of a search: a thread searches, one batch ahead, while this one exchanges results and writes them.

use super::SearchJob;
use super::error::JobError;
use super::results::Results;
use super::searching::Searching;
use super::{report, variant};
use crate::error::SearchError;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
use zerohop_process::tell;
use zerohop_ranks::exchange::{self, Batch};
use zerohop_ranks::{RankShare, Settings, Transport};

/// Batches that are searched and not exchanged yet: a rank hands over what it has of a batch when it has taken the
/// next, so whoever writes it waits for that search, and its own must be able to go on meanwhile.
const AHEAD: usize = 4;
/// How often the network is looked after while the search goes on.
const LOOK: Duration = Duration::from_millis(5);

/// Searches as one rank, or as the only one.
///
/// # Errors
/// Whatever goes wrong.
pub fn run(job: &SearchJob, transport: &dyn Transport) -> Result<(), JobError> {
    let note = if transport.size() > 1 { RankShare::take(transport)?.note } else { None };
    let searching = Searching::new(job, transport)?;
    let Some((mut output, begin)) = Results::open(job, &searching, transport)? else { return Ok(()) };
    let most = searching.search.settings().max_target_seqs.map_or(usize::MAX, |most| most as usize);
    let taken = variant::choose(job.variant, transport)?;
    let settings = Settings::new(taken.variant, most);
    let (send, receive) = sync_channel(AHEAD);
    let (outcome, searched) = std::thread::scope(|scope| {
        // The programs that it starts end with this thread.
        let search = std::thread::Builder::new().name("search".into()).spawn_scoped(scope, || {
            let outcome = searching.search(begin.0, &send);
            match outcome {
                Ok(done) => Ok(done),
                Err(error) => {
                    let words = error.to_string();
                    // Nobody to hear it has failed already.
                    let _ = send.send(Err(error));
                    Err(words)
                }
            }
            .inspect(|_| drop(send))
        });
        let search = search.map_err(|error| JobError::Failed(format!("a thread cannot be started: {error}")))?;
        let mut next = || next_batch(&receive, transport);
        let outcome = exchange::run(transport, settings, begin, &mut next, &mut output);
        if outcome.is_err() {
            // Else the other ranks, and the user, would learn of it only when the present search has ended.
            zerohop_process::end_programs();
        }
        drop(receive);
        let searched = search.join().unwrap_or_else(|_| Err("the search ended early".to_owned()));
        Ok::<_, JobError>((outcome, searched))
    })?;
    let (mut report, end) = outcome?;
    let mut done = searched.map_err(JobError::Failed)?;
    report.searching = std::mem::take(&mut done.timeline);
    let reports = report::gathered(transport, &report, done.queries)?;
    let instances = report::gathered_instances(transport, &searching.instances)?;
    output.finish(end, transport)?;
    report::record(job, transport, &done)?;
    let warnings = report::gathered_warnings(transport, &searching.search)?;
    let notes = note.into_iter().chain(report::hung(&searching.search)).chain(searching.instances.refused());
    let notes = notes.map(|note| format!("rank {}: {note}", transport.rank())).chain(warnings);
    notes.filter(|_| !job.quiet).for_each(|note| tell::note(&note));
    report::tell(job, transport, taken, (reports, instances), done.queries, end)
}

/// Waits for the next batch of our own, and looks after the network meanwhile.
fn next_batch(
    receive: &Receiver<Result<Batch, SearchError>>,
    transport: &dyn Transport,
) -> Result<Option<Batch>, String> {
    loop {
        transport.poll().map_err(|error| error.to_string())?;
        match receive.recv_timeout(LOOK) {
            Ok(Ok(batch)) => return Ok(Some(batch)),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
