//! Index copies in /dev/shm, laid there under the plan's policies, for processes that map their index.
//!
//! Pages of a file in /dev/shm lie where the memory policy of the thread wanted them that wrote them first, and all who
//! map it get the same pages. So a copy is placed by writing it under the placement: no privilege and no `mbind` is
//! needed.
//!
//! A copy is a folder in `/dev/shm/zerohop-UID`, with a *manifest* beside it (what it was copied from: sizes, times,
//! digests) and a *lock* that every run that uses it holds. Nobody's lock means nobody's copy: it is removed at the end
//! of the last run, or by whoever comes next, unless its user wanted it kept.
//!
//! A segment of bwa's (`segments`) is a copy like the others: its folder holds links to the index, and its pages lie
//! beside it.

use crate::bwactl;
use crate::error::ExternalError;
pub use crate::original::{CopiedFile, Manifest, Original};
use crate::shm::{existing_root, root};
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;
use zerohop_model::plan::Placement;
use zerohop_process::lock::{self, Hold};

/// How often, and after what pause each, a copy that others hold is looked at again.
const TRIES: usize = 20;
const RETRY: Duration = Duration::from_millis(50);
/// What the name of a copy's lock ends in.
const LOCK: &str = ".lock";
/// A copy as `zerohop cache` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CopyReport {
    /// Its folder, for people to read.
    #[serde(serialize_with = "as_text")]
    pub folder: PathBuf,
    /// The file beside its folder that holds its pages, if it is a segment of bwa's.
    pub segment: Option<PathBuf>,
    /// What is known of it; nothing if it was never completed.
    pub manifest: Option<Manifest>,
    /// Whether a run uses it.
    pub in_use: bool,
}

fn as_text<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// What there is of a copy that was to be kept.
#[derive(Debug)]
pub enum Kept {
    /// No copy.
    None,
    /// One of an index that has changed since.
    Stale(PathBuf),
    /// A copy, and our hold on it.
    Fresh(Copy),
}

/// One copy and our hold on it.
#[derive(Debug)]
pub struct Copy {
    folder: PathBuf,
    lock: File,
}

impl Copy {
    /// The copy of an index for a placement, and whether it was there already. With `keep` it stays when no run uses
    /// it.
    ///
    /// # Errors
    /// When there is no room for it, or a copy of an index that has changed since is still in use.
    pub fn get(original: &dyn Original, placement: &Placement, keep: bool) -> Result<(Self, bool), ExternalError> {
        let (engine, source) = (original.engine(), absolute(original.source())?);
        let folder = root()?.join(name(engine, &source, placement));
        let path = beside(&folder, LOCK);
        for _ in 0..TRIES {
            // Whoever makes the copy holds the lock alone meanwhile.
            let lock = lock::take(&path, Hold::Shared)?;
            if is_fresh(&folder, original)? {
                if keep && let Some(manifest) = read_manifest(&folder) {
                    write_manifest(&folder, &Manifest { keep, ..manifest })?;
                }
                return Ok((Copy { folder, lock }, true));
            }
            drop(lock);
            let Some(lock) = lock::try_take_alone(&path)? else {
                std::thread::sleep(RETRY);
                continue;
            };
            if is_fresh(&folder, original)? {
                continue;
            }
            // Nobody uses what is there, for we hold the lock alone.
            remove(&folder);
            let made = original.copy(&folder, placement).and_then(|files| {
                let (engine, placement) = (engine.to_owned(), placement.clone());
                let source = source.display().to_string();
                write_manifest(&folder, &Manifest { engine, source, placement, keep, files })
            });
            if let Err(error) = made {
                remove(&folder);
                let _ = std::fs::remove_file(&path);
                return Err(error);
            }
            // The lock becomes shared, but not in one step: somebody may have removed the copy in between.
            lock.lock_shared().map_err(ExternalError::system(path.display().to_string()))?;
            if read_manifest(&folder).is_some() && lock::is_still_there(&lock, &path) {
                return Ok((Copy { folder, lock }, false));
            }
        }
        Err(ExternalError::Failed(format!(
            "{} is a copy of an index that has changed since, and other runs still use it: wait for them",
            folder.display()
        )))
    }

    /// The copy of an index that was kept for a placement. Nothing is made.
    ///
    /// # Errors
    /// When /dev/shm, or the index, cannot be asked.
    pub fn find(original: &dyn Original, placement: &Placement) -> Result<Kept, ExternalError> {
        let Some(root) = existing_root()? else { return Ok(Kept::None) };
        let folder = root.join(name(original.engine(), &absolute(original.source())?, placement));
        if read_manifest(&folder).is_none() {
            return Ok(Kept::None);
        }
        let lock = lock::take(&beside(&folder, LOCK), Hold::Shared)?;
        if is_fresh(&folder, original)? {
            return Ok(Kept::Fresh(Copy { folder, lock }));
        }
        drop(lock);
        if read_manifest(&folder).is_some() {
            return Ok(Kept::Stale(folder));
        }
        // It was removed a moment ago, and its lock made again by us.
        remove_unused(&folder, is_not_kept)?;
        Ok(Kept::None)
    }

    /// A copy under a name that begins with `prefix` and that nobody else has, for the aligner to make of these files;
    /// its folder is there.
    ///
    /// # Errors
    /// When the folder, or what is known of the copy, cannot be written.
    pub(crate) fn begin(
        original: &dyn Original,
        files: Vec<CopiedFile>,
        placement: &Placement,
        prefix: &str,
    ) -> Result<Self, ExternalError> {
        let root = root()?;
        let fault = |error| ExternalError::System { what: root.display().to_string(), source: error };
        let lock = tempfile::Builder::new().prefix(prefix).suffix(LOCK).tempfile_in(&root).map_err(fault)?;
        let (lock, path) = lock.keep().map_err(|error| fault(error.error))?;
        // Before there is a folder: who clears away would take it for nobody's.
        lock.lock_shared().map_err(fault)?;
        let copy = Copy { folder: path.with_extension(""), lock };
        std::fs::create_dir(&copy.folder).map_err(fault)?;
        let (engine, source) = (original.engine().to_owned(), original.source().display().to_string());
        let manifest = Manifest { engine, source, placement: placement.clone(), keep: false, files };
        write_manifest(&copy.folder, &manifest)?;
        Ok(copy)
    }

    /// The folder in /dev/shm that holds its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Gives it up, and removes it if it was not to be kept and nobody else uses it.
    pub(crate) fn give_up(self) {
        let Copy { folder, lock } = self;
        drop(lock);
        // It stays if another run has taken it meanwhile.
        let _ = remove_unused(&folder, is_not_kept);
    }
}

/// The same for whatever way leads to the folder. What is in it may be the beginning of the names of several files.
fn absolute(path: &Path) -> Result<PathBuf, ExternalError> {
    let path = std::path::absolute(path).map_err(ExternalError::system(path.display().to_string()))?;
    let in_folder = path.parent().and_then(|folder| folder.canonicalize().ok()).zip(path.file_name());
    Ok(in_folder.map_or(path.clone(), |(folder, name)| folder.join(name)))
}

/// The name of a copy's folder.
fn name(engine: &str, source: &Path, placement: &Placement) -> String {
    let nodes: Vec<String> = placement.nodes.iter().map(|node| node.0.to_string()).collect();
    let key = xxh3_64(source.as_os_str().as_encoded_bytes());
    format!("{engine}-{key:016x}-{}-{}", placement.pages, nodes.join("-"))
}

fn beside(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Whether the copy in `folder` is one of the index as it is now, and is whole.
fn is_fresh(folder: &Path, original: &dyn Original) -> Result<bool, ExternalError> {
    read_manifest(folder).map_or(Ok(false), |manifest| original.is_fresh(folder, &manifest))
}

fn read_manifest(folder: &Path) -> Option<Manifest> {
    serde_json::from_slice(&std::fs::read(beside(folder, ".json")).ok()?).ok()
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), ExternalError> {
    let path = beside(folder, ".json");
    let fault = ExternalError::system(path.display().to_string());
    let text = serde_json::to_vec_pretty(manifest).map_err(|e| ExternalError::Failed(e.to_string()))?;
    // Who lists the copies must not find half of one. Several runs that share a copy may write at the same time, each
    // under a name of its own; one that is killed leaves it in the folder, with which it goes.
    let written = NamedTempFile::new_in(folder).and_then(|mut new| {
        new.write_all(&text)?;
        new.persist(&path).map_err(|error| error.error)
    });
    written.map(drop).map_err(fault)
}

/// Removes a copy's folder and manifest; the caller holds its lock alone.
fn remove(folder: &Path) {
    if let Some(name) = bwactl::name_of(folder) {
        bwactl::remove(name);
    }
    // The manifest first: a copy without one counts as never made. What cannot be removed is found again.
    let _ = std::fs::remove_file(beside(folder, ".json"));
    let _ = std::fs::remove_dir_all(folder);
}

/// Whether nobody wanted a copy kept.
fn is_not_kept(manifest: Option<Manifest>) -> bool {
    manifest.is_none_or(|manifest| !manifest.keep)
}

/// Removes a copy that no run uses and that `is_wanted_gone`, when nobody else can change it any more. Says whether it
/// is gone.
fn remove_unused(folder: &Path, is_wanted_gone: impl FnOnce(Option<Manifest>) -> bool) -> Result<bool, ExternalError> {
    let path = beside(folder, LOCK);
    let Some(_lock) = lock::try_take_alone(&path)? else { return Ok(false) };
    if !is_wanted_gone(read_manifest(folder)) {
        return Ok(false);
    }
    remove(folder);
    // Last, and while it is held: who waits for it will find that it is nobody's.
    let _ = std::fs::remove_file(&path);
    Ok(true)
}

/// Keeps other processes of this user from planning copies that are to be kept, as long as there is this: they would
/// count memory as free that copies on their way will take.
///
/// # Errors
/// When /dev/shm cannot be used.
pub fn plan_alone() -> Result<File, ExternalError> {
    Ok(lock::take(&root()?.join(".keep"), Hold::Alone)?)
}

/// Where copies of an index are kept that is as it was; none if that cannot be found out, which whoever takes one
/// tells.
pub fn kept(original: &dyn Original) -> Vec<Placement> {
    let is_good = |(folder, manifest): &(PathBuf, Manifest)| {
        manifest.keep && matches!(original.is_fresh(folder, manifest), Ok(true))
    };
    let placement = |(_, manifest): (PathBuf, Manifest)| manifest.placement;
    all_of(original).unwrap_or_default().into_iter().filter(is_good).map(placement).collect()
}

/// Removes copies of an index that has changed since, unless a run uses them.
///
/// # Errors
/// When /dev/shm, or the index, cannot be asked.
pub fn remove_stale(original: &dyn Original) -> Result<(), ExternalError> {
    for (folder, _) in all_of(original)? {
        let is_stale = |manifest: Manifest| matches!(original.is_fresh(&folder, &manifest), Ok(false));
        remove_unused(&folder, |manifest| manifest.is_some_and(is_stale))?;
    }
    Ok(())
}

/// The folders of all copies of an index, with what is known of them.
fn all_of(original: &dyn Original) -> Result<Vec<(PathBuf, Manifest)>, ExternalError> {
    let Some(root) = existing_root()? else { return Ok(Vec::new()) };
    let source = absolute(original.source())?;
    let of = |folder: PathBuf| {
        let manifest = read_manifest(&folder)?;
        let is_of = folder == root.join(name(original.engine(), &source, &manifest.placement));
        is_of.then_some((folder, manifest))
    };
    Ok(folders(&root)?.into_iter().filter_map(of).collect())
}

/// The copies of this user, with what is known of them.
///
/// # Errors
/// When /dev/shm cannot be used.
pub fn list() -> Result<Vec<CopyReport>, ExternalError> {
    Ok(folders(&root()?)?.into_iter().map(report).collect())
}

fn report(folder: PathBuf) -> CopyReport {
    let in_use = matches!(lock::try_take_alone(&beside(&folder, LOCK)), Ok(None));
    let segment = bwactl::name_of(&folder).map(bwactl::file);
    CopyReport { manifest: read_manifest(&folder), in_use, segment, folder }
}

fn folders(root: &Path) -> Result<Vec<PathBuf>, ExternalError> {
    let entries = std::fs::read_dir(root).map_err(ExternalError::system(root.display().to_string()))?;
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

/// Removes the copies of this user that no run uses; those that are to be kept only with `kept_too`. Returns what they
/// were.
///
/// # Errors
/// When /dev/shm cannot be used.
pub fn clear(kept_too: bool) -> Result<Vec<CopyReport>, ExternalError> {
    let mut gone = Vec::new();
    for folder in folders(&root()?)? {
        let copy = report(folder);
        if remove_unused(&copy.folder, |manifest| kept_too || is_not_kept(manifest))? {
            gone.push(copy);
        }
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::plan::{HugePages, Pages};

    #[test]
    fn many_runs_may_write_what_is_known_of_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("copy");
        std::fs::create_dir(&folder).unwrap();
        let placement = Placement { nodes: Vec::new(), pages: Pages::Local, huge_pages: HugePages::Auto };
        let (engine, source) = ("e".to_owned(), "s".to_owned());
        let manifest = Manifest { engine, source, placement, keep: true, files: Vec::new() };
        std::thread::scope(|scope| {
            let write = || (0..500).try_for_each(|_| write_manifest(&folder, &manifest));
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(write)).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        });
        assert_eq!(read_manifest(&folder), Some(manifest));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
}
