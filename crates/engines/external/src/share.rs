//! One index copy for many processes: laid into /dev/shm under the plan's policies, for aligners that map their index.
//!
//! Pages of a file in /dev/shm lie where the memory policy of the thread wanted them that wrote them first, and all who map
//! it get the same pages. So a copy is placed by writing it under the placement: no privilege and no `mbind` is needed.
//!
//! A copy is a folder in `/dev/shm/zerohop-UID`, with a *manifest* beside it (what it was copied from: sizes, times, digests)
//! and a *lock* that every run that uses it holds. Nobody's lock means nobody's copy: it is removed at the end of the last
//! run, or by whoever comes next, unless its user wanted it kept.

use crate::descriptor::How;
use crate::error::ExternalError;
use crate::found::{Found, FoundIndex};
use crate::process::{how_it_ended, last_lines};
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};
use zerohop_memory::Placed;
use zerohop_model::plan::{Pages, Placement};

/// Bytes copied at once.
const STEP: usize = 4 << 20;
/// Where the kernel keeps files in memory.
const SHM: &str = "/dev/shm";

/// Index copies that the processes of a run share; given up when dropped.
#[derive(Debug)]
pub struct SharedIndex {
    /// What the aligner is told, for each replica.
    pub prefixes: Vec<PathBuf>,
    /// Under which folder the mapped files lie, for each replica.
    pub folders: Vec<PathBuf>,
    /// Copies that were there already.
    pub reused: usize,
    copies: Vec<Copy>,
    segments: Option<Segments>,
}

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
struct Copy {
    folder: PathBuf,
    lock: File,
}

impl SharedIndex {
    /// Copies of `index`, one per placement; those that are there already and are what they should be are used. With `keep`
    /// they stay when no run uses them any more. `tell` is told of what a reaper has to know: names of segments of bwa,
    /// which belong to this run alone.
    ///
    /// # Errors
    /// When the aligner cannot share an index, or there is no room.
    pub fn make(
        found: &Found,
        index: &FoundIndex,
        placements: &[Placement],
        keep: bool,
        tell: impl Fn(Vec<String>),
    ) -> Result<Self, ExternalError> {
        let descriptor = &found.descriptor;
        let (copies, segments) = (Vec::new(), None);
        let mut shared = SharedIndex { prefixes: Vec::new(), folders: Vec::new(), reused: 0, copies, segments };
        match descriptor.sharing.how {
            How::None => {
                let title = &descriptor.title;
                return Err(ExternalError::Unsuited(format!(
                    "{title} cannot share an index between processes (it reads it into memory of its own), so --farm \
                     would need one copy per CPU: use --replicas instead"
                )));
            }
            How::MappedFiles => {
                for placement in placements {
                    let (copy, was_there) = Copy::get(found, index, placement, keep)?;
                    let name = index.prefix.file_name().unwrap_or_default();
                    shared.prefixes.push(match descriptor.index.directory {
                        true => copy.folder.clone(),
                        false => copy.folder.join(name),
                    });
                    shared.folders.push(copy.folder.clone());
                    shared.reused += usize::from(was_there);
                    shared.copies.push(copy);
                }
            }
            How::BwaShm => {
                tell((0..placements.len()).map(segment_name).collect());
                let segments = shared.segments.insert(Segments::new()?);
                for (i, placement) in placements.iter().enumerate() {
                    shared.prefixes.push(segments.stage(found, index, i, placement)?);
                    shared.folders.push(PathBuf::from(SHM));
                }
            }
        }
        Ok(shared)
    }
}

impl Drop for SharedIndex {
    fn drop(&mut self) {
        for copy in self.copies.drain(..) {
            let Copy { folder, lock } = copy;
            drop(lock);
            // Another run may have taken it meanwhile: then it stays.
            let _ = remove_unused(&folder, false);
        }
    }
}

/// The folder of this user's copies, made if need be.
fn root() -> Result<PathBuf, ExternalError> {
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

/// Opens the lock of a copy and takes hold of it, alone or with others.
fn take_lock(folder: &Path, alone: bool) -> Result<File, ExternalError> {
    let path = beside(folder, ".lock");
    let fault = |e| ExternalError::System { what: path.display().to_string(), source: e };
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(fault)?;
        if alone { file.lock() } else { file.lock_shared() }.map_err(fault)?;
        // Whoever removed the copy removed the lock too: then this one is nobody's any more.
        let ours = file.metadata().map_err(fault)?;
        if std::fs::metadata(&path).is_ok_and(|there| there.ino() == ours.ino()) {
            return Ok(file);
        }
    }
}

impl Copy {
    /// The copy for a placement, and whether it was there already.
    fn get(
        found: &Found,
        index: &FoundIndex,
        placement: &Placement,
        keep: bool,
    ) -> Result<(Self, bool), ExternalError> {
        let source = index.prefix.canonicalize().unwrap_or_else(|_| {
            std::env::current_dir().map(|here| here.join(&index.prefix)).unwrap_or_else(|_| index.prefix.clone())
        });
        let nodes: Vec<String> = placement.nodes.iter().map(|node| node.0.to_string()).collect();
        let (engine, pages) = (&found.descriptor.name, placement.pages);
        let key = xxh3_64(source.as_os_str().as_encoded_bytes());
        let folder = root()?.join(format!("{engine}-{key:016x}-{}-{}", pages_word(pages), nodes.join("-")));
        loop {
            let lock = take_lock(&folder, true)?;
            let was_there = is_fresh(&folder, index)?;
            if !was_there {
                // Nobody uses what is there, for we hold the lock alone.
                remove(&folder);
                let manifest = copy_files(&folder, index, placement);
                let manifest = manifest.map_err(|e| {
                    remove(&folder);
                    ExternalError::System { what: format!("the index cannot be copied to {SHM}"), source: e }
                })?;
                let manifest = Manifest { engine: engine.clone(), source: source.clone(), keep, ..manifest };
                write_manifest(&folder, &manifest)?;
            } else if keep && let Some(manifest) = read_manifest(&folder) {
                write_manifest(&folder, &Manifest { keep, ..manifest })?;
            }
            // From here on others may use it too. Between giving up the lock and taking it again it may vanish.
            drop(lock);
            let lock = take_lock(&folder, false)?;
            if read_manifest(&folder).is_some() {
                return Ok((Copy { folder, lock }, was_there));
            }
        }
    }
}

fn pages_word(pages: Pages) -> &'static str {
    match pages {
        Pages::Local => "local",
        Pages::Interleave => "interleave",
        Pages::FirstTouch => "first-touch",
        Pages::LocalAlloc => "localalloc",
    }
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
fn copy_files(folder: &Path, index: &FoundIndex, placement: &Placement) -> std::io::Result<Manifest> {
    std::fs::create_dir(folder)?;
    let placed = Placed::new(placement);
    let copy = |original: &PathBuf| {
        let name = original.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let before = original.metadata()?;
        let mut copy = File::create(folder.join(&name))?;
        let digest = pass_through(original, |bytes| placed.run(|| copy.write_all(bytes)))?;
        let (bytes, modified) = (before.len(), (before.mtime(), before.mtime_nsec()));
        Ok(CopiedFile { name, bytes, modified, digest })
    };
    let files = index.files.iter().map(copy).collect::<std::io::Result<_>>()?;
    let (engine, source) = (String::new(), PathBuf::new());
    Ok(Manifest { engine, source, placement: placement.clone(), keep: false, files })
}

fn read_manifest(folder: &Path) -> Option<Manifest> {
    serde_json::from_slice(&std::fs::read(beside(folder, ".json")).ok()?).ok()
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), ExternalError> {
    let path = beside(folder, ".json");
    let text = serde_json::to_vec_pretty(manifest).map_err(|e| ExternalError::Unsuited(e.to_string()))?;
    std::fs::write(&path, text).map_err(ExternalError::system(path.display().to_string()))
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
    let Ok(lock) = File::options().write(true).open(&path) else { return Ok(!folder.exists()) };
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(ExternalError::system(path.display().to_string())(error)),
        Ok(()) => {}
    }
    if !kept_too && read_manifest(folder).is_some_and(|manifest| manifest.keep) {
        return Ok(false);
    }
    remove(folder);
    let _ = std::fs::remove_file(&path);
    Ok(true)
}

/// The copies of this user, with what is known of them.
///
/// # Errors
/// When /dev/shm cannot be used.
pub fn list() -> Result<Vec<CopyReport>, ExternalError> {
    let report = |folder: PathBuf| {
        let lock = File::options().write(true).open(beside(&folder, ".lock"));
        let in_use = lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
        CopyReport { manifest: read_manifest(&folder), in_use, folder }
    };
    Ok(folders()?.into_iter().map(report).collect())
}

fn folders() -> Result<Vec<PathBuf>, ExternalError> {
    let root = root()?;
    let entries = std::fs::read_dir(&root).map_err(ExternalError::system(root.display().to_string()))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
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

/// Segments that `bwa shm` made for this run, under names of their own.
///
/// bwa finds a segment by the last part of the index's name, so each copy gets a name by links to the index's files. Its list
/// of segments (`bwactl`: two 16-bit numbers, how many entries and how many bytes are used, then for each entry its length
/// as 64 bits and its name with a 0) can only be emptied as a whole with bwa itself; we take out our own entries alone.
#[derive(Debug)]
struct Segments {
    links: PathBuf,
    names: Vec<String>,
}

/// A name that no other run and no user has.
fn segment_name(replica: usize) -> String {
    format!("zerohop-{}-{replica}", std::process::id())
}

impl Segments {
    fn new() -> Result<Self, ExternalError> {
        let links = root()?.join(format!("links-{}", std::process::id()));
        std::fs::create_dir(&links).map_err(ExternalError::system(links.display().to_string()))?;
        Ok(Segments { links, names: Vec::new() })
    }

    /// Has bwa load the index under `placement`; returns the name by which its processes find it.
    fn stage(
        &mut self,
        found: &Found,
        index: &FoundIndex,
        replica: usize,
        placement: &Placement,
    ) -> Result<PathBuf, ExternalError> {
        let name = segment_name(replica);
        let prefix = self.links.join(&name);
        for file in &index.files {
            let suffix = file.to_string_lossy()[index.prefix.to_string_lossy().len()..].to_owned();
            let original = file.canonicalize().map_err(ExternalError::system(file.display().to_string()))?;
            let link = beside(&prefix, &suffix);
            std::os::unix::fs::symlink(original, &link).map_err(ExternalError::system(link.display().to_string()))?;
        }
        self.names.push(name);
        let log = beside(&prefix, ".log");
        let file = File::create(&log).map_err(ExternalError::system(log.display().to_string()))?;
        let mut command = Command::new(&found.program);
        command.arg("shm").arg(&prefix).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let status = Placed::new(placement).run(|| command.status());
        let status = status.map_err(ExternalError::system("bwa shm"))?;
        if !status.success() {
            let what = format!("bwa shm {}{}", how_it_ended(status), last_lines(&log));
            return Err(ExternalError::Unsuited(what));
        }
        Ok(prefix)
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        remove_segments(&self.names);
        let _ = std::fs::remove_dir_all(&self.links);
    }
}

/// Removes segments of bwa, and their entries in its list.
pub(crate) fn remove_segments(names: &[String]) {
    for name in names {
        let _ = std::fs::remove_file(Path::new(SHM).join(format!("bwaidx-{name}")));
    }
    let list = Path::new(SHM).join("bwactl");
    // If it cannot be read or written, it names segments that are gone, which bwa takes as not there.
    let Ok(old) = std::fs::read(&list) else { return };
    match without_entries(&old, names) {
        Some(new) if new[..2] == [0, 0] => drop(std::fs::remove_file(&list)),
        Some(new) => drop(std::fs::write(&list, new)),
        None => {}
    }
}

/// The list without these entries; nothing if it is not such a list.
fn without_entries(list: &[u8], names: &[String]) -> Option<Vec<u8>> {
    let number = |at: usize| Some(u16::from_le_bytes([*list.get(at)?, *list.get(at + 1)?]));
    let (count, end) = (number(0)?, usize::from(number(2)?));
    let (mut kept, mut left, mut at) = (vec![0u8; 4], 0u16, 4);
    for _ in 0..count {
        let name_at = at + 8;
        let length = list.get(name_at..end)?.iter().position(|&byte| byte == 0)?;
        let name = &list[name_at..name_at + length];
        let entry = &list[at..name_at + length + 1];
        if !names.iter().any(|ours| ours.as_bytes() == name) {
            kept.extend_from_slice(entry);
            left += 1;
        }
        at += entry.len();
    }
    kept[..2].copy_from_slice(&left.to_le_bytes());
    let used = u16::try_from(kept.len()).ok()?;
    kept[2..4].copy_from_slice(&used.to_le_bytes());
    kept.resize(list.len().max(kept.len()), 0);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_entries_leave_the_list() {
        let entry = |name: &str| [&7u64.to_le_bytes()[..], name.as_bytes(), b"\0"].concat();
        let list = |names: &[&str]| {
            let entries: Vec<u8> = names.iter().flat_map(|name| entry(name)).collect();
            let head = [(names.len() as u16).to_le_bytes(), (4 + entries.len() as u16).to_le_bytes()].concat();
            let mut list = [head, entries].concat();
            list.resize(256, 0);
            list
        };
        let names = ["b".to_owned(), "dd".to_owned()];
        assert_eq!(without_entries(&list(&["a", "b", "c", "dd"]), &names), Some(list(&["a", "c"])));
        assert_eq!(without_entries(&list(&["b"]), &names).map(|list| list[..4].to_vec()), Some(vec![0, 0, 4, 0]));
        assert_eq!(without_entries(&[1, 0, 200, 0, 1], &names), None);
    }
}
