//! What is for jobs over ranks, or on record, and what is not.

use crate::job::{AlignError, Job, files};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zerohop_ranks::journal;

/// What must make sense before anything is done.
///
/// # Errors
/// Wrong usage.
pub fn check(job: &Job) -> Result<(), AlignError> {
    let refuse = |words: &str| Err(AlignError::Usage(words.to_owned()));
    let is_file = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|there| there.is_file());
    if let Some(stream) = job
        .lanes
        .iter()
        .flat_map(|lane| &lane.files)
        .find(|path| path.exists() && !is_file(path) || **path == Path::new("-"))
    {
        return Err(AlignError::Usage(format!(
            "{}: with --ranks, --durable, --resume and --restart reads are read by every rank, or more than once: they \
             must be in regular files",
            stream.display()
        )));
    }
    job.output.path.as_ref().ok_or_else(no_output)?;
    let no_file = |output: &PathBuf| std::fs::metadata(output).is_ok_and(|there| !there.is_file());
    if let Some(output) = files::all_paths(job).into_iter().find(no_file) {
        return Err(AlignError::Usage(format!(
            "{}: with --ranks, --durable, --resume and --restart the output must be a regular file",
            output.display()
        )));
    }
    let library = zerohop_ranks::find(job.ranks.mpi.as_deref());
    files::apart_from(job, &library)?;
    check_file_system(job)?;
    if job.external.deal == zerohop_runtime::Dealing::Static {
        return refuse(
            "--deal static is not for --ranks, --durable, --resume and --restart: each takes what it has room for",
        );
    }
    if job.external.compare {
        return refuse(
            "--compare-with is not for --ranks, --durable, --resume and --restart: compare in a run of one process",
        );
    }
    Ok(())
}

/// Refuses outputs that could not get their names: until all are complete they lie in one folder, beside the first.
fn check_file_system(job: &Job) -> Result<(), AlignError> {
    let Some(first) = &job.output.path else { return Ok(()) };
    let folder_of = |path: &Path| path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
    let here = folder_of(first).unwrap_or_else(|| ".".into());
    let is_elsewhere = |path: &PathBuf| {
        let target = zerohop_process::target_of(path).ok().and_then(|target| folder_of(&target));
        target.is_some_and(|folder| !can_be_moved(&here, &folder))
    };
    match files::all_paths(job).into_iter().find(is_elsewhere) {
        None => Ok(()),
        Some(path) => Err(AlignError::Usage(format!(
            "{}: it lies on another file system than {}, where all output of --ranks, --durable, --resume and \
             --restart is kept until it is complete: put all output on one file system, and name files, not links to \
             them",
            path.display(),
            journal::folder(first).display()
        ))),
    }
}

/// Whether files of one folder can be given names in another. Two mounts of one file system are asked, too: between
/// them they cannot. Where no file can be made, who makes one says so.
fn can_be_moved(from: &Path, to: &Path) -> bool {
    if from.canonicalize().ok() == to.canonicalize().ok() {
        return true;
    }
    let Ok(file) = tempfile::Builder::new().prefix(".zerohop-").tempfile_in(from) else { return true };
    let path = file.path().file_name().map(|name| to.join(name));
    match path.map(|path| file.persist(&path).map(|_| path)) {
        Some(Ok(path)) => {
            let _ = std::fs::remove_file(path);
            true
        }
        Some(Err(refused)) => refused.error.kind() != ErrorKind::CrossesDevices,
        None => true,
    }
}

pub(super) fn no_output() -> AlignError {
    AlignError::Usage("--ranks, --durable, --resume and --restart need an output file (-o)".to_owned())
}
