//! Index copies in /dev/shm, laid there under the plan's policies, for processes that map their index.
//!
//! Pages of a file in /dev/shm lie where the memory policy of the thread wanted them that wrote them first, and all who map
//! it get the same pages. So a copy is placed by writing it under the placement: no privilege and no `mbind` is needed.
//!
//! A copy is a folder in `/dev/shm/zerohop-UID`, with a *manifest* beside it (what it was copied from: sizes, times, digests)
//! and a *lock* that every run that uses it holds. Nobody's lock means nobody's copy: it is removed at the end of the last
//! run, or by whoever comes next, unless its user wanted it kept.

use crate::error::ExternalError;
use crate::found::{Found, FoundIndex};
use crate::locks::{self, Hold};
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};
use zerohop_memory::Placed;
use zerohop_model::plan::Placement;

/// Bytes copied at once.
const STEP: usize = 4 << 20;
/// How often, and after what pause each, a copy that others hold is looked at again.
const TRIES: usize = 20;
const RETRY: Duration = Duration::from_millis(50);
/// Where the kernel keeps files in memory.
pub(crate) const SHM: &str = "/dev/shm";

/// What is known of a copy that lies in /dev/shm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The aligner.
    pub engine: String,
    /// The index that it is a copy of.
    pub source: PathBuf,
    /// Where it was to lie.
    pub placement: Placement,
    /// Whether it stays when no run uses it.
    pub keep: bool,
    /// Its files.
    pub files: Vec<CopiedFile>,
}

/// A file of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedFile {
    /// Its name in the copy's folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// When the original was changed last, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// XXH3 of its content.
    pub digest: u64,
}

/// A copy as `zerohop cache` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopyReport {
    /// Its folder.
    pub folder: PathBuf,
    /// What is known of it; nothing if it was never completed.
    pub manifest: Option<Manifest>,
    /// Whether a run uses it.
    pub in_use: bool,
}

/// One copy and our hold on it.
#[derive(Debug)]
pub(crate) struct Copy {
    folder: PathBuf,
    lock: File,
}

impl Copy {
    /// The copy of `index` for a placement, and whether it was there already. With `keep` it stays when no run uses it.
    ///
    /// # Errors
    /// When there is no room for it, or a copy of an index that has changed since is still in use.
    pub(crate) fn get(
        found: &Found,
        index: &FoundIndex,
        placement: &Placement,
        keep: bool,
    ) -> Result<(Self, bool), ExternalError> {
        let source =
            std::path::absolute(&index.prefix).map_err(ExternalError::system(index.prefix.display().to_string()))?;
        let engine = &found.descriptor.name;
        let folder = root()?.join(name(engine, &source, placement));
        let path = beside(&folder, ".lock");
        for _ in 0..TRIES {
            // Whoever makes the copy holds the lock alone meanwhile.
            let lock = locks::take(&path, Hold::Shared)?;
            if is_fresh(&folder, index)? {
                if keep && let Some(manifest) = read_manifest(&folder) {
                    write_manifest(&folder, &Manifest { keep, ..manifest })?;
                }
                return Ok((Copy { folder, lock }, true));
            }
            drop(lock);
            let Some(lock) = locks::try_take_alone(&path)? else {
                std::thread::sleep(RETRY);
                continue;
            };
            if is_fresh(&folder, index)? {
                continue;
            }
            // Nobody uses what is there, for we hold the lock alone.
            remove(&folder);
            let made = copy_files(&folder, index, placement)
                .map_err(ExternalError::system(format!("the index cannot be copied to {SHM}")))
                .and_then(|files| {
                    let (engine, source, placement) = (engine.clone(), source.clone(), placement.clone());
                    write_manifest(&folder, &Manifest { engine, source, placement, keep, files })
                });
            if let Err(error) = made {
                remove(&folder);
                let _ = std::fs::remove_file(&path);
                return Err(error);
            }
            // The lock becomes shared, but not in one step: somebody may have removed the copy in between.
            lock.lock_shared().map_err(ExternalError::system(path.display().to_string()))?;
            if read_manifest(&folder).is_some() {
                return Ok((Copy { folder, lock }, false));
            }
        }
        Err(ExternalError::Failed(format!(
            "{} is a copy of an index that has changed since, and other runs still use it: wait for them",
            folder.display()
        )))
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Gives it up, and removes it if it was not to be kept and nobody else uses it.
    pub(crate) fn give_up(self) {
        let Copy { folder, lock } = self;
        drop(lock);
        // It stays if another run has taken it meanwhile.
        let _ = remove_unused(&folder, false);
    }
}

/// The name of a copy's folder.
fn name(engine: &str, source: &Path, placement: &Placement) -> String {
    let nodes: Vec<String> = placement.nodes.iter().map(|node| node.0.to_string()).collect();
    let key = xxh3_64(source.as_os_str().as_encoded_bytes());
    format!("{engine}-{key:016x}-{}-{}", placement.pages, nodes.join("-"))
}

/// The folder of this user's copies, made if need be.
pub(crate) fn root() -> Result<PathBuf, ExternalError> {
    let user = std::fs::metadata("/proc/self").map_err(ExternalError::system("/proc/self"))?.uid();
    let root = Path::new(SHM).join(format!("zerohop-{user}"));
    let fault = |e| ExternalError::System { what: root.display().to_string(), source: e };
    DirBuilder::new().recursive(true).mode(0o700).create(&root).map_err(fault)?;
    let owner = std::fs::symlink_metadata(&root).map_err(fault)?;
    if owner.uid() != user || !owner.is_dir() {
        return Err(fault(std::io::Error::other("is not a folder of this user's")));
    }
    Ok(root)
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Whether the copy in `folder` is one of `index` as it is now, and is whole.
///
/// # Errors
/// When a file of the index cannot be asked.
fn is_fresh(folder: &Path, index: &FoundIndex) -> Result<bool, ExternalError> {
    let Some(manifest) = read_manifest(folder) else { return Ok(false) };
    if manifest.files.len() != index.files.len() {
        return Ok(false);
    }
    for (copied, original) in manifest.files.iter().zip(&index.files) {
        let now = original.metadata().map_err(ExternalError::system(original.display().to_string()))?;
        let copy = folder.join(&copied.name);
        let same = now.len() == copied.bytes
            && (now.mtime(), now.mtime_nsec()) == copied.modified
            && digest(&copy).is_ok_and(|digest| digest == copied.digest);
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

fn digest(path: &Path) -> std::io::Result<u64> {
    pass_through(path, |_| Ok(()))
}

/// Reads a file and returns the digest of what it gave to `each`.
fn pass_through(path: &Path, mut each: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<u64> {
    let (mut file, mut hash, mut buffer) = (File::open(path)?, Xxh3::new(), vec![0; STEP]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hash.digest());
        }
        hash.update(&buffer[..read]);
        each(&buffer[..read])?;
    }
}

/// Copies the files of `index` under `placement`.
fn copy_files(folder: &Path, index: &FoundIndex, placement: &Placement) -> std::io::Result<Vec<CopiedFile>> {
    std::fs::create_dir(folder)?;
    let placed = Placed::new(placement);
    let copy = |original: &PathBuf| {
        let name = original.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let before = original.metadata()?;
        let mut copy = File::create(folder.join(&name))?;
        let digest = pass_through(original, |bytes| placed.run(|| copy.write_all(bytes)))?;
        Ok(CopiedFile { name, bytes: before.len(), modified: (before.mtime(), before.mtime_nsec()), digest })
    };
    index.files.iter().map(copy).collect()
}

fn read_manifest(folder: &Path) -> Option<Manifest> {
    serde_json::from_slice(&std::fs::read(beside(folder, ".json")).ok()?).ok()
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), ExternalError> {
    let (path, new) = (beside(folder, ".json"), beside(folder, ".json.new"));
    let text = serde_json::to_vec_pretty(manifest).map_err(|e| ExternalError::Failed(e.to_string()))?;
    // Who lists the copies must not find half of one.
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path));
    written.map_err(ExternalError::system(path.display().to_string()))
}

/// Removes a copy's folder and manifest; the caller holds its lock alone.
fn remove(folder: &Path) {
    // The manifest first: a copy without one counts as never made. What cannot be removed is found again.
    let _ = std::fs::remove_file(beside(folder, ".json"));
    let _ = std::fs::remove_dir_all(folder);
}

/// Removes a copy that no run uses; one that its user wanted kept only with `kept_too`. Says whether it is gone.
fn remove_unused(folder: &Path, kept_too: bool) -> Result<bool, ExternalError> {
    let path = beside(folder, ".lock");
    let Some(_lock) = locks::try_take_alone(&path)? else { return Ok(false) };
    if !kept_too && read_manifest(folder).is_some_and(|manifest| manifest.keep) {
        return Ok(false);
    }
    remove(folder);
    // Last, and while it is held: who waits for it will find that it is nobody's.
    let _ = std::fs::remove_file(&path);
    Ok(true)
}

/// The copies of this user, with what is known of them.
///
/// # Errors
/// When /dev/shm cannot be used.
pub fn list() -> Result<Vec<CopyReport>, ExternalError> {
    let report = |folder: PathBuf| {
        let in_use = matches!(locks::try_take_alone(&beside(&folder, ".lock")), Ok(None));
        CopyReport { manifest: read_manifest(&folder), in_use, folder }
    };
    Ok(folders()?.into_iter().map(report).collect())
}

fn folders() -> Result<Vec<PathBuf>, ExternalError> {
    let root = root()?;
    let entries = std::fs::read_dir(&root).map_err(ExternalError::system(root.display().to_string()))?;
    // What was left half made or half removed counts too: any of a copy's three parts says that there is one.
    let is_manifest = |path: &PathBuf| path.to_string_lossy().ends_with(".json");
    let folder = |path: PathBuf| match path.is_dir() {
        true => Some(path),
        false => Some(path).filter(is_manifest).map(|path| path.with_extension("")),
    };
    let mut folders: Vec<PathBuf> = entries.flatten().filter_map(|entry| folder(entry.path())).collect();
    folders.sort();
    folders.dedup();
    Ok(folders)
}

/// Removes the copies of this user that no run uses; those that are to be kept only with `kept_too`. Returns their folders.
///
/// # Errors
/// When /dev/shm cannot be used.
pub fn clear(kept_too: bool) -> Result<Vec<PathBuf>, ExternalError> {
    let mut gone = Vec::new();
    for folder in folders()? {
        if remove_unused(&folder, kept_too)? {
            gone.push(folder);
        }
    }
    Ok(gone)
}
