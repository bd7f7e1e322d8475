//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// Why the machine could not be read or a thread not be pinned.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// A text is not a list such as `0-3,8`.
    #[error("'{text}' is not a list of CPUs or nodes: {reason}")]
    List {
        /// The text as it was read.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file holds something else than what the kernel documents for it.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No CPU is online as far as `/sys` and `/proc` tell.
    #[error("{0}: no online CPU found under sys/devices/system/cpu, nor in proc/self/status")]
    NoCpus(PathBuf),
    /// The kernel refused the affinity mask (`sched_setaffinity(2)`): the CPUs are offline or outside the cpuset.
    #[error("cannot pin this thread to CPU {cpus}: {source}")]
    Pin {
        /// The wanted CPUs as a list.
        cpus: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel did not tell the affinity mask (`sched_getaffinity(2)`).
    #[error("cannot read the CPU affinity of this thread: {0}")]
    Affinity(io::Error),
}
