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
    /// The nodes that have CPUs for us, and how many threads they had: the rows.
    pub sources: Vec<Source>,
    /// The nodes that have memory for us: the columns.
    pub targets: Vec<NodeId>,
    /// One thread.
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
    /// The node.
    pub node: NodeId,
    /// Its CPUs that we may use.
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
    /// Which memory.
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
    /// Each its own node's.
    Own,
    /// All the same node's.
    One(NodeId),
    /// Pages spread over all nodes.
    Spread,
}
