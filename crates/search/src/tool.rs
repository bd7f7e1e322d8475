//! A program that is run to its end.

use crate::error::SearchError;
use crate::idle::is_idle;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;
use zerohop_topology::{die_with_parent, keep_fds, kill_group, wait_unreaped};

/// How much of what a program said is shown when it fails.
const LAST_LINES: usize = 8;

/// How long a program may do nothing.
const IDLE_LIMIT: Duration = Duration::from_secs(60);

/// The program `name` with arguments.
pub(crate) fn command<A: AsRef<OsStr>>(name: &str, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(name);
    // BLAST's programs would report to NCBI that they are used.
    command.args(arguments).env("BLAST_USAGE_REPORT", "false").stdin(Stdio::null());
    command
}

/// Runs a command to its end and gives what it wrote on standard output, unless that goes elsewhere. It ends with the thread
/// that calls this, and when it has done nothing for long.
///
/// # Errors
/// [`SearchError::Failed`] with its last words if it ends badly, [`SearchError::Idle`] if it had to be ended,
/// [`SearchError::System`] if it cannot be started.
pub(crate) fn run(command: Command, out: Stdio) -> Result<Vec<u8>, SearchError> {
    run_within(command, out, IDLE_LIMIT)
}

fn run_within(mut command: Command, out: Stdio, idle_limit: Duration) -> Result<Vec<u8>, SearchError> {
    let name = command.get_program().to_string_lossy().into_owned();
    // A group of its own, for it may be a script that starts others.
    command.stdout(out).stderr(Stdio::piped()).process_group(0);
    die_with_parent(&mut command);
    keep_fds(&mut command);
    let cannot = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => SearchError::Failed { program: name.clone(), what: "is not on the PATH".to_owned() },
        _ => SearchError::System { what: format!("{name} cannot be run"), source },
    };
    let (output, was_idle) = watched(command.spawn().map_err(cannot)?, idle_limit).map_err(cannot)?;
    if was_idle {
        return Err(SearchError::Idle { program: name, limit: idle_limit });
    }
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let what = format!("{}{}", how_it_ended(output.status), last_lines(&output.stderr));
            Err(SearchError::Failed { program: name, what })
        }
    }
}

/// What a child says until it ends; and whether it was ended, for it did nothing any more.
fn watched(mut child: Child, idle_limit: Duration) -> std::io::Result<(Output, bool)> {
    let (pid, stderr) = (child.id(), child.stderr.take());
    let (end, over) = channel();
    std::thread::scope(|scope| {
        let watch = std::thread::Builder::new().spawn_scoped(scope, move || {
            let is_idle = is_idle(pid, idle_limit, &over);
            // It is not waited for before this thread has ended, so the number is still its own.
            is_idle.then(|| kill_group(pid))
        })?;
        let words = std::thread::Builder::new().spawn_scoped(scope, || read_all(stderr))?;
        let stdout = read_all(child.stdout.take())?;
        let stderr = words.join().unwrap_or_else(|_| Ok(Vec::new()))?;
        wait_unreaped(pid)?;
        drop(end);
        let killed = watch.join().ok().flatten().transpose()?.is_some();
        Ok((Output { status: child.wait()?, stdout, stderr }, killed))
    })
}

fn read_all(from: Option<impl Read>) -> std::io::Result<Vec<u8>> {
    let mut all = Vec::new();
    if let Some(mut from) = from {
        from.read_to_end(&mut all)?;
    }
    Ok(all)
}

fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended badly".to_owned(),
    }
}

fn last_lines(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
    match last.is_empty() {
        true => " and said nothing".to_owned(),
        false => format!(", saying:\n  {}", last.join("\n  ")),
    }
}

/// A file without a name in `folder`: it is gone when nobody has it open any more, however we end.
pub(crate) fn scratch_file(folder: &Path) -> Result<File, SearchError> {
    let fault = |source| SearchError::System { what: format!("no file can be made in {}", folder.display()), source };
    tempfile::tempfile_in(folder).map_err(fault)
}

/// The file from its beginning.
pub(crate) fn rewound(file: &File) -> Result<File, SearchError> {
    let fault = SearchError::system("a temporary file cannot be read again");
    let again = || {
        let mut again = file.try_clone()?;
        again.rewind()?;
        Ok(again)
    };
    again().map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Vec<u8>, SearchError> {
        run(command("sh", ["-c", script]), Stdio::piped())
    }

    #[test]
    fn a_command_gives_its_output_or_its_last_words() {
        assert_eq!(shell("echo yes").unwrap(), b"yes\n");
        let told = shell("echo why >&2; exit 3").unwrap_err().to_string();
        assert_eq!(told, "sh ended with exit status 3, saying:\n  why");
        assert_eq!(shell("kill -9 $$").unwrap_err().to_string(), "sh was ended by signal 9 and said nothing");
        let told = run(command("no-such-program", ["x"]), Stdio::piped()).unwrap_err().to_string();
        assert_eq!(told, "no-such-program is not on the PATH");
    }

    #[test]
    fn a_command_that_does_nothing_is_ended_and_one_that_works_is_not() {
        let within =
            |script: &str| run_within(command("sh", ["-c", script]), Stdio::piped(), Duration::from_millis(700));
        let told = within("echo first; sleep 1000").unwrap_err().to_string();
        assert!(told.starts_with("sh has done nothing for"), "{told}");
        assert_eq!(within("i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; echo $i").unwrap(), b"400000\n");
        // as a script does that starts the program and waits for it
        let works = "(end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done; echo yes); true";
        assert_eq!(within(works).unwrap(), b"yes\n");
    }
}
