//! The one way in which zerohop writes files.

use crate::aside::Aside;
use crate::closed::check_open;
use crate::descriptors::copy_of;
use crate::exit::Ending;
use crate::lock::{has_no_locks, is_still_there};
use crate::partial::{is_partial_of, partial_name};
use crate::system::NOT_TO_BE_SYNCED;
use crate::tell;
use crate::temporary::Temporary;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Write};
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What file systems say that cannot sync folders.
const NOT_FOR_FOLDERS: [ErrorKind; 3] = [ErrorKind::InvalidInput, ErrorKind::PermissionDenied, ErrorKind::Unsupported];
/// Symbolic links that are followed, as the kernel does (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// A file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write: {source}", path.display())]
pub struct WriteError {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// What the system said.
    pub source: Error,
}

impl WriteError {
    /// How the program ends with it: without a word where the reader has gone away.
    pub fn ending(&self) -> Ending {
        match self.source.kind() {
            ErrorKind::BrokenPipe => Ending::Silent(0),
            _ => Ending::failed(self),
        }
    }

    /// For `map_err`: what the system said of `path`.
    pub fn of(path: &Path) -> impl Fn(Error) -> WriteError {
        move |source| WriteError { path: path.to_owned(), source }
    }
}

/// A file while it is written.
///
/// A regular file is written under a temporary name beside it, and gets its name in [`NewFile::complete`], when it is
/// on the disk; dropped before, or ended by a signal, it is removed. A file that it replaces keeps its permissions, a
/// new one has those that the umask leaves. Where a symbolic link points is replaced, not the link. A device and a FIFO
/// are written in place; so is an open file (`/dev/stdout`, `/proc/self/fd/3`), from where it is: what was written to
/// it before stays, as with `>> all.sam`.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: File,
    /// None for what is written in place.
    replaces: Option<Replaces>,
}

#[derive(Debug)]
struct Replaces {
    /// Without symbolic links.
    target: PathBuf,
    temporary_path: PathBuf,
    temporary: Temporary,
}

impl NewFile {
    /// Opens `path`; `-` is standard output. What earlier runs that were killed have left of it is removed.
    ///
    /// # Errors
    /// A folder that is not there or cannot be written, a file that may not be written, a folder of that name.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        if path == Path::new("-") { Self::standard_output() } else { Self::open(path).map_err(WriteError::of(path)) }
    }

    /// Standard output.
    ///
    /// # Errors
    /// What the system says.
    pub fn standard_output() -> Result<Self, WriteError> {
        let path = PathBuf::from("standard output");
        let file = open_file(libc::STDOUT_FILENO).map_err(WriteError::of(&path))?;
        Ok(NewFile { path, file, replaces: None })
    }

    fn open(path: &Path) -> Result<Self, Error> {
        if let Some(number) = number_of_open_file(path) {
            return Ok(NewFile { path: path.to_owned(), file: open_file(number)?, replaces: None });
        }
        let there = std::fs::metadata(path).ok();
        if is_name_of_open_file(path) || there.as_ref().is_some_and(|there| !there.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(NewFile { path: path.to_owned(), file, replaces: None });
        }
        let target = target_of(path)?;
        check_name(&target)?;
        if there.is_some() {
            // Renaming would replace a file that may not be written.
            File::options().write(true).open(&target)?;
        }
        remove_left(&target);
        let (temporary_path, temporary, file) = create_temporary(&target)?;
        if let Some(there) = there {
            file.set_permissions(there.permissions())?;
        }
        let replaces = Some(Replaces { target, temporary_path, temporary });
        Ok(NewFile { path: path.to_owned(), file, replaces })
    }

    /// Its path, as the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The name that it has until it is complete; none for what is written in place, and then only from front to back.
    pub fn temporary_path(&self) -> Option<&Path> {
        self.replaces.as_ref().map(|replaces| &*replaces.temporary_path)
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// What the system says of either; then there is what was there before.
    pub fn complete(self) -> Result<(), WriteError> {
        complete_all(vec![self])
    }

    fn sync(&self) -> Result<(), WriteError> {
        match self.file.sync_all() {
            Err(error) if error.raw_os_error().is_some_and(|code| NOT_TO_BE_SYNCED.contains(&code)) => Ok(()),
            synced => synced.map_err(WriteError::of(&self.path)),
        }
    }
}

/// Syncs all files, then gives all their names, or none.
///
/// # Errors
/// What the system says of one of them; then there is what was there before.
pub fn complete_all(files: Vec<NewFile>) -> Result<(), WriteError> {
    complete_instead_of(files, &[])
}

/// The same. With their names, the `outdated` files are gone, which say something of what was there before: they are
/// out of the way before the first file gets its name. If one cannot be removed, a note says so: the files are
/// complete.
///
/// # Errors
/// As for [`complete_all`].
pub fn complete_instead_of(files: Vec<NewFile>, outdated: &[PathBuf]) -> Result<(), WriteError> {
    files.iter().try_for_each(NewFile::sync)?;
    let mut aside = Aside::new();
    for path in outdated {
        if let Err(error) = aside.put(path) {
            let path = path.display();
            tell::note(&format!(
                "{path}: it belongs to the file that was there before, and cannot be removed: {error}."
            ));
        }
    }
    let mut named = Vec::new();
    let outcome = put_aside(&files, &mut aside).and_then(|()| name_all(files, &mut named));
    match outcome {
        Ok(()) => aside.discard(),
        // Some of them would look like all. There is nobody left to tell of those that cannot be removed.
        Err(_) => named.iter().for_each(|target| drop(std::fs::remove_file(target))),
    }
    outcome
}

/// Puts aside what several files replace: whatever ends us in between, no new one is beside an old one. One alone
/// replaces the other in one step.
fn put_aside(files: &[NewFile], aside: &mut Aside) -> Result<(), WriteError> {
    let replaced = files.iter().filter_map(|file| Some((&file.path, &file.replaces.as_ref()?.target)));
    let replaced: Vec<_> = replaced.collect();
    match &replaced[..] {
        [] | [_] => Ok(()),
        several => several.iter().try_for_each(|(path, target)| aside.put(target).map_err(WriteError::of(path))),
    }
}

/// Gives the files their names; `named` are those that have got theirs.
fn name_all(files: Vec<NewFile>, named: &mut Vec<PathBuf>) -> Result<(), WriteError> {
    let mut folders = BTreeSet::new();
    for NewFile { path, replaces, .. } in files {
        let Some(Replaces { target, temporary_path, temporary }) = replaces else { continue };
        std::fs::rename(&temporary_path, &target).map_err(WriteError::of(&path))?;
        temporary.keep();
        folders.insert(folder_of(&target));
        named.push(target);
    }
    // The files are there, and on the disk.
    for (folder, error) in folders.iter().filter_map(|folder| Some((folder, sync_folder(folder).err()?))) {
        let folder = folder.display();
        tell::note(&format!("{folder}: that a file has got its name may not outlast a loss of power: {error}."));
    }
    Ok(())
}

/// Gives a file or a folder that is complete another name on the same file system, in one step; a file of that name is
/// replaced, and its permissions stay. For what other programs have made, for folders, and for what several processes
/// write: [`NewFile`] names what we write ourselves.
///
/// # Errors
/// What the system says.
pub fn give_name(path: &Path, name: &Path) -> Result<(), Error> {
    if let Ok(there) = std::fs::metadata(name)
        && there.is_file()
    {
        std::fs::set_permissions(path, there.permissions())?;
    }
    std::fs::rename(path, name)
}

/// Has the names in a folder outlast a loss of power. Some file systems cannot sync folders, and need not.
///
/// # Errors
/// What the system says.
pub fn sync_folder(folder: &Path) -> Result<(), Error> {
    match File::open(folder).and_then(|open| open.sync_all()) {
        Err(error) if NOT_FOR_FOLDERS.contains(&error.kind()) => Ok(()),
        synced => synced,
    }
}

/// Writes a whole file.
///
/// # Errors
/// As for [`NewFile::create`] and [`NewFile::complete`].
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let new = NewFile::create(path)?;
    (&new.file).write_all(bytes).map_err(WriteError::of(path))?;
    new.complete()
}

/// Refuses an output in a folder that is not there: none is made, for its name may be mistyped.
///
/// # Errors
/// A folder that is missing, or a path that is not a folder.
pub fn check_folder(path: &Path) -> Result<(), WriteError> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => {
            let words = format!("there is no folder {}; make it first", folder.display());
            Err(WriteError::of(path)(std::io::Error::other(words)))
        }
        None => Ok(()),
    }
}

/// Finds out whether `path` can be written, and leaves what is there as it is. `-` is standard output.
///
/// # Errors
/// As for [`NewFile::create`].
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    // To open a pipe would be to use it; but for one that is open.
    let is_open = path == Path::new("-") || number_of_open_file(path).is_some();
    let in_place = std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if in_place && !is_open { Ok(()) } else { NewFile::create(path).map(drop) }
}

pub(crate) fn is_name_of_open_file(path: &Path) -> bool {
    path.starts_with("/dev") && !path.starts_with("/dev/shm") || path.starts_with("/proc")
}

/// The number of an open file of ours that a name stands for (proc(5)).
pub(crate) fn number_of_open_file(path: &Path) -> Option<RawFd> {
    let numbered = |folder: &str| path.strip_prefix(folder).ok()?.to_str()?.parse().ok();
    match path.to_str()? {
        "/dev/stdout" => Some(libc::STDOUT_FILENO),
        "/dev/stderr" => Some(libc::STDERR_FILENO),
        _ => numbered("/dev/fd").or_else(|| numbered("/proc/self/fd")),
    }
}

/// An open file, at the place where it is. Standard output may have been closed before we were started.
fn open_file(number: RawFd) -> Result<File, Error> {
    if number == libc::STDOUT_FILENO {
        check_open().map_err(Error::other)?;
    }
    copy_of(number)
}

/// Whether an output of this name is written in place, and not under a temporary name first: standard output (`-`), the
/// name of an open file, a pipe or a device.
pub fn is_written_in_place(path: &Path) -> bool {
    let is_no_file = || std::fs::metadata(path).is_ok_and(|there| !there.is_file());
    path == Path::new("-") || is_name_of_open_file(path) || is_no_file()
}

/// What `path` names when symbolic links are followed, as an absolute path; the last link need not point to anything
/// yet.
///
/// # Errors
/// A folder that is not there, links that go in a circle.
pub fn target_of(path: &Path) -> Result<PathBuf, Error> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&target) {
            Ok(link) => target = folder_of(&target).join(link),
            Err(_) => {
                let name = target.file_name().ok_or(ErrorKind::InvalidFilename)?;
                return Ok(folder_of(&target).canonicalize()?.join(name));
            }
        }
    }
    Err(ErrorKind::InvalidFilename.into())
}

/// Refuses a name that the file system cannot hold: the temporary one may be shorter.
fn check_name(target: &Path) -> Result<(), Error> {
    match target.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::InvalidFilename => Err(error),
        _ => Ok(()),
    }
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// A new file beside `target`, locked: who finds it unlocked knows that the run which made it is gone.
fn create_temporary(target: &Path) -> Result<(PathBuf, Temporary, File), Error> {
    loop {
        let path = partial_name(target)?;
        let temporary = Temporary::enter(&path)?;
        let file = match File::create_new(&path) {
            Ok(file) => file,
            Err(error) => {
                // It may be somebody else's.
                temporary.keep();
                match error.kind() {
                    ErrorKind::AlreadyExists => continue,
                    _ => return Err(error),
                }
            }
        };
        match file.try_lock() {
            // Another run may have taken it for one that was left, before it was locked.
            Err(TryLockError::WouldBlock) => continue,
            Ok(()) if file.metadata()?.nlink() == 0 => continue,
            Err(TryLockError::Error(error)) if !has_no_locks(&error) => return Err(error),
            _ => return Ok((path, temporary, file)),
        }
    }
}

/// Removes what killed runs have left of `target`: temporary names of it that nobody has locked. What cannot be looked
/// at or removed is left alone, for it is in nobody's way.
fn remove_left(target: &Path) {
    let Some(name) = target.file_name() else { return };
    let Ok(folder) = std::fs::read_dir(folder_of(target)) else { return };
    for entry in folder.flatten().filter(|entry| is_partial_of(name, &entry.file_name())) {
        let path = entry.path();
        // To lock a file for one alone NFS wants it open for writing.
        if let Ok(file) = File::options().write(true).open(&path)
            && file.try_lock().is_ok()
            && is_still_there(&file, &path)
        {
            let _ = std::fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests;
