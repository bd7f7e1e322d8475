//! The process that clears away after us if we are killed.

use crate::failure::Failure;
use std::process::Command;
use zerohop_engine_external::reaper::Reaper;
use zerohop_engine_external::{Charge, ExternalError};

/// Our own program again, as what clears away if we are killed.
///
/// # Errors
/// When it cannot be started.
pub fn start() -> Result<Reaper, Failure> {
    let mut command = Command::new("/proc/self/exe");
    command.arg("reaper");
    Reaper::start(command)
        .map_err(|e| Failure::Other(format!("the process that would clear away after us cannot be started: {e}")))
}

/// Charges the reaper; one that is gone is a failure, for then nobody would clear away.
///
/// # Errors
/// [`ExternalError::Failed`].
pub fn told(reaper: &Reaper, charge: &Charge) -> Result<(), ExternalError> {
    let gone = |e| ExternalError::Failed(format!("the process that would clear away after us is gone: {e}"));
    reaper.charge(charge).map_err(gone)
}
