//! Prints the machine this process runs on.

fn main() -> Result<(), zerohop_topology::TopologyError> {
    print!("{}", zerohop_topology::describe(&zerohop_topology::detect()?));
    Ok(())
}
