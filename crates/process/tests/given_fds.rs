//! Descriptors for children, whatever numbers they have here. In a process of its own and one test, as it takes low
//! numbers.

// The helpers below are test code too, though clippy sees only `#[test]` functions as such.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::Stdio;
use std::time::Duration;
use zerohop_process::{ChildProgram, Interest, Limits, pipe, poll};

const LONG: Duration = Duration::from_secs(60);

/// What the child finds on 3, 4, ...; and all the numbers that are open in it.
fn read_by_child(fds: Vec<OwnedFd>) -> (String, BTreeSet<u32>) {
    read_by(ChildProgram::new("/bin/sh"), fds)
}

/// The same with a shell that is prepared.
fn read_by(shell: ChildProgram, fds: Vec<OwnedFd>) -> (String, BTreeSet<u32>) {
    let count = fds.len();
    let numbers: Vec<String> = (3..).take(count).map(|number| format!("/dev/fd/{number}")).collect();
    // Without a pipeline or a listing: the shell would open descriptors for these.
    let script = "cat \"$@\"; echo; for n in $(seq 0 40); do if [ -e /proc/$$/fd/$n ]; then echo $n; fi; done";
    let child = shell.args(["-c", script, "sh"]).args(numbers).given(fds).stdout(Stdio::piped()).start().unwrap();
    let (output, _) = child.output_within(Limits { idle: LONG, whole: None }).unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let (text, open) = output.split_once('\n').unwrap();
    (text.to_owned(), open.lines().map(|number| number.parse().unwrap()).collect())
}

/// A pipe in which `text` waits, and nothing follows.
fn filled(text: &str) -> OwnedFd {
    let (read, write) = pipe(4096).unwrap();
    File::from(write).write_all(text.as_bytes()).unwrap();
    read
}

/// The numbers 3 to 15, as far as they are free.
fn low_numbers() -> Vec<OwnedFd> {
    let open = || OwnedFd::from(File::open("/dev/null").unwrap());
    std::iter::repeat_with(open).take_while(|fd| fd.as_raw_fd() < 16).collect()
}

/// Puts a filled pipe on the number of `place`.
fn fill(place: &OwnedFd, text: &str) {
    // SAFETY: both are open, and the number belongs to the test.
    let answer = unsafe { libc::dup3(filled(text).as_raw_fd(), place.as_raw_fd(), libc::O_CLOEXEC) };
    assert_eq!(answer, place.as_raw_fd());
}

fn a_program_that_is_not_there_is_told() {
    // The lowest numbers are free when the program is started, unless something is done about it.
    let (first, second) = {
        let _low = low_numbers();
        (filled("a"), filled("b"))
    };
    assert!(first.as_raw_fd() > 4 && second.as_raw_fd() > 4);
    let error = ChildProgram::new("/nowhere/no-program").given(vec![first, second]).start().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

fn numbers_may_overlap() {
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1], [5, 0, 1]] {
        let mut low: Vec<Option<OwnedFd>> = low_numbers().into_iter().map(Some).collect();
        let fds: Vec<OwnedFd> = order.iter().map(|&at| low[at].take().unwrap()).collect();
        assert!(fds.iter().all(|fd| fd.as_raw_fd() < 16));
        fds.iter().zip(["one ", "two ", "three "]).for_each(|(fd, text)| fill(fd, text));
        let (text, open) = read_by_child(fds);
        assert_eq!((text.as_str(), open), ("one two three ", (0..6).collect()), "{order:?}");
    }
}

fn they_are_closed_when_the_child_has_started() {
    let (read, write) = pipe(4096).unwrap();
    let closed = || poll(&[(write.as_fd(), Interest::Write)], Duration::ZERO).unwrap()[0].closed;
    assert!(!closed());
    ChildProgram::new("true").given(vec![read]).start().unwrap().wait().unwrap();
    assert!(closed());
}

fn others_are_given_in_the_foreground_alone() {
    // SAFETY: a copy, without the flag to be closed by exec, of a number that is open; it is not used.
    let left = unsafe { libc::dup(0) };
    assert!(left > 2);
    assert_eq!(read_by_child(vec![filled("x")]), ("x".to_owned(), BTreeSet::from([0, 1, 2, 3])));
    let (_, open) = read_by(ChildProgram::new("/bin/sh").in_foreground(), vec![]);
    assert!(open.contains(&(left as u32)), "{open:?}");
    // SAFETY: it is ours.
    unsafe { libc::close(left) };
}

#[test]
fn descriptors_are_given() {
    assert_eq!(read_by_child(vec![]), (String::new(), (0..3).collect()));
    others_are_given_in_the_foreground_alone();
    assert_eq!(read_by_child(vec![filled("x"), filled("y")]), ("xy".to_owned(), (0..5).collect()));
    a_program_that_is_not_there_is_told();
    numbers_may_overlap();
    they_are_closed_when_the_child_has_started();
}
