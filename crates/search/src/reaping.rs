//! What is left to be done when we are killed: a program may be a script, whose children the kernel does not kill with
//! us, and a database may not be complete. A small process of our own does it ([`zerohop_process::Reaper`]).

use crate::error::SearchError;
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_process::{Charge, Reaper, own_program};

/// The word that starts our program as the process that clears away (`zerohop_align::prepare`).
const REAPER: &str = "reaper";

/// Charges of one reaper. It does all of them, and long after a program has ended its number may be another's.
const MOST: usize = 256;

/// Clears away after us if we are killed. By default it does nothing.
#[derive(Debug, Clone, Default)]
pub struct Reaping(Option<Arc<Mutex<Recent>>>);

/// The reaper that gets the next charges.
#[derive(Debug)]
struct Recent {
    reaper: Arc<Reaper>,
    charges: usize,
}

/// What a reaper was charged with is cleared away if we are killed while this lives.
#[derive(Debug)]
#[must_use = "it must live as long as the charge shall"]
pub(crate) struct Charged {
    _by: Option<Arc<Reaper>>,
}

impl Reaping {
    /// Starts it. Our program must be one that begins with `zerohop_align::prepare`.
    ///
    /// # Errors
    /// [`SearchError::System`] if it cannot be started.
    pub fn start() -> Result<Self, SearchError> {
        Ok(Reaping(Some(Arc::new(Mutex::new(Recent::start()?)))))
    }

    /// Charges it with something.
    ///
    /// # Errors
    /// [`SearchError::System`] if there is nobody any more to do it.
    pub(crate) fn charge(&self, charge: &Charge) -> Result<Charged, SearchError> {
        let Some(recent) = &self.0 else { return Ok(Charged { _by: None }) };
        let mut recent = recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.charges >= MOST {
            *recent = Recent::start()?;
        }
        recent.charges += 1;
        let gone = SearchError::system("the process that would clear away after us is gone");
        recent.reaper.charge(charge).map_err(gone)?;
        Ok(Charged { _by: Some(Arc::clone(&recent.reaper)) })
    }
}

impl Recent {
    fn start() -> Result<Self, SearchError> {
        let fault = SearchError::system("the process that would clear away after us cannot be started");
        let reaper = own_program().and_then(|own| Reaper::start(own, &[REAPER])).map_err(fault)?;
        Ok(Recent { reaper: Arc::new(reaper), charges: 0 })
    }
}
