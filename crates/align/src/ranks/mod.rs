//! One job by all ranks that a launcher has started, or by one process whose progress is on record.
//!
//! Ranks wrap a run: [`join`] finds the others and shares out the machine, and the path of a job (lib.rs) then goes as
//! for one process, but for what [`AllRanks`] and [`RankPart`](part::RankPart) do in its steps:
//!
//! 1. begin (begin.rs): the reads are counted by all ranks together, and what was finished before is looked up;
//! 2. deal (part.rs): each rank deals the chunks that it takes from the counter;
//! 3. run (together.rs): the runtime runs in threads of its own, while one thread talks to the other ranks, and another
//!    enters what is written into the journal;
//! 4. merge: where records are sorted, the same once more for the parts, which are dealt as chunks were;
//! 5. finish (finish.rs): what all ranks did is gathered, and the files get their names.
//!
//! [`align_samples`] has ranks take one sample after the other; each is aligned as by one process.
//!
//! No other module knows this one, but for lib.rs, which chooses it.

mod begin;
mod check;
mod counting;
mod finish;
mod gather;
mod kept_runs;
mod made_of;
mod part;
mod samples;
#[cfg(test)]
mod tests;
mod together;

pub use check::check;
pub use samples::align_samples;

use crate::job::{AlignError, Job, identity};
use crate::run::{MachineShare, Processes, ReadyEngine, RunPart};
use std::path::Path;
use zerohop_input::OpenLane;
use zerohop_model::machine::{Bytes, Machine};
use zerohop_ranks::journal::{self, Begin};
use zerohop_ranks::{RankShare, Ranks, Transport};

/// Joins the other ranks of a job, if they agree that it was `checked`, and does it with them. With one process alone
/// it is a job on record.
///
/// # Errors
/// Whatever goes wrong on any rank.
pub fn join<T>(
    job: &Job,
    checked: Result<(), AlignError>,
    work: impl FnOnce(&AllRanks<'_>) -> Result<T, AlignError>,
) -> Result<T, AlignError> {
    let (ranks, ()) = Ranks::join(job.ranks.wanted, job.ranks.mpi.as_deref(), job.hang_limit(), checked)?;
    let transport = ranks.transport();
    let share = RankShare::take(transport).map_err(AlignError::from);
    let outcome = share.and_then(|share| work(&AllRanks { transport, share }));
    ranks.end(outcome)
}

/// All ranks, as one of them sees them.
pub struct AllRanks<'t> {
    transport: &'t dyn Transport,
    share: RankShare,
}

impl Processes for AllRanks<'_> {
    fn count(&self) -> usize {
        self.transport.size()
    }

    fn rank(&self) -> usize {
        self.transport.rank()
    }

    fn share(&self) -> &dyn MachineShare {
        &self.share
    }

    fn check_options(&self, job: &Job) -> Result<(), AlignError> {
        let Some(path) = job.output.path.as_ref().filter(|_| self.transport.rank() == 0) else { return Ok(()) };
        let how = Begin::asked(job.ranks.resume, job.ranks.restart);
        Ok(journal::check_options(path, &identity::of_options(job), how)?)
    }

    fn begin(
        &self,
        job: &Job,
        lanes: &[OpenLane],
        engine: &dyn ReadyEngine,
    ) -> Result<Option<Box<dyn RunPart + '_>>, AlignError> {
        let part = begin::begin((self.transport, &self.share), job, lanes, engine)?;
        Ok(part.map(|part| Box::new(part) as Box<dyn RunPart>))
    }
}

impl MachineShare for RankShare {
    fn machine(&self) -> Result<Machine, AlignError> {
        Ok(RankShare::machine(self)?)
    }

    fn weigh(&self, machine: &Machine, copies: usize, each: Bytes) -> Result<Option<String>, AlignError> {
        Ok(RankShare::weigh(self, machine, copies, each)?)
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn tells(&self) -> bool {
        false
    }
}

fn failed(error: impl std::fmt::Display) -> AlignError {
    AlignError::Failed(error.to_string())
}

fn cannot_write(path: &Path, error: &std::io::Error) -> AlignError {
    AlignError::Failed(format!("{}: cannot be written: {error}", path.display()))
}
