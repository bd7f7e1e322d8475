//! The threads of a rank at work: one runs, this one talks to the other ranks, and one makes what is written safe and
//! enters it into the journal.

use super::cannot_write;
use super::part::RankPart;
use crate::job::AlignError;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};
use zerohop_model::error::Error;
use zerohop_model::source::Complete;
use zerohop_ranks::deal::{DealError, Dealing, Dealt, Going, Local, deal};
use zerohop_ranks::journal::{Entry, Journal};
use zerohop_runtime::{AtEnd, Grains, Written};

/// How often what is written is made safe and entered into the journal.
const SAFE: Duration = Duration::from_secs(1);
/// How often it is looked whether the run is over.
const LOOK: Duration = Duration::from_millis(20);

impl RankPart<'_> {
    /// Runs `body`, which does what `grains` are given, while this thread talks to the other ranks.
    pub(super) fn together<R: Send>(
        &mut self,
        dealing: &Dealing,
        grains: &Grains,
        entered: EnteredWhen,
        body: impl FnOnce() -> Result<R, Error> + Send,
    ) -> Result<(R, Dealt), AlignError> {
        let open = |path: &PathBuf| File::open(path).map_err(|error| cannot_write(path, &error));
        let files: Vec<File> = self.output.partials.iter().map(open).collect::<Result<_, _>>()?;
        let (journal, transport) = (&mut self.journal, self.transport);
        let (over, has_failed) = (AtomicBool::new(false), AtomicBool::new(false));
        let own = RankWork { grains, over: &over, failed: &has_failed };
        let body = || {
            // However this thread ends, it says so: else this rank would be dealt chunks for ever.
            let _over = AtEnd(|| {
                has_failed.fetch_or(std::thread::panicking(), Ordering::AcqRel);
                over.store(true, Ordering::Release);
            });
            body().inspect_err(|_| has_failed.store(true, Ordering::Release))
        };
        let stop = || {
            // Also where nobody holds anything and the work ends without noticing.
            has_failed.store(true, Ordering::Release);
            grains.close();
        };
        let (outcome, dealt, mut kept) = std::thread::scope(|scope| {
            let no_thread = |error: std::io::Error| {
                over.store(true, Ordering::Release);
                AlignError::Failed(format!("a thread cannot be started: {error}"))
            };
            let keeping = || keep(grains, (&mut *journal, entered), &files, &own).inspect_err(|_| stop());
            let keeper = Builder::new().name("journal".into()).spawn_scoped(scope, keeping).map_err(no_thread)?;
            let work = Builder::new().name("run".into()).spawn_scoped(scope, body).map_err(no_thread)?;
            // The other threads would wait for ever for what this one is dealt.
            let stopped = AtEnd(|| {
                if std::thread::panicking() {
                    stop();
                }
            });
            let dealt = deal(transport, dealing, &own).inspect_err(|_| grains.close());
            drop(stopped);
            let outcome = work.join().unwrap_or_else(|_| Err(Error::Internal("the thread of the run died".to_owned())));
            over.store(true, Ordering::Release);
            let kept = keeper.join().unwrap_or_else(|_| Err(std::io::Error::other("the thread that keeps it died")));
            Ok::<_, AlignError>((outcome, dealt, kept))
        })?;
        if entered == EnteredWhen::All && kept.is_ok() {
            // Others may have had us place grains after our own work was over.
            kept = enter(journal, grains.take_written());
        }
        kept.map_err(|error| cannot_write(self.journal.folder(), &error))?;
        match (outcome, dealt) {
            (Ok(outcome), Ok(dealt)) => Ok((outcome, dealt)),
            (Err(error), Ok(_) | Err(DealError::Local)) => Err(error.into()),
            // The run was only stopped because of it.
            (Err(Error::Stopped) | Ok(_), Err(error)) => Err(AlignError::Failed(error.to_string())),
            (Err(error), Err(_)) => Err(error.into()),
        }
    }
}

/// What is entered into the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnteredWhen {
    /// What is written before the run is over: after a run that went well the whole is complete.
    BeforeTheEnd,
    /// All: what was collected is merged then.
    All,
    /// Nothing: a merge that was interrupted is begun again.
    Nothing,
}

/// What is written is made safe, and then entered, until this rank's work is over. In the end it is made safe in any
/// case, and so learned if it cannot be: some disks say only then that they are full.
fn keep(
    grains: &Grains,
    (journal, entered): (&mut Journal, EnteredWhen),
    files: &[File],
    work: &RankWork<'_>,
) -> std::io::Result<()> {
    loop {
        let started = Instant::now();
        while started.elapsed() < SAFE && work.going() == Going::On {
            std::thread::sleep(LOOK);
        }
        let going = work.going();
        let written = grains.take_written();
        if going == Going::Done || entered != EnteredWhen::Nothing && !written.is_empty() {
            files.iter().try_for_each(File::sync_data)?;
        }
        let is_entered = entered == EnteredWhen::All || entered == EnteredWhen::BeforeTheEnd && going != Going::Done;
        if is_entered && !written.is_empty() {
            enter(journal, written)?;
        }
        if going != Going::On {
            return Ok(());
        }
    }
}

fn enter(journal: &mut Journal, written: Vec<Written>) -> std::io::Result<()> {
    let entry = |Written { chunks, done, absent, offsets, bytes, tally }: Written| Entry {
        batch: chunks.start,
        count: chunks.end - chunks.start,
        done: Some(done).filter(|done| *done > chunks.end),
        absent,
        offsets,
        bytes,
        tally: Some(tally),
    };
    journal.enter(&written.into_iter().map(entry).collect::<Vec<_>>())
}

/// This rank's own work, for who deals.
struct RankWork<'a> {
    grains: &'a Grains,
    over: &'a AtomicBool,
    failed: &'a AtomicBool,
}

impl Local for RankWork<'_> {
    fn ahead(&self) -> u64 {
        self.grains.ahead()
    }

    fn give(&self, chunks: Range<u64>) {
        self.grains.give(chunks);
    }

    fn end(&self) {
        self.grains.end();
    }

    fn take_complete(&self) -> Vec<Complete> {
        self.grains.take_complete()
    }

    fn place(&self, chunk: u64, offsets: &[u64]) {
        self.grains.place(chunk, offsets);
    }

    fn input_end(&self) -> Option<u64> {
        self.grains.input_end()
    }

    fn going(&self) -> Going {
        match (self.over.load(Ordering::Acquire), self.failed.load(Ordering::Acquire)) {
            (true, true) => Going::Failed,
            (true, false) => Going::Done,
            (false, _) => Going::On,
        }
    }
}
