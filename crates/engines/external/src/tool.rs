//! A command of the aligner's that is run to its end: its indexer, or `bwa shm`.

use crate::error::ExternalError;
use crate::process::{how_it_ended, last_lines};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use zerohop_process::{Charge, command, end_group, wait_unreaped};

/// Tells a reaper what would have to be cleared away.
pub type Tell<'a> = &'a dyn Fn(Charge) -> Result<(), ExternalError>;

/// Runs a command to its end, with its output in `out` and what it says in `log`. It ends with us, and so do its
/// children.
///
/// # Errors
/// [`ExternalError::Failed`] with its last words when it ends badly.
pub fn run_tool(words: &[OsString], out: File, log: &Path, tell: Tell<'_>) -> Result<(), ExternalError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(ExternalError::Failed("the descriptor names no command".to_owned()));
    };
    let program_name = program.display();
    let fault = |source| ExternalError::System { what: format!("{program_name} cannot be run"), source };
    let file = File::create(log).map_err(fault)?;
    let mut command = command(program);
    command.args(arguments).stdin(Stdio::null()).stdout(out).stderr(file).process_group(0);
    let mut child = command.spawn().map_err(fault)?;
    let told = tell(Charge::group(child.id()));
    if told.is_ok() {
        wait_unreaped(child.id()).map_err(fault)?;
    }
    let status = end_group(&mut child).map_err(fault)?;
    told?;
    match status.success() {
        true => Ok(()),
        false => Err(ExternalError::Failed(format!("{program_name} {}{}", how_it_ended(status), last_lines(log)))),
    }
}
