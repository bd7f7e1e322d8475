//! How many files may be open.

use crate::system::most_files;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// The limit that this process was started with, if it was raised.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Lets this process have as many files open as the system allows: what is usual for programs may be far less. If the
/// system refuses, nothing changes, and a file that cannot be opened is an error where it is opened.
pub fn allow_more_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = BEFORE.set(limit);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most_files(limit.maximum), ..limit });
}

/// The limit that this process was started with, if it was raised: some programs go through all numbers up to it.
pub(crate) fn limit_before() -> Option<Rlimit> {
    BEFORE.get().copied()
}

/// Sets it in a child. A limit that could be raised can be lowered.
pub(crate) fn set_limit(limit: Rlimit) {
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_children::LONG;
    use crate::{ChildProgram, Limits};
    use std::process::Stdio;

    #[test]
    fn as_many_files_as_the_system_allows() {
        allow_more_files();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
        let soft = limit_before().unwrap().current;
        let child = ChildProgram::new("sh").args(["-c", "ulimit -n"]).stdout(Stdio::piped()).start().unwrap();
        let (said, _) = child.output_within(Limits { idle: LONG, whole: None }).unwrap();
        assert_eq!(String::from_utf8_lossy(&said.stdout).trim().parse().ok(), soft);
    }
}
