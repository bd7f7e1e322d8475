//! A lane of regular files that are open while it is dealt, and neither before nor behind that: what takes its first
//! chunk opens them, and the last one at its end closes them.

use crate::cutter::Cutting;
use crate::seen::ClosedFile;
use crate::survey::{FilePart, Survey};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use zerohop_model::chunk::{Chunk, Ticket};
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Claim, Claimed};

/// How far it is.
enum TurnState {
    Waits,
    Dealt(Box<Survey>),
    Failed(InputError),
    Ended { end: Claimed, serial: Duration },
}

/// A survey of a lane's files that begins when the lane's turn comes.
pub(crate) struct LateSurvey {
    files: Vec<ClosedFile>,
    cutting: Cutting,
    workers: usize,
    /// Whoever claims reads it; it is written twice, by whoever finds nobody at it. So nobody waits.
    state: RwLock<TurnState>,
}

impl LateSurvey {
    /// One that `workers` will do.
    pub(crate) fn new(files: Vec<ClosedFile>, cutting: Cutting, workers: usize) -> Self {
        LateSurvey { files, cutting, workers, state: RwLock::new(TurnState::Waits) }
    }

    fn state(&self) -> RwLockReadGuard<'_, TurnState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the files; false if another worker does.
    fn open(&self) -> bool {
        let Ok(mut state) = self.state.try_write() else { return false };
        if matches!(*state, TurnState::Waits) {
            let parts = self.files.iter().map(|file| Ok(FilePart::all(file.open()?))).collect::<Result<Vec<_>, _>>();
            *state = match parts {
                Ok(parts) => TurnState::Dealt(Box::new(self.survey(parts))),
                Err(fault) => TurnState::Failed(fault),
            };
        }
        true
    }

    fn survey(&self, parts: Vec<FilePart>) -> Survey {
        Survey::new(parts, self.cutting.clone().cutter(true), self.workers)
    }

    /// Closes the files at their end, unless another worker is still at them: that one will.
    fn close(&self, end: Claimed) {
        let Ok(mut state) = self.state.try_write() else { return };
        if let TurnState::Dealt(survey) = &*state {
            *state = TurnState::Ended { end, serial: survey.serial_time() };
        }
    }
}

impl Claim for LateSurvey {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        let claimed = loop {
            match &*self.state() {
                TurnState::Dealt(survey) => break survey.claim(chunk)?,
                TurnState::Ended { end, .. } => return Ok(*end),
                TurnState::Failed(fault) => {
                    chunk.ticket = Ticket { lane: self.cutting.lane, ..Ticket::default() };
                    return Err(fault.clone().into());
                }
                TurnState::Waits => {}
            }
            if !self.open() {
                return Ok(Claimed::NotYet);
            }
        };
        if let Claimed::End { .. } = claimed {
            self.close(claimed);
        }
        Ok(claimed)
    }

    fn serial_time(&self) -> Duration {
        match &*self.state() {
            TurnState::Dealt(survey) => survey.serial_time(),
            TurnState::Ended { serial, .. } => *serial,
            TurnState::Waits | TurnState::Failed(_) => Duration::ZERO,
        }
    }

    fn share_dealt(&self) -> Option<f64> {
        match &*self.state() {
            TurnState::Dealt(survey) => survey.share_dealt(),
            TurnState::Ended { .. } => Some(1.0),
            TurnState::Waits | TurnState::Failed(_) => Some(0.0),
        }
    }
}
