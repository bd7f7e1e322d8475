//! The process that clears away after us if we are killed.

use crate::error::AlignError;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop_engine_external::ExternalError;
use zerohop_process::{Charge, Reaper, own_program};

/// Our own program again, as what clears away if we are killed.
///
/// # Errors
/// When it cannot be started.
pub fn start() -> Result<Reaper, AlignError> {
    if !PREPARED.load(Ordering::Relaxed) {
        let words = "external aligners need a program that begins with zerohop_align::prepare()";
        return Err(AlignError::Failed(words.to_owned()));
    }
    own_program()
        .and_then(|own| Reaper::start(own, &[REAPER]))
        .map_err(|e| AlignError::Failed(format!("the process that would clear away after us cannot be started: {e}")))
}

/// Charges the reaper; one that is gone is a failure, for then nobody would clear away.
///
/// # Errors
/// [`ExternalError::Failed`].
pub fn told(reaper: &Reaper, charge: &Charge) -> Result<(), ExternalError> {
    let gone = |e| ExternalError::Failed(format!("the process that would clear away after us is gone: {e}"));
    reaper.charge(charge).map_err(gone)
}

/// The word that starts this program as the one that clears away.
const REAPER: &str = "reaper";

/// Whether this program knows what to do when it is started as a reaper.
static PREPARED: AtomicBool = AtomicBool::new(false);

/// Clears away, and ends, if this program was started for that: with `reaper` as its only argument.
pub(crate) fn reap_if_asked() {
    PREPARED.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == REAPER) && arguments.next().is_none() {
        zerohop_engine_external::reap(std::io::stdin().lock());
        std::process::exit(0);
    }
}
