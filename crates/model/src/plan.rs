//! What to do: one [`Plan`] describes every strategy, from one unpinned process to a replica per node.
//!
//! A planner writes it and the runtime follows it; neither knows the other.

use crate::machine::{CpuId, NodeId};
use serde::{Deserialize, Serialize};

/// Where the pages of an index replica go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// On the replica's own nodes, and nowhere else (`MPOL_BIND`).
    Local,
    /// Page by page in turn over the replica's nodes (`MPOL_INTERLEAVE`).
    Interleave,
    /// Where the thread that first writes a page runs: the kernel's default (`MPOL_DEFAULT`).
    FirstTouch,
}

/// Whether large blocks ask for transparent huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HugePages {
    /// Ask (`MADV_HUGEPAGE`); whether the kernel granted them is measured and reported.
    Auto,
    /// Forbid (`MADV_NOHUGEPAGE`).
    Off,
}

/// Where a block of memory shall lie: the nodes, the policy over them, the page size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The nodes, ascending. Not looked at for [`Pages::FirstTouch`].
    pub nodes: Vec<NodeId>,
    /// The policy over these nodes.
    pub pages: Pages,
    /// Huge pages or not.
    pub huge_pages: HugePages,
}

/// One worker: the CPUs that it is pinned to and the replica that it reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerPlan {
    /// The CPUs it is pinned to: one of its own where each CPU has a worker, else those of its node; none leaves it to
    /// the scheduler.
    pub cpus: Vec<CpuId>,
    /// The node of these CPUs, if it is pinned: the worker's buffers lie there.
    pub node: Option<NodeId>,
    /// Position in [`Plan::replicas`] of the index copy it reads.
    pub replica: usize,
}

/// A strategy, worked out for one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// One placement per index copy; at least one.
    pub replicas: Vec<Placement>,
    /// One entry per worker; at least one.
    pub workers: Vec<WorkerPlan>,
    /// CPUs for threads that are not workers (emitters, the writer of a pipe); may overlap with the workers' CPUs.
    pub helper_cpus: Vec<CpuId>,
    /// Why the plan is what it is, a sentence each, for the user.
    pub reasons: Vec<String>,
}
