//! Linux: the system calls by which memory gets its place, and its pages their size.

use crate::NodeMask;
use libc::{c_int, c_long, c_ulong, c_void};
use std::io;
use std::ptr::{self, NonNull};
use zerohop_model::plan::HugePages;

/// The kernel's numbers of memory policies.
pub(crate) const FIRST_TOUCH: c_int = libc::MPOL_DEFAULT;
pub(crate) const PREFER: c_int = libc::MPOL_PREFERRED;
/// Since Linux 5.15 (`include/uapi/linux/mempolicy.h`).
pub(crate) const PREFER_MANY: c_int = 5;
pub(crate) const INTERLEAVE: c_int = libc::MPOL_INTERLEAVE;
pub(crate) const LOCAL: c_int = libc::MPOL_LOCAL;

/// The memory policy of the calling thread, with the nodes written to a mask (`get_mempolicy(2)`). `EINVAL` when the
/// kernel could have more nodes than the mask has room for.
pub(crate) fn task_policy(mask: &mut NodeMask) -> io::Result<c_int> {
    let mut mode: c_int = 0;
    // SAFETY: the kernel writes one c_int to `mode` and at most `maxnode - 1` bits to the mask, which is the room that
    // it has; both live until the call returns. The address is not used without MPOL_F_ADDR.
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
    done(answer).map(|()| mode)
}

/// Sets the memory policy of the calling thread (`set_mempolicy(2)`).
pub(crate) fn set_task_policy(mode: c_int, mask: &NodeMask) -> io::Result<()> {
    // SAFETY: the kernel reads `maxnode - 1` bits of the mask, which is what it has.
    done(unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), mask.maxnode()) })
}

/// Sets the policy of a range of addresses (`mbind(2)`).
pub(crate) fn bind_range(address: usize, bytes: usize, mode: c_int, mask: &NodeMask) -> io::Result<()> {
    // SAFETY: the kernel reads `maxnode - 1` bits of the mask, which is what it has. It does not touch the range
    // itself: a policy has no effect on what the memory holds, whoever owns it.
    done(unsafe { libc::syscall(libc::SYS_mbind, address, bytes, mode, mask.as_ptr(), mask.maxnode(), 0 as c_ulong) })
}

/// Asks on which node each of these pages lies (`move_pages(2)`).
pub(crate) fn nodes_of_pages(pages: &[usize], statuses: &mut [c_int]) -> io::Result<()> {
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

/// Grows a mapping, in place or by moving its pages (not their contents) elsewhere; policy and advice move with it.
///
/// On success the old address is not valid any more unless it is the one returned; on failure all is as before.
///
/// # Safety
/// `start` and `old_bytes` (whole pages) are a mapping, which the caller owns. What `reserve` gives is as long as it is
/// to become, and nobody else knows it.
pub(crate) unsafe fn grow(
    start: NonNull<u8>,
    old_bytes: usize,
    new_bytes: usize,
    reserve: impl FnOnce() -> Option<NonNull<u8>>,
) -> Option<NonNull<u8>> {
    // SAFETY: the caller owns the range; without MREMAP_MAYMOVE it stays valid whatever the outcome.
    let answer = unsafe { libc::mremap(start.as_ptr().cast(), old_bytes, new_bytes, 0) };
    if answer != libc::MAP_FAILED {
        return Some(start);
    }
    let target = reserve()?;
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // The system call itself, for UCX, which MPICH and OpenMPI bring along, puts a function of four arguments in the
    // place of the C library's mremap, and the pages would go to address 0. What UCX does not learn here is that the
    // old addresses are free: it must know that of memory that was sent, which never grows after.
    // SAFETY: the caller owns the old range; the target was reserved with `new_bytes` and nobody else knows it.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mremap,
            start.as_ptr(),
            old_bytes,
            new_bytes,
            libc::c_long::from(flags),
            target.as_ptr(),
        )
    };
    // On failure the kernel may already have unmapped the target, and another thread's mapping be there by now: it must
    // not be unmapped again. An untouched reservation costs nothing but addresses.
    (answer != -1).then_some(target)
}

/// Asks for huge pages in a range, or forbids them.
pub(crate) fn advise_huge_pages(address: usize, bytes: usize, huge_pages: HugePages) -> io::Result<()> {
    let advice = match huge_pages {
        HugePages::Auto => libc::MADV_HUGEPAGE,
        HugePages::Off => libc::MADV_NOHUGEPAGE,
    };
    // SAFETY: these two kinds of advice change the size of pages, never what they hold, whoever owns the range.
    let answer = unsafe { libc::madvise(ptr::without_provenance_mut(address), bytes, advice) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Maps the pages of a range that begins at one. Linux before 5.14 cannot.
pub(crate) fn populate(address: usize, bytes: usize) -> io::Result<()> {
    /// Of the kernel's mman-common.h.
    const MADV_POPULATE_READ: c_int = 22;
    // SAFETY: this advice reads pages, whoever owns the range.
    let answer = unsafe { libc::madvise(ptr::without_provenance_mut(address), bytes, MADV_POPULATE_READ) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Moves pages of a file in memory to huge pages.
pub(crate) fn collapse(address: usize, bytes: usize) -> io::Result<()> {
    /// Of the kernel's mman-common.h, since Linux 6.1.
    const MADV_COLLAPSE: c_int = 25;
    // SAFETY: this advice changes the size of pages, never what they hold, whoever owns the range.
    let answer = unsafe { libc::madvise(ptr::without_provenance_mut(address), bytes, MADV_COLLAPSE) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether this process may get huge pages (prctl(2)).
pub(crate) fn huge_pages_are_allowed() -> bool {
    let none: libc::c_ulong = 0;
    // SAFETY: the call takes numbers alone, and changes nothing.
    unsafe { libc::prctl(libc::PR_GET_THP_DISABLE, none, none, none, none) == 0 }
}

/// Whether this process gets huge pages where it, or a library in it, asks for them (prctl(2)).
pub(crate) fn switch_huge_pages(huge_pages: HugePages) -> io::Result<()> {
    let disable = libc::c_ulong::from(huge_pages == HugePages::Off);
    let none: libc::c_ulong = 0;
    // SAFETY: the call takes numbers alone, and changes the size of pages that are yet to come.
    let answer = unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, disable, none, none, none) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl NodeMask {
    /// The words, for the kernel to read.
    fn as_ptr(&self) -> *const c_ulong {
        self.words.as_ptr()
    }

    /// The words, for the kernel to write.
    fn as_mut_ptr(&mut self) -> *mut c_ulong {
        self.words.as_mut_ptr()
    }

    /// `maxnode` for system calls: the kernel takes one off before it counts words (`mbind(2)`, "Bugs" of old; it never
    /// changed), so without the one more it would not look at the last bit.
    fn maxnode(&self) -> c_ulong {
        (self.words.len() * c_ulong::BITS as usize + 1) as c_ulong
    }
}

fn done(answer: c_long) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
