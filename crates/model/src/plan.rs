//! What to do: one [`Plan`] describes every strategy, from one unpinned process to a replica per node.
//!
//! A planner writes it and the runtime follows it; neither knows the other.

use crate::machine::{CpuId, NodeId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where the pages of an index replica go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// On the replica's own nodes as long as they have free memory, else on others (`MPOL_PREFERRED`,
    /// `MPOL_PREFERRED_MANY`).
    Local,
    /// Page by page in turn over the replica's nodes (`MPOL_INTERLEAVE`).
    Interleave,
    /// Where the thread that first writes a page runs: the kernel's default (`MPOL_DEFAULT`).
    FirstTouch,
    /// On the node of the CPU that first writes a page, asked for expressly (`MPOL_LOCAL`, `numactl --localalloc`).
    LocalAlloc,
}

impl fmt::Display for Pages {
    /// As it is typed: `local`, `interleave`, `first-touch`, `localalloc`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Pages::Local => "local",
            Pages::Interleave => "interleave",
            Pages::FirstTouch => "first-touch",
            Pages::LocalAlloc => "localalloc",
        })
    }
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

/// Where a block of memory is to lie: the nodes, the policy over them, the page size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The nodes, ascending. Not looked at for [`Pages::FirstTouch`] and [`Pages::LocalAlloc`].
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

/// One process of an external aligner: the CPUs that it is kept to, and where its memory goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstancePlan {
    /// Its CPUs, ascending; none leaves it to the scheduler.
    pub cpus: Vec<CpuId>,
    /// The number of threads that it is to run.
    pub threads: usize,
    /// Position in [`Plan::replicas`] of the index copy that it reads.
    pub replica: usize,
    /// Where its memory goes.
    pub placement: Placement,
}

impl Plan {
    /// The processes of an external aligner: one per index copy, with the threads and CPUs of the workers that read it;
    /// or one per worker, where many single-threaded processes share a copy (the farm of Misale et al.).
    pub fn instances(&self, one_per_worker: bool) -> Vec<InstancePlan> {
        let instance = |replica: usize, workers: &[&WorkerPlan]| {
            let mut cpus: Vec<CpuId> = workers.iter().flat_map(|w| w.cpus.iter().copied()).collect();
            cpus.sort_unstable();
            cpus.dedup();
            InstancePlan { cpus, threads: workers.len(), replica, placement: self.replicas[replica].clone() }
        };
        if one_per_worker {
            return self.workers.iter().map(|worker| instance(worker.replica, &[worker])).collect();
        }
        let readers = |replica| self.workers.iter().filter(move |w| w.replica == replica).collect::<Vec<_>>();
        let with_readers = (0..self.replicas.len()).map(|replica| (replica, readers(replica)));
        with_readers.filter(|(_, workers)| !workers.is_empty()).map(|(r, workers)| instance(r, &workers)).collect()
    }
}
