//! Samples over ranks: each rank takes one after the other, and aligns it as one process does.
//!
//! 1. the first rank says which samples are left, those that share an index together and those with many reads first:
//!    so no rank begins a large one when the others are about to end;
//! 2. a rank whose workers have no more reads takes the next one, by the counter from which ranks take chunks
//!    ([`deal()`]); its main thread talks to the other ranks, while another runs the samples;
//! 3. all learn which samples have failed, and end alike.

use crate::engines;
use crate::job::{AlignError, Job};
use crate::samples::{
    SampleJob, SamplesTold, Sheet, all_ready, complete, failure, in_order, left, run_all, tell_unknown,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use zerohop_model::error::Error;
use zerohop_model::source::Complete;
use zerohop_process::{cache, tell};
use zerohop_ranks::deal::{DealError, Dealing, Going, Local, deal};
use zerohop_ranks::{RankFailure as _, RankShare, Ranks, Transport, values};
use zerohop_runtime::AtEnd;

/// Aligns all samples of a sheet together with the other ranks, as [`align_samples`](crate::align_samples) says.
///
/// # Errors
/// Options that are not for samples; ranks that see different samples, or cannot go on together; an index that cannot
/// be had; the names of the samples that failed, on any rank.
pub fn align_samples(base: &Job, sheet: &Sheet, folder: &Path, resume: bool) -> Result<(), AlignError> {
    let (provider, quiet) = (engines::embedded(&base.engine), base.quiet);
    let all = all_ready(base, sheet, (folder, resume), provider);
    let (ranks, all) = Ranks::join(base.ranks.wanted, base.ranks.mpi.as_deref(), base.hang_limit(), all)?;
    if ranks.transport().rank() == 0 {
        tell_unknown(base, sheet);
    }
    let count = all.len();
    let begun = begin(ranks.transport(), all, (resume, quiet));
    let (share, samples) = match begun {
        Ok(begun) => begun,
        Err(error) => return ranks.end(Err(error)),
    };
    let (taking, rank) = (Taking::default(), ranks.transport().rank());
    let ended = |sample: &SampleJob| {
        if let Some(number) = samples.iter().position(|other| other.name == sample.name) {
            taking.complete(number as u64);
        }
    };
    let told = SamplesTold::new((samples.len(), count), quiet, Some(rank), &ended);
    let dealing =
        Dealing { files: 1, first: 0, offsets: Some(vec![0]), chunks: Some(samples.len() as u64), most: 1, ahead: 1 };
    let outcome = std::thread::scope(|scope| {
        let run = || {
            // However this thread ends, it says that no more will be taken: else the other ranks wait.
            let _over = AtEnd(|| _ = taking.lock().over.get_or_insert(true));
            let of_number = |number: u64| samples.get(number as usize);
            let outcome = run_all(std::iter::from_fn(|| taking.next().and_then(of_number)), provider, &share, &told);
            taking.end_with(outcome.is_err());
            outcome
        };
        let run = Builder::new().name("samples".into()).spawn_scoped(scope, run).map_err(Error::Thread)?;
        // It would wait for ever to be given a sample where this thread panics.
        let _ends = AtEnd(|| taking.end());
        match deal(ranks.transport(), &dealing, &taking) {
            Ok(_) | Err(DealError::Local) => {}
            Err(error) => {
                // What runs here may take hours, and the others are gone.
                zerohop_process::remove_temporaries();
                ranks.abort(&error);
            }
        }
        run.join().unwrap_or_else(|_| Err(AlignError::Failed("the thread of the samples died".to_owned())))
    });
    let failed = outcome.and_then(|()| Ok(values(ranks.transport(), &told.into_failed())?));
    let failed = match failed {
        Ok(failed) => failed.concat(),
        Err(error) => return ranks.end(Err(error)),
    };
    let failure = failure(&failed, count);
    if let Some(failure) = failure.as_ref().filter(|_| rank == 0) {
        tell::error(&failure.to_string());
    }
    ranks.end::<(), AlignError>(Ok(()))?;
    failure.map_or(Ok(()), |failure| Err(failure.told_elsewhere()))
}

/// This rank's share of its machine, and the samples that are left, in the order in which ranks take them.
fn begin(
    transport: &dyn Transport,
    mut here: Vec<SampleJob>,
    (resume, quiet): (bool, bool),
) -> Result<(RankShare, Vec<SampleJob>), AlignError> {
    let mut share = RankShare::take(transport)?;
    let folder = here.first().and_then(|sample| sample.report.parent());
    folder.map_or(Ok(()), |folder| check_folder(transport, folder))?;
    // Not with every sample.
    share.note.take().iter().filter(|_| !quiet).for_each(|note| tell::note(note));
    let mark = |sample: &SampleJob| (sample.name.clone(), cache::digest(&complete::made_of(sample)));
    let own: Vec<(String, String)> = match transport.rank() {
        0 => {
            let mut samples = left(here, resume, quiet);
            samples.sort_by_key(|sample| std::cmp::Reverse(bytes_of_reads(sample)));
            here = in_order(samples);
            here.iter().map(mark).collect()
        }
        _ => Vec::new(),
    };
    let of_first = values(transport, &own)?.swap_remove(0);
    let find = |(name, digest): &(String, String)| {
        let at = here.iter().position(|sample| sample.name == *name).filter(|&at| mark(&here[at]).1 == *digest);
        let sample = at.map(|at| here.swap_remove(at));
        sample.ok_or_else(|| {
            AlignError::Failed(format!(
                "sample {name}: this rank sees other files or options than the first one: do all ranks read the same \
                 sheet, and see the same files?"
            ))
        })
    };
    let mut samples = of_first.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    samples.iter_mut().for_each(|sample| sample.job.at_a_time *= share.ranks_here());
    Ok((share, samples))
}

/// Refuses an output folder that not all ranks see: some samples would lie where nobody looks for them. All ranks have
/// the same sheet, or find out here that they have not.
fn check_folder(transport: &dyn Transport, folder: &Path) -> Result<(), AlignError> {
    let mark = (transport.rank() == 0).then(|| tempfile::Builder::new().prefix(".ranks-").tempfile_in(folder));
    let name = mark.as_ref().and_then(|mark| mark.as_ref().ok()?.path().file_name()?.to_str().map(str::to_owned));
    let of_first: Option<String> = values(transport, &name)?.swap_remove(0);
    let is_seen = of_first.is_some_and(|name| folder.join(name).exists());
    let all: Vec<bool> = values(transport, &is_seen)?;
    match all.iter().position(|is_seen| !is_seen) {
        None => Ok(()),
        Some(rank) => Err(AlignError::Failed(format!(
            "--output-dir {}: rank {rank} cannot see there what the first rank writes: name a folder that all ranks \
             see, and may write to",
            folder.display()
        ))),
    }
}

fn bytes_of_reads(sample: &SampleJob) -> u64 {
    let bytes = |path: &PathBuf| std::fs::metadata(path).map_or(0, |data| data.len());
    sample.job.lanes.iter().flat_map(|lane| &lane.files).map(bytes).sum()
}

/// The samples that this rank takes, by their numbers.
#[derive(Default)]
struct Taking {
    state: Mutex<TakingState>,
    changed: Condvar,
}

#[derive(Default)]
struct TakingState {
    /// Another one is wanted.
    wanted: bool,
    given: Option<u64>,
    /// There are no more.
    ended: bool,
    complete: Vec<u64>,
    /// All that were taken have ended: whether the rank has failed.
    over: Option<bool>,
}

impl Taking {
    fn lock(&self) -> MutexGuard<'_, TakingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next one, and waits for it; none if there are no more.
    fn next(&self) -> Option<u64> {
        let mut state = self.lock();
        state.wanted = true;
        let is_waiting = |state: &mut TakingState| state.given.is_none() && !state.ended;
        state = self.changed.wait_while(state, is_waiting).unwrap_or_else(PoisonError::into_inner);
        state.given.take()
    }

    /// Says that one has ended.
    fn complete(&self, number: u64) {
        self.lock().complete.push(number);
    }

    /// Says that no more will be taken.
    fn end_with(&self, has_failed: bool) {
        self.lock().over = Some(has_failed);
    }
}

impl Local for Taking {
    fn ahead(&self) -> u64 {
        u64::from(!self.lock().wanted)
    }

    fn give(&self, samples: Range<u64>) {
        let mut state = self.lock();
        (state.given, state.wanted) = (Some(samples.start), false);
        self.changed.notify_all();
    }

    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    fn take_complete(&self) -> Vec<Complete> {
        let complete = std::mem::take(&mut self.lock().complete);
        let of = |number| Complete { chunks: number..number + 1, bytes: vec![0], header: None };
        complete.into_iter().map(of).collect()
    }

    fn place(&self, _: u64, _: &[u64]) {}

    fn input_end(&self) -> Option<u64> {
        None
    }

    fn going(&self) -> Going {
        match self.lock().over {
            None => Going::On,
            Some(false) => Going::Done,
            Some(true) => Going::Failed,
        }
    }
}
