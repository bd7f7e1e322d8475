//! The kernel's memory policies, as raw system calls (`mbind(2)`, `set_mempolicy(2)`, `get_mempolicy(2)`,
//! `move_pages(2)`). There is no libnuma below.

use crate::{NodeMask, system};
use libc::c_int;
use std::io;

/// How pages are given out over the nodes of a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// On the node of the CPU that first writes (`MPOL_DEFAULT`); the mask does not matter.
    FirstTouch,
    /// On these nodes only (`MPOL_BIND`).
    Bind,
    /// In turn over these nodes (`MPOL_INTERLEAVE`).
    Interleave,
    /// On the node of the CPU that first writes, asked for expressly (`MPOL_LOCAL`); the mask does not matter. It holds
    /// against the policy of the thread, and the kernel's automatic balancing leaves such pages where they are.
    LocalAlloc,
}

impl Mode {
    fn number(self) -> c_int {
        match self {
            Self::FirstTouch => system::FIRST_TOUCH,
            Self::Bind => system::BIND,
            Self::Interleave => system::INTERLEAVE,
            Self::LocalAlloc => system::LOCAL,
        }
    }

    /// Whether it is a policy over nodes; the kernel refuses a mask with any node in it for the others.
    fn takes_nodes(self) -> bool {
        matches!(self, Self::Bind | Self::Interleave)
    }
}

/// The memory policy of a thread, which the threads that it spawns inherit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPolicy {
    /// Mode and flags as the kernel numbers them: also those that [`Mode`] has no name for can be put back.
    mode: c_int,
    mask: NodeMask,
}

impl TaskPolicy {
    /// A policy over these nodes.
    pub fn new(mode: Mode, mask: &NodeMask) -> Self {
        let mask = if mode.takes_nodes() { mask.clone() } else { NodeMask::EMPTY };
        Self { mode: mode.number(), mask }
    }

    /// The policy of the calling thread.
    ///
    /// # Errors
    /// What the kernel says: `EPERM` or `ENOSYS` in sandboxes and on kernels without NUMA.
    pub fn of_this_thread() -> io::Result<Self> {
        let mut result = Err(io::Error::from_raw_os_error(libc::EINVAL));
        // EINVAL means that the kernel could have more nodes than the mask has room for.
        for bits in [1 << 10, 1 << 12, 1 << 15] {
            result = Self::with_room(bits);
            if !matches!(&result, Err(error) if error.raw_os_error() == Some(libc::EINVAL)) {
                break;
            }
        }
        result
    }

    fn with_room(bits: usize) -> io::Result<Self> {
        let mut mask = NodeMask::with_room(bits);
        system::task_policy(&mut mask).map(|mode| Self { mode, mask })
    }

    /// Makes this the policy of the calling thread.
    ///
    /// # Errors
    /// `EINVAL` for nodes that are absent, without memory or outside the cpuset; `EPERM` or `ENOSYS` in sandboxes and
    /// on kernels without NUMA.
    pub fn set(&self) -> io::Result<()> {
        system::set_task_policy(self.mode, &self.mask)
    }
}

/// Sets the policy of a range of addresses. Pages that are already there stay where they are.
///
/// # Errors
/// As [`TaskPolicy::set`], and `EFAULT` when part of the range is not mapped.
pub fn bind_range(address: usize, bytes: usize, mode: Mode, mask: &NodeMask) -> io::Result<()> {
    let none = NodeMask::EMPTY;
    let mask = if mode.takes_nodes() { mask } else { &none };
    system::bind_range(address, bytes, mode.number(), mask)
}

/// Asks on which node each of these pages lies: `statuses[i]` becomes the node of `pages[i]`, or a negative error
/// number (`-ENOENT`: nothing there yet). Nothing is moved.
///
/// # Errors
/// `EPERM` or `ENOSYS` in sandboxes and on kernels without migration; then nothing is known.
pub fn nodes_of_pages(pages: &[usize], statuses: &mut [c_int]) -> io::Result<()> {
    system::nodes_of_pages(pages, statuses)
}
