//! bwa-mem3 behind types that keep its rules: who may call what at the same time, and what is freed when.
//!
//! The rules are those of the header of bwa-mem3-sys (`shim/bwa_shim.h`): an index and options are only read; a
//! scratch belongs to one thread at a time; of a cohort, segments are reserved one at a time, each segment belongs to
//! one thread at a time, and statistics are taken when nobody works on a segment.

use crate::crashes::{Doing, said};
use crate::from_bwa::FmArrays;
use crate::library_error::LibraryError;
use crate::memory::{self, Original};
use crate::options::{BwaMemOptions, InsertSizeOption};
use crate::segment::{self, Segments};
use crate::silence;
use bwa_mem3_sys as sys;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::File;
use std::marker::PhantomData;
use std::ptr::{NonNull, null};
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_memory::FileMapping;

/// The name of every read: the library compares those of mates and does nothing else with them.
const NAME: &[u8] = b"r";
/// The orientation of pairs whose mates face each other, of the four in the library's statistics.
const FACING: usize = 1;

/// What the library said last on this thread.
fn last(doing: &str) -> LibraryError {
    // SAFETY: it is null or a string of the library that stays until the next call on this thread.
    let said = unsafe { text(sys::bwa_shim_last_error()) };
    LibraryError::new(match said {
        Some(said) => format!("{doing}: {}", String::from_utf8_lossy(said)),
        None => doing.to_owned(),
    })
}

/// The bytes of a string of the library.
///
/// # Safety
/// It is null or ends with a zero, and stays for `'a`.
unsafe fn text<'a>(string: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's.
    (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) }.to_bytes())
}

fn checked(status: c_int, doing: &str) -> Result<(), LibraryError> {
    if status == 0 { Ok(()) } else { Err(last(doing)) }
}

/// One copy of an index.
pub struct LibraryIndex {
    index: NonNull<sys::BwaIndex>,
    /// What it was loaded from.
    prefix: CString,
    /// If it lies in a file that is mapped.
    attached: Option<Attached>,
}

struct Attached {
    /// Address and bytes of the mapping.
    place: (usize, usize),
    /// Who frees the contigs of the reference itself, if those of the index are converted.
    _original: Option<Box<LibraryIndex>>,
}

// SAFETY: it is only read after it was loaded, and freed when nobody has it any more.
unsafe impl Send for LibraryIndex {}
// SAFETY: as above.
unsafe impl Sync for LibraryIndex {}

impl LibraryIndex {
    /// Loads the index whose files begin with `prefix` into memory of this thread's policy, with so many threads. If it
    /// is one of converted bases, those of the reference are loaded from files that begin with `original`.
    ///
    /// # Errors
    /// No memory. A file that is not what the library expects ends the process: check it before.
    pub fn load(prefix: &CStr, original: Option<&CStr>, threads: usize) -> Result<Self, LibraryError> {
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let load = || match original {
            // SAFETY: `prefix` is a string that the call only reads.
            None => unsafe { sys::bwa_shim_idx_load_threads(prefix.as_ptr(), threads) },
            // SAFETY: so are both.
            Some(original) => unsafe {
                sys::bwa_shim_idx_load_meth_threads(prefix.as_ptr(), original.as_ptr(), threads)
            },
        };
        let index = said(Doing::Loading, load);
        let index = NonNull::new(index).ok_or_else(|| last("the index cannot be loaded"))?;
        Ok(LibraryIndex { index, prefix: prefix.to_owned(), attached: None })
    }

    /// The index in the segments of a file, which is mapped, in place of an outline that was loaded; of converted bases
    /// with a second outline, for the reference itself. Nobody may change the file as long as there is the index. ALT
    /// contigs may be taken for others. It is mapped with so many threads.
    ///
    /// # Errors
    /// A file that cannot be mapped; objects of the library that are not where they are expected. Segments that are not
    /// what the library expects end the process.
    pub fn attach(
        mut self,
        original: Option<LibraryIndex>,
        file: &File,
        segments: &Segments,
        (ignore_alt, threads): (bool, usize),
    ) -> Result<Self, LibraryError> {
        let unknown = || LibraryError::new("its objects are not where they are expected");
        let mapped = |error: std::io::Error| LibraryError::new(format!("a copy cannot be mapped: {error}"));
        let map = FileMapping::read(file, segments.end()).map_err(mapped)?;
        map.populate(threads);
        let (start, bytes) = (map.start(), map.bytes());
        let mut original = original.map(Box::new);
        // SAFETY: the outlines are alive and ours alone; the segments lie within the mapping, and who keeps copies
        // holds them, read-only, as long as there is the index. `self` unmaps it, and is freed before `original`.
        unsafe {
            let fm = memory::object(self.index.as_ptr(), &self.prefix).ok_or_else(unknown)?;
            let mut contigs = fm;
            if let Some((original, second)) = original.as_mut().zip(segments.second()) {
                contigs = memory::object(original.index.as_ptr(), &original.prefix).ok_or_else(unknown)?;
                said(Doing::Attaching, || segment::attach_contigs(contigs, start.add(second.0), second.1, true));
                let found = memory::original(contigs).ok_or_else(unknown)?;
                memory::set_original(self.index.as_ptr(), found);
                // What the library finds there must be what was put there: no header tells of this object.
                if sys::bwa_shim_idx_is_meth(self.index.as_ptr()) == 0 {
                    return Err(unknown());
                }
            }
            let has_bases = original.is_none();
            said(Doing::Attaching, || segment::attach(fm, map, segments.first(), has_bases));
            if ignore_alt {
                memory::forget_alternates(contigs);
            }
        }
        self.attached = Some(Attached { place: (start.addr().get(), bytes), _original: original });
        Ok(self)
    }

    /// Addresses and bytes of its arrays, as far as they are known.
    pub fn memory(&self) -> Vec<(usize, usize)> {
        match &self.attached {
            Some(attached) => vec![attached.place],
            // SAFETY: it is alive, and was loaded from this prefix.
            None => unsafe { memory::ranges(self.index.as_ptr(), &self.prefix) },
        }
    }

    /// Its arrays, to be written, and its bases, packed; none if they are not where they are expected.
    pub fn writable(&mut self) -> Option<(FmArrays<'_>, &[u8])> {
        if self.attached.is_some() {
            return None;
        }
        // SAFETY: it is alive as long as it is borrowed, was loaded from this prefix, and is ours alone.
        unsafe { memory::writable(self.index.as_ptr(), &self.prefix) }
    }

    /// Copies the arrays of another one of the same size, with the threads of this pool; false if they are not where
    /// they are expected.
    pub fn copy(&mut self, other: &LibraryIndex) -> bool {
        if self.attached.is_some() || other.attached.is_some() {
            return false;
        }
        // SAFETY: both are alive and were loaded from these prefixes, and this one is ours alone.
        unsafe { memory::copy((other.index.as_ptr(), &other.prefix), (self.index.as_ptr(), &self.prefix)) }
    }

    /// Names and lengths of the contigs, in order.
    pub fn contigs(&self) -> Vec<(String, u64)> {
        // SAFETY: the index is alive.
        let count = unsafe { sys::bwa_shim_idx_n_contigs(self.index.as_ptr()) };
        let contig = |number| {
            // SAFETY: the number is below the count, and the name lives as long as the index.
            let (name, length) = unsafe {
                let name = text(sys::bwa_shim_idx_contig_name(self.index.as_ptr(), number));
                (name.unwrap_or_default(), sys::bwa_shim_idx_contig_len(self.index.as_ptr(), number))
            };
            (String::from_utf8_lossy(name).into_owned(), length.max(0) as u64)
        };
        (0..count).map(contig).collect()
    }
}

impl Drop for LibraryIndex {
    fn drop(&mut self) {
        // SAFETY: nobody has it any more. What `original` will free is taken from it before.
        unsafe {
            if self.attached.is_some() {
                memory::set_original(self.index.as_ptr(), Original::NONE);
            }
            sys::bwa_shim_idx_free(self.index.as_ptr());
        }
    }
}

/// Options in the library's form.
#[derive(Clone)]
pub struct LibraryOptions(sys::mem_opt_t);

// SAFETY: plain numbers, and a pointer to a constant of the library.
unsafe impl Send for LibraryOptions {}
// SAFETY: as above.
unsafe impl Sync for LibraryOptions {}

impl LibraryOptions {
    /// The library's defaults with what `options` says.
    ///
    /// # Errors
    /// No memory.
    pub fn new(options: &BwaMemOptions) -> Result<Self, LibraryError> {
        // SAFETY: it gives null or options of its own, which are copied and freed.
        let mut settings = unsafe {
            let defaults = NonNull::new(sys::bwa_shim_opts_new());
            let defaults = defaults.ok_or_else(|| last("no memory for options"))?;
            let copy = *defaults.as_ptr();
            sys::bwa_shim_opts_free(defaults.as_ptr());
            copy
        };
        if options.bisulfite {
            settings.meth_mode = 1;
            // SAFETY: `settings` is of the layout that the library checks when it is built.
            unsafe { sys::bwa_shim_opts_apply_meth_defaults_masked(&mut settings, 0) };
        }
        set(&mut settings, options);
        // SAFETY: `settings` is of the layout that the library checks when it is built.
        unsafe { sys::bwa_shim_opts_fill_scmat(&mut settings) };
        Ok(LibraryOptions(settings))
    }
}

fn set(settings: &mut sys::mem_opt_t, options: &BwaMemOptions) {
    (settings.a, settings.b) = (options.match_score, options.mismatch);
    (settings.o_del, settings.o_ins) = options.gap_open;
    (settings.e_del, settings.e_ins) = options.gap_extend;
    (settings.pen_clip5, settings.pen_clip3) = options.clip;
    settings.pen_unpaired = options.unpaired;
    (settings.w, settings.zdrop, settings.T) = (options.band, options.z_drop, options.least_score);
    (settings.min_seed_len, settings.split_factor) = (options.min_seed, options.split_factor);
    (settings.max_mem_intv, settings.split_width) = (options.most_intervals, options.split_width);
    settings.max_occ = options.most_places;
    (settings.min_chain_weight, settings.max_chain_extend) = (options.min_chain_weight, options.most_chains);
    (settings.max_chain_gap, settings.drop_ratio) = (options.chain_gap, options.drop_ratio);
    (settings.mask_level, settings.max_matesw) = (options.mask_level, options.most_rescues);
    settings.mapQ_coef_len = options.mapq_length as f32;
    // bwa keeps the logarithm as a whole number.
    settings.mapQ_coef_fac = if options.mapq_length > 0 { f64::from(options.mapq_length).ln() as c_int } else { 0 };
    (settings.max_XA_hits, settings.max_XA_hits_alt) = options.most_xa;
    if options.fast {
        take_shortcuts(settings);
    }
    let flags = [
        (sys::MEM_F_NOPAIRING, options.no_pairing),
        (sys::MEM_F_ALL, options.all),
        (sys::MEM_F_NO_MULTI, options.mark_secondary),
        (sys::MEM_F_NO_RESCUE, options.no_rescue),
        (sys::MEM_F_SOFTCLIP, options.soft_clip),
        (sys::MEM_F_PRIMARY5, options.primary_5),
        (sys::MEM_F_KEEP_SUPP_MAPQ, options.keep_mapq),
    ];
    settings.flag = flags.into_iter().filter(|(_, wanted)| *wanted).map(|(flag, _)| flag as c_int).sum();
    settings.chunk_size = i64::try_from(options.cohort_bases).unwrap_or(i64::MAX);
}

/// Chains of a pair count as near each other within so many bases. The library's program takes the insert sizes of the
/// batch before: then records would depend on how reads are dealt.
const MATE_WINDOW: c_int = 1000;

/// The shortcuts for which bwa has no letter, as `--fast` of bwa-mem3 0.15.0 sets them (its fastmap.cpp).
fn take_shortcuts(settings: &mut sys::mem_opt_t) {
    (settings.min_ext_len, settings.smem_dedup, settings.alnreg_sort_fast) = (30, 1, 1);
    settings.rescue_kmer = 6;
    settings.max_extend_chains = if settings.meth_mode == 0 { 20 } else { 10 };
    (settings.extend_tie_frac, settings.extend_tie_floor, settings.extend_csub) = (0.95, 1, 1);
    (settings.band_start, settings.band_cert) = (20, 0);
    settings.mate_concordant_window = MATE_WINDOW;
}

/// Buffers of one worker.
pub struct Scratch(NonNull<sys::BwaScratch>);

impl Scratch {
    /// New ones, in memory of this thread.
    ///
    /// # Errors
    /// No memory.
    pub fn new() -> Result<Self, LibraryError> {
        // SAFETY: no argument.
        let new = || unsafe { sys::bwa_shim_scratch_new() };
        let scratch = NonNull::new(said(Doing::Starting, new));
        scratch.map(Scratch).ok_or_else(|| last("no memory for a worker"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: it is ours alone.
        unsafe { sys::bwa_shim_scratch_free(self.0.as_ptr()) }
    }
}

/// The reads of a cohort, with what was found of them.
pub struct LibraryCohort {
    cohort: NonNull<sys::BwaResidentCohort>,
    /// Held while a segment is reserved, and for statistics.
    reserving: Mutex<()>,
}

// SAFETY: the table of segments is used under `reserving` alone; each segment belongs to one `CohortSegment`.
unsafe impl Send for LibraryCohort {}
// SAFETY: as above.
unsafe impl Sync for LibraryCohort {}

impl LibraryCohort {
    /// An empty one; its reads may be those of bisulfite libraries.
    ///
    /// # Errors
    /// No memory.
    pub fn new(bisulfite: bool) -> Result<Self, LibraryError> {
        // SAFETY: no pointer is passed.
        let cohort = NonNull::new(unsafe { sys::bwa_shim_resident_cohort_new(c_int::from(bisulfite)) });
        let cohort = cohort.ok_or_else(|| last("no memory for a cohort"))?;
        Ok(LibraryCohort { cohort, reserving: Mutex::new(()) })
    }

    /// Insert sizes of its pairs. All its segments must have been extended, and none emitted: the library refuses it
    /// otherwise.
    ///
    /// # Errors
    /// No memory; a segment that is not ready.
    pub fn insert_sizes(
        &self,
        index: &LibraryIndex,
        settings: &LibraryOptions,
    ) -> Result<InsertSizeStatistics, LibraryError> {
        let mut statistics = InsertSizeStatistics::default();
        let _reserving = self.reserving.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, cohort) = (index.index.as_ptr(), self.cohort.as_ptr());
        // SAFETY: all are alive, and `statistics` has room for the four orientations. Nobody works on a segment, for
        // whoever has one waits for these statistics: the runtime combines a cohort when all its first phases are done.
        let find =
            || unsafe { sys::bwa_shim_resident_pestat_cohort(index, &settings.0, cohort, statistics.0.as_mut_ptr()) };
        let status = said(Doing::Mapping, find);
        checked(status, "insert sizes cannot be found")?;
        Ok(statistics)
    }
}

impl Drop for LibraryCohort {
    fn drop(&mut self) {
        // SAFETY: segments hold an `Arc` of it, so there are none.
        unsafe { sys::bwa_shim_resident_cohort_free(self.cohort.as_ptr()) }
    }
}

/// Insert sizes by orientation.
#[derive(Clone, Copy, Default)]
pub struct InsertSizeStatistics([sys::mem_pestat_t; 4]);

impl InsertSizeStatistics {
    /// The insert sizes that the user gave (`-I`): of mates that face each other, and none of other pairs.
    pub fn given(sizes: &InsertSizeOption) -> Self {
        let mut statistics = InsertSizeStatistics([sys::mem_pestat_t { failed: 1, ..Default::default() }; 4]);
        let InsertSizeOption { mean, deviation, shortest, longest } = *sizes;
        statistics.0[FACING] = sys::mem_pestat_t { low: shortest, high: longest, failed: 0, avg: mean, std: deviation };
        statistics
    }
}

/// Some reads of a cohort: single reads, or pairs.
pub struct CohortSegment {
    segment: NonNull<sys::BwaResidentSegment>,
    is_paired: bool,
    /// It frees the segment.
    _cohort: Arc<LibraryCohort>,
}

/// The number of the first read of a segment, as the library breaks ties by it: single reads are counted by
/// themselves, pairs in pairs.
#[derive(Debug, Clone, Copy, Default)]
pub struct FirstRead {
    /// Its number among the single reads of the cohort.
    pub single: u64,
    /// Its number among the pairs of the cohort.
    pub pair: u64,
}

impl CohortSegment {
    /// Adds single reads, given by their bases.
    ///
    /// # Errors
    /// No memory.
    pub fn of_singles(cohort: &Arc<LibraryCohort>, reads: &[&[u8]]) -> Result<Self, LibraryError> {
        let reads: Vec<sys::BwaSingleRead> = reads.iter().map(|bases| single(bases)).collect();
        let (segment, mut added) = (CohortSegment::reserve(cohort, reads.len(), false)?, 0);
        // SAFETY: as many reads as were reserved, whose bytes live until the call has copied them.
        let status = said(Doing::Mapping, || unsafe {
            sys::bwa_shim_resident_write_singles(segment.segment.as_ptr(), reads.as_ptr(), reads.len(), &mut added)
        });
        checked(status, "reads cannot be taken")?;
        Ok(segment)
    }

    /// Adds pairs, given by the bases of both mates.
    ///
    /// # Errors
    /// No memory.
    pub fn of_pairs(cohort: &Arc<LibraryCohort>, pairs: &[[&[u8]; 2]]) -> Result<Self, LibraryError> {
        let pairs: Vec<sys::BwaReadPair> = pairs.iter().map(pair).collect();
        let (segment, mut added) = (CohortSegment::reserve(cohort, 2 * pairs.len(), true)?, 0);
        // SAFETY: as for single reads.
        let status = said(Doing::Mapping, || unsafe {
            sys::bwa_shim_resident_write_pairs(segment.segment.as_ptr(), pairs.as_ptr(), pairs.len(), &mut added)
        });
        checked(status, "reads cannot be taken")?;
        Ok(segment)
    }

    fn reserve(cohort: &Arc<LibraryCohort>, reads: usize, is_paired: bool) -> Result<Self, LibraryError> {
        let mut first = 0;
        let _reserving = cohort.reserving.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: nobody else reserves or takes statistics.
        let segment = said(Doing::Mapping, || unsafe {
            let cohort = cohort.cohort.as_ptr();
            match is_paired {
                true => sys::bwa_shim_resident_reserve_pairs(cohort, reads, &mut first),
                false => sys::bwa_shim_resident_reserve_singles(cohort, reads, &mut first),
            }
        });
        let segment = NonNull::new(segment).ok_or_else(|| last("no memory for reads"))?;
        Ok(CohortSegment { segment, is_paired, _cohort: Arc::clone(cohort) })
    }

    /// The first phase: seeds, chains and extensions of each read.
    ///
    /// # Errors
    /// What the library says.
    pub fn extend(
        &mut self,
        index: &LibraryIndex,
        settings: &LibraryOptions,
        scratch: &mut Scratch,
    ) -> Result<(), LibraryError> {
        // SAFETY: all are alive; segment and scratch are ours alone.
        let status = said(Doing::Mapping, || unsafe {
            let (scratch, segment) = (scratch.0.as_ptr(), self.segment.as_ptr());
            sys::bwa_shim_resident_seed_extend(index.index.as_ptr(), &settings.0, scratch, segment)
        });
        checked(status, "reads cannot be extended")
    }

    /// The second phase: gives `sink` all records, in the order of the reads, and lets the reads go.
    ///
    /// # Errors
    /// What the library says.
    pub fn emit<'s>(
        self,
        (index, settings): (&LibraryIndex, &LibraryOptions),
        scratch: &mut Scratch,
        statistics: &InsertSizeStatistics,
        first: FirstRead,
        sink: &'s mut dyn FnMut(LibraryRecord<'_>),
    ) -> Result<(), LibraryError> {
        let mut sink: &'s mut dyn FnMut(LibraryRecord<'_>) = sink;
        let ids = sys::BwaIdBases { first_single_id: first.single, first_pair_id: first.pair };
        // SAFETY: all are alive; segment and scratch are ours alone; `receive` is given what `sink` points to, and only
        // during this call.
        let status = said(Doing::Mapping, || unsafe {
            sys::bwa_shim_resident_pair_emit_fields(
                index.index.as_ptr(),
                &settings.0,
                scratch.0.as_ptr(),
                self.segment.as_ptr(),
                if self.is_paired { statistics.0.as_ptr() } else { null() },
                ids,
                0,
                Some(receive),
                (&raw mut sink).cast::<c_void>(),
            )
        });
        checked(status, "records cannot be made")
    }
}

fn single(bases: &[u8]) -> sys::BwaSingleRead {
    let name = NAME.as_ptr().cast::<c_char>();
    sys::BwaSingleRead { name, name_len: NAME.len(), seq: bases.as_ptr(), seq_len: bases.len(), qual: null() }
}

fn pair(bases: &[&[u8]; 2]) -> sys::BwaReadPair {
    let name = NAME.as_ptr().cast::<c_char>();
    sys::BwaReadPair {
        r1_name: name,
        r1_name_len: NAME.len(),
        r1_seq: bases[0].as_ptr(),
        r1_seq_len: bases[0].len(),
        r1_qual: null(),
        r2_name: name,
        r2_name_len: NAME.len(),
        r2_seq: bases[1].as_ptr(),
        r2_seq_len: bases[1].len(),
        r2_qual: null(),
    }
}

/// A record as the library gives it.
pub struct LibraryRecord<'a> {
    /// The number of the read or pair in its segment.
    pub number: usize,
    /// 0, or 1 for the second mate.
    pub mate: u8,
    fields: &'a sys::BwaAlignedFields,
    _strings: PhantomData<&'a [u8]>,
}

impl<'a> LibraryRecord<'a> {
    /// Numbers, of the SAM fields without names, bases and qualities.
    pub fn fields(&self) -> &'a sys::BwaAlignedFields {
        self.fields
    }

    /// CIGAR as BAM packs it.
    pub fn cigar(&self) -> &'a [u32] {
        match self.fields.n_cigar {
            0 => &[],
            // SAFETY: so many operations lie there while the record is given.
            count => unsafe { std::slice::from_raw_parts(self.fields.cigar, count as usize) },
        }
    }

    /// MD, MC, SA and XA, as far as there are any.
    pub fn texts(&self) -> [Option<&'a [u8]>; 4] {
        let fields = self.fields;
        // SAFETY: they are null or strings that stay while the record is given.
        [fields.md, fields.mc, fields.sa, fields.xa].map(|string| unsafe { text(string) })
    }

    /// XR, XG and XM of bisulfite reads, as far as there are any.
    pub fn methylation(&self) -> [Option<&'a [u8]>; 3] {
        let fields = self.fields;
        // SAFETY: as for the other texts.
        [fields.xr, fields.xg, fields.xm].map(|string| unsafe { text(string) })
    }
}

/// What the library calls for each record. A panic of the sink ends the process: it is kept from having one.
unsafe extern "C" fn receive(
    context: *mut c_void,
    _kind: u32,
    number: usize,
    mate: u8,
    _is_primary: c_int,
    fields: *const sys::BwaAlignedFields,
) {
    // SAFETY: `emit` passes a pointer to a reference of this type, which lives as long as the call; the record lives as
    // long as this call.
    let (sink, fields) = unsafe { (&mut *context.cast::<&mut dyn FnMut(LibraryRecord<'_>)>(), &*fields) };
    sink(LibraryRecord { number, mate, fields, _strings: PhantomData });
}

/// The library prints only what ends it, and nobody sees that.
pub fn be_quiet() {
    silence::begin();
    // SAFETY: a number is set.
    unsafe { sys::bwa_shim_set_verbosity(1) }
}

/// A path as the library takes it.
///
/// # Errors
/// A path with a zero in it.
pub fn c_path(path: &std::path::Path) -> Result<CString, LibraryError> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(|_| LibraryError::new("a path holds a zero"))
}
