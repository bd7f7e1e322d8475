//! How a program that failed has ended, and its last lines, in words for the user.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

/// How much of a log is read for its last lines, in bytes, and how many lines are shown.
const TAIL_BYTES: u64 = 4096;
const TAIL_LINES: usize = 8;

/// How a process ended, in words that go on after its name.
pub fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(9)) => {
            let who = "by somebody, or by the kernel because memory ran out on its nodes or in its control group";
            format!("was killed (signal 9): {who}")
        }
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => format!("ended: {status}"),
    }
}

/// The last lines that a program said, as a text that follows a sentence; empty if there are none.
pub fn last_lines(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("\nIts last lines were:\n  {}", lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n  "))
}

/// The last lines of a log, as [`last_lines`]; none of a log that cannot be read.
pub fn last_lines_of(log: &Path) -> String {
    let tail = || -> io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    tail().map(|said| last_lines(&said)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        assert_eq!(last_lines(b"\n \n"), "");
        assert_eq!(last_lines(b"one\n\ntwo\n"), "\nIts last lines were:\n  one\n  two");
        let many: String = (0..2000).map(|line| format!("line {line}\n")).collect();
        let last = last_lines(many.as_bytes());
        assert!(last.starts_with("\nIts last lines were:\n  line 1992\n") && last.ends_with("\n  line 1999"));
        let log = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(log.path(), many).unwrap();
        assert_eq!(last_lines_of(log.path()), last);
        assert_eq!(last_lines_of(Path::new("/nowhere")), "");
    }
}
