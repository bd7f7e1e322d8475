//! What is finished of a long job, on disk: a batch (of an alignment: a run of chunks) is entered after its results are
//! safe, so that a job that was interrupted loses nothing and repeats only what was under way.

mod lines;
mod writers;

use crate::error::RanksError;
use crate::signs::with_signs;
use crate::{Transport, TransportError};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_model::measurement::Tally;
use zerohop_process::Identity;
use zerohop_process::{cache, lock, set_room_aside, tell};

/// Bytes that are set aside for entries: where the disk is full, what is finished is entered all the same.
const ROOM: u64 = 1 << 18;

/// Batches, or chunks, that are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The first of them.
    pub batch: u64,
    /// How many.
    pub count: u64,
    /// Of an alignment, where the last cohort ends that begins in them, if that is behind them: it is done as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// Of an alignment, those that turned out not to exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<u64>,
    /// Where their results begin in each file of the output.
    pub offsets: Vec<u64>,
    /// Bytes of their results in each.
    pub bytes: Vec<u64>,
    /// The reads in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<Tally>,
}

/// What all ranks together have finished.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Finished {
    /// The first batch, or chunk, that is not finished.
    pub next: u64,
    /// Those before this one are done: `next`, or the end of a cohort that begins before it.
    pub done: u64,
    /// Those among them that do not exist.
    pub absent: Vec<u64>,
    /// Where its results go in each file of the output; nothing if nothing is finished.
    pub ends: Vec<u64>,
    /// The reads before it.
    pub tally: Tally,
}

/// What to do with progress that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// Take up that of the same job, or begin.
    Any,
    /// There must be some to take up.
    Resume,
    /// Throw away that of the same job, which cannot be gone on with, and leave that of another alone.
    Anew,
    /// Throw it away.
    Restart,
}

impl Begin {
    /// As `--resume` and `--restart` say; they exclude each other.
    pub fn asked(resume: bool, restart: bool) -> Self {
        match (resume, restart) {
            (_, true) => Begin::Restart,
            (true, false) => Begin::Resume,
            (false, false) => Begin::Any,
        }
    }
}

/// How a job begins.
enum Begun {
    /// It is to be done, or what is left of it.
    Ours(Owner),
    /// An earlier run had written all of it, and only the names were missing: the files have them now.
    Complete,
}

/// A job whose results are complete.
#[derive(Debug, Serialize, Deserialize)]
struct CompleteJob {
    identity: Identity,
    /// Of each file its name in the folder, and the path that it gets. They are bytes, and need not be text.
    names: Vec<(Vec<u8>, Vec<u8>)>,
}

/// What a folder has of a job.
enum FoundProgress {
    /// Nothing that could be used.
    Nothing,
    /// A job that is not finished.
    Unfinished(Identity),
    /// A job that is complete but for the names of its files.
    Complete(CompleteJob),
}

/// The folder of a job: a file for each rank, and one that says what job it is.
pub struct Journal {
    folder: PathBuf,
    file: File,
    /// Says that this rank writes; none where the file system has no locks.
    _writes: Option<File>,
}

/// One rank's right to a job: nobody else works on it meanwhile.
pub struct Owner {
    folder: PathBuf,
    identity: Identity,
    /// Locked as long as it is open; none where the file system has no locks.
    _lock: Option<File>,
}

/// What says what job it is.
const JOB: &str = "job.json";
/// What says that all is complete, and which file gets which name.
const COMPLETE: &str = "complete.json";
/// What a run locks before it looks at anything else: it is never replaced, and goes with the folder.
const LOCK: &str = "lock";
/// How often it is tried to lock a file that another run removes, with the folder of its job.
const TRIES: usize = 100;

/// The folder beside an output.
pub fn folder(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".progress");
    PathBuf::from(name)
}

fn fault(path: &Path, error: std::io::Error) -> RanksError {
    RanksError::File { path: path.to_owned(), source: error }
}

/// For one rank, before the others look: makes the folder of a new job, or takes up what was done of the same. It waits
/// so long for ranks of an earlier run that still write.
///
/// # Errors
/// Another job; none, where one was to be resumed; a job that another run is at; a folder that is no job's.
fn prepare(output: &Path, identity: &Identity, begin: Begin, patience: Duration) -> Result<Begun, RanksError> {
    let folder = folder(output);
    let lock = lock(&folder)?;
    writers::until_none(&folder, patience)?;
    match take_up(&folder, identity, begin) {
        Ok(true) => Ok(Begun::Ours(Owner { folder, identity: identity.clone(), _lock: lock })),
        Ok(false) => Ok(Begun::Complete),
        Err(error) => {
            // It may have been made for the lock alone.
            let _ = std::fs::remove_file(folder.join(LOCK));
            let _ = std::fs::remove_dir(&folder);
            Err(error)
        }
    }
}

/// Makes a new job, or takes up what was done of the same. False if all of it was: then the files have their names.
fn take_up(folder: &Path, identity: &Identity, begin: Begin) -> Result<bool, RanksError> {
    let mut found = match begin {
        // What cannot be read may go, too.
        Begin::Restart => FoundProgress::Nothing,
        Begin::Any | Begin::Resume | Begin::Anew => look(folder)?,
    };
    let changes = match &found {
        FoundProgress::Unfinished(before) | FoundProgress::Complete(CompleteJob { identity: before, .. }) => {
            identity.changes_since(before)
        }
        FoundProgress::Nothing => Vec::new(),
    };
    if !changes.is_empty() {
        check_other(folder, &found, begin, &changes)?;
        found = FoundProgress::Nothing;
    }
    match found {
        FoundProgress::Nothing if begin == Begin::Resume => Err(no_progress(folder)),
        FoundProgress::Unfinished(_) if begin != Begin::Anew => prune(folder).map(|()| true),
        FoundProgress::Complete(complete) if begin != Begin::Anew && complete.is_there(folder) => {
            end(folder, &complete.paths(folder)).map(|()| false)
        }
        FoundProgress::Nothing | FoundProgress::Unfinished(_) | FoundProgress::Complete(_) => {
            clear(folder)?;
            cache::write(&folder.join(JOB), identity)?;
            sync_folder(folder)?;
            sync_folder(folder_of(folder)).map(|()| true)
        }
    }
}

/// Refuses to replace another job, unless it has failed before anything of it was finished.
fn check_other(folder: &Path, found: &FoundProgress, begin: Begin, changes: &[String]) -> Result<(), RanksError> {
    let has_nothing =
        begin != Begin::Resume && matches!(found, FoundProgress::Unfinished(_)) && entries(folder)?.1.is_empty();
    if has_nothing { Ok(()) } else { Err(other_job(folder, changes)) }
}

/// Why a job is not taken up.
fn other_job(folder: &Path, changes: &[String]) -> RanksError {
    RanksError::Failed(format!(
        "{}: this is the progress of another job ({}). Give the command that began it to finish that job, --restart to \
         throw its progress away, or another output",
        folder.display(),
        changes.join("; ")
    ))
}

fn no_progress(folder: &Path) -> RanksError {
    RanksError::Failed(format!("{}: there is no progress to resume: leave out --resume", folder.display()))
}

/// Refuses what [`begin`] would refuse for `options` alone, which are known before anything is loaded or read.
///
/// # Errors
/// Another job; none, where one was to be resumed.
pub fn check_options(output: &Path, options: &Identity, begin: Begin) -> Result<(), RanksError> {
    let folder = folder(output);
    if begin == Begin::Restart {
        return Ok(());
    }
    match look(&folder)? {
        FoundProgress::Nothing if begin == Begin::Resume => Err(no_progress(&folder)),
        FoundProgress::Nothing => Ok(()),
        ref found @ (FoundProgress::Unfinished(ref before)
        | FoundProgress::Complete(CompleteJob { identity: ref before, .. })) => {
            let changes = options.changes_since(&before.only(options));
            if changes.is_empty() { Ok(()) } else { check_other(&folder, found, begin, &changes) }
        }
    }
}

/// For all ranks: the first one takes the job, and all learn what was finished before; none if all was, and the files
/// have their names. `seen` stands for what this rank sees of the inputs.
///
/// # Errors
/// Another job; none, where one was to be resumed; a job that another run is at; ranks that see different files.
pub fn begin(
    transport: &dyn Transport,
    output: &Path,
    identity: &Identity,
    how: Begin,
    seen: &str,
) -> Result<Option<(Option<Owner>, Journal, Finished)>, RanksError> {
    let failed = |error: TransportError| RanksError::Failed(error.to_string());
    let begun = match transport.rank() {
        0 => Some(with_signs(transport, || prepare(output, identity, how, writers::PATIENCE))??),
        _ => None,
    };
    // All must have read the journals before anybody enters something, and nobody before the first has cleared away.
    let is_complete = [u8::from(matches!(begun, Some(Begun::Complete)))];
    if transport.all_gather(&is_complete).map_err(failed)?.first().is_some_and(|first| *first == [1]) {
        if transport.rank() == 0 {
            tell::note(&format!(
                "{}: an earlier run of this command had written all of it, and has its name now; nothing was done \
                 again. \
                 For reports (--json and the like) run it with --restart",
                output.display()
            ));
        }
        return Ok(None);
    }
    let rank = transport.rank();
    let opened = Journal::open(output, rank);
    // A rank that cannot open it has nothing to say.
    let own = opened.as_ref().map(|(_, finished)| cache::digest(&(identity, seen, finished))).unwrap_or_default();
    let all = transport.all_gather(own.as_bytes()).map_err(failed)?;
    let (journal, finished) = opened?;
    if let Some(blind) = all.iter().position(Vec::is_empty) {
        return Err(RanksError::Failed(format!(
            "rank {blind} cannot use {}, which the first rank has made: the output must lie where all ranks see it",
            folder(output).display()
        )));
    }
    if let Some(other) = all.iter().position(|other| *other != own.as_bytes()) {
        return Err(RanksError::Failed(format!(
            "rank {other} sees other inputs, other options or other progress than rank {rank}: give all ranks the same \
             command, and put all files where all ranks see them"
        )));
    }
    let owner = begun.and_then(|begun| match begun {
        Begun::Ours(owner) => Some(owner),
        Begun::Complete => None,
    });
    Ok(Some((owner, journal, finished)))
}

/// Refuses a file that has fewer bytes than were finished.
///
/// # Errors
/// Such a file, or one that is not there.
pub fn check_length(partial: &Path, finished: u64) -> Result<(), RanksError> {
    let there = std::fs::metadata(partial).map_err(|error| fault(partial, error))?.len();
    match there < finished {
        true => Err(RanksError::Failed(format!(
            "{}: it has {there} bytes of {finished} that were finished: begin anew with --restart",
            partial.display()
        ))),
        false => Ok(()),
    }
}

/// What there is of a job.
fn look(folder: &Path) -> Result<FoundProgress, RanksError> {
    if let Some(complete) = cache::read(&folder.join(COMPLETE)) {
        return Ok(FoundProgress::Complete(complete));
    }
    if let Some(identity) = cache::read(&folder.join(JOB)) {
        return Ok(FoundProgress::Unfinished(identity));
    }
    if let Some(path) = [JOB, COMPLETE].map(|name| folder.join(name)).into_iter().find(|path| path.exists()) {
        return Err(RanksError::Failed(format!(
            "{}: this cannot be read, another version of zerohop may have written it: run it with --restart to throw \
             that progress away, or choose another output",
            path.display()
        )));
    }
    Ok(FoundProgress::Nothing)
}

/// What the names of files begin with that hold results: those of the output, and what is sorted for it.
const OURS: [&str; 2] = ["output", "sorting."];

/// Whether a file of this name in a job's folder is one of a job's, or was to become one (`job.json.partial-...`).
fn is_of_a_job(name: &str) -> bool {
    name.starts_with(JOB)
        || name.starts_with(COMPLETE)
        || name == LOCK
        || name.starts_with(writers::PREFIX)
        || name.contains(".jsonl")
        || OURS.iter().any(|ours| name.starts_with(ours))
}

/// Removes what is there of a job, in an order of which any beginning leaves a job that can be taken up: a run may be
/// killed here.
fn clear(folder: &Path) -> Result<(), RanksError> {
    let mut names: Vec<String> = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found
            .and_then(|all| all.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect())
            .map_err(|error| fault(folder, error))?,
    };
    if !names.iter().all(|name| is_of_a_job(name)) {
        let folder = folder.display();
        return Err(RanksError::Failed(format!(
            "{folder}: this folder has files that zerohop did not make: remove it, or choose another output"
        )));
    }
    // What is recorded of results goes before the results; what tells attempts apart goes when none has any.
    let is_late = |name: &String| name == JOB || name.ends_with(".json");
    names.retain(|name| name != LOCK);
    names.sort_by_key(|name| (name != COMPLETE, !name.ends_with(".jsonl"), is_late(name), name == JOB));
    names.iter().try_for_each(|name| remove(&folder.join(name)))
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), RanksError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(fault(path, error)),
        _ => Ok(()),
    }
}

/// Takes a folder for this run, and makes it if need be; none where the file system has no locks.
fn lock(folder: &Path) -> Result<Option<File>, RanksError> {
    let path = folder.join(LOCK);
    let mut tries = 1..=TRIES;
    loop {
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(fault(folder, error)),
            _ => {}
        }
        let error = match lock::try_take_alone(&path) {
            Ok(Some(file)) => return Ok(Some(file)),
            Ok(None) => {
                return Err(RanksError::Failed(format!("{}: another run is at this job now", folder.display())));
            }
            Err(error) => error.source,
        };
        if zerohop_process::has_no_locks(&error) {
            tell::note(&format!(
                "{}: this file system has no locks: take care that no other run is at this job ({error})",
                folder.display()
            ));
            return Ok(None);
        }
        // Another run has completed its job in between, and removed the folder.
        if error.kind() != ErrorKind::NotFound || tries.next().is_none() {
            return Err(fault(&path, error));
        }
    }
}

impl CompleteJob {
    /// The files as they are, and the paths that they get.
    fn paths(&self, folder: &Path) -> Vec<(PathBuf, PathBuf)> {
        let path = |bytes: &Vec<u8>| PathBuf::from(OsString::from_vec(bytes.clone()));
        self.names.iter().map(|(partial, target)| (folder.join(path(partial)), path(target))).collect()
    }

    /// Whether every file is there, under one of its names.
    fn is_there(&self, folder: &Path) -> bool {
        self.paths(folder).iter().all(|(partial, target)| partial.exists() || target.exists())
    }
}

/// Keeps of the progress what can be gone on with: what comes behind a gap will be done anew, and cut otherwise.
fn prune(folder: &Path) -> Result<(), RanksError> {
    let (files, entries) = entries(folder)?;
    let kept: Vec<Entry> = in_a_row(entries).collect();
    let lines = kept.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
    let text: String =
        lines.map_err(|error| RanksError::Failed(error.to_string()))?.iter().map(|line| format!("{line}\n")).collect();
    let before = folder.join("before.jsonl");
    zerohop_process::write(&before, text.as_bytes())?;
    sync_folder(folder)?;
    files.iter().filter(|file| **file != before).try_for_each(|file| remove(file))
}

impl Owner {
    /// The job is complete: each file gets its name (`(partial, output)`), and no progress is left. All ranks have
    /// closed their files by then, and what they wrote is on the disk.
    ///
    /// # Errors
    /// What the system says: then no file has its name, and a run of the same job gives them their names.
    pub fn complete(self, files: &[(PathBuf, PathBuf)]) -> Result<(), RanksError> {
        let names = self.record(files)?;
        end(&self.folder, &names)
    }

    /// Has the job be complete, whatever happens now; gives the names as they will be.
    fn record(&self, files: &[(PathBuf, PathBuf)]) -> Result<Vec<(PathBuf, PathBuf)>, RanksError> {
        // What a link points to is replaced, not the link; and the next run may be started in another folder.
        let target = |output: &PathBuf| zerohop_process::target_of(output).unwrap_or_else(|_| output.clone());
        let name = |partial: &PathBuf| partial.file_name().unwrap_or_default().as_bytes().to_vec();
        let names =
            files.iter().map(|(partial, output)| (name(partial), target(output).into_os_string().into_vec())).collect();
        let complete = CompleteJob { identity: self.identity.clone(), names };
        cache::write(&self.folder.join(COMPLETE), &complete)?;
        sync_folder(&self.folder)?;
        Ok(complete.paths(&self.folder))
    }
}

/// Gives the files of a complete job their names, all that have not got them or none; then no progress is left.
fn end(folder: &Path, names: &[(PathBuf, PathBuf)]) -> Result<(), RanksError> {
    let mut named: Vec<&(PathBuf, PathBuf)> = Vec::new();
    for name in names.iter().filter(|(partial, _)| partial.exists()) {
        let (partial, output) = name;
        if let Err(error) = zerohop_process::give_name(partial, output) {
            for (partial, output) in named {
                zerohop_process::give_name(output, partial).map_err(|error| fault(output, error))?;
            }
            return Err(RanksError::Failed(format!(
                "{}: the file is complete, and cannot get its name: {error}. Once it can, the same command \
                 ends this job",
                output.display()
            )));
        }
        named.push(name);
    }
    for (_, output) in named {
        let folder = folder_of(output);
        if let Err(error) = zerohop_process::sync_folder(folder) {
            let folder = folder.display();
            tell::note(&format!("{folder}: that a file has got its name may not outlast a loss of power: {error}."));
        }
    }
    // The output is complete: what cannot be cleared away does not change that.
    if let Err(error) = leave(folder) {
        tell::note(&format!("{}: it is no longer needed, and cannot be removed: {error}", folder.display()));
    }
    Ok(())
}

/// Removes the folder of a job whose files have their names; that the job is complete is the last to be forgotten.
fn leave(folder: &Path) -> std::io::Result<()> {
    let all = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let last = [COMPLETE, LOCK].map(|name| folder.join(name));
    all.iter().filter(|path| !last.contains(path)).try_for_each(std::fs::remove_file)?;
    last.iter().filter(|path| all.contains(path)).try_for_each(std::fs::remove_file)?;
    std::fs::remove_dir(folder)
}

/// The folder that a file, or another folder, lies in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Has the names in a folder outlast a loss of power.
///
/// # Errors
/// What the system says.
pub fn sync_folder(folder: &Path) -> Result<(), RanksError> {
    zerohop_process::sync_folder(folder).map_err(|error| fault(folder, error))
}

impl Journal {
    /// The journal of `rank`, and what all ranks together have finished before. As long as it is open, the next run
    /// sees that this rank writes.
    ///
    /// # Errors
    /// A file that cannot be read or written, or is damaged.
    pub fn open(output: &Path, rank: usize) -> Result<(Self, Finished), RanksError> {
        let folder = folder(output);
        let writes = writers::enter(&folder, rank)?;
        let (_, entries) = entries(&folder)?;
        // Where a job goes on, those of the run before are gone: nothing is entered behind a line that was cut off.
        let path = folder.join(format!("rank-{rank}.jsonl"));
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|error| fault(&path, error))?;
        set_room_aside(&file, ROOM);
        sync_folder(&folder)?;
        Ok((Journal { folder, file, _writes: writes }, finished(entries)))
    }

    /// Enters batches.
    ///
    /// # Errors
    /// What the system says.
    pub fn enter(&mut self, entries: &[Entry]) -> std::io::Result<()> {
        for entry in entries {
            let text = serde_json::to_string(entry)?;
            self.file.write_all(format!("{text}\n").as_bytes())?;
        }
        self.file.sync_data()?;
        set_room_aside(&self.file, ROOM);
        Ok(())
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The files of a folder's journals, and what is entered in them.
fn entries(folder: &Path) -> Result<(Vec<PathBuf>, Vec<Entry>), RanksError> {
    let (mut files, mut entries) = (Vec::new(), Vec::new());
    for found in std::fs::read_dir(folder).map_err(|error| fault(folder, error))? {
        let path = found.map_err(|error| fault(folder, error))?.path();
        if path.extension().is_some_and(|suffix| suffix == "jsonl") {
            entries.extend(lines::read(&path)?);
            files.push(path);
        }
    }
    Ok((files, entries))
}

/// The entries from the first batch on that are there without a gap, each where the one before ends.
fn in_a_row(mut entries: Vec<Entry>) -> impl Iterator<Item = Entry> {
    entries.sort_by_key(|entry| entry.batch);
    let (mut next, mut ends) = (0, None);
    entries.into_iter().filter(move |entry| {
        let is_next = entry.batch == next && ends.as_ref().is_none_or(|ends| entry.offsets == *ends);
        if is_next {
            (next, ends) = (next + entry.count, Some(entry.ends()));
        }
        is_next
    })
}

impl Entry {
    /// Where its results end in each file.
    fn ends(&self) -> Vec<u64> {
        self.offsets.iter().zip(&self.bytes).map(|(offset, bytes)| offset + bytes).collect()
    }
}

fn finished(entries: Vec<Entry>) -> Finished {
    let mut finished = Finished::default();
    for entry in in_a_row(entries) {
        (finished.next, finished.ends) = (entry.batch + entry.count, entry.ends());
        finished.done = finished.done.max(finished.next).max(entry.done.unwrap_or(0));
        finished.absent.extend(&entry.absent);
        if let Some(tally) = &entry.tally {
            finished.tally += tally;
        }
    }
    finished
}

#[cfg(test)]
mod tests;
