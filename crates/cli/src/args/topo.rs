//! What can be typed after `zerohop topo`.

use super::{HugePagesName, numbers};
use zerohop_model::machine::Bytes;

#[derive(Debug, clap::Args)]
pub struct TopoArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Measure latency and bandwidth from the CPUs of each node to the memory of each node
    ///
    /// Bandwidth is measured for one node at a time and for all nodes at once.
    #[arg(long)]
    pub measure: bool,

    /// Measure again, even if it was measured before
    #[arg(long, requires = "measure")]
    pub again: bool,

    /// Memory to read on each node, in bytes or as in 512M [default: 256M or more]
    ///
    /// The default is 8 times the largest cache if that is more than 256M, and at most a quarter of the free memory.
    #[arg(long, value_name = "SIZE", value_parser = numbers::size, requires = "measure")]
    pub buffer: Option<Bytes>,

    /// Whether the memory that is read asks for huge pages
    #[arg(long, value_enum, default_value_t = HugePagesName::Auto, requires = "measure")]
    pub huge_pages: HugePagesName,
}
