//! Reads the machine this process runs on, and pins threads to its CPUs.
//!
//! The result is a [`Machine`](zerohop_model::machine::Machine): plain data that a planner takes without knowing where
//! it came from. Everything is read from `/sys` and `/proc` and asked of the kernel through `libc`; there is no library
//! below.
//!
//! The path of [`detect`]:
//!
//! 1. `sysfs` opens files under a root directory. It is `/` for the live machine, and any copy or made-up tree for
//!    [`detect_under`].
//! 2. `nodes` lists the online NUMA nodes with their online CPUs, their memory and the firmware's distances. A kernel
//!    that knows no nodes counts as one node with everything on it.
//! 3. `caches` adds up the caches of all online CPUs, `cores` says which of these are hardware threads of one core.
//! 4. `cgroup` walks from the process's control group to the root, for version 1 and 2, and keeps the tightest limits.
//! 5. `allowed` intersects affinity mask, cpuset and limits: what this process may use.
//! 6. `bare` asks the kernel for memory and name where neither `/sys` nor `/proc` has them.
//! 7. [`describe`] turns the whole into the text of `zerohop topo`.
//!
//! The description of another machine is read from a file: [`from_hwloc_xml`] takes what `lstopo --of xml` wrote there,
//! and [`check_described`] refuses descriptions of machines that cannot be.
//!
//! macOS has no `/sys`, no `/proc` and no affinities: `system` has what differs from Linux.
//!
//! A child process inherits CPUs ([`Pinned`]) and memory policy from the thread that spawns it. `room` says how much
//! space a file system has left.
//!
//! What it refuses to do: guess speeds from distances, plan, or correct what the kernel says, with one exception.
//! Memory sizes of nodes that contradict the machine's total are scaled to it: virtual machines with plugged-in memory
//! report nodes far too small.

mod affinity;
mod allowed;
mod bare;
mod busy;
mod caches;
mod cgroup;
mod clock;
mod cores;
pub mod cpulist;
mod describe;
mod described;
mod detect;
mod error;
#[cfg(test)]
mod fixtures;
mod hwloc;
mod limits;
mod meminfo;
mod nodes;
mod room;
mod sysfs;
mod system;

pub use affinity::{Pinned, current_affinity, pin_current_thread};
pub use bare::{host_name, unknown};
pub use busy::{Others, busy_time};
pub use clock::{cpu_time, cpu_times, monotonic_time, peak_memory, thread_cpu_time};
pub use describe::describe;
pub use described::{DescriptionError, check_described};
pub use detect::{detect, detect_under, memory_group};
pub use error::TopologyError;
pub use hwloc::{HwlocError, from_hwloc_xml};
pub use limits::{MemoryBound, memory_bound};
pub use room::{allocate, free_bytes};
