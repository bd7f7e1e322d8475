//! A program that is run to its end.

use crate::error::SearchError;
use crate::reaping::Reaping;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
use zerohop_process::{Charge, Limits, Stopped, end_group, give_fds, keep_fds, output_within};

/// How much of what a program said is shown when it fails.
const LAST_LINES: usize = 8;

/// How long a program may do nothing.
const IDLE_LIMIT: Duration = Duration::from_secs(60);

/// The program `name` with arguments.
pub(crate) fn command<A: AsRef<OsStr>>(name: &str, arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = zerohop_process::command(name);
    // BLAST's programs would report to NCBI that they are used.
    command.args(arguments).env("BLAST_USAGE_REPORT", "false").stdin(Stdio::null());
    command
}

/// What a program wrote that ended well.
#[derive(Debug)]
pub(crate) struct Said {
    /// On standard output, unless that went elsewhere.
    pub(crate) output: Vec<u8>,
    /// On standard error.
    pub(crate) words: Vec<u8>,
}

/// A program, and how it is run.
pub(crate) struct Run {
    command: Command,
    out: Stdio,
    idle_limit: Duration,
    time_limit: Option<Duration>,
    given: Vec<OwnedFd>,
    reaping: Reaping,
}

impl Run {
    /// A command whose standard output is collected.
    pub(crate) fn new(command: Command) -> Self {
        Run {
            command,
            out: Stdio::piped(),
            idle_limit: IDLE_LIMIT,
            time_limit: None,
            given: Vec::new(),
            reaping: Reaping::default(),
        }
    }

    /// With standard output elsewhere.
    pub(crate) fn to(mut self, out: Stdio) -> Self {
        self.out = out;
        self
    }

    /// With an end after so long, also if it works; none for no limit.
    pub(crate) fn within(mut self, limit: Option<Duration>) -> Self {
        self.time_limit = limit;
        self
    }

    /// With these descriptors, as 3, 4, ...
    pub(crate) fn given(mut self, descriptors: Vec<OwnedFd>) -> Self {
        self.given = descriptors;
        self
    }

    /// Ended with all that it has started by `reaping`, if we are killed.
    pub(crate) fn charged(mut self, reaping: &Reaping) -> Self {
        self.reaping = reaping.clone();
        self
    }

    /// Runs it to its end. It ends with the thread that calls this, when it has done nothing for long, and at its
    /// limit.
    ///
    /// # Errors
    /// [`SearchError::Failed`] with its last words if it ends badly, [`SearchError::Idle`] and
    /// [`SearchError::TooLong`] if it had to be ended, [`SearchError::System`] if it cannot be started.
    pub(crate) fn said(mut self) -> Result<Said, SearchError> {
        let name = self.command.get_program().to_string_lossy().into_owned();
        // A group of its own, for it may be a script that starts others.
        self.command.stdout(self.out).stderr(Stdio::piped()).process_group(0);
        keep_fds(&mut self.command);
        give_fds(&mut self.command, self.given);
        let cannot = |source: std::io::Error| match source.kind() {
            ErrorKind::NotFound => SearchError::Failed { program: name.clone(), what: "is not on the PATH".to_owned() },
            _ => SearchError::System { what: format!("{name} cannot be run"), source },
        };
        let limits = Limits { idle: self.idle_limit, whole: self.time_limit };
        let mut child = self.command.spawn().map_err(cannot)?;
        let charged = self.reaping.charge(&Charge::group(child.id()));
        // One that nobody would end is ended now.
        let _charged = charged.inspect_err(|_| drop(end_group(&mut child)))?;
        let (output, stopped) = output_within(child, limits).map_err(cannot)?;
        match (stopped, output.status.success()) {
            (Some(Stopped::TooLong(limit)), _) => Err(SearchError::TooLong { program: name, limit }),
            (Some(Stopped::Idle | Stopped::Unwanted), _) => {
                Err(SearchError::Idle { program: name, limit: self.idle_limit })
            }
            (None, true) => Ok(Said { output: output.stdout, words: output.stderr }),
            (None, false) => {
                let what = format!("{}{}", how_it_ended(output.status), last_lines(&output.stderr));
                Err(SearchError::Failed { program: name, what })
            }
        }
    }
}

/// Runs a command to its end and gives what it wrote on standard output.
///
/// # Errors
/// As for [`Run::said`].
pub(crate) fn run(command: Command) -> Result<Vec<u8>, SearchError> {
    Run::new(command).said().map(|said| said.output)
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
        run(command("sh", ["-c", script]))
    }

    #[test]
    fn a_command_gives_its_output_or_its_last_words() {
        assert_eq!(shell("echo yes").unwrap(), b"yes\n");
        let told = shell("echo why >&2; exit 3").unwrap_err().to_string();
        assert_eq!(told, "sh ended with exit status 3, saying:\n  why");
        assert_eq!(shell("kill -9 $$").unwrap_err().to_string(), "sh was ended by signal 9 and said nothing");
        let told = run(command("no-such-program", ["x"])).unwrap_err().to_string();
        assert_eq!(told, "no-such-program is not on the PATH");
    }

    #[test]
    fn a_command_that_does_nothing_is_ended_and_one_that_works_is_not() {
        let within = |script: &str| {
            let idle_limit = Duration::from_millis(700);
            Run { idle_limit, ..Run::new(command("sh", ["-c", script])) }.said().map(|said| said.output)
        };
        let told = within("echo first; sleep 1000").unwrap_err().to_string();
        assert!(told.starts_with("sh has done nothing for"), "{told}");
        assert_eq!(within("i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; echo $i").unwrap(), b"400000\n");
        // as a script does that starts the program and waits for it
        let works = "(end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done; echo yes); true";
        assert_eq!(within(works).unwrap(), b"yes\n");
    }

    #[test]
    fn a_command_that_never_comes_to_an_end_is_ended_at_its_limit() {
        let run = |script: &str, seconds| {
            Run::new(command("sh", ["-c", script])).within(Some(Duration::from_secs(seconds))).said()
        };
        let told = run("while :; do :; done", 1).unwrap_err().to_string();
        assert!(told.starts_with("sh has not ended after 1 s, the limit of --hang-limit"), "{told}");
        let said = run("echo out; echo words >&2", 100).unwrap();
        assert_eq!((said.output, said.words), (b"out\n".to_vec(), b"words\n".to_vec()));
    }
}
