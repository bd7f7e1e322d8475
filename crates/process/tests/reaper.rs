//! What is left of children when we are killed, whatever they have started: nothing. This test is a program of its own
//! (`harness = false`), for the reaper is the same program started again.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use zerohop_process::lock::OwnLock;
use zerohop_process::{Charge, ChildProgram, Interest, charge, poll, prepare};

/// What children do that write `up` when it is done, and would go on for long.
const SCRIPTS: [&str; 4] = [
    "echo up; sleep 1000",
    "sh -c 'echo up; sleep 1000' & wait",
    "setsid sh -c 'echo up; exec sleep 1000' & wait",
    "timeout 1000 setsid sh -c 'trap \"\" TERM HUP INT; (sleep 1000 &); echo up; sleep 1000' & wait",
];

/// Starts such children in the foreground and in groups of their own, and is killed.
fn victim(folder: &str) -> ! {
    let scripts = SCRIPTS.iter().flat_map(|script| [(script, true), (script, false)]);
    let _children: Vec<_> = scripts
        .map(|(script, foreground)| {
            let program = ChildProgram::new("/bin/sh").args(["-c", script]);
            if foreground { program.in_foreground().stdin(Stdio::null()) } else { program }.start().unwrap()
        })
        .collect();
    let _charged = charge(Charge::folder(folder.as_ref())).unwrap();
    let _lock = OwnLock::try_take(&Path::new(folder).with_file_name("lock")).unwrap().unwrap();
    println!("charged");
    loop {
        std::thread::park();
    }
}

fn main() {
    prepare(|_| ());
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "victim") {
        victim(&arguments[2]);
    }
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    std::fs::create_dir(&made).unwrap();
    let mut victim = Command::new(std::env::current_exe().unwrap());
    let mut victim = victim.arg("victim").arg(&made).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(victim.stdout.take().unwrap());
    let words: Vec<String> = said.by_ref().lines().take(2 * SCRIPTS.len() + 1).map(Result::unwrap).collect();
    assert_eq!(words.iter().filter(|word| *word == "up").count(), 2 * SCRIPTS.len(), "{words:?}");
    victim.kill().unwrap();
    victim.wait().unwrap();
    // All of them have its standard output.
    let all_ended = poll(&[(said.get_ref().as_fd(), Interest::Read)], Duration::from_secs(60));
    assert!(all_ended.unwrap()[0].closed);
    while made.exists() || folder.path().join("lock").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    println!("test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}
