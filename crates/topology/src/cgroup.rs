//! Limits of the control groups that hold this process (`cgroups(7)`), version 1 and 2.
//!
//! A limit binds everything below it, so the whole path up to the root of the mounted hierarchy is read and the
//! tightest value kept.

use crate::TopologyError;
use crate::sysfs::Sysfs;

/// Version 1 has no word for "no limit": it shows the largest multiple of the page size. Anything above is none.
const NO_LIMIT: u64 = 1 << 62;

/// The tightest limits found.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CgroupLimits {
    /// CPU time per wall time.
    pub(crate) cpu_quota: Option<f64>,
    /// The limit of memory, in bytes.
    pub(crate) memory: Option<u64>,
    /// Bytes that can still be taken before one of the limits on the way to the root is reached.
    pub(crate) memory_left: Option<u64>,
    /// The directory of the group that leaves least.
    pub(crate) memory_group: Option<String>,
    pub(crate) cpus: Option<Vec<u32>>,
    pub(crate) nodes: Option<Vec<u32>>,
}

/// Reads both versions: machines in transition have some controllers in one and some in the other.
pub(crate) fn limits(sysfs: &Sysfs) -> Result<CgroupLimits, TopologyError> {
    let mut limits = CgroupLimits::default();
    for hierarchy in hierarchies(sysfs) {
        for group in hierarchy.groups() {
            limits.cpu_quota = tighter(limits.cpu_quota, quota(sysfs, &group), f64::min);
            let memory = memory(sysfs, &group);
            limits.memory = tighter(limits.memory, memory, u64::min);
            let left = memory.map(|limit| limit.saturating_sub(memory_in_use(sysfs, &group)));
            if left.is_some_and(|left| limits.memory_left.is_none_or(|least| left < least)) {
                (limits.memory_left, limits.memory_group) = (left, Some(group.clone()));
            }
            // The nearest group that knows its cpuset has the effective one.
            if limits.cpus.is_none() {
                limits.cpus =
                    first_list(sysfs, &group, &["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"])?;
            }
            if limits.nodes.is_none() {
                limits.nodes =
                    first_list(sysfs, &group, &["cpuset.mems.effective", "cpuset.effective_mems", "cpuset.mems"])?;
            }
        }
    }
    Ok(limits)
}

/// Where one hierarchy is mounted and where in it this process lies.
#[derive(Debug, PartialEq)]
struct Hierarchy {
    mount: String,
    path: String,
}

impl Hierarchy {
    /// Directories from the process's group to the mounted root.
    fn groups(&self) -> Vec<String> {
        let mut groups = vec![format!("{}{}", self.mount, self.path)];
        let mut path = self.path.as_str();
        while let Some(end) = path.rfind('/') {
            path = &path[..end];
            groups.push(format!("{}{path}", self.mount));
        }
        groups.dedup();
        groups
    }
}

/// The hierarchies of `/proc/self/cgroup`: lines `ID:CONTROLLERS:PATH`, version 2 without controllers.
fn hierarchies(sysfs: &Sysfs) -> Vec<Hierarchy> {
    let Some(text) = sysfs.text("proc/self/cgroup") else { return Vec::new() };
    let mounts = sysfs.text("proc/self/mountinfo").unwrap_or_default();
    let lines = text.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        Some((fields.next()?, fields.next()?, fields.next()?))
    });
    lines.map(|(_, controllers, path)| hierarchy(sysfs, &mounts, controllers, path)).collect()
}

fn hierarchy(sysfs: &Sysfs, mounts: &str, controllers: &str, path: &str) -> Hierarchy {
    let (mount, root) = mounts
        .lines()
        .find_map(|line| mount_point(line, controllers))
        .unwrap_or_else(|| (usual_mount(sysfs, controllers), "/".to_owned()));
    // A container sees its own group as the mount's root, while the path may still be the one outside; a path out of
    // the namespace ("/..") cannot be followed. Both times the mounted root itself is all that can be read.
    let inside = path.strip_prefix(root.trim_end_matches('/')).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let inside = inside.filter(|rest| !rest.split('/').any(|part| part == ".."));
    Hierarchy { mount, path: inside.unwrap_or("").trim_end_matches('/').to_owned() }
}

/// Mount point and mounted root of a line of `/proc/self/mountinfo` (`proc_pid_mountinfo(5)`), if it is this hierarchy.
fn mount_point(line: &str, controllers: &str) -> Option<(String, String)> {
    let (place, source) = line.split_once(" - ")?;
    let mut source = source.split(' ');
    let kind = source.next()?;
    let options = source.nth(1)?;
    let wanted = match controllers {
        "" => kind == "cgroup2",
        _ => kind == "cgroup" && controllers.split(',').all(|c| options.split(',').any(|option| option == c)),
    };
    let mut place = place.split(' ').skip(3);
    let (root, mount) = (place.next()?, place.next()?);
    wanted.then(|| (unescape(mount), unescape(root)))
}

/// Blanks in paths are written as `\040` there.
fn unescape(path: &str) -> String {
    path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
}

fn usual_mount(sysfs: &Sysfs, controllers: &str) -> String {
    const UNIFIED: &str = "/sys/fs/cgroup/unified";
    match controllers {
        "" if sysfs.path(UNIFIED).exists() => UNIFIED.to_owned(),
        "" => "/sys/fs/cgroup".to_owned(),
        _ => format!("/sys/fs/cgroup/{controllers}"),
    }
}

fn tighter<T>(old: Option<T>, new: Option<T>, min: fn(T, T) -> T) -> Option<T> {
    match (old, new) {
        (Some(old), Some(new)) => Some(min(old, new)),
        (old, new) => old.or(new),
    }
}

/// `cpu.max` ("750000 100000" or "max 100000"), or version 1's quota (-1 for none) over period, in microseconds.
fn quota(sysfs: &Sysfs, group: &str) -> Option<f64> {
    let (quota, period) = match sysfs.text(&format!("{group}/cpu.max")) {
        Some(text) => {
            let (quota, period) = text.split_once(' ').unwrap_or((text.as_str(), "100000"));
            (quota.parse::<f64>().ok()?, period.trim().parse::<f64>().ok()?)
        }
        None => {
            let quota = sysfs.text(&format!("{group}/cpu.cfs_quota_us"))?.parse::<f64>().ok()?;
            (quota, sysfs.number(&format!("{group}/cpu.cfs_period_us"))? as f64)
        }
    };
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// `memory.max` or `memory.high`, beyond which a group is slowed down to a standstill; or version 1's own limit, and
/// the one of the ancestors that a container cannot see.
fn memory(sysfs: &Sysfs, group: &str) -> Option<u64> {
    let own = ["memory.max", "memory.high", "memory.limit_in_bytes"];
    let own = own.iter().filter_map(|name| sysfs.number(&format!("{group}/{name}")));
    let inherited = memory_stat(sysfs, group, &["hierarchical_memory_limit"]);
    own.chain(inherited).filter(|&limit| limit < NO_LIMIT).min()
}

/// What a group uses and cannot give up: all but files that were read or written, which the kernel drops when it needs
/// room.
fn memory_in_use(sysfs: &Sysfs, group: &str) -> u64 {
    let used = sysfs.number(&format!("{group}/memory.current"));
    let used = used.or_else(|| sysfs.number(&format!("{group}/memory.usage_in_bytes"))).unwrap_or(0);
    // Version 1 counts the groups below in fields of their own; version 2 always does.
    let given_up = memory_stat(sysfs, group, &["total_inactive_file", "total_active_file"])
        .or_else(|| memory_stat(sysfs, group, &["inactive_file", "active_file", "slab_reclaimable"]));
    used.saturating_sub(given_up.unwrap_or(0))
}

/// The sum of these fields of `memory.stat`, of those that are there; none without any.
fn memory_stat(sysfs: &Sysfs, group: &str, names: &[&str]) -> Option<u64> {
    let stat = sysfs.text(&format!("{group}/memory.stat"))?;
    let fields = stat.lines().filter_map(|line| line.split_once(' '));
    let wanted = fields.filter(|(name, _)| names.contains(name)).filter_map(|(_, value)| value.trim().parse().ok());
    wanted.reduce(u64::saturating_add)
}

/// The first of these files that holds a list with anything in it.
fn first_list(sysfs: &Sysfs, group: &str, names: &[&str]) -> Result<Option<Vec<u32>>, TopologyError> {
    for name in names {
        if let Some(list) = sysfs.list(&format!("{group}/{name}"))?.filter(|list| !list.is_empty()) {
            return Ok(Some(list));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_to_the_mounted_root() {
        let at = |path: &str| Hierarchy { mount: "/m".into(), path: path.into() }.groups();
        assert_eq!(at(""), ["/m"]);
        assert_eq!(at("/a/b"), ["/m/a/b", "/m/a", "/m"]);
    }

    #[test]
    fn mounts_are_told_apart() {
        let v1 = "35 31 0:32 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct";
        let v2 = "41 31 0:38 /pod /sys/fs/my\\040group rw - cgroup2 cgroup2 rw";
        assert_eq!(mount_point(v1, "cpu,cpuacct").unwrap().0, "/sys/fs/cgroup/cpu,cpuacct");
        assert_eq!(mount_point(v1, "memory"), None);
        assert_eq!(mount_point(v1, ""), None);
        assert_eq!(mount_point(v2, "").unwrap(), ("/sys/fs/my group".to_owned(), "/pod".to_owned()));
    }

    #[test]
    fn container_paths() {
        let sysfs = Sysfs::at("/nowhere");
        let mounts = "41 31 0:38 /pod/x /cg rw - cgroup2 cgroup2 rw";
        let at = |path| hierarchy(&sysfs, mounts, "", path).path;
        assert_eq!(at("/pod/x/y"), "/y");
        assert_eq!(at("/pod/x"), "");
        assert_eq!(at("/pod/xy"), "");
        assert_eq!(at("/"), "");
        assert_eq!(at("/pod/x/../z"), "");
    }
}
