//! Shells for tests, and what they say.

use crate::{ChildProgram, Interest, poll};
use std::io::Read;
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::Duration;

/// Long enough for anything in a test to have happened.
pub(crate) const LONG: Duration = Duration::from_secs(20);
pub(crate) const SHORT: Duration = Duration::from_millis(50);

/// Whether all processes that have the writing end have ended within `time`; all that they wrote must have been read.
pub(crate) fn ends_within(output: &impl AsFd, time: Duration) -> bool {
    poll(&[(output.as_fd(), Interest::Read)], time).unwrap()[0].closed
}

pub(crate) fn shell(script: &str) -> ChildProgram {
    ChildProgram::new("/bin/sh").args(["-c", script]).stdout(Stdio::piped())
}

pub(crate) fn line(output: &mut impl Read) -> String {
    let (mut line, mut byte) = (String::new(), [0]);
    while output.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
        line.push(byte[0].into());
    }
    line
}
