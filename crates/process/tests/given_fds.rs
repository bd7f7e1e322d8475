//! Descriptors for children, whatever numbers they have here. In a process of its own and one test, as it takes low
//! numbers.

// The helpers below are test code too, though clippy sees only `#[test]` functions as such.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use zerohop_process::{Interest, command, give_fds, keep_fds, pipe, poll};

/// What the child finds on 3, 4, ...; and all the numbers that are open in it.
fn read_by_child(fds: Vec<OwnedFd>) -> (String, BTreeSet<u32>) {
    read_by(command("/bin/sh"), fds)
}

/// The same with a shell that is prepared.
fn read_by(mut command: Command, fds: Vec<OwnedFd>) -> (String, BTreeSet<u32>) {
    let count = fds.len();
    let numbers: Vec<String> = (3..).take(count).map(|number| format!("/dev/fd/{number}")).collect();
    // Without a pipeline or a listing: the shell would open descriptors for these.
    let script = "cat \"$@\"; echo; for n in $(seq 0 40); do if [ -e /proc/$$/fd/$n ]; then echo $n; fi; done";
    command.args(["-c", script, "sh"]).args(numbers);
    give_fds(&mut command, fds);
    let output = String::from_utf8(command.stdin(Stdio::null()).output().unwrap().stdout).unwrap();
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
    // The lowest numbers are free when the command is spawned, unless something is done about it.
    let (first, second) = {
        let _low = low_numbers();
        (filled("a"), filled("b"))
    };
    assert!(first.as_raw_fd() > 4 && second.as_raw_fd() > 4);
    let mut command = command("/nowhere/no-program");
    give_fds(&mut command, vec![first, second]);
    assert_eq!(command.spawn().unwrap_err().kind(), ErrorKind::NotFound);
}

fn numbers_may_overlap(expected: &BTreeSet<u32>) {
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1], [5, 0, 1]] {
        let mut low: Vec<Option<OwnedFd>> = low_numbers().into_iter().map(Some).collect();
        let fds: Vec<OwnedFd> = order.iter().map(|&at| low[at].take().unwrap()).collect();
        assert!(fds.iter().all(|fd| fd.as_raw_fd() < 16));
        fds.iter().zip(["one ", "two ", "three "]).for_each(|(fd, text)| fill(fd, text));
        let (text, open) = read_by_child(fds);
        assert_eq!((text.as_str(), &open), ("one two three ", expected), "{order:?}");
    }
}

fn they_are_closed_with_the_command() {
    let (read, write) = pipe(4096).unwrap();
    let mut command = command("true");
    give_fds(&mut command, vec![read]);
    command.spawn().unwrap().wait().unwrap();
    let closed = || poll(&[(write.as_fd(), Interest::Write)], std::time::Duration::ZERO).unwrap()[0].closed;
    assert!(!closed());
    // The same command again: nothing was used up.
    assert!(command.status().unwrap().success());
    drop(command);
    assert!(closed());
}

fn no_others_are_given(open: &BTreeSet<u32>) {
    // SAFETY: a copy, without the flag to be closed by exec, of a number that is open; it is not used.
    let left = unsafe { libc::dup(0) };
    assert!(left > 2 && read_by_child(vec![]).1.len() > open.len());
    let mut command = command("/bin/sh");
    keep_fds(&mut command);
    assert_eq!(read_by(command, vec![filled("x")]), ("x".to_owned(), BTreeSet::from([0, 1, 2, 3])));
    // SAFETY: it is ours.
    unsafe { libc::close(left) };
}

#[test]
fn descriptors_are_given() {
    // Whoever started this test may have left more open than the first three.
    let (nothing, mut open) = read_by_child(vec![]);
    assert!(nothing.is_empty() && open.len() >= 3);
    no_others_are_given(&open);
    open.extend([3, 4]);
    assert_eq!(read_by_child(vec![filled("x"), filled("y")]), ("xy".to_owned(), open.clone()));
    a_program_that_is_not_there_is_told();
    open.insert(5);
    numbers_may_overlap(&open);
    they_are_closed_with_the_command();
}
