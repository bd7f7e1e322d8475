//! A program that is run to its end.

use crate::error::ExternalError;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use zerohop_process::{ChildProgram, how_it_ended, last_lines_of};

/// Runs a command to its end, with its output in `out` and what it says in `log`. It ends with us, and so does all that
/// it starts.
///
/// # Errors
/// [`ExternalError::Failed`] with its last words when it ends badly.
pub fn run_tool(words: &[OsString], out: File, log: &Path) -> Result<(), ExternalError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(ExternalError::Failed("the descriptor names no command".to_owned()));
    };
    let name = program.display();
    let fault = |source| ExternalError::System { what: format!("{name} cannot be run"), source };
    let said = File::create(log).map_err(fault)?;
    let status =
        ChildProgram::new(program).args(arguments).stdout(out).stderr(said).start().and_then(|mut run| run.wait());
    let status = status.map_err(fault)?;
    match status.success() {
        true => Ok(()),
        false => Err(ExternalError::Failed(format!("{name} {}{}", how_it_ended(status), last_lines_of(log)))),
    }
}
