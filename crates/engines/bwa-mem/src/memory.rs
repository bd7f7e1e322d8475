//! Where the library keeps an index: it has no function that says so, and its objects are looked into.
//!
//! The layout is that of bwa-mem3-sys 0.4.4 (`BwaIndex` in `shim/bwa_shim.cpp`, `BwaShimIndex` in
//! `shim/bwa_shim_align.cpp`, `indexEle`, `FMI_search` and `bwaidx_fm_t` in `vendor/bwa-mem3/src`). The object holds
//! the path that it was loaded from: where that is not found, nothing is believed.

use crate::fm::{self, OccurrenceBlock};
use crate::from_bwa::{FmArrays, Places};
use bwa_mem3_sys as sys;
use rayon::prelude::*;
use std::ffi::{CStr, c_char, c_void};
use std::mem::size_of;
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::atomic::{AtomicU8, AtomicU32};

const PATH_MAX: usize = 4096;
/// Bytes that are copied at once.
const COPIED: usize = 1 << 22;

#[repr(C)]
struct Handle {
    shim: *const Shim,
}

#[repr(C)]
struct Shim {
    fm: *const Fm,
    _original: [*const c_void; 2],
}

#[repr(C)]
struct Fm {
    elements: *const Elements,
    text_and_sentinel: i64,
    _sentinel: i64,
    _sample_shift: i64,
    _sample_mask: i64,
    path: [c_char; PATH_MAX],
    _counts: [i64; 5],
    low_words: *const u32,
    high_bytes: *const i8,
    blocks: *const c_void,
    _shared: *const u8,
    _shared_bytes: usize,
}

#[repr(C)]
struct Elements {
    _contigs: *const c_void,
    bases: *const u8,
}

/// An array, and its bytes.
type LibraryArray = (*const u8, usize);

/// Addresses and bytes of the arrays of an index that was loaded from `prefix`; none if they are not where they are
/// expected.
///
/// # Safety
/// `index` was loaded by the library and is alive.
pub(crate) unsafe fn ranges(index: *const sys::BwaIndex, prefix: &CStr) -> Vec<(usize, usize)> {
    // SAFETY: the caller's.
    let arrays = unsafe { arrays(index, prefix) }.into_iter().flatten();
    arrays.map(|(array, bytes)| (array.addr(), bytes)).collect()
}

/// The arrays of an index that was loaded from `prefix`, to be written, and its bases, packed; none if they are not
/// where they are expected.
///
/// # Safety
/// `index` was loaded by the library, is alive for `'i`, and nobody else has it.
pub(crate) unsafe fn writable<'i>(index: *const sys::BwaIndex, prefix: &CStr) -> Option<(FmArrays<'i>, &'i [u8])> {
    // SAFETY: the caller's.
    let [blocks, high, low, pac] = unsafe { arrays(index, prefix) }?;
    let count = |array: LibraryArray, size: usize| array.1 / size;
    // SAFETY: the library has allocated and filled so many bytes, at multiples of 64, and nobody else writes to them;
    // atomic numbers have the form of numbers.
    unsafe {
        let places = Places {
            high: from_raw_parts(high.0.cast::<AtomicU8>(), high.1),
            low: from_raw_parts(low.0.cast::<AtomicU32>(), count(low, size_of::<AtomicU32>())),
        };
        let count = count(blocks, size_of::<OccurrenceBlock>());
        let blocks = from_raw_parts_mut(blocks.0.cast_mut().cast::<OccurrenceBlock>(), count);
        Some((FmArrays { blocks, places }, from_raw_parts(pac.0, pac.1)))
    }
}

/// Copies the arrays of an index, but for its bases, to another one of the same size, with the threads of this pool;
/// false if they are not where they are expected. Both are given with what they were loaded from.
///
/// # Safety
/// Both were loaded by the library and are alive, and nobody else has the one that is written to.
pub(crate) unsafe fn copy(from: (*const sys::BwaIndex, &CStr), to: (*const sys::BwaIndex, &CStr)) -> bool {
    // SAFETY: the caller's.
    let (Some(from), Some(to)) = (unsafe { (arrays(from.0, from.1), arrays(to.0, to.1)) }) else { return false };
    if from.map(|(_, bytes)| bytes) != to.map(|(_, bytes)| bytes) {
        return false;
    }
    for ((from, bytes), (to, _)) in from.into_iter().zip(to).take(3) {
        // SAFETY: the library has allocated and filled so many bytes of each; those of `from` are only read by all, and
        // nobody else has those of `to`.
        let (from, to) = unsafe { (from_raw_parts(from, bytes), from_raw_parts_mut(to.cast_mut(), bytes)) };
        to.par_chunks_mut(COPIED).zip(from.par_chunks(COPIED)).for_each(|(to, from)| to.copy_from_slice(from));
    }
    true
}

/// Blocks, high bytes and low words of places, and bases; none if they are not where they are expected.
///
/// # Safety
/// As for [`ranges`].
unsafe fn arrays(index: *const sys::BwaIndex, prefix: &CStr) -> Option<[LibraryArray; 4]> {
    // SAFETY: the caller's; `fm` reads only what was allocated.
    let fm = unsafe { fm(index) }?;
    let path = prefix.to_bytes_with_nul().iter().map(|byte| *byte as c_char);
    if !fm.path.iter().copied().take(prefix.count_bytes() + 1).eq(path) || fm.text_and_sentinel < 1 {
        return None;
    }
    let bases = (fm.text_and_sentinel as u64 - 1) / 2;
    let [blocks, high, low] = fm::array_bytes(bases).map(|bytes| bytes as usize);
    // SAFETY: the path shows that this is the object; it owns its elements.
    let pac = unsafe { fm.elements.as_ref() }.map_or(std::ptr::null(), |elements| elements.bases);
    let arrays = [
        (fm.blocks.cast(), blocks),
        (fm.high_bytes.cast(), high),
        (fm.low_words.cast(), low),
        (pac, bases as usize / 4 + 1),
    ];
    arrays.iter().all(|(array, _): &LibraryArray| !array.is_null()).then_some(arrays)
}

/// # Safety
/// As for [`ranges`].
unsafe fn fm<'i>(index: *const sys::BwaIndex) -> Option<&'i Fm> {
    // SAFETY: both handles are blocks of `calloc` of these types; the object is one of `new`, as long as `Fm` at least.
    unsafe {
        let shim = has_room::<Handle>(index.cast())?.shim;
        let object = has_room::<Shim>(shim.cast())?.fm;
        has_room::<Fm>(object.cast())
    }
}

/// What lies at `block`, if it is as long as a `T` at least.
///
/// # Safety
/// It is null or a block of `malloc` in use, and its bytes may be read as a `T`.
unsafe fn has_room<'b, T>(block: *const c_void) -> Option<&'b T> {
    if block.is_null() {
        return None;
    }
    // SAFETY: the caller's; the length is asked for before anything is read.
    unsafe { (libc::malloc_usable_size(block.cast_mut()) >= size_of::<T>()).then(|| &*block.cast::<T>()) }
}
