//! Objects of bwa-mem3-sys 0.4.4 that zerohop looks into, by the names that they have here. The build script compares
//! them with the library's headers: with other objects zerohop does not compile. Where it does not find the headers it
//! says so, and a test fails (`kept`).

use std::ffi::{c_char, c_int, c_void};

/// Of `limits.h`.
pub const PATH_MAX: usize = if cfg!(target_os = "macos") { 1024 } else { 4096 };

/// `FMI_search`, which begins with an `indexEle`.
#[repr(C)]
pub struct Fm {
    pub elements: *mut Elements,
    pub text_and_sentinel: i64,
    pub sentinel: i64,
    pub sample_shift: i64,
    pub sample_mask: i64,
    pub path: [c_char; PATH_MAX],
    pub counts: [i64; 5],
    pub low_words: *const u32,
    pub high_bytes: *const i8,
    pub blocks: *const c_void,
    pub shared: *mut u8,
    pub shared_bytes: usize,
}

/// `bwaidx_fm_t`.
#[repr(C)]
pub struct Elements {
    pub contigs: *mut Contigs,
    pub bases: *mut u8,
    pub is_shared: c_int,
    pub bytes: i64,
    pub memory: *mut u8,
}

/// `bntseq_t`.
#[repr(C)]
pub struct Contigs {
    pub bases: i64,
    pub count: i32,
    pub seed: u32,
    pub all: *mut ContigEntry,
    pub hole_count: i32,
    pub holes: *mut c_void,
    pub file: *mut c_void,
    pub buckets: *mut i32,
}

/// `bntann1_t`.
#[repr(C)]
pub struct ContigEntry {
    pub offset: i64,
    pub length: i32,
    pub hole_count: i32,
    pub number: u32,
    pub is_alternate: i32,
    pub name: *mut c_char,
    pub comment: *mut c_char,
}

/// `bwa_shm_layout_t`: what a segment will hold, before it is made.
#[repr(C)]
pub struct SegmentPlan {
    pub prefix: [c_char; PATH_MAX],
    pub contigs: *mut c_void,
    pub text_and_sentinel: i64,
    pub counts: [i64; 5],
    pub sentinel: i64,
    pub sample_shift: i64,
    pub sample_shift_of_file: i64,
    pub threads: c_int,
    pub unpacked_bytes: i64,
    pub bytes: u64,
    pub section_count: u32,
    pub sections: [SegmentSection; 16],
}

/// `bwa_shm_section_t`.
#[repr(C)]
pub struct SegmentSection {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub bytes: u64,
    pub reserved: u64,
}

/// `bwa_shm_header_t`: the beginning of a segment.
#[repr(C)]
pub struct SegmentHeader {
    pub magic: u64,
    pub version: u32,
    pub section_count: u32,
    pub bytes: u64,
    pub reserved: [u64; 5],
}

/// `BWA_SHM_MAGIC` and `BWA_SHM_VERSION`.
pub const SEGMENT_MAGIC: u64 = u64::from_le_bytes(*b"BWAMEM2\0");
pub const SEGMENT_VERSION: u32 = 2;
