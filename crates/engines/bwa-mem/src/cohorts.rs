//! The cohorts that are open: pieces of one may be mapped with any copy of the index.

use crate::library::LibraryCohort;
use crate::library_error::LibraryError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use zerohop_model::chunk::Ticket;

/// By run, lane and number. A cohort lives as long as one of its pieces.
#[derive(Default)]
pub(crate) struct LibraryCohorts(Mutex<HashMap<(u32, u32, u64), Weak<LibraryCohort>>>);

impl LibraryCohorts {
    /// The cohort of a piece; its reads may be those of bisulfite libraries.
    ///
    /// # Errors
    /// No memory for a new one.
    pub(crate) fn of(&self, ticket: &Ticket, bisulfite: bool) -> Result<Arc<LibraryCohort>, LibraryError> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (ticket.run, ticket.lane, ticket.cohort);
        if let Some(cohort) = open.get(&key).and_then(Weak::upgrade) {
            return Ok(cohort);
        }
        open.retain(|_, cohort| cohort.strong_count() > 0);
        let cohort = Arc::new(LibraryCohort::new(bisulfite)?);
        open.insert(key, Arc::downgrade(&cohort));
        Ok(cohort)
    }
}
