//! The end of a run that failed: who failed first in the order of the input, and a flag for the others.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop_model::chunk::Ticket;
use zerohop_model::error::Error;

/// Collects failures. The one that is reported does not depend on timing: chunks are claimed in order and every claimed
/// chunk is parsed, so the fault that comes first in the input is among them.
#[derive(Debug, Default)]
pub struct Failure {
    stop: AtomicBool,
    first: Mutex<Option<(Option<Ticket>, Error)>>,
    /// What the kernel refused, a sentence each; no reason to fail.
    refused: Mutex<Vec<String>>,
}

impl Failure {
    /// Reports that a thread failed, at the chunk with `ticket` if at one. A failure at no chunk (an output that cannot
    /// be written) counts as later than all.
    pub fn report(&self, ticket: Option<Ticket>, error: Error) {
        self.stop.store(true, Ordering::Release);
        if matches!(error, Error::Stopped) {
            return;
        }
        let mut first = self.first.lock().unwrap_or_else(|p| p.into_inner());
        let key = |t: &Option<Ticket>| t.map_or((u32::MAX, u64::MAX), |t| (t.lane, t.number));
        if first.as_ref().is_none_or(|(other, _)| key(&ticket) < key(other)) {
            *first = Some((ticket, error));
        }
    }

    /// Whether somebody failed: claim no more.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// The flag itself, for those who wait on an input.
    pub fn flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Notes that the kernel refused something that a run can do without.
    pub fn refused(&self, what: String) {
        let mut refused = self.refused.lock().unwrap_or_else(|p| p.into_inner());
        if !refused.contains(&what) {
            refused.push(what);
        }
    }

    /// Takes the sentences on what the kernel refused.
    pub fn take_refused(&self) -> Vec<String> {
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(|p| p.into_inner()))
    }

    /// What is reported to the user.
    pub fn into_result(self) -> Result<(), Error> {
        match self.first.into_inner().unwrap_or_else(|p| p.into_inner()) {
            Some((_, error)) => Err(error),
            None if self.stop.into_inner() => Err(Error::Stopped),
            None => Ok(()),
        }
    }
}
