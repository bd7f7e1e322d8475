//! Looks after calls of MPI that may never come back, as a flush does over a broken link: who makes them cannot, and
//! MPI has no limits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use zerohop_process::running_time;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(200);

/// The call that is being made, if any, and since when ([`running_time`]).
type Call = Mutex<Option<(&'static str, Duration)>>;

/// Looks after one call at a time, for as long as it lives.
pub(super) struct Watch(Arc<Call>);

/// A call that is looked after until this goes.
pub(super) struct Watched<'w>(&'w Call);

fn lock(call: &Call) -> MutexGuard<'_, Option<(&'static str, Duration)>> {
    // Nobody fails while holding it.
    call.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watch {
    /// Starts to look. `end` is told the name of the first call that takes longer than `limit`, in another thread.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(super) fn start(limit: Duration, end: impl FnOnce(&'static str) + Send + 'static) -> std::io::Result<Self> {
        let watch = Watch(Arc::default());
        let call = Arc::downgrade(&watch.0);
        let look = move || {
            while let Some(call) = call.upgrade() {
                let made = *lock(&call);
                drop(call);
                match made {
                    Some((name, since)) if running_time().saturating_sub(since) > limit => return end(name),
                    _ => std::thread::sleep(LOOK),
                }
            }
        };
        std::thread::Builder::new().name("watch".into()).spawn(look)?;
        Ok(watch)
    }

    /// A call begins.
    pub(super) fn begin(&self, name: &'static str) -> Watched<'_> {
        *lock(&self.0) = Some((name, running_time()));
        Watched(&self.0)
    }
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        *lock(self.0) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_call_that_does_not_come_back_is_told() {
        let (send, told) = channel();
        let watch = Watch::start(Duration::ZERO, move |name| send.send(name).unwrap()).unwrap();
        let _made = watch.begin("flush");
        assert_eq!(told.recv(), Ok("flush"));
    }

    #[test]
    fn calls_that_come_back_are_not_told() {
        let (send, told) = channel();
        let watch = Watch::start(Duration::from_secs(3600), move |name| send.send(name).unwrap()).unwrap();
        drop(watch.begin("put"));
        drop(watch.begin("flush"));
        drop(watch);
        assert!(told.recv().is_err(), "the thread has ended without a word");
    }
}
