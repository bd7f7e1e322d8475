//! Anonymous mappings that begin at a huge page.
//!
//! Only the start is aligned; the end is rounded up to a base page, so that a block of five MiB takes five and not six.

use crate::system;
use libc::{c_int, c_void};
use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What starts are aligned to: a huge page of x86 and of Arm with base pages of 4 KiB.
pub(crate) const ALIGNMENT: usize = 2 << 20;

/// Bytes of the mapping that holds `size` bytes: whole base pages. `None` where that overflows.
pub(crate) fn mapped_bytes(size: usize) -> Option<usize> {
    round_up(size, page_size())
}

fn round_up(size: usize, granule: usize) -> Option<usize> {
    Some(size.checked_add(granule - 1)? & !(granule - 1))
}

/// The base page size. Asked once: the allocator needs it at every large block.
pub(crate) fn page_size() -> usize {
    static PAGE_SIZE: AtomicUsize = AtomicUsize::new(0);
    let known = PAGE_SIZE.load(Relaxed);
    if known != 0 {
        return known;
    }
    // SAFETY: sysconf takes no pointers and may be called at any time.
    let asked = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    PAGE_SIZE.store(asked, Relaxed);
    asked
}

/// Maps `bytes` (whole pages) of zeros, aligned to [`ALIGNMENT`].
pub(crate) fn map(bytes: usize) -> Option<NonNull<u8>> {
    map_with(bytes, libc::PROT_READ | libc::PROT_WRITE)
}

/// The gaps before and after the aligned part of a mapping that is larger than needed.
#[derive(Debug, PartialEq, Eq)]
struct Trim {
    before: usize,
    after: usize,
}

fn trim(address: usize, mapped: usize, wanted: usize) -> Trim {
    let before = address.wrapping_neg() & (ALIGNMENT - 1);
    Trim { before, after: mapped - before - wanted }
}

fn map_with(bytes: usize, protection: c_int) -> Option<NonNull<u8>> {
    // One page less than the alignment is the most that can lie before an aligned start.
    let mapped = bytes.checked_add(ALIGNMENT - page_size())?;
    // SAFETY: a new private mapping at an address of the kernel's choice touches no memory that exists.
    let start =
        unsafe { libc::mmap(ptr::null_mut(), mapped, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start = start.cast::<u8>();
    let Trim { before, after } = trim(start as usize, mapped, bytes);
    // SAFETY: `before + bytes + after` is the length of the mapping just made, so both pointers lie in it or at its
    // end; nobody else knows these parts yet.
    unsafe {
        release(start, before);
        release(start.add(before + bytes), after);
        NonNull::new(start.add(before))
    }
}

/// Maps `bytes` (whole pages) of a file from `offset` (a page) on, to be read, or written too, and shared with all who
/// map it. Address and offset agree in what lies below a huge page, without which none can be used.
pub(crate) fn map_file(file: c_int, offset: u64, bytes: usize, is_written: bool) -> io::Result<NonNull<u8>> {
    let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
    let before = (offset % ALIGNMENT as u64) as usize;
    let start = bytes.checked_add(before).and_then(|reserved| map_with(reserved, libc::PROT_NONE));
    let start = start.ok_or_else(no_memory)?;
    // SAFETY: `before` is less than what was reserved.
    let place = unsafe { start.add(before) };
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    let protection = libc::PROT_READ | if is_written { libc::PROT_WRITE } else { 0 };
    // SAFETY: `bytes` from `place` on are the end of what was reserved just now; nobody else knows of it.
    let answer = unsafe { libc::mmap(place.as_ptr().cast(), bytes, protection, flags, file, offset as libc::off_t) };
    if answer == libc::MAP_FAILED {
        // As in `grow`, what was reserved costs addresses, and may be another's by now.
        return Err(io::Error::last_os_error());
    }
    // SAFETY: these pages were reserved just now, and the file begins behind them.
    unsafe { release(start.as_ptr(), before) };
    Ok(place)
}

/// Gives a range back to the kernel.
///
/// # Safety
/// The range consists of whole pages of one mapping made here, and nobody uses them any more.
pub(crate) unsafe fn release(start: *mut u8, bytes: usize) {
    if bytes == 0 {
        return;
    }
    // SAFETY: the caller owns the range and does not use it any more.
    unsafe {
        // The kernel refuses when the process has too many mappings for one more to be split. Then the addresses are
        // lost, but the memory behind them is given back.
        if libc::munmap(start.cast::<c_void>(), bytes) != 0 {
            libc::madvise(start.cast::<c_void>(), bytes, libc::MADV_DONTNEED);
        }
    }
}

/// Grows a mapping, in place or by moving its pages (not their contents) elsewhere; policy and advice move with it.
///
/// On success the old address is not valid any more unless it is the one returned; on failure all is as before.
///
/// # Safety
/// `start` and `old_bytes` (whole pages) are a mapping made here, which the caller owns.
pub(crate) unsafe fn grow(start: NonNull<u8>, old_bytes: usize, new_bytes: usize) -> Option<NonNull<u8>> {
    // The kernel's own choice of a new address would not be aligned: one is reserved and the pages moved on to it.
    let reserve = || map_with(new_bytes, libc::PROT_NONE);
    // SAFETY: the caller owns the range; what is reserved is as long as it is to become, and nobody else knows it.
    unsafe { system::grow(start, old_bytes, new_bytes, reserve) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rounding() {
        assert_eq!(round_up(0, 4096), Some(0));
        assert_eq!(round_up(1, 4096), Some(4096));
        assert_eq!(round_up(4096, 4096), Some(4096));
        assert_eq!(round_up(usize::MAX, 4096), None);
    }

    proptest! {
        #[test]
        fn trimming_leaves_an_aligned_start(page in 1usize..1 << 30, pages in 1usize..10_000) {
            let (address, bytes) = (page * 4096, pages * 4096);
            let mapped = bytes + ALIGNMENT - 4096;
            let Trim { before, after } = trim(address, mapped, bytes);
            prop_assert_eq!((address + before) % ALIGNMENT, 0);
            prop_assert_eq!(before + bytes + after, mapped);
            prop_assert!(before < ALIGNMENT);
        }
    }
}
