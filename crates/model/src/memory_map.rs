//! How far the memory of each node is from the CPUs of each other: measured, not what the firmware says.

use crate::machine::{Bytes, NodeId};
use serde::{Deserialize, Serialize};

/// Latencies and bandwidths between the nodes of a machine, as the tables of Lenis & Senar show them: a row per node
/// whose CPUs read, a column per node whose memory is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryMap {
    /// Seconds since 1970 at which it was measured.
    pub measured_at: u64,
    /// Bytes that were read of each node: far more than its caches hold.
    pub buffer: Bytes,
    /// Size of a base page.
    pub page_size: Bytes,
    /// The part of the buffers that lay on huge pages, 0 to 1.
    pub on_huge_pages: f64,
    /// The nodes with CPUs that this process may use, and how many threads they had: the rows.
    pub sources: Vec<Source>,
    /// The nodes with memory that this process may use: the columns.
    pub targets: Vec<NodeId>,
    /// With one thread alone.
    pub one_thread: Reading,
    /// A thread on each CPU of the reading node; the other nodes rest.
    pub all_threads: Reading,
    /// A thread on each CPU of all nodes.
    pub contention: Vec<Contention>,
    /// What the kernel refused or did otherwise, a sentence each.
    pub notes: Vec<String>,
}

/// A node whose CPUs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The number of the node.
    pub node: NodeId,
    /// How many of its CPUs this process may use.
    pub cpus: usize,
}

/// What reading takes: a row per source, a column per target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Nanoseconds per load where each load needs the one before (one cache line each, in random order).
    pub latency_ns: Vec<Vec<f64>>,
    /// Bytes per nanosecond (that is GB/s) of all threads together, line after line.
    pub bandwidth_gb_s: Vec<Vec<f64>>,
}

/// What all CPUs at once read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contention {
    /// Whose memory they read.
    pub memory: Banks,
    /// Nanoseconds per dependent load, on average over all threads.
    pub latency_ns: f64,
    /// GB/s of all threads together.
    pub bandwidth_gb_s: f64,
}

/// The memory that all CPUs read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Banks {
    /// Each CPU the memory of its own node.
    Own,
    /// All CPUs the memory of this node.
    One(NodeId),
    /// All CPUs pages that are spread over all nodes.
    Spread,
}
