//! A machine as plain data: nodes, CPUs, memory, distances, caches, and what this process may use of them.
//!
//! [`topology`](https://docs.kernel.org/admin-guide/mm/numaperf.html) fills a [`Machine`] from the live system; a
//! planner can be given one that it has never seen.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A logical CPU as the kernel numbers it (`/sys/devices/system/cpu/cpuN`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CpuId(pub u32);

/// A NUMA node as the kernel numbers it (`/sys/devices/system/node/nodeN`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for Bytes {
    /// Binary units with one decimal, as `free -h` prints them: `512 B`, `1.5 GiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
        let (mut value, mut unit) = (self.0 as f64, 0);
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        if unit == 0 { write!(f, "{} B", self.0) } else { write!(f, "{value:.1} {}", UNITS[unit]) }
    }
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The kernel's number.
    pub id: NodeId,
    /// Its online CPUs, ascending; empty for a node that is memory alone.
    pub cpus: Vec<CpuId>,
    /// Its memory (0 for a node without memory).
    pub memory: Bytes,
    /// What of it is free or can be freed at once (page cache counted in half: it may be dirty or in use).
    pub free: Bytes,
}

/// One cache level as seen from one CPU of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3, ...
    pub level: u8,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size of one such cache.
    pub size: Bytes,
    /// CPUs that share one such cache.
    pub shared_by: u32,
    /// How many of them the machine has.
    pub count: u32,
}

/// What this process may use of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Allowed {
    /// CPUs that both the affinity mask and the cpuset allow, ascending.
    pub cpus: Vec<CpuId>,
    /// Nodes on which memory may be taken (cpuset), ascending.
    pub nodes: Vec<NodeId>,
    /// CPU time per wall time that the cgroup quota grants (2.5 = two and a half CPUs), if there is a quota.
    pub cpu_quota: Option<f64>,
    /// The smallest memory limit among the cgroups that hold this process, if there is one.
    pub memory_limit: Option<Bytes>,
    /// What this process can still take before one of these limits is reached: the limit less what its group uses, page
    /// cache that can be given up not counted as used. The kernel kills who takes more.
    #[serde(default)]
    pub memory_left: Option<Bytes>,
}

impl Allowed {
    /// The number of workers that can run at once: the allowed CPUs, cut to the quota rounded up, at least 1.
    ///
    /// ```
    /// use zerohop_model::machine::{Allowed, CpuId, NodeId};
    /// let allowed = Allowed {
    ///     cpus: (0..96).map(CpuId).collect(),
    ///     nodes: vec![NodeId(0)],
    ///     cpu_quota: Some(7.5),
    ///     memory_limit: None,
    ///     memory_left: None,
    /// };
    /// assert_eq!(allowed.worker_count(), 8);
    /// ```
    pub fn worker_count(&self) -> usize {
        let quota = self.cpu_quota.map_or(usize::MAX, |q| q.ceil().max(1.0) as usize);
        self.cpus.len().min(quota).max(1)
    }
}

/// A whole machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Host name, or the name of a described machine.
    pub name: String,
    /// The processor's model name.
    pub cpu_model: String,
    /// All nodes that are online, ascending by id.
    pub nodes: Vec<Node>,
    /// `distances[i][j]`: what the firmware says of the way from `nodes[i]` to `nodes[j]` (10 = local). A row per node;
    /// no row at all where a described machine does not tell.
    pub distances: Vec<Vec<u32>>,
    /// One entry per level and kind.
    pub caches: Vec<Cache>,
    /// The CPUs of each core (its hardware threads), ascending; empty where it is not known which CPUs share one.
    #[serde(default)]
    pub cores: Vec<Vec<CpuId>>,
    /// Size of a base page.
    pub page_size: Bytes,
    /// Size of a transparent huge page, if the kernel has them and they are not set to `never`.
    pub huge_page_size: Option<Bytes>,
    /// What this process may use.
    pub allowed: Allowed,
}

impl Machine {
    /// The node that holds `cpu`, if any does.
    pub fn node_of(&self, cpu: CpuId) -> Option<NodeId> {
        self.nodes.iter().find(|n| n.cpus.contains(&cpu)).map(|n| n.id)
    }

    /// The firmware distance between two nodes; `None` where a node is unknown.
    pub fn distance(&self, from: NodeId, to: NodeId) -> Option<u32> {
        let at = |id| self.nodes.iter().position(|n| n.id == id);
        self.distances.get(at(from)?)?.get(at(to)?).copied()
    }

    /// Nodes on which this process may take memory and that have any, ascending.
    pub fn memory_nodes(&self) -> Vec<&Node> {
        self.nodes.iter().filter(|n| n.memory.0 > 0 && self.allowed.nodes.contains(&n.id)).collect()
    }
}
