//! What the kernel shows of processes and threads (proc_pid_stat(5)).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

/// How often a process is looked at again that is being executed, or has no environment, and the pause between.
const LOOKS: usize = 200;
const LOOKS_AT_EMPTY: usize = 5;
const PAUSE: Duration = Duration::from_millis(5);

/// One process, or one thread of it.
struct Stat {
    /// The letter of its state, such as R or Z.
    state: String,
    group: u32,
    /// Ticks that it has used; of a process, all its threads.
    own: u64,
    /// Ticks that the children have used that the process has waited for.
    children: u64,
    /// When it was started, in ticks since the machine was.
    started: u64,
    /// The address space that it has, in bytes; none if it is a thread of the kernel, or has ended.
    space_bytes: u64,
    /// Where its environment begins and ends in its memory; 0 while it is being executed.
    environment: (u64, u64),
}

impl Stat {
    /// That of a process, if there is one.
    fn of(pid: u32) -> Option<Self> {
        Stat::read(Path::new(&format!("/proc/{pid}/stat")))
    }

    /// What a file named `stat` holds.
    fn read(path: &Path) -> Option<Self> {
        let stat = std::fs::read(path).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name of the program, in parentheses, may hold anything; behind it come the state and numbers.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field)?.parse::<u64>().ok();
        Some(Stat {
            state: (*fields.first()?).to_owned(),
            group: fields.get(2)?.parse().ok()?,
            own: number(11)? + number(12)?,
            children: number(13)? + number(14)?,
            started: number(19)?,
            space_bytes: number(20)?,
            environment: (number(47)?, number(48)?),
        })
    }

    /// Whether it waits for a disk, or was stopped.
    fn waits(&self) -> bool {
        matches!(&*self.state, "D" | "T" | "t")
    }

    /// Whether it has ended, and was not waited for.
    fn has_ended(&self) -> bool {
        matches!(&*self.state, "Z" | "X")
    }

    /// How often an environment that seems to be empty is looked at again. While a process is being executed
    /// (execve(2)) it has a new memory, but its environment has neither place nor length; then a place without a
    /// length, for a moment (create_elf_tables in fs/binfmt_elf.c of Linux).
    fn looks_at_nothing(&self) -> usize {
        match self.environment {
            _ if self.space_bytes == 0 => 0,
            (_, 0) => LOOKS,
            _ => LOOKS_AT_EMPTY,
        }
    }
}

/// All processes that run: their numbers.
pub(crate) fn processes() -> Option<impl Iterator<Item = u32>> {
    let entries = std::fs::read_dir("/proc").ok()?;
    Some(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

/// What a process was given as its environment when it was executed: variables, each with a zero byte behind it. None
/// for a process of somebody else, and for one that is gone. While a process is being executed the kernel shows an
/// empty environment: it is looked at again.
pub(crate) fn environment_of(pid: u32) -> Option<Vec<u8>> {
    let path = format!("/proc/{pid}/environ");
    let mut looks = 0;
    loop {
        let environment = read_at_once(Path::new(&path)).ok()?;
        if !environment.is_empty() || looks >= Stat::of(pid)?.looks_at_nothing() {
            return Some(environment);
        }
        std::thread::sleep(PAUSE);
        looks += 1;
    }
}

/// What a file of /proc holds, by a single call: between two, the process may be executed, and has another memory.
fn read_at_once(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = vec![0; 64 << 10];
    loop {
        let count = file.read_at(&mut bytes, 0)?;
        if count < bytes.len() {
            bytes.truncate(count);
            return Ok(bytes);
        }
        bytes.resize(2 * count, 0);
    }
}

/// When a process was started, in ticks since the machine was; none if there is no such process.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    Stat::of(pid).map(|stat| stat.started)
}

/// Whether a process of a group runs: one that has ended and was not waited for does not.
pub(crate) fn group_runs(group: u32) -> bool {
    let runs = |stat: Stat| stat.group == group && !stat.has_ended();
    processes().into_iter().flatten().filter_map(Stat::of).any(runs)
}

/// The processor time that a process and the children it has waited for have used, in ticks; none if one of its threads
/// waits for a disk or was stopped, or if it is not known.
pub(crate) fn used(pid: u32) -> Option<u64> {
    let waited_for = Stat::of(pid)?.children;
    let mut sum = waited_for;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let stat = Stat::read(&thread.ok()?.path().join("stat"))?;
        if stat.waits() {
            return None;
        }
        sum += stat.own;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_children::shell;

    #[test]
    fn the_kernel_tells_of_this_process() {
        let own = std::process::id();
        let stat = Stat::of(own).unwrap();
        assert!(!stat.has_ended() && group_runs(stat.group));
        assert_eq!(start_ticks(own), Some(stat.started));
        assert!(!environment_of(own).unwrap().is_empty());
        assert!(start_ticks(1 << 30).is_none() && !group_runs(1 << 30), "beyond the greatest process id: nobody");
    }

    /// A process that does nothing but execute itself is never without its environment.
    #[test]
    fn a_process_has_its_environment_while_it_is_executed() {
        const AGAIN: &str = "exec /bin/sh -c \"$AGAIN\"";
        let child = shell(AGAIN).env("AGAIN", AGAIN).start().unwrap();
        let has_it = || String::from_utf8_lossy(&environment_of(child.id()).unwrap()).contains("AGAIN=");
        assert!((0..200).all(|_| has_it()));
    }
}
