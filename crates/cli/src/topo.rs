//! `zerohop topo`: shows the machine.

use crate::args::TopoArgs;
use crate::failure::Failure;

/// Runs the command.
///
/// # Errors
/// When the machine cannot be looked at or standard output cannot be written.
pub fn run(args: &TopoArgs) -> Result<(), Failure> {
    let machine = zerohop_topology::detect()?;
    let text = match args.json {
        true => serde_json::to_string_pretty(&machine).map_err(|e| Failure::Other(e.to_string()))? + "\n",
        false => zerohop_topology::describe(&machine),
    };
    crate::print(text.as_bytes())
}
