//! The user's cache folder, with what one run leaves for the next: memory maps, plans, the library of 'zerohop mpi'.
//! Anything in it may be removed at any time.

use crate::file::WriteError;
use crate::{json, user_folder};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The folder: `$XDG_CACHE_HOME/zerohop`, or `~/.cache/zerohop`; none where neither is known.
pub fn folder() -> Option<PathBuf> {
    user_folder("XDG_CACHE_HOME", ".cache").map(|cache| cache.join("zerohop"))
}

/// Sixteen digits that stand for `value`.
pub fn digest(value: &impl Serialize) -> String {
    // What has no JSON form (a path that is not UTF-8) stands for nothing but itself at this moment: nothing is ever
    // found by it.
    let text = serde_json::to_string(value)
        .unwrap_or_else(|error| format!("{error} {} {:?}", std::process::id(), Instant::now()));
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}

/// Reads a JSON file; none if it is not there, or holds something else.
pub fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Writes a JSON file, and the folders that lead to it.
///
/// # Errors
/// A folder that cannot be made, or a file that cannot be written.
pub fn write(path: &Path, value: &impl Serialize) -> Result<(), WriteError> {
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
        // The square roots of the first numbers: the quick way of reading decimals gets some of them wrong in their
        // last bit.
        let figures: Vec<f64> = (0..5_000).map(|number| f64::from(number).sqrt() * 1e-3).collect();
        super::write(&path, &figures).unwrap();
        assert_eq!(super::read::<Vec<f64>>(&path), Some(figures));
    }
}
