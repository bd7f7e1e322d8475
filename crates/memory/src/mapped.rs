//! Files in memory as vectors, for those who take nothing else: an engine that wants its tables as `Vec`s can have them
//! in a file that many processes map.

use crate::alloc::LARGE;
use crate::{blocks, placement, region};
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::fd::AsRawFd;

/// `count` words of a file from `offset` on, mapped to be read. The mapping is counted as a block of the calling
/// thread's placement, and given back when the vector is dropped.
///
/// # Errors
/// `Unsupported` where such a vector would not be given back as it was got: [`PlacedAlloc`](crate::PlacedAlloc) is not
/// the global allocator, the vector is smaller than [`LARGE`], or the offset is not at a page; a file that is shorter;
/// what the system says.
///
/// # Safety
/// The vector is never written, nor does its capacity change. While there is it, nobody writes to this part of the
/// file, nor makes the file shorter.
pub unsafe fn mapped_words(file: &File, offset: u64, count: usize) -> io::Result<Vec<u64>> {
    let bytes = count.checked_mul(size_of::<u64>()).filter(|&bytes| bytes >= LARGE);
    let mapped = bytes.and_then(region::mapped_bytes);
    let at_page = offset.is_multiple_of(region::page_size() as u64);
    let (Some(bytes), Some(mapped), true, true) = (bytes, mapped, at_page, is_global_allocator()) else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    if offset.checked_add(bytes as u64).is_none_or(|end| file.metadata().map_or(0, |m| m.len()) < end) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let start = region::map_file(file.as_raw_fd(), offset, mapped)?;
    blocks::remember(start.as_ptr() as usize, mapped, placement::current_id());
    // SAFETY: `start` begins a mapping of `mapped_bytes(bytes)`, entered as a block: what `PlacedAlloc`, which is the
    // global allocator, makes for a layout of `bytes` bytes and the alignment of u64, for `bytes` is at least LARGE. So
    // it takes the mapping back as a block of its own. All bytes are there (the file is as long), any bits are a u64,
    // and nobody changes them (the caller's promise).
    Ok(unsafe { Vec::from_raw_parts(start.as_ptr().cast(), count, count) })
}

/// Whether large blocks of `Vec`s are ours.
fn is_global_allocator() -> bool {
    let block = black_box(Vec::<u8>::with_capacity(LARGE));
    blocks::is_known(block.as_ptr() as usize)
}
