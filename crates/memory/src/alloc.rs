//! The allocator: large blocks as placed mappings, small ones by mimalloc.

use crate::exhausted::refuse;
use crate::{blocks, placement, region};
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::ptr::{self, NonNull};

/// Requests of this many bytes and more get a mapping of their own, which can be placed: 4 MiB, two huge pages. The
/// parts of an index are far larger, buffers of workers smaller.
pub const LARGE: usize = 4 << 20;

/// The global allocator of the program.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: zerohop_memory::PlacedAlloc = zerohop_memory::PlacedAlloc;
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct PlacedAlloc;

/// Whether a request is served by a mapping. By size alone: there is code that allocates with one alignment and frees
/// with another. Only alignments that no such code uses, and mappings do not have, are left to mimalloc.
fn is_large(size: usize, alignment: usize) -> bool {
    size >= LARGE && alignment <= region::ALIGNMENT
}

// SAFETY: blocks come either from mimalloc, which keeps the contract, or from a mapping of their own of at least the
// size asked for, aligned to 2 MiB, that stays until it is freed. Which of both it was follows from size and alignment,
// which callers must repeat. Nothing here allocates or unwinds.
unsafe impl GlobalAlloc for PlacedAlloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            return had(allocate(layout.size()), layout.size());
        }
        // SAFETY: the caller's promise (a size that is not 0) is the one that mimalloc needs.
        had(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            // A new mapping reads as zeros; writing them would also place the pages on this thread's node.
            return had(allocate(layout.size()), layout.size());
        }
        // SAFETY: as in `alloc`.
        had(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller owns `block`, which was allocated here with this layout and therefore the same way.
        unsafe {
            if is_large(layout.size(), layout.align()) {
                free(block, layout.size())
            } else {
                MiMalloc.dealloc(block, layout)
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let was_large = is_large(layout.size(), layout.align());
        let stays_large = was_large && is_large(new_size, layout.align());
        // SAFETY: the caller owns `block`, which was allocated here with this layout, and promises that the new size is
        // not 0 and fits a layout.
        unsafe {
            if stays_large {
                if let Some(resized) = resize(block, layout.size(), new_size) {
                    return resized;
                }
            } else if !was_large && !is_large(new_size, layout.align()) {
                return had(MiMalloc.realloc(block, layout, new_size), new_size);
            }
            self.copy_over(block, layout, new_size)
        }
    }
}

/// A block of `size` bytes, or what is returned in its place if it cannot be allocated.
fn had(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() { refuse(size) } else { block }
}

impl PlacedAlloc {
    /// Allocates anew, copies and frees.
    ///
    /// # Safety
    /// As for `realloc`.
    unsafe fn copy_over(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller owns `block` and keeps the promises of `realloc`; the copy is as long as the shorter of
        // both blocks, and a new block does not overlap an old one.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(new_size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

/// Maps a block under the calling thread's placement; null when there are no addresses or no memory left.
fn allocate(size: usize) -> *mut u8 {
    let mapping = region::mapped_bytes(size).and_then(|bytes| Some((region::map(bytes)?, bytes)));
    let Some((start, bytes)) = mapping else { return ptr::null_mut() };
    let address = start.as_ptr() as usize;
    blocks::remember(address, bytes, placement::settle(address, bytes));
    start.as_ptr()
}

/// # Safety
/// `block` was made by [`allocate`] or [`resize`] with this size, and nobody uses it any more.
unsafe fn free(block: *mut u8, size: usize) {
    // First out of the table, then unmapped: the other way round another thread's new block could get the address and
    // be taken out instead.
    blocks::forget(block as usize);
    // The size was rounded when it was mapped, so it can be again.
    let bytes = region::mapped_bytes(size).unwrap_or(0);
    // SAFETY: these are the whole pages that were mapped, and the caller gives them up.
    unsafe { region::release(block, bytes) }
}

/// Makes a large block shorter or longer without copying it. It keeps the placement that it was made under. `None` when
/// the kernel cannot; the block is then as before.
///
/// # Safety
/// `block` was made by [`allocate`] or [`resize`] with the size `old`, and the caller owns it.
unsafe fn resize(block: *mut u8, old: usize, new: usize) -> Option<*mut u8> {
    let (old_bytes, new_bytes) = (region::mapped_bytes(old)?, region::mapped_bytes(new)?);
    if new_bytes <= old_bytes {
        blocks::resize(block as usize, new_bytes);
        // SAFETY: the pages after the new end belong to the block and are not used any more.
        unsafe { region::release(block.add(new_bytes), old_bytes - new_bytes) };
        return Some(block);
    }
    let id = blocks::forget(block as usize);
    // SAFETY: the caller owns the block, which is a mapping of `old_bytes`.
    let grown = unsafe { region::grow(NonNull::new(block)?, old_bytes, new_bytes) };
    let (address, bytes) = grown.map_or((block as usize, old_bytes), |start| (start.as_ptr() as usize, new_bytes));
    match id {
        Some(id) => blocks::remember(address, bytes, id),
        None => blocks::remember_unknown(),
    }
    grown.map(NonNull::as_ptr)
}
