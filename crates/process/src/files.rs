//! How many files may be open.

use crate::system::most_files;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this process have as many files open as the system allows: what is usual for programs may be far less. If the
/// system refuses, nothing changes, and a file that cannot be opened is told where it is opened.
pub fn allow_more_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most_files(limit.maximum), ..limit });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_as_the_system_allows() {
        allow_more_files();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
