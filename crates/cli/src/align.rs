//! `zerohop align`: what was typed is made sense of, and goes to the aligner that was asked for.

use crate::args::{AlignArgs, NULL, STROBEALIGN};
use crate::failure::Failure;
use crate::{embedded, external, lanes, outputs};
use std::path::PathBuf;

/// Runs the command; `typed` are the lanes given by `--reads`.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left.
pub fn run(args: &AlignArgs, typed: Vec<Vec<PathBuf>>) -> Result<(), Failure> {
    let specs = lanes::specs(args, typed)?;
    let groups = lanes::read_groups(args, specs.len())?;
    outputs::check(args, &specs)?;
    match &*args.engine {
        STROBEALIGN | NULL => {
            external::refuse_options(args)?;
            embedded::run(args, specs, groups)
        }
        _ => external::run(args, specs, groups),
    }
}
