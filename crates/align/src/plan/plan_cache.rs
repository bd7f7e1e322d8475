//! What is remembered of a machine from run to run: its memory map, and plans that `tune` found. Both lie in the user's
//! cache folder and may be removed at any time.

use std::path::PathBuf;
use zerohop_model::machine::Machine;
use zerohop_model::memory_map::MemoryMap;
use zerohop_process::cache;

/// A number that another machine, or another part of the same machine, does not have: what is kept for one is not used
/// for another. What is free at the moment does not count, and memory only in GiB, for kernels keep back more or less
/// of it.
pub fn machine_id(machine: &Machine) -> String {
    let nodes: Vec<_> = machine.nodes.iter().map(|node| (node.id, &node.cpus, node.memory.0 >> 30)).collect();
    let allowed = (&machine.allowed.cpus, &machine.allowed.nodes, machine.allowed.cpu_quota.map(f64::to_bits));
    let parts = (&machine.name, &machine.cpu_model, nodes, &machine.distances, &machine.caches, allowed);
    cache::digest(&parts)
}

/// Where the memory map of a machine lies; nowhere without a cache folder.
pub fn map_file(machine: &Machine) -> Option<PathBuf> {
    cache::folder().map(|folder| folder.join("maps").join(machine_id(machine) + ".json"))
}

/// The memory map that was measured on a machine, if one was.
pub fn memory_map(machine: &Machine) -> Option<MemoryMap> {
    cache::read(&map_file(machine)?)
}

/// Where the plan with this key lies.
pub fn plan_file(key: &str) -> Option<PathBuf> {
    Some(cache::folder()?.join("plans").join(format!("{key}.json")))
}
