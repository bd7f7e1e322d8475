//! Prints the machine this process runs on.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]

fn main() -> Result<(), zerohop_topology::TopologyError> {
    print!("{}", zerohop_topology::describe(&zerohop_topology::detect()?));
    Ok(())
}
