//! An index in one piece, a *segment*, in the form in which the library shares one between processes (`bwa_shm.h`):
//! numbers, blocks and places of the FM-index, contigs, bases. The library itself fills it and takes it apart; zerohop
//! says where it lies. (The library's own place is one for all users, found by the name of a file without its folder.)

use crate::crashes::{Doing, said};
use crate::layout::{Fm, SEGMENT_MAGIC, SEGMENT_VERSION, SegmentHeader, SegmentPlan};
use crate::library_error::LibraryError;
use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::io;
use std::mem::{MaybeUninit, offset_of, size_of};
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use zerohop_memory::FileMapping;

/// Where a second segment of a file may begin.
const PAGE: u64 = 4096;

// As the build script compares them with the library's headers. The names of the last two are those of C++ functions,
// as the Itanium ABI spells them with their types: others do not link.
unsafe extern "C" {
    fn bwa_shm_compute(
        prefix: *const c_char,
        plan: *mut SegmentPlan,
        no_bases: bool,
        shift: c_int,
        threads: c_int,
    ) -> c_int;
    fn bwa_shm_pack_into(plan: *const SegmentPlan, place: *mut u8) -> c_int;
    fn bwa_shm_layout_free(plan: *mut SegmentPlan);
    #[link_name = "_ZN10FMI_search19load_index_from_shmEPhm"]
    fn load_index_from_shm(object: *mut Fm, start: *mut u8, bytes: usize);
    #[link_name = "_ZN8indexEle25bwa_idx_load_ele_from_shmEPhmb"]
    fn bwa_idx_load_ele_from_shm(object: *mut Fm, start: *mut u8, bytes: usize, has_bases: bool);
}

/// A segment that is to be filled.
pub(crate) struct NewSegment(Box<MaybeUninit<SegmentPlan>>);

impl NewSegment {
    /// That of the index whose files begin with `prefix`. Bases may be left out.
    ///
    /// # Errors
    /// Files that are not what the library expects; some end the process.
    pub(crate) fn of(prefix: &CStr, has_bases: bool, threads: usize) -> Result<Self, LibraryError> {
        /// Places are those of the file.
        const SHIFT: c_int = -1;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let mut plan = Box::new(MaybeUninit::zeroed());
        // SAFETY: the string is only read; the library fills the plan, which has its layout.
        let status = said(Doing::Loading, || unsafe {
            bwa_shm_compute(prefix.as_ptr(), plan.as_mut_ptr(), !has_bases, SHIFT, threads)
        });
        match status {
            0 => Ok(NewSegment(plan)),
            _ => Err(LibraryError::new("its files are not those of an index")),
        }
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> u64 {
        // SAFETY: the library has filled it, and zero is a value of all its fields.
        unsafe { self.0.assume_init_ref().bytes }
    }

    /// Fills it, at so many bytes from the beginning of a mapping that is written.
    ///
    /// # Errors
    /// A mapping that ends before it; what the library says. A file that ends early ends the process.
    pub(crate) fn fill(&self, map: &FileMapping, start: usize) -> Result<(), LibraryError> {
        if start as u64 + self.bytes() > map.bytes() as u64 {
            return Err(LibraryError::new("a copy is too short"));
        }
        // SAFETY: the library has filled the plan, and writes so many bytes, which are mapped. Whoever makes a copy
        // holds its lock alone, and has it to itself.
        let fill = || unsafe { bwa_shm_pack_into(self.0.as_ptr(), map.start().as_ptr().add(start)) };
        match said(Doing::Loading, fill) {
            0 => Ok(()),
            _ => Err(LibraryError::new("its files cannot be copied")),
        }
    }
}

impl Drop for NewSegment {
    fn drop(&mut self) {
        // SAFETY: the library has filled it, and nobody has it any more.
        unsafe { bwa_shm_layout_free(self.0.as_mut_ptr()) }
    }
}

/// Where the segments of a file lie: the first at its beginning, the second, if there is one, at the next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segments {
    first: u64,
    second: Option<u64>,
}

impl Segments {
    /// Segments of these lengths.
    pub(crate) fn new(first: u64, second: Option<u64>) -> Self {
        Segments { first, second }
    }

    /// Those at the beginning of a file, as their headers say; none if there are no such headers, or the file is
    /// shorter.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn read(file: &File, has_second: bool) -> io::Result<Option<Self>> {
        let Some(first) = length_at(file, 0)? else { return Ok(None) };
        let second = match has_second {
            true => match length_at(file, first.next_multiple_of(PAGE))? {
                None => return Ok(None),
                second => second,
            },
            false => None,
        };
        let segments = Segments { first, second };
        Ok((segments.end() as u64 <= file.metadata()?.len()).then_some(segments))
    }

    /// Bytes of the first.
    pub(crate) fn first(&self) -> usize {
        self.first as usize
    }

    /// Where the second begins, and its bytes.
    pub(crate) fn second(&self) -> Option<(usize, usize)> {
        self.second.map(|bytes| (self.first.next_multiple_of(PAGE) as usize, bytes as usize))
    }

    /// Where the last one ends.
    pub(crate) fn end(&self) -> usize {
        self.second().map_or(self.first(), |(start, bytes)| start + bytes)
    }
}

/// What the header of a segment says of its length.
fn length_at(file: &File, offset: u64) -> io::Result<Option<u64>> {
    let mut header = [0; size_of::<SegmentHeader>()];
    match file.read_exact_at(&mut header, offset) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let is_one = number(offset_of!(SegmentHeader, magic)) == SEGMENT_MAGIC
        && number(offset_of!(SegmentHeader, version)) as u32 == SEGMENT_VERSION;
    let bytes = number(offset_of!(SegmentHeader, bytes));
    // A terabyte is the library's limit.
    Ok(Some(bytes).filter(|bytes| is_one && (header.len() as u64..=1 << 40).contains(bytes)))
}

/// Has an object that was loaded from an outline read the segment of so many bytes at the beginning of a mapping, which
/// it unmaps in the end. What it has allocated, some hundred bytes, is not freed.
///
/// # Safety
/// `memory::object` has found it, nobody else has it, and nobody writes to the mapping any more.
pub(crate) unsafe fn attach(object: NonNull<Fm>, map: FileMapping, segment: usize, has_bases: bool) {
    let (start, bytes) = map.into_raw();
    // SAFETY: the caller's; the object is an `FMI_search`.
    unsafe {
        load_index_from_shm(object.as_ptr(), start.as_ptr(), bytes);
        attach_contigs(object, start, segment, has_bases);
    }
}

/// Has it read contigs, and bases if there are some, of this segment.
///
/// # Safety
/// As for [`attach`].
pub(crate) unsafe fn attach_contigs(object: NonNull<Fm>, start: NonNull<u8>, segment: usize, has_bases: bool) {
    // SAFETY: the caller's; an `FMI_search` begins with its `indexEle`.
    unsafe { bwa_idx_load_ele_from_shm(object.as_ptr(), start.as_ptr(), segment, has_bases) }
}
