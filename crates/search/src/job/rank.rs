//! One rank of a search: a thread searches, one batch ahead, while this one exchanges results and writes them.

use super::SearchJob;
use super::error::JobError;
use super::report;
use super::results::Results;
use super::searching::{Done, Next, Searching};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;
use zerohop_process::tell;
use zerohop_ranks::exchange::{self, Batch};
use zerohop_ranks::{RankShare, Settings, Signs, Transport};

/// Batches that are searched and not exchanged yet: a rank hands over what it has of a batch when it has taken the
/// next, so whoever writes it waits for that search, and its own must be able to go on meanwhile.
const AHEAD: usize = 4;
/// What is said of a search that has ended without a word.
const DIED: &str = "the searching thread died before the last batch: please report this";
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
    let (send, receive) = sync_channel(AHEAD);
    let (outcome, searched) = std::thread::scope(|scope| {
        // The programs that it starts end with this thread.
        let search = || search_all(&searching, begin.0, send);
        let search = std::thread::Builder::new().name("search".into()).spawn_scoped(scope, search);
        let search = search.map_err(|error| JobError::Failed(format!("a thread cannot be started: {error}")))?;
        let mut next = || next_batch(&receive, transport);
        let outcome = exchange::run(transport, Settings::new(most), begin, &mut next, &mut output);
        if outcome.is_err() {
            // Else the other ranks, and the user, would learn of it only when the present search has ended.
            zerohop_process::end_programs();
        }
        drop(receive);
        let searched = search.join().unwrap_or_else(|_| Err(DIED.to_owned()));
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
    report::tell(job, transport, (reports, instances), done.queries, end)
}

/// The searching thread: searches all, and says that it is the end, or why it is.
fn search_all(searching: &Searching, first: u64, send: SyncSender<Next>) -> Result<Done, String> {
    let outcome = searching.search(first, &send);
    let (last, outcome) = match outcome {
        Ok(done) => (Ok(None), Ok(done)),
        Err(error) => {
            let words = error.to_string();
            (Err(error), Err(words))
        }
    };
    // Nobody to hear it has failed already.
    let _ = send.send(last);
    outcome
}

/// Waits for the next batch of our own; looks after the network meanwhile, and lets the others know that we search.
fn next_batch(receive: &Receiver<Next>, transport: &dyn Transport) -> Result<Option<Batch>, String> {
    let mut signs = Signs::new(transport);
    loop {
        transport.poll().and_then(|()| signs.give()).map_err(|error| error.to_string())?;
        match receive.recv_timeout(LOOK) {
            Ok(next) => return next.map_err(|error| error.to_string()),
            // Without its last word it has not come to the end.
            Err(RecvTimeoutError::Disconnected) => return Err(DIED.to_owned()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_ranks::Twin;

    #[test]
    fn a_search_that_ends_without_a_word_has_failed() {
        let twin = Twin::alone(Duration::from_secs(60));
        let (send, receive) = sync_channel(AHEAD);
        send.send(Ok(Some(Batch::default()))).unwrap();
        send.send(Ok(None)).unwrap();
        drop(send);
        assert!(next_batch(&receive, &twin).unwrap().is_some());
        assert!(next_batch(&receive, &twin).unwrap().is_none());
        assert_eq!(next_batch(&receive, &twin).unwrap_err(), DIED);
    }

    #[test]
    fn a_rank_that_searches_for_long_is_waited_for() {
        let limit = Duration::from_secs(2);
        let (send, receive) = sync_channel::<Next>(AHEAD);
        let mut twins = Twin::ranks(2, limit);
        let (other, own) = (twins.pop().unwrap(), twins.pop().unwrap());
        std::thread::scope(|scope| {
            let waits = scope.spawn(move || other.barrier());
            scope.spawn(move || {
                std::thread::sleep(2 * limit);
                send.send(Ok(None))
            });
            assert!(next_batch(&receive, &own).unwrap().is_none());
            own.barrier().unwrap();
            waits.join().unwrap().unwrap();
        });
    }
}
