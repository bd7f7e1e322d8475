//! What is finished of a long job, on disk: a batch (of an alignment: a run of chunks) is entered after its results are safe, so that a
//! job that was interrupted loses nothing and repeats only what was under way.

use crate::failure::Failure;
use crate::kept;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use zerohop_model::measurement::Tally;
use zerohop_process::tell;

/// Batches, or chunks, that are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The first of them.
    pub batch: u64,
    /// How many.
    pub count: u64,
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
    /// Where its results go in each file of the output; nothing if nothing is finished.
    pub ends: Vec<u64>,
    /// The reads before it.
    pub tally: Tally,
}

/// What the job is: another one cannot be gone on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Job {
    identity: String,
}

/// The folder of a job: a file for each rank, and one that says what job it is.
pub struct Journal {
    folder: PathBuf,
    file: File,
}

/// One rank's right to a job: nobody else works on it meanwhile.
pub struct Owner {
    folder: PathBuf,
    /// Locked as long as it is open.
    job: File,
}

/// What says what job it is.
const JOB: &str = "job.json";
/// What says that all is complete, and which file gets which name.
const COMPLETE: &str = "complete.json";

/// The folder beside an output.
pub fn folder(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".progress");
    PathBuf::from(name)
}

fn fault(path: &Path, error: std::io::Error) -> Failure {
    Failure::Other(format!("{}: cannot be read or written: {error}", path.display()))
}

/// For one rank, before the others look: makes the folder of a new job, or checks that the job that is there is this one.
///
/// # Errors
/// Another job, or none, where one was to be gone on with; a job that another run is at; a folder that is no job's.
pub fn prepare(output: &Path, identity: &str, resume: bool) -> Result<Owner, Failure> {
    let folder = folder(output);
    let path = folder.join(JOB);
    let job = Job { identity: identity.to_owned() };
    let refuse = |what: &str| Err(Failure::Other(format!("{}: {what}", folder.display())));
    let there: Option<Job> = kept::read(&path);
    if resume && end_interrupted(&folder)? {
        return refuse(
            "all was done, and only the names were missing: the output has its name now, there is nothing to go on with",
        );
    }
    if folder.exists() && there.is_none() && (!resume || !path.exists()) {
        let is_empty = std::fs::read_dir(&folder).map_err(|error| fault(&folder, error))?.next().is_none();
        if !is_empty && !path.exists() && !folder.join(COMPLETE).exists() {
            return refuse("it is no folder of ours: remove it, or choose another output");
        }
    }
    match (resume, there) {
        (true, Some(there)) if there == job => own(folder).and_then(Owner::prune),
        (true, Some(_)) => refuse(
            "this is the progress of another job: an input, the index or an option have changed; run it without --resume",
        ),
        (true, None) => refuse("there is no progress to go on with"),
        (false, _) => {
            // Who is at it now must not lose it.
            let before = path.exists().then(|| own(folder.clone())).transpose()?;
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(|error| fault(&folder, error))?;
            }
            drop(before);
            kept::write(&path, &job)?;
            own(folder)
        }
    }
}

/// Takes the job for this run.
fn own(folder: PathBuf) -> Result<Owner, Failure> {
    let path = folder.join(JOB);
    // NFS locks for one alone only what is open for writing.
    let job = File::options().read(true).write(true).open(&path).map_err(|error| fault(&path, error))?;
    match job.try_lock() {
        Ok(()) => Ok(Owner { folder, job }),
        Err(TryLockError::Error(error)) if zerohop_process::has_no_locks(&error) => {
            tell::note(&format!(
                "{}: this file system has no locks: take care that no other run is at this job ({error})",
                folder.display()
            ));
            Ok(Owner { folder, job })
        }
        Err(TryLockError::WouldBlock) => {
            Err(Failure::Other(format!("{}: another run is at this job now", folder.display())))
        }
        Err(TryLockError::Error(error)) => Err(fault(&path, error)),
    }
}

impl Owner {
    /// Keeps of the progress what can be gone on with: what comes behind a gap will be done anew, and cut otherwise.
    fn prune(self) -> Result<Self, Failure> {
        let (files, entries) = entries(&self.folder)?;
        let kept: Vec<Entry> = in_a_row(entries).collect();
        let lines = kept.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let text: String =
            lines.map_err(|error| Failure::Other(error.to_string()))?.iter().map(|line| format!("{line}\n")).collect();
        let before = self.folder.join("before.jsonl");
        zerohop_process::write(&before, text.as_bytes())?;
        sync_folder(&self.folder)?;
        for file in files.iter().filter(|file| **file != before) {
            std::fs::remove_file(file).map_err(|error| fault(file, error))?;
        }
        Ok(self)
    }

    /// The job is complete: each file gets its name (`(partial, output)`), and nothing is left to go on with. All ranks have closed
    /// their files by then.
    ///
    /// # Errors
    /// What the system says.
    pub fn complete(self, files: &[(PathBuf, PathBuf)]) -> Result<(), Failure> {
        let names = self.record(files)?;
        drop(self.job);
        end(&self.folder, &names)
    }

    /// Has the job be complete, whatever happens now; gives the names as they will be.
    fn record(&self, files: &[(PathBuf, PathBuf)]) -> Result<Vec<(PathBuf, PathBuf)>, Failure> {
        // What a link points to is replaced, not the link.
        let target = |output: &PathBuf| output.canonicalize().unwrap_or_else(|_| output.clone());
        let names: Vec<_> = files.iter().map(|(partial, output)| (partial.clone(), target(output))).collect();
        // Names of files are bytes, and need not be text.
        let bytes = |path: &PathBuf| path.as_os_str().as_bytes().to_vec();
        let lines: Vec<_> = names.iter().map(|(partial, target)| (bytes(partial), bytes(target))).collect();
        kept::write(&self.folder.join(COMPLETE), &lines)?;
        sync_folder(&self.folder)?;
        // First the job goes: a run that is gone on with must not find it without its output.
        let job = self.folder.join(JOB);
        std::fs::remove_file(&job).map_err(|error| fault(&job, error))?;
        Ok(names)
    }
}

/// Gives the files of a complete job their names, as far as they have not got them; nothing is left to go on with.
fn end(folder: &Path, names: &[(PathBuf, PathBuf)]) -> Result<(), Failure> {
    for (partial, output) in names.iter().filter(|(partial, _)| partial.exists()) {
        std::fs::rename(partial, output).map_err(|error| fault(output, error))?;
        sync_folder(output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
    }
    // The output is complete: what cannot be cleared away does not change that.
    if let Err(error) = std::fs::remove_dir_all(folder) {
        tell::note(&format!("{}: it is no longer needed, and cannot be removed: {error}", folder.display()));
    }
    Ok(())
}

/// Ends what was complete when it was interrupted; false if it was not complete.
fn end_interrupted(folder: &Path) -> Result<bool, Failure> {
    let path = |bytes| PathBuf::from(OsString::from_vec(bytes));
    match kept::read::<Vec<(Vec<u8>, Vec<u8>)>>(&folder.join(COMPLETE)) {
        Some(lines) if !folder.join(JOB).exists() => {
            let names: Vec<_> = lines.into_iter().map(|(partial, target)| (path(partial), path(target))).collect();
            end(folder, &names).map(|()| true)
        }
        _ => Ok(false),
    }
}

/// Has the names in a folder outlast a loss of power.
fn sync_folder(folder: &Path) -> Result<(), Failure> {
    let synced = File::open(folder).and_then(|open| open.sync_all());
    match synced {
        // Some file systems cannot do that to folders, and need not.
        Err(error) if error.kind() != ErrorKind::InvalidInput => Err(fault(folder, error)),
        _ => Ok(()),
    }
}

impl Journal {
    /// The journal of `rank`, and what all ranks together have finished before.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn open(output: &Path, rank: usize) -> Result<(Self, Finished), Failure> {
        let folder = folder(output);
        let (_, entries) = entries(&folder)?;
        let path = folder.join(format!("rank-{rank}.jsonl"));
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(|error| fault(&path, error))?;
        // So that the next entry does not go on a line that was cut off.
        file.write_all(b"\n").map_err(|error| fault(&path, error))?;
        Ok((Journal { folder, file }, finished(entries)))
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
        self.file.sync_data()
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The files of a folder's journals, and what is entered in them.
fn entries(folder: &Path) -> Result<(Vec<PathBuf>, Vec<Entry>), Failure> {
    let (mut files, mut entries) = (Vec::new(), Vec::new());
    for found in std::fs::read_dir(folder).map_err(|error| fault(folder, error))? {
        let path = found.map_err(|error| fault(folder, error))?.path();
        if path.extension().is_some_and(|suffix| suffix == "jsonl") {
            let text = std::fs::read_to_string(&path).map_err(|error| fault(&path, error))?;
            // A line that was cut off is a batch that is not finished.
            entries.extend(text.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok()));
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
        if let Some(tally) = &entry.tally {
            finished.tally += tally;
        }
    }
    finished
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(batch: u64, count: u64, offset: u64, bytes: u64) -> Entry {
        // A second file that gets one byte of each batch.
        let (offsets, bytes) = (vec![offset, 9 + batch], vec![bytes, count]);
        Entry { batch, count, offsets, bytes, tally: Some(Tally { reads: count, ..Tally::default() }) }
    }

    #[test]
    fn only_what_is_there_without_a_gap_is_finished() {
        let of = |entries: &[(u64, u64, u64, u64)]| {
            let entries = entries.iter().map(|&(batch, count, offset, bytes)| entry(batch, count, offset, bytes));
            let finished = finished(entries.collect());
            (finished.next, finished.ends, finished.tally.reads)
        };
        assert_eq!(of(&[]), (0, vec![], 0));
        assert_eq!(of(&[(1, 1, 5, 3), (0, 1, 0, 5), (3, 1, 9, 1)]), (2, vec![8, 11], 2));
        assert_eq!(of(&[(0, 1, 0, 5), (0, 1, 0, 5), (1, 1, 6, 1)]), (1, vec![5, 10], 1));
        assert_eq!(of(&[(0, 3, 70, 5), (2, 4, 73, 5), (3, 2, 75, 4)]), (5, vec![79, 14], 5));
    }

    #[test]
    fn a_job_is_gone_on_with_and_another_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out.tsv");
        assert!(prepare(&output, "a", true).is_err(), "there is nothing");
        let owner = prepare(&output, "a", false).unwrap();
        assert!(prepare(&output, "a", true).is_err() && prepare(&output, "b", false).is_err(), "somebody is at it");
        drop(owner);
        let (mut one, begin) = Journal::open(&output, 0).unwrap();
        assert_eq!(begin, Finished::default());
        one.enter(&[entry(0, 1, 0, 10)]).unwrap();
        let (mut other, _) = Journal::open(&output, 1).unwrap();
        other.enter(&[entry(1, 1, 10, 7), entry(3, 1, 20, 7)]).unwrap();
        std::fs::write(one.folder().join("rank-2.jsonl"), "{\"batch\":2,\"off").unwrap();
        assert!(prepare(&output, "b", true).is_err());
        let owner = prepare(&output, "a", true).unwrap();
        let begin = Journal::open(&output, 2).unwrap().1;
        assert_eq!((begin.next, begin.ends, begin.tally.reads), (2, vec![17, 11], 2));
        assert!(!one.folder().join("rank-1.jsonl").exists(), "what lies behind a gap is forgotten");
        let partial = one.folder().join("output");
        std::fs::write(&partial, "x").unwrap();
        owner.complete(&[(partial, output.clone())]).unwrap();
        assert_eq!(std::fs::read_to_string(&output).unwrap(), "x");
        assert!(!folder.path().join("out.tsv.progress").exists());
        // A run that was killed when only the name was missing; the name is no text.
        let odd = folder.path().join(OsString::from_vec(vec![b'o', 0xff]));
        let owner = prepare(&odd, "a", false).unwrap();
        let partial = super::folder(&odd).join("output");
        std::fs::write(&partial, "y").unwrap();
        owner.record(&[(partial, odd.clone())]).unwrap();
        assert!(prepare(&odd, "a", true).is_err_and(|failure| failure.to_string().contains("has its name now")));
        assert_eq!(std::fs::read_to_string(&odd).unwrap(), "y");
        assert!(!super::folder(&odd).exists());
        std::fs::create_dir(folder.path().join("out.tsv.progress")).unwrap();
        std::fs::write(folder.path().join("out.tsv.progress/mine"), "").unwrap();
        assert!(prepare(&output, "a", false).is_err(), "a folder of somebody else");
    }
}
