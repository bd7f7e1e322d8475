//! A search by ranks, or by one process with a file for its output: its progress is on record.
//!
//! 1. every rank searches its parts in a thread of its own, while another one exchanges what was found
//!    ([`exchange`]), batch by batch;
//! 2. one rank writes the results of a batch, at a place that all know, and enters it into the journal when it is safe
//!    (results.rs);
//! 3. what all ranks did is gathered (gather.rs) and told.
//!
//! No other module knows this one, but for lib.rs, which chooses it.

mod gather;
mod results;

use crate::frame::Frame;
use crate::hit::Key;
use crate::job::report::{self, SearchTold};
use crate::job::searching::{Answers, DIED, NextAnswers, Searching, search_beside};
use crate::job::{HANG_LIMIT, JobError, SearchJob};
use results::Results;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use zerohop_process::tell;
use zerohop_ranks::exchange::{self, Batch, Record};
use zerohop_ranks::{RankShare, Ranks, Settings, Signs, Transport, values, with_signs};

/// How often the network is looked after while the search goes on.
const LOOK: Duration = Duration::from_millis(5);

/// Joins the other ranks, if there are some and they agree that the job was `checked`, and searches with them.
///
/// # Errors
/// Whatever goes wrong, on any rank.
pub fn search(job: &SearchJob, checked: Result<(), JobError>) -> Result<(), JobError> {
    if job.output.is_some() && !job.quiet {
        zerohop_ranks::note_if_alone(job.ranks);
    }
    let limit = job.hang_limit.unwrap_or(HANG_LIMIT);
    let (ranks, ()) = Ranks::join(job.ranks, job.mpi.as_deref(), limit, checked)?;
    let outcome = run(job, ranks.transport());
    ranks.end(outcome)
}

/// Searches as one rank, or as the only one.
fn run(job: &SearchJob, transport: &dyn Transport) -> Result<(), JobError> {
    let note = if transport.size() > 1 { RankShare::take(transport)?.note } else { None };
    let place = (transport.rank(), transport.size());
    let searching = with_signs(transport, || Searching::new(job, place))??;
    let Some((mut output, begin)) = Results::open(job, &searching, transport)? else { return Ok(()) };
    let most = searching.search.settings().max_target_seqs.map_or(usize::MAX, |most| most as usize);
    let exchange = |found: &Receiver<NextAnswers>| {
        let mut next = || next_batch(found, transport);
        Ok(exchange::run(transport, Settings::new(most), begin, &mut next, &mut output)?)
    };
    let ((mut report, output_bytes), mut done) = search_beside(&searching, begin.0, exchange)?;
    report.searching = std::mem::take(&mut done.timeline);
    let ranks = gather::reports(transport, &report, done.queries)?;
    let instances = values(transport, &searching.instances.plans())?;
    output.finish(output_bytes, transport)?;
    if job.record.is_some() {
        let searched = values(transport, &done.searched)?;
        if transport.rank() == 0 {
            report::record(job, searched)?;
        }
    }
    let warnings = gather::warnings(transport, &searching.search)?;
    report::notes(job, transport.rank(), &searching, note);
    warnings.iter().filter(|_| !job.quiet).for_each(|warning| tell::note(warning));
    if transport.rank() > 0 {
        return Ok(());
    }
    let (transport, queries) = (transport.name(), done.queries);
    report::tell(job, SearchTold { transport, ranks, instances, queries, output_bytes })
}

/// What stands between results, as the exchange asks for it.
#[derive(Debug)]
struct Between(Frame);

impl exchange::Frame for Between {
    fn pieces(&self, survivors: &[(u32, Key)]) -> Vec<(usize, Vec<u8>)> {
        self.0.pieces(survivors)
    }
}

/// What is exchanged of a batch.
fn batch(Answers { hits, text, frame }: Answers) -> Batch {
    let record = |hit: &crate::Hit| Record { query: hit.query, key: hit.key, bytes: hit.bytes };
    Batch { records: hits.iter().map(record).collect(), text, frame: Some(Box::new(Between(frame))) }
}

/// Waits for the next batch of our own; looks after the network meanwhile, and lets the others know that we search.
fn next_batch(receive: &Receiver<NextAnswers>, transport: &dyn Transport) -> Result<Option<Batch>, String> {
    let mut signs = Signs::new(transport);
    loop {
        transport.poll().and_then(|()| signs.give()).map_err(|error| error.to_string())?;
        match receive.recv_timeout(LOOK) {
            Ok(next) => return next.map(|next| next.map(batch)).map_err(|error| error.to_string()),
            // Without its last word it has not come to the end.
            Err(RecvTimeoutError::Disconnected) => return Err(DIED.to_owned()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;
    use zerohop_ranks::Twin;

    #[test]
    fn a_search_that_ends_without_a_word_has_failed() {
        let twin = Twin::alone(Duration::from_secs(60));
        let (send, receive) = sync_channel(4);
        send.send(Ok(Some(Answers::default()))).unwrap();
        send.send(Ok(None)).unwrap();
        drop(send);
        assert!(next_batch(&receive, &twin).unwrap().is_some());
        assert!(next_batch(&receive, &twin).unwrap().is_none());
        assert_eq!(next_batch(&receive, &twin).unwrap_err(), DIED);
    }

    #[test]
    fn a_rank_that_searches_for_long_is_waited_for() {
        let limit = Duration::from_secs(2);
        let (send, receive) = sync_channel::<NextAnswers>(4);
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
