//! What is kept from run to run, in the user's cache folder: memory maps and plans. Anything in it may be removed at any time.

use crate::failure::Failure;
use crate::json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::time::Instant;
use zerohop_model::machine::Machine;
use zerohop_process::WriteError;

/// The folder: `$XDG_CACHE_HOME/zerohop`, or `~/.cache/zerohop`; none where neither is known.
pub fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("zerohop"))
}

/// A number that another machine, or another part of the same machine, does not have: what is kept for one is not used for another.
/// What is free at the moment does not count, and memory only in GiB, for kernels keep back more or less of it.
pub fn machine_id(machine: &Machine) -> String {
    let nodes: Vec<_> = machine.nodes.iter().map(|node| (node.id, &node.cpus, node.memory.0 >> 30)).collect();
    let allowed = (&machine.allowed.cpus, &machine.allowed.nodes, machine.allowed.cpu_quota.map(f64::to_bits));
    let parts = (&machine.name, &machine.cpu_model, nodes, &machine.distances, &machine.caches, allowed);
    digest(&parts)
}

/// Sixteen digits that stand for `value`.
pub fn digest(value: &impl Serialize) -> String {
    // What has no JSON form (a path that is not UTF-8) stands for nothing but itself at this moment: nothing is ever found by it.
    let text = serde_json::to_string(value)
        .unwrap_or_else(|error| format!("{error} {} {:?}", std::process::id(), Instant::now()));
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

/// Reads what was kept; none if there is nothing, or nothing that can be used.
pub fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Writes a JSON file, and the folders that lead to it.
///
/// # Errors
/// A folder that cannot be made, or a file that cannot be written.
pub fn write(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(WriteError::of(folder))?;
    }
    json::write(path, value)
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.json");
        // The square roots of the first numbers: the quick way of reading decimals gets some of them wrong in their last bit.
        let figures: Vec<f64> = (0..5_000).map(|number| f64::from(number).sqrt() * 1e-3).collect();
        super::write(&path, &figures).unwrap();
        assert_eq!(super::read::<Vec<f64>>(&path), Some(figures));
    }
}
