//! What the kernel tells of processes and threads (proc_pid_stat(5)).

use std::path::Path;

/// One process, or one thread of it.
struct Stat {
    /// One letter.
    state: String,
    group: u32,
    /// Ticks that it has used; of a process, all its threads.
    own: u64,
    /// Ticks that the children have used that the process has waited for.
    children: u64,
    /// When it was started, in ticks since the machine was.
    started: u64,
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
}

/// All processes that run: their numbers.
pub(crate) fn processes() -> Option<impl Iterator<Item = u32>> {
    let entries = std::fs::read_dir("/proc").ok()?;
    Some(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

/// What a process was given as its environment when it was executed: variables, each with a zero byte behind it. None
/// for a process of somebody else, and for one that is gone.
pub(crate) fn environment_of(pid: u32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/environ")).ok()
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

    #[test]
    fn the_kernel_tells_of_this_process() {
        let own = std::process::id();
        let stat = Stat::of(own).unwrap();
        assert!(!stat.has_ended() && group_runs(stat.group));
        assert_eq!(start_ticks(own), Some(stat.started));
        assert!(start_ticks(1 << 30).is_none() && !group_runs(1 << 30), "beyond the greatest process id: nobody");
    }
}
