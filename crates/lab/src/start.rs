//! A start line: all threads get ready, and then go together, unless one of them could not.

use std::sync::{Condvar, Mutex, MutexGuard};
use zerohop_model::error::Error;

#[derive(Debug, Default)]
struct StartState {
    ready: usize,
    open: bool,
    aborted: bool,
}

/// The line.
#[derive(Debug, Default)]
pub(crate) struct StartLine {
    state: Mutex<StartState>,
    moved: Condvar,
}

impl StartLine {
    fn state(&self) -> MutexGuard<'_, StartState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn change(&self, change: impl FnOnce(&mut StartState)) {
        change(&mut self.state());
        self.moved.notify_all();
    }

    fn wait_until(&self, until: impl Fn(&StartState) -> bool) -> Result<(), Error> {
        let mut state = self.state();
        while !until(&state) && !state.aborted {
            state = self.moved.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        if state.aborted { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Says that the calling thread is ready, and waits for the start.
    ///
    /// # Errors
    /// [`Error::Stopped`] if there will be none.
    pub(crate) fn ready(&self) -> Result<(), Error> {
        self.change(|state| state.ready += 1);
        self.wait_until(|state| state.open)
    }

    /// Waits until so many threads are ready.
    ///
    /// # Errors
    /// [`Error::Stopped`] if one of them never will be.
    pub(crate) fn wait_for(&self, threads: usize) -> Result<(), Error> {
        self.wait_until(|state| state.ready == threads)
    }

    /// Lets all go.
    pub(crate) fn open(&self) {
        self.change(|state| state.open = true);
    }

    /// Lets all know that there will be no start.
    pub(crate) fn abort(&self) {
        self.change(|state| state.aborted = true);
    }
}
