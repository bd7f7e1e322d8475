//! What this process may still take of memory: the limits of `getrlimit(2)` and of its control groups.

use crate::cgroup;
use crate::sysfs::Sysfs;
use zerohop_model::machine::Bytes;

/// The limit of memory that leaves least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryBound {
    /// Memory that may still be taken under it.
    pub left: Bytes,
    /// The limit as a whole.
    pub limit: Bytes,
    /// Its name, in the words of who sets it.
    pub name: &'static str,
}

/// The limit that leaves least, if there is any. Of a control group, what others in it hold is not taken off: most of
/// that can be page cache, which gives way.
pub fn memory_bound() -> Option<MemoryBound> {
    tightest(&Sysfs::at("/"))
}

fn tightest(sysfs: &Sysfs) -> Option<MemoryBound> {
    let (limits, status) = (sysfs.text("proc/self/limits"), sysfs.text("proc/self/status"));
    let resource = |limit: &str, used: &str, name| {
        let limit = soft_limit(limits.as_deref()?, limit)?;
        let used = kibibytes(status.as_deref()?, used)? << 10;
        Some(MemoryBound { left: Bytes(limit.saturating_sub(used)), limit: Bytes(limit), name })
    };
    let group = cgroup::limits(sysfs).ok().and_then(|limits| limits.memory).map(Bytes);
    let group = group.map(|limit| MemoryBound { left: limit, limit, name: "the memory limit of the cgroup" });
    let resources =
        [resource("Max address space", "VmSize:", "ulimit -v"), resource("Max data size", "VmData:", "ulimit -d")];
    resources.into_iter().chain([group]).flatten().min_by_key(|bound| bound.left)
}

/// The first number of a line of `/proc/self/limits` (`proc_pid_limits(5)`), in bytes; none for `unlimited`.
fn soft_limit(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

/// The number of a line of `/proc/self/status` (`proc_pid_status(5)`).
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_leaves_least_counts() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let bound = |limits: [&str; 2], cgroup: &str| {
            let [space, data] = limits;
            write(
                "proc/self/limits",
                &format!(
                    "Limit                     Soft Limit           Hard Limit           Units     \n\
                     Max data size             {data:20} unlimited            bytes     \n\
                     Max address space         {space:20} unlimited            bytes     \n"
                ),
            );
            write("proc/self/status", "Name:\tx\nVmSize:\t    3000 kB\nVmData:\t    1000 kB\n");
            write("proc/self/cgroup", "0::/\n");
            write("sys/fs/cgroup/memory.max", cgroup);
            tightest(&Sysfs::at(dir.path()))
        };
        let is = |left, limit, name| Some(MemoryBound { left: Bytes(left), limit: Bytes(limit), name });
        assert_eq!(bound(["unlimited", "unlimited"], "max\n"), None);
        assert_eq!(bound(["8192000", "unlimited"], "max\n"), is(5_120_000, 8_192_000, "ulimit -v"));
        assert_eq!(bound(["8192000", "4096000"], "max\n"), is(3_072_000, 4_096_000, "ulimit -d"));
        assert_eq!(bound(["2048000", "4096000"], "max\n"), is(0, 2_048_000, "ulimit -v"));
        assert_eq!(bound(["8192000", "4096000"], "9000\n"), is(9000, 9000, "the memory limit of the cgroup"));
    }
}
