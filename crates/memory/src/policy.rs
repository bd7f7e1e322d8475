//! The kernel's memory policies, as raw system calls (`mbind(2)`, `set_mempolicy(2)`, `get_mempolicy(2)`,
//! `move_pages(2)`). There is no libnuma below.

use crate::NodeMask;
use libc::{c_int, c_long, c_ulong, c_void};
use std::io;
use std::ptr;

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
            Self::FirstTouch => libc::MPOL_DEFAULT,
            Self::Bind => libc::MPOL_BIND,
            Self::Interleave => libc::MPOL_INTERLEAVE,
            Self::LocalAlloc => libc::MPOL_LOCAL,
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
        let (mut mode, mut mask): (c_int, _) = (0, NodeMask::with_room(bits));
        // SAFETY: the kernel writes one c_int to `mode` and at most `maxnode - 1` bits to the mask, which is the room
        // that it has; both live until the call returns. The address is not used without MPOL_F_ADDR.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_get_mempolicy,
                &raw mut mode,
                mask.as_mut_ptr(),
                mask.maxnode(),
                ptr::null_mut::<c_void>(),
                0 as c_ulong,
            )
        };
        done(answer).map(|()| Self { mode, mask })
    }

    /// Makes this the policy of the calling thread.
    ///
    /// # Errors
    /// `EINVAL` for nodes that are absent, without memory or outside the cpuset; `EPERM` or `ENOSYS` in sandboxes and
    /// on kernels without NUMA.
    pub fn set(&self) -> io::Result<()> {
        // SAFETY: the kernel reads `maxnode - 1` bits of the mask, which is what it has.
        done(unsafe { libc::syscall(libc::SYS_set_mempolicy, self.mode, self.mask.as_ptr(), self.mask.maxnode()) })
    }
}

/// Sets the policy of a range of addresses. Pages that are already there stay where they are.
///
/// # Errors
/// As [`TaskPolicy::set`], and `EFAULT` when part of the range is not mapped.
pub fn bind_range(address: usize, bytes: usize, mode: Mode, mask: &NodeMask) -> io::Result<()> {
    let none = NodeMask::EMPTY;
    let mask = if mode.takes_nodes() { mask } else { &none };
    // SAFETY: the kernel reads `maxnode - 1` bits of the mask, which is what it has. It does not touch the range
    // itself: a policy has no effect on what the memory holds, whoever owns it.
    done(unsafe {
        libc::syscall(libc::SYS_mbind, address, bytes, mode.number(), mask.as_ptr(), mask.maxnode(), 0 as c_ulong)
    })
}

/// Asks on which node each of these pages lies: `statuses[i]` becomes the node of `pages[i]`, or a negative error
/// number (`-ENOENT`: nothing there yet). Nothing is moved.
///
/// # Errors
/// `EPERM` or `ENOSYS` in sandboxes and on kernels without migration; then nothing is known.
pub fn nodes_of_pages(pages: &[usize], statuses: &mut [c_int]) -> io::Result<()> {
    let count = pages.len().min(statuses.len());
    // SAFETY: the kernel reads `count` addresses and writes `count` c_ints, and both slices have as many. It does not
    // touch the pages, and as the array of wanted nodes is null it moves none.
    done(unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0 as c_int,
            count as c_ulong,
            pages.as_ptr(),
            ptr::null::<c_int>(),
            statuses.as_mut_ptr(),
            0 as c_int,
        )
    })
}

fn done(answer: c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
