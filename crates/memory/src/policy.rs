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
    /// On these nodes as long as they have free memory, the nearest of them first, and then on others (`MPOL_PREFERRED`
    /// for one node, `MPOL_PREFERRED_MANY` for several). `MPOL_BIND` would have the kernel kill the process instead.
    ///
    /// A kernel before 5.15 has no preference for several nodes: then pages lie as with
    /// [`LocalAlloc`](Self::LocalAlloc).
    Prefer,
    /// In turn over these nodes (`MPOL_INTERLEAVE`).
    Interleave,
    /// On the node of the CPU that first writes, asked for expressly (`MPOL_LOCAL`); the mask does not matter. It holds
    /// against the policy of the thread, and the kernel's automatic balancing leaves such pages where they are.
    LocalAlloc,
}

impl Mode {
    fn number(self, mask: &NodeMask) -> c_int {
        match self {
            Self::FirstTouch => system::FIRST_TOUCH,
            // Of no node at all PREFER would make a policy that takes none.
            Self::Prefer if mask.nodes().len() == 1 => system::PREFER,
            Self::Prefer => system::PREFER_MANY,
            Self::Interleave => system::INTERLEAVE,
            Self::LocalAlloc => system::LOCAL,
        }
    }

    /// Whether it is a policy over nodes; the kernel refuses a mask with any node in it for the others.
    fn takes_nodes(self) -> bool {
        matches!(self, Self::Prefer | Self::Interleave)
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
        Self { mode: mode.number(&mask), mask }
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
        set_over(self.mode, &self.mask, system::set_task_policy)
    }
}

/// Sets the policy of a range of addresses. Pages that are already there stay where they are.
///
/// # Errors
/// As [`TaskPolicy::set`], and `EFAULT` when part of the range is not mapped.
pub fn bind_range(address: usize, bytes: usize, mode: Mode, mask: &NodeMask) -> io::Result<()> {
    let none = NodeMask::EMPTY;
    let mask = if mode.takes_nodes() { mask } else { &none };
    set_over(mode.number(mask), mask, |mode, mask| system::bind_range(address, bytes, mode, mask))
}

/// Sets a policy over nodes. If the kernel does not know how to prefer several of them, but would take a policy over
/// them, memory is local to the thread that writes.
fn set_over(mode: c_int, mask: &NodeMask, set: impl Fn(c_int, &NodeMask) -> io::Result<()>) -> io::Result<()> {
    match set(mode, mask) {
        Err(error) if mode == system::PREFER_MANY && error.raw_os_error() == Some(libc::EINVAL) => {
            // It says whether it was the mode that was wrong, or the nodes.
            set(system::INTERLEAVE, mask)?;
            set(system::LOCAL, &NodeMask::EMPTY)
        }
        other => other,
    }
}

/// Asks on which node each of these pages lies: `statuses[i]` becomes the node of `pages[i]`, or a negative error
/// number (`-ENOENT`: nothing there yet). Nothing is moved.
///
/// # Errors
/// `EPERM` or `ENOSYS` in sandboxes and on kernels without migration; then nothing is known.
pub fn nodes_of_pages(pages: &[usize], statuses: &mut [c_int]) -> io::Result<()> {
    system::nodes_of_pages(pages, statuses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use zerohop_model::machine::NodeId;

    /// What is set by a kernel that does not know these modes, and has nodes 0 to 7.
    fn set_without(unknown: &[c_int], nodes: &[NodeId]) -> (Vec<c_int>, bool) {
        let (mask, set) = (NodeMask::new(nodes), RefCell::new(Vec::new()));
        let kernel = |mode: c_int, mask: &NodeMask| {
            let is_absent = mask.nodes().iter().any(|node| node.0 > 7);
            if unknown.contains(&mode) || is_absent {
                return Err(io::Error::from_raw_os_error(libc::EINVAL));
            }
            set.borrow_mut().push(mode);
            Ok(())
        };
        let is_set = set_over(Mode::Prefer.number(&mask), &mask, kernel).is_ok();
        (set.into_inner(), is_set)
    }

    #[test]
    fn nodes_are_preferred_and_where_the_kernel_cannot_memory_is_local() {
        let many = [system::PREFER_MANY];
        let [one, two, absent] = [&[NodeId(3)][..], &[NodeId(3), NodeId(4)], &[NodeId(3), NodeId(9)]];
        assert_eq!(set_without(&[], one), (vec![system::PREFER], true));
        assert_eq!(set_without(&[], two), (vec![system::PREFER_MANY], true));
        assert_eq!(set_without(&many, one), (vec![system::PREFER], true));
        assert_eq!(set_without(&many, two), (vec![system::INTERLEAVE, system::LOCAL], true));
        assert_eq!(set_without(&many, absent), (vec![], false), "absent nodes are refused");
    }
}
