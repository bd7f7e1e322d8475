//! The library bwa-mem3 by itself: maps pairs that lie in memory, whole cohorts in each thread, and makes their records
//! without writing them. What zerohop adds to it is what `align --engine bwa-mem` takes longer.
//!
//!     cargo run --release -p zerohop-engine-bwa-mem --example library_alone -- THREADS INDEX R1.fq R2.fq
//!
//! It prints seconds, those of all threads together, and records of mapping; and the seconds that reading the reads
//! took before, with one thread. Its barrier is the end of the run: no thread waits for another one inside a cohort, so
//! it is as fast as can be.
#![allow(unsafe_code)]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a developer runs it")]

use bwa_mem3_sys as sys;
use std::ffi::{CString, c_int, c_void};
use std::ptr::null;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const COHORT_BASES: usize = 10_000_000;
const PIECE_BASES: usize = 500_000;

struct Index(*const sys::BwaIndex, sys::mem_opt_t);
// SAFETY: index and options are only read.
unsafe impl Sync for Index {}

/// The bases of the reads of a FASTQ file.
fn reads(path: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read(path).expect("the reads can be read");
    text.split(|byte| *byte == b'\n').skip(1).step_by(4).map(<[u8]>::to_vec).collect()
}

/// Where runs end whose bases reach so many.
fn ends(pairs: &[[&[u8]; 2]], bases: usize) -> Vec<usize> {
    let (mut ends, mut sum) = (Vec::new(), 0);
    for (i, pair) in pairs.iter().enumerate() {
        sum += pair[0].len() + pair[1].len();
        if sum >= bases || i + 1 == pairs.len() {
            ends.push(i + 1);
            sum = 0;
        }
    }
    ends
}

fn runs<'p>(pairs: &'p [[&'p [u8]; 2]], bases: usize) -> Vec<(usize, &'p [[&'p [u8]; 2]])> {
    let ends = ends(pairs, bases);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(&ends).map(|(start, &end)| (start, &pairs[start..end])).collect()
}

unsafe extern "C" fn count(records: *mut c_void, _: u32, _: usize, _: u8, _: c_int, _: *const sys::BwaAlignedFields) {
    // SAFETY: `map` passes a pointer to its counter.
    unsafe { *records.cast::<u64>() += 1 };
}

/// Maps a cohort whose first pair has number `first`; gives how many records there are.
fn map(index: &Index, scratch: *mut sys::BwaScratch, first: usize, pairs: &[[&[u8]; 2]]) -> u64 {
    let (mut records, name) = (0u64, c"r".as_ptr());
    let read = |bases: &[u8]| (bases.as_ptr(), bases.len());
    // SAFETY: one thread does all of a cohort, in the order that the header of the library asks for; all that pointers
    // are passed to lives until the calls return.
    unsafe {
        let cohort = sys::bwa_shim_resident_cohort_new(0);
        let mut segments = Vec::new();
        for (start, piece) in runs(pairs, PIECE_BASES) {
            let pair = |[one, two]: &[&[u8]; 2]| {
                let ((r1_seq, r1_seq_len), (r2_seq, r2_seq_len)) = (read(one), read(two));
                sys::BwaReadPair {
                    r1_name: name,
                    r1_name_len: 1,
                    r1_seq,
                    r1_seq_len,
                    r1_qual: null(),
                    r2_name: name,
                    r2_name_len: 1,
                    r2_seq,
                    r2_seq_len,
                    r2_qual: null(),
                }
            };
            let (piece, mut at, mut added): (Vec<sys::BwaReadPair>, _, _) = (piece.iter().map(pair).collect(), 0, 0);
            let segment = sys::bwa_shim_resident_reserve_pairs(cohort, 2 * piece.len(), &mut at);
            assert_eq!(sys::bwa_shim_resident_write_pairs(segment, piece.as_ptr(), piece.len(), &mut added), 0);
            assert_eq!(sys::bwa_shim_resident_seed_extend(index.0, &index.1, scratch, segment), 0);
            segments.push((start, segment));
        }
        let mut sizes = [sys::mem_pestat_t::default(); 4];
        assert_eq!(sys::bwa_shim_resident_pestat_cohort(index.0, &index.1, cohort, sizes.as_mut_ptr()), 0);
        for (start, segment) in segments {
            let ids = sys::BwaIdBases { first_single_id: 0, first_pair_id: (first + start) as u64 };
            let context = (&raw mut records).cast();
            let (index, options, sizes) = (index.0, &index.1, sizes.as_ptr());
            let emitted = sys::bwa_shim_resident_pair_emit_fields(
                index,
                options,
                scratch,
                segment,
                sizes,
                ids,
                0,
                Some(count),
                context,
            );
            assert_eq!(emitted, 0);
        }
        sys::bwa_shim_resident_cohort_free(cohort);
    }
    records
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [threads, prefix, one, two] = &arguments[..] else { panic!("THREADS INDEX R1.fq R2.fq") };
    let threads: usize = threads.parse().expect("a number of threads");
    let started = Instant::now();
    let (firsts, seconds) = (reads(one), reads(two));
    let reading = started.elapsed().as_secs_f64();
    let pairs: Vec<[&[u8]; 2]> = firsts.iter().zip(&seconds).map(|(one, two)| [&one[..], &two[..]]).collect();
    let prefix = CString::new(prefix.as_str()).unwrap();
    // SAFETY: the prefix is a string; options are copied, and their matrix filled in.
    let index = unsafe {
        sys::bwa_shim_set_verbosity(1);
        let mut options = *sys::bwa_shim_opts_new();
        sys::bwa_shim_opts_fill_scmat(&mut options);
        Index(sys::bwa_shim_idx_load_threads(prefix.as_ptr(), threads as c_int), options)
    };
    assert!(!index.0.is_null(), "the index can be loaded");
    let (cohorts, next) = (runs(&pairs, COHORT_BASES), AtomicUsize::new(0));
    let started = Instant::now();
    let done: Vec<(u64, f64)> = std::thread::scope(|scope| {
        let work = || {
            let (index, started) = (&index, Instant::now());
            // SAFETY: it is this thread's alone.
            let scratch = unsafe { sys::bwa_shim_scratch_new() };
            let mut records = 0;
            while let Some((first, pairs)) = cohorts.get(next.fetch_add(1, Ordering::Relaxed)) {
                records += map(index, scratch, *first, pairs);
            }
            (records, started.elapsed().as_secs_f64())
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let wall = started.elapsed().as_secs_f64();
    let (records, worker): (u64, f64) = done.iter().fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{wall:.3} s, {worker:.3} s of all threads, {records} records, {reading:.3} s of reading before");
}
