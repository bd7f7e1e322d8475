//! Files that many processes map, at addresses where huge pages can be used; and such files as vectors, for engines
//! that want their tables as `Vec`s.

use crate::alloc::LARGE;
use crate::{blocks, placement, region, system};
use std::fs::File;
use std::hint::black_box;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use zerohop_model::plan::HugePages;

/// A file from its beginning on, shared with all who map it.
#[derive(Debug)]
pub struct FileMapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is the process's, and what is read or written there is the caller's to decide.
unsafe impl Send for FileMapping {}

impl FileMapping {
    /// So many bytes, to be read.
    ///
    /// # Errors
    /// A file that is shorter; what the system says.
    pub fn read(file: &File, bytes: usize) -> io::Result<Self> {
        FileMapping::with(file, bytes, false)
    }

    /// So many bytes, to be read and written.
    ///
    /// # Errors
    /// A file that is shorter; what the system says.
    pub fn write(file: &File, bytes: usize) -> io::Result<Self> {
        FileMapping::with(file, bytes, true)
    }

    fn with(file: &File, bytes: usize, is_written: bool) -> io::Result<Self> {
        let whole = region::mapped_bytes(bytes).filter(|&whole| whole > 0).ok_or(io::ErrorKind::InvalidInput)?;
        if file.metadata()?.len() < bytes as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let start = region::map_file(file.as_raw_fd(), 0, whole, is_written)?;
        Ok(FileMapping { start, bytes })
    }

    /// Its address.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Moves its pages, of a file in memory, to huge pages, as far as they fill some; they stay on their nodes. Whoever
    /// maps the file then has them, too. Linux 6.1 and later do that (`MADV_COLLAPSE` of madvise(2)), whatever the
    /// options of the file system are.
    ///
    /// # Errors
    /// What the system says: an older kernel, no free huge pages. Some may have been moved.
    pub fn collapse(&self) -> io::Result<()> {
        // One by one: Linux 6.1 gives up behind the first of several.
        let each =
            (0..self.bytes / region::ALIGNMENT).map(|number| self.start.addr().get() + number * region::ALIGNMENT);
        // All are tried, whatever came of others; what is in use for a moment, again.
        let try_again = |address| {
            let once = || system::collapse(address, region::ALIGNMENT);
            once().or_else(|_| once()).or_else(|_| once())
        };
        each.map(try_again).fold(Ok(()), io::Result::and)
    }

    /// Has all its pages mapped, as [`populate`].
    pub fn populate(&self, threads: usize) {
        // SAFETY: so many bytes are mapped as long as there is the mapping; they are looked at one by one, as pages.
        populate(unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }, threads);
    }

    /// Its address and length, for someone else to unmap it (munmap(2)).
    pub fn into_raw(self) -> (NonNull<u8>, usize) {
        let mapping = ManuallyDrop::new(self);
        (mapping.start, mapping.bytes)
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        // SAFETY: these are whole pages of one mapping made here, and nobody has it any more.
        unsafe { region::release(self.start.as_ptr(), region::mapped_bytes(self.bytes).unwrap_or(self.bytes)) }
    }
}

/// Has the kernel map all pages of a block now, with so many threads, and not one by one when each is read first. What
/// is not mapped is not seen by a [census](crate::census) either.
pub fn populate(block: &[u8], threads: usize) {
    let most = block.len().div_ceil(threads.max(1)).next_multiple_of(region::ALIGNMENT).max(region::ALIGNMENT);
    std::thread::scope(|scope| {
        for part in block.chunks(most) {
            let thread = || std::thread::Builder::new().spawn_scoped(scope, || populate_part(part));
            // Where no more threads can be had, this one does it.
            if threads < 2 || thread().is_err() {
                populate_part(part);
            }
        }
    });
}

fn populate_part(part: &[u8]) {
    // Where the kernel is older, whoever reads a page has it mapped.
    if system::populate(part.as_ptr().addr(), part.len()).is_err() {
        part.iter().step_by(region::page_size()).for_each(|byte| {
            black_box(*byte);
        });
    }
}

/// `count` values of a file from `offset` on, mapped to be read. The mapping is counted as a block of the calling
/// thread's placement, and given back when the vector is dropped.
///
/// # Errors
/// `Unsupported` where such a vector would not be given back as it was got: [`PlacedAlloc`](crate::PlacedAlloc) is not
/// the global allocator, the vector is smaller than [`LARGE`], or the offset is not at a page; a file that is shorter;
/// what the system says.
///
/// # Safety
/// Any bytes are a `T`, which needs no dropping. The vector is never written, nor does its capacity change. While there
/// is it, nobody writes to this part of the file, nor makes the file shorter.
pub unsafe fn mapped<T: Copy>(file: &File, offset: u64, count: usize) -> io::Result<Vec<T>> {
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| bytes >= LARGE);
    let mapped = bytes.and_then(region::mapped_bytes);
    let at_page = offset.is_multiple_of(region::page_size() as u64) && align_of::<T>() <= region::page_size();
    let (Some(bytes), Some(mapped), true, true) = (bytes, mapped, at_page, is_global_allocator()) else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    if offset.checked_add(bytes as u64).is_none_or(|end| file.metadata().map_or(0, |m| m.len()) < end) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let start = region::map_file(file.as_raw_fd(), offset, mapped, false)?;
    // What the file cache does not have yet is read into huge pages then, where the file system has them; elsewhere
    // this does nothing.
    let _unknown = system::advise_huge_pages(start.as_ptr().addr(), mapped, HugePages::Auto);
    blocks::remember(start.as_ptr() as usize, mapped, placement::current_id());
    // SAFETY: `start` begins a mapping of `mapped_bytes(bytes)`, at a page, entered as a block: what `PlacedAlloc`,
    // which is the global allocator, makes for a layout of `bytes` bytes and this alignment, for `bytes` is at least
    // LARGE. So it takes the mapping back as a block of its own. All bytes are there (the file is as long), any bits
    // are a `T`, and nobody changes them (the caller's promises).
    Ok(unsafe { Vec::from_raw_parts(start.as_ptr().cast(), count, count) })
}

/// Whether large blocks of `Vec`s are ours.
fn is_global_allocator() -> bool {
    let block = black_box(Vec::<u8>::with_capacity(LARGE));
    blocks::is_known(block.as_ptr() as usize)
}
