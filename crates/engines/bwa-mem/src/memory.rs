//! Where the library keeps an index: it has no function that says so, and its objects are looked into.
//!
//! Objects of the library's headers are compared when this is compiled (`layout`). Those of the binding are in no
//! header: `Handle` is `BwaIndex` in `shim/bwa_shim.cpp`, `Shim` is `BwaShimIndex` in `shim/bwa_shim_align.cpp`, of
//! bwa-mem3-sys 0.4.4. They lead to an object with the path that it was loaded from: where that is not found, nothing
//! is believed.

use crate::fm::{self, OccurrenceBlock};
use crate::from_bwa::{FmArrays, Places};
use crate::layout::{Contigs, Fm};
use bwa_mem3_sys as sys;
use rayon::prelude::*;
use std::ffi::{CStr, c_char, c_void};
use std::mem::size_of;
use std::ptr::{NonNull, null_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::atomic::{AtomicU8, AtomicU32};

/// Bytes that are copied at once.
const COPIED: usize = 1 << 22;

#[repr(C)]
struct Handle {
    shim: *mut Shim,
}

#[repr(C)]
struct Shim {
    fm: *mut Fm,
    original: Original,
}

/// Contigs and bases of the reference itself, where the bases that are searched are converted ones; both or none.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Original {
    pub(crate) contigs: *mut Contigs,
    pub(crate) bases: *mut u8,
}

impl Original {
    /// None.
    pub(crate) const NONE: Original = Original { contigs: null_mut(), bases: null_mut() };
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
    // SAFETY: the caller's; nobody writes to the object while it is read.
    let fm = unsafe { object(index, prefix)?.as_ref() };
    if fm.text_and_sentinel < 1 {
        return None;
    }
    let bases = (fm.text_and_sentinel as u64 - 1) / 2;
    let [blocks, high, low] = fm::array_bytes(bases).map(|bytes| bytes as usize);
    // SAFETY: the path shows that this is the object; it owns its elements.
    let pac = unsafe { fm.elements.as_ref() }.map_or(std::ptr::null(), |elements| elements.bases.cast_const());
    let arrays = [
        (fm.blocks.cast(), blocks),
        (fm.high_bytes.cast(), high),
        (fm.low_words.cast(), low),
        (pac, bases as usize / 4 + 1),
    ];
    arrays.iter().all(|(array, _): &LibraryArray| !array.is_null()).then_some(arrays)
}

/// The object with the arrays of an index that was loaded from `prefix`; none if it is not where it is expected.
///
/// # Safety
/// As for [`ranges`].
pub(crate) unsafe fn object(index: *const sys::BwaIndex, prefix: &CStr) -> Option<NonNull<Fm>> {
    // SAFETY: both handles are blocks of `calloc` of these types; the object is one of `new`, as long as `Fm` at least.
    let object = unsafe { has_room::<Fm>(shim(index)?.as_ref().fm.cast())? };
    let path = prefix.to_bytes_with_nul().iter().map(|byte| *byte as c_char);
    // SAFETY: so many bytes are there.
    let has_path = unsafe { object.as_ref() }.path.iter().copied().take(prefix.count_bytes() + 1).eq(path);
    has_path.then_some(object)
}

/// Gives an index other contigs and bases of the reference itself. The library frees those that it has in the end.
///
/// # Safety
/// [`object`] was found of this index, and nobody else has it.
pub(crate) unsafe fn set_original(index: *const sys::BwaIndex, original: Original) {
    // SAFETY: the caller's.
    unsafe { shim(index).into_iter().for_each(|mut shim| shim.as_mut().original = original) }
}

/// Contigs and bases of an object; none if it lacks one of them.
///
/// # Safety
/// It is an object that [`object`] has found, and alive.
pub(crate) unsafe fn original(object: NonNull<Fm>) -> Option<Original> {
    // SAFETY: the caller's; the object owns its elements.
    let elements = unsafe { object.as_ref().elements.as_ref() }?;
    let has_both = !elements.contigs.is_null() && !elements.bases.is_null();
    has_both.then_some(Original { contigs: elements.contigs, bases: elements.bases })
}

/// Takes ALT contigs of an object for others.
///
/// # Safety
/// As for [`original`], and nobody else has it.
pub(crate) unsafe fn forget_alternates(object: NonNull<Fm>) {
    // SAFETY: the caller's; so many entries are there.
    unsafe {
        let Some(Original { contigs, .. }) = original(object) else { return };
        let count = usize::try_from((*contigs).count).unwrap_or(0);
        let all = if count == 0 { &mut [] } else { from_raw_parts_mut((*contigs).all, count) };
        all.iter_mut().for_each(|contig| contig.is_alternate = 0);
    }
}

/// # Safety
/// As for [`ranges`].
unsafe fn shim(index: *const sys::BwaIndex) -> Option<NonNull<Shim>> {
    // SAFETY: the handle is a block of `calloc` of this type, and leads to another one.
    unsafe { has_room::<Shim>(has_room::<Handle>(index.cast())?.as_ref().shim.cast()) }
}

/// What lies at `block`, if it is as long as a `T` at least.
///
/// # Safety
/// It is null or a block of `malloc` in use, and its bytes may be read as a `T`.
unsafe fn has_room<T>(block: *const c_void) -> Option<NonNull<T>> {
    let place = NonNull::new(block.cast_mut())?;
    // SAFETY: the caller's; the length is asked for before anything is read.
    unsafe { (libc::malloc_usable_size(place.as_ptr()) >= size_of::<T>()).then(|| place.cast()) }
}
