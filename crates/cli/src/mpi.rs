//! `zerohop mpi`: builds the library by which ranks find each other.

use crate::args::search::MpiArgs;
use crate::failure::CommandFailure;

/// Runs the command.
///
/// # Errors
/// A compiler that is not there, or fails.
pub fn run(args: &MpiArgs) -> Result<(), CommandFailure> {
    let library = zerohop_ranks::build(&args.compiler, args.output.as_deref())?;
    crate::print(format!("{}\n", library.display()).as_bytes())
}
