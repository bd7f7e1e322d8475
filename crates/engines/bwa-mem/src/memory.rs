//! Where the library keeps an index: it has no function that says so, and its objects are looked into.
//!
//! The layout is that of bwa-mem3-sys 0.4.4 (`BwaIndex` in `shim/bwa_shim.cpp`, `BwaShimIndex` in
//! `shim/bwa_shim_align.cpp`, `indexEle`, `FMI_search` and `bwaidx_fm_t` in `vendor/bwa-mem3/src`). The object holds
//! the path that it was loaded from: where that is not found, nothing is believed.

use crate::fm;
use bwa_mem3_sys as sys;
use std::ffi::{CStr, c_char, c_void};
use std::mem::size_of;

const PATH_MAX: usize = 4096;

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

/// Addresses and bytes of the arrays of an index that was loaded from `prefix`; none if they are not where they are
/// expected.
///
/// # Safety
/// `index` was loaded by the library and is alive.
pub(crate) unsafe fn ranges(index: *const sys::BwaIndex, prefix: &CStr) -> Vec<(usize, usize)> {
    // SAFETY: the caller's; `fm` reads only what was allocated.
    let Some(fm) = (unsafe { fm(index) }) else { return Vec::new() };
    let path = prefix.to_bytes_with_nul().iter().map(|byte| *byte as c_char);
    if !fm.path.iter().copied().take(prefix.count_bytes() + 1).eq(path) || fm.text_and_sentinel < 1 {
        return Vec::new();
    }
    let bases = (fm.text_and_sentinel as u64 - 1) / 2;
    let [blocks, high, low] = fm::array_bytes(bases).map(|bytes| bytes as usize);
    // SAFETY: the path shows that this is the object; it owns its elements.
    let pac = unsafe { fm.elements.as_ref() }.map_or(std::ptr::null(), |elements| elements.bases);
    let arrays = [
        (fm.blocks.addr(), blocks),
        (fm.high_bytes.addr(), high),
        (fm.low_words.addr(), low),
        (pac.addr(), bases as usize / 4 + 1),
    ];
    arrays.into_iter().filter(|(address, _)| *address != 0).collect()
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
