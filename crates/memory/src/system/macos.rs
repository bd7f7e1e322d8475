//! macOS: its memory is one node, so all of it lies where it is wanted; the kernel chooses the size of pages.

use crate::NodeMask;
use libc::{c_char, c_int};
use std::io;
use std::ptr::{self, NonNull};
use zerohop_model::plan::HugePages;

/// Numbers of memory policies, between which there is no difference here.
pub(crate) const FIRST_TOUCH: c_int = 0;
pub(crate) const PREFER: c_int = 0;
pub(crate) const PREFER_MANY: c_int = 0;
pub(crate) const INTERLEAVE: c_int = 0;
pub(crate) const LOCAL: c_int = 0;

/// The memory policy of the calling thread.
pub(crate) fn task_policy(_: &mut NodeMask) -> io::Result<c_int> {
    Ok(FIRST_TOUCH)
}

/// Changes nothing.
pub(crate) fn set_task_policy(_: c_int, _: &NodeMask) -> io::Result<()> {
    Ok(())
}

/// Changes nothing.
pub(crate) fn bind_range(_: usize, _: usize, _: c_int, _: &NodeMask) -> io::Result<()> {
    Ok(())
}

/// Node 0 for each page that is there (`mincore(2)`).
pub(crate) fn nodes_of_pages(pages: &[usize], statuses: &mut [c_int]) -> io::Result<()> {
    for (&page, status) in pages.iter().zip(statuses) {
        let mut told: c_char = 0;
        // SAFETY: for less than a page the kernel writes one byte, for which there is room; it does not touch the page.
        let answer = unsafe { libc::mincore(ptr::without_provenance(page), 1, &raw mut told) };
        *status = if answer == 0 && told != 0 { 0 } else { -libc::ENOENT };
    }
    Ok(())
}

/// Mappings neither grow nor move.
///
/// # Safety
/// None is needed: it does nothing.
pub(crate) unsafe fn grow(
    _: NonNull<u8>,
    _: usize,
    _: usize,
    _: impl FnOnce() -> Option<NonNull<u8>>,
) -> Option<NonNull<u8>> {
    None
}

/// Changes nothing.
pub(crate) fn advise_huge_pages(_: usize, _: usize, _: HugePages) -> io::Result<()> {
    Ok(())
}

/// Pages are mapped when they are read first.
pub(crate) fn populate(_: usize, _: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// macOS has no huge pages.
pub(crate) fn collapse(_: usize, _: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// macOS has no huge pages to ask for.
pub(crate) fn huge_pages_are_allowed() -> bool {
    false
}

/// Changes nothing.
pub(crate) fn switch_huge_pages(_: HugePages) -> io::Result<()> {
    Ok(())
}
