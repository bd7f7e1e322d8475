//! A program that is run to its end.

use crate::error::SearchError;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Seek};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use zerohop_process::{ChildProgram, Limits, Stopped, how_it_ended, last_lines};

/// How long a program may do nothing.
const IDLE_LIMIT: Duration = Duration::from_secs(60);

/// The program `name` with arguments.
pub(crate) fn command<A: AsRef<OsStr>>(name: &str, arguments: impl IntoIterator<Item = A>) -> ChildProgram {
    // BLAST's programs would report to NCBI that they are used.
    ChildProgram::new(name).args(arguments).env("BLAST_USAGE_REPORT", "false")
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
    program: ChildProgram,
    out: Stdio,
    idle_limit: Duration,
    time_limit: Option<Duration>,
    given: Vec<OwnedFd>,
}

impl Run {
    /// A program whose standard output is collected.
    pub(crate) fn new(program: ChildProgram) -> Self {
        Run { program, out: Stdio::piped(), idle_limit: IDLE_LIMIT, time_limit: None, given: Vec::new() }
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

    /// Runs it to its end. It ends with the thread that calls this, when it has done nothing for long, and at its
    /// limit.
    ///
    /// # Errors
    /// [`SearchError::Failed`] with its last words if it ends badly, [`SearchError::Idle`],
    /// [`SearchError::Unwanted`] and [`SearchError::TooLong`] if it had to be ended, [`SearchError::System`] if it
    /// cannot be started.
    pub(crate) fn said(self) -> Result<Said, SearchError> {
        let name = self.program.name();
        let cannot = |source: std::io::Error| match source.kind() {
            ErrorKind::NotFound => SearchError::Failed { program: name.clone(), what: "is not on the PATH".to_owned() },
            _ => SearchError::System { what: format!("{name} cannot be run"), source },
        };
        let limits = Limits { idle: self.idle_limit, whole: self.time_limit };
        let program = self.program.stdout(self.out).stderr(Stdio::piped()).given(self.given);
        let (output, stopped) = program.start().and_then(|child| child.output_within(limits)).map_err(cannot)?;
        match (stopped, output.status.success()) {
            (Some(stopped), _) => Err(ended(stopped, name, self.idle_limit)),
            (None, true) => Ok(Said { output: output.stdout, words: output.stderr }),
            (None, false) => {
                let what = format!("{}{}", how_it_ended(output.status), last_lines(&output.stderr));
                Err(SearchError::Failed { program: name, what })
            }
        }
    }
}

/// Why a program was ended.
fn ended(why: Stopped, program: String, idle_limit: Duration) -> SearchError {
    match why {
        Stopped::TooLong(limit) => SearchError::TooLong { program, limit },
        Stopped::Idle => SearchError::Idle { program, limit: idle_limit },
        Stopped::Unwanted => SearchError::Unwanted { program },
    }
}

/// Runs a program to its end and gives what it wrote on standard output.
///
/// # Errors
/// As for [`Run::said`].
pub(crate) fn run(program: ChildProgram) -> Result<Vec<u8>, SearchError> {
    Run::new(program).said().map(|said| said.output)
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
        assert_eq!(told, "sh ended with exit status 3\nIts last lines were:\n  why");
        assert_eq!(shell("kill -15 $$").unwrap_err().to_string(), "sh was killed by signal 15");
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
    fn a_program_that_nobody_wants_any_more_did_not_hang() {
        // A program that hung is started again (crate::local), one that nobody wants is not.
        let told = ended(Stopped::Unwanted, "sh".to_owned(), IDLE_LIMIT);
        assert!(matches!(told, SearchError::Unwanted { .. }), "{told}");
        assert!(matches!(ended(Stopped::Idle, "sh".to_owned(), IDLE_LIMIT), SearchError::Idle { .. }));
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
