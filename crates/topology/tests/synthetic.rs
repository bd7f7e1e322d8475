//! Machines made of directory trees: what is read of them, on any host.

// The helpers below are test code too, though clippy sees only `#[test]` functions as such.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use tempfile::TempDir;
use zerohop_model::machine::{Bytes, CpuId, Machine, NodeId};
use zerohop_topology::{TopologyError, detect_under};

const NODE: &str = "sys/devices/system/node";
const GIB: u64 = 1 << 30;

/// A tree under construction.
struct Tree(TempDir);

impl Tree {
    /// A machine whose CPUs are online; `memory` in GiB is that of `/proc/meminfo`.
    fn new(online: &str, memory: u64) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        let kib = memory * GIB / 1024;
        tree.file("sys/devices/system/cpu/online", online).file(
            "proc/meminfo",
            &format!("MemTotal: {kib} kB\nMemFree: {} kB\nMemAvailable: {kib} kB\nCached: 0 kB\n", kib / 2),
        )
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
        self
    }

    fn node(self, id: u32, cpus: &str, gib: u64, distances: &str) -> Self {
        let kib = gib * GIB / 1024;
        let meminfo = format!(
            "Node {id} MemTotal: {kib} kB\nNode {id} MemFree: {} kB\nNode {id} FilePages: {} kB",
            kib / 2,
            kib / 4
        );
        self.file(&format!("{NODE}/node{id}/cpulist"), cpus)
            .file(&format!("{NODE}/node{id}/meminfo"), &meminfo)
            .file(&format!("{NODE}/node{id}/distance"), distances)
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn machine(&self) -> Machine {
        detect_under(self.root()).unwrap()
    }
}

fn cpus(numbers: impl IntoIterator<Item = u32>) -> Vec<CpuId> {
    numbers.into_iter().map(CpuId).collect()
}

fn sizes(machine: &Machine) -> Vec<u64> {
    machine.nodes.iter().map(|n| n.memory.0 / GIB).collect()
}

#[test]
fn a_kernel_without_nodes_is_one_node() {
    let machine = Tree::new("0-3", 8).machine();
    assert_eq!(machine.nodes.len(), 1);
    assert_eq!(machine.nodes[0].cpus, cpus(0..4));
    assert_eq!(machine.nodes[0].memory, Bytes(8 * GIB));
    assert_eq!(machine.nodes[0].free, Bytes(4 * GIB));
    assert_eq!(machine.distances, [[10]]);
    assert_eq!(machine.allowed.nodes, [NodeId(0)]);
    assert_eq!(machine.allowed.cpus, cpus(0..4));
    assert_eq!(machine.huge_page_size, None);
}

#[test]
fn uneven_nodes_with_holes() {
    // Nodes 0 (CPUs and memory), 2 (memory alone), 5 (CPUs alone); CPU 3 is offline.
    let tree = Tree::new("0-2,4-5", 12)
        .node(0, "0-3", 4, "10 17 28")
        .node(2, "", 8, "17 10 28")
        .node(5, "4-5", 0, "28 28 10")
        .file(&format!("{NODE}/online"), "0,2,5");
    let machine = tree.machine();
    assert_eq!(machine.nodes.iter().map(|n| n.id.0).collect::<Vec<_>>(), [0, 2, 5]);
    assert_eq!(machine.nodes[0].cpus, cpus(0..3));
    assert_eq!(machine.nodes[1].cpus, []);
    assert_eq!(machine.nodes[2].cpus, cpus(4..6));
    assert_eq!(sizes(&machine), [4, 8, 0]);
    // MemFree and half of the page cache: 1/2 + 1/8 of the node.
    assert_eq!(machine.nodes[0].free, Bytes(4 * GIB * 5 / 8));
    assert_eq!(machine.distance(NodeId(5), NodeId(2)), Some(28));
    assert_eq!(machine.memory_nodes().len(), 2);
    assert_eq!(machine.allowed.nodes, [NodeId(0), NodeId(2), NodeId(5)]);
}

#[test]
fn offline_nodes_are_left_out() {
    let tree = Tree::new("0-3", 4).node(0, "0-1", 4, "10").node(1, "", 0, "").file(&format!("{NODE}/online"), "0");
    assert_eq!(tree.machine().nodes.len(), 1);
}

#[test]
fn node_sizes_that_contradict_the_machine_are_scaled() {
    let two = Tree::new("0-1", 40).node(0, "0", 2, "10 20").node(1, "1", 6, "20 10").machine();
    assert_eq!(sizes(&two), [10, 30]);
    let one = Tree::new("0-1", 24).node(0, "0-1", 5, "10").machine();
    assert_eq!((one.nodes[0].memory, one.nodes[0].free), (Bytes(24 * GIB), Bytes(12 * GIB)));
    let silent = Tree::new("0-1", 8).node(0, "0", 0, "10 20").node(1, "1", 0, "20 10").machine();
    assert_eq!(sizes(&silent), [4, 4]);
    // A few per cent are what the kernel keeps for itself: not touched.
    let close = Tree::new("0-1", 24).node(0, "0", 11, "10 20").node(1, "1", 12, "20 10").machine();
    assert_eq!(sizes(&close), [11, 12]);
}

#[test]
fn free_memory_does_not_exceed_what_is_available() {
    let machine = Tree::new("0-1", 8)
        .node(0, "0", 4, "10 20")
        .node(1, "1", 4, "20 10")
        .file("proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 1048576 kB\nMemAvailable: 2097152 kB\n")
        .machine();
    assert_eq!(machine.nodes.iter().map(|n| n.free.0).sum::<u64>(), 2 * GIB);
}

#[test]
fn missing_distances_are_the_kernel_defaults_and_damaged_ones_an_error() {
    let tree = Tree::new("0-1", 8).node(0, "0", 4, "10 20").node(1, "1", 4, "20 10");
    std::fs::remove_file(tree.root().join(NODE).join("node1/distance")).unwrap();
    assert_eq!(tree.machine().distances, [[10, 20], [20, 10]]);
    let damaged = tree.file(&format!("{NODE}/node1/distance"), "20");
    let error = detect_under(damaged.root()).unwrap_err();
    assert!(error.to_string().ends_with("node1/distance: '20' is not a row of 2 distances"), "{error}");
}

#[test]
fn cgroup_2_counts_the_tightest_on_the_way_to_the_root() {
    let machine = Tree::new("0-7", 16)
        .node(0, "0-3", 8, "10 20")
        .node(1, "4-7", 8, "20 10")
        .file("proc/self/cgroup", "0::/user/job")
        .file("sys/fs/cgroup/user/job/cpu.max", "max 100000")
        .file("sys/fs/cgroup/user/job/memory.max", "max")
        .file("sys/fs/cgroup/user/cpu.max", "250000 100000")
        .file("sys/fs/cgroup/user/memory.max", "1073741824")
        .file("sys/fs/cgroup/user/memory.current", "671088640")
        .file(
            "sys/fs/cgroup/user/memory.stat",
            "anon 402653184\nfile 268435456\ninactive_file 134217728\nactive_file 67108864\nslab_reclaimable 67108864",
        )
        .file("sys/fs/cgroup/memory.max", "2147483648")
        .file("sys/fs/cgroup/memory.current", "1610612736")
        .file("sys/fs/cgroup/user/cpuset.cpus.effective", "2-5")
        .file("sys/fs/cgroup/user/cpuset.mems.effective", "1")
        .file("proc/self/status", "Cpus_allowed_list:\t0-4\nMems_allowed_list:\t0-1")
        .machine();
    assert_eq!(machine.allowed.cpu_quota, Some(2.5));
    assert_eq!(machine.allowed.memory_limit, Some(Bytes(GIB)));
    // 1024 less 640 MiB, of which 256 are files; an ancestor with a wider limit may leave less.
    assert_eq!(machine.allowed.memory_left, Some(Bytes(512 << 20)));
    assert_eq!(machine.allowed.cpus, cpus(2..5));
    assert_eq!(machine.allowed.nodes, [NodeId(1)]);
    assert_eq!(machine.allowed.worker_count(), 3);
}

#[test]
fn cgroup_1_has_a_hierarchy_per_controller() {
    let machine = Tree::new("0-7", 16)
        .file("proc/self/cgroup", "4:memory:/a/b\n3:cpuset:/c\n2:cpu,cpuacct:/a\n0::/")
        .file("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712")
        .file("sys/fs/cgroup/memory/a/b/memory.stat", "cache 1\nhierarchical_memory_limit 536870912")
        .file("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "67108864")
        .file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824")
        .file("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "939524096")
        .file(
            "sys/fs/cgroup/memory/a/memory.stat",
            "inactive_file 1\ntotal_inactive_file 134217728\ntotal_active_file 67108864",
        )
        .file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000")
        .file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000")
        .file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1")
        .file("sys/fs/cgroup/cpuset/c/cpuset.cpus", "1,3")
        .machine();
    assert_eq!(machine.allowed.cpu_quota, Some(1.5));
    assert_eq!(machine.allowed.memory_limit, Some(Bytes(512 << 20)));
    // In the group 512 - 64 MiB; in the one above 1024 - 896 + 192, which is less.
    assert_eq!(machine.allowed.memory_left, Some(Bytes(320 << 20)));
    assert_eq!(machine.allowed.cpus, cpus([1, 3]));
}

#[test]
fn a_group_that_would_be_slowed_down_is_limited_too() {
    let machine = Tree::new("0", 4)
        .file("proc/self/cgroup", "0::/job")
        .file("sys/fs/cgroup/job/memory.max", "max")
        .file("sys/fs/cgroup/job/memory.high", "1073741824")
        .file("sys/fs/cgroup/job/memory.current", "2147483648")
        .machine();
    assert_eq!(machine.allowed.memory_limit, Some(Bytes(GIB)));
    assert_eq!(machine.allowed.memory_left, Some(Bytes(0)));
    assert_eq!(Tree::new("0", 4).machine().allowed.memory_left, None);
}

#[test]
fn a_cpuset_of_another_machine_is_not_followed() {
    let machine = Tree::new("0-1", 4).file("proc/self/status", "Cpus_allowed_list:\t64-127").machine();
    assert_eq!(machine.allowed.cpus, cpus(0..2));
}

#[test]
fn caches_are_added_up_over_all_cpus() {
    let mut tree = Tree::new("0-3", 4);
    for cpu in 0..4 {
        let pair = if cpu < 2 { "0-1" } else { "2-3" };
        for (index, level, kind, size, shared) in
            [(0, 1, "Data", "16K", cpu.to_string()), (1, 3, "Unified", "6144K", pair.to_owned())]
        {
            let directory = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
            tree = tree
                .file(&format!("{directory}/level"), &level.to_string())
                .file(&format!("{directory}/type"), kind)
                .file(&format!("{directory}/size"), size)
                .file(&format!("{directory}/shared_cpu_list"), &shared);
        }
    }
    let caches = tree.machine().caches;
    let found: Vec<_> = caches.iter().map(|c| (c.level, c.kind.as_str(), c.size.0, c.shared_by, c.count)).collect();
    assert_eq!(found, [(1, "Data", 16 << 10, 1, 4), (3, "Unified", 6 << 20, 2, 2)]);
}

#[test]
fn huge_pages_and_names() {
    const THP: &str = "sys/kernel/mm/transparent_hugepage";
    let tree = Tree::new("0", 1)
        .file(&format!("{THP}/enabled"), "always [madvise] never")
        .file(&format!("{THP}/hpage_pmd_size"), "2097152")
        .file("proc/sys/kernel/hostname", "bulldozer")
        .file("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD Opteron(tm) Processor 6376");
    let machine = tree.machine();
    assert_eq!(machine.huge_page_size, Some(Bytes(2 << 20)));
    assert_eq!((machine.name.as_str(), machine.cpu_model.as_str()), ("bulldozer", "AMD Opteron(tm) Processor 6376"));
    let never = tree.file(&format!("{THP}/enabled"), "always madvise [never]");
    assert_eq!(never.machine().huge_page_size, None);
}

#[test]
fn more_cpus_than_a_fixed_mask_holds() {
    let tree = Tree::new("0-2047", 4).node(0, "0-1023", 2, "10 20").node(1, "1024-2047", 2, "20 10");
    let machine = tree.machine();
    assert_eq!(machine.allowed.cpus.len(), 2048);
    assert_eq!(machine.node_of(CpuId(2047)), Some(NodeId(1)));
}

#[test]
fn nothing_at_all_is_an_error() {
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(detect_under(empty.path()), Err(TopologyError::NoCpus(_))));
}
