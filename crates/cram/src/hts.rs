//! The calls of htslib: a header, a file in memory that CRAM is written to, a record.
#![allow(unsafe_code)]

use crate::record::{Fixed, long_cigar};
use crate::scheme;
use crate::system::in_memory;
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::{Mutex, Once};
use zerohop_model::record::{CigarOp, Contig, UNMAPPED};

/// A call of htslib that failed; the text says what it was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HtsRefused(pub(crate) &'static str);

/// One such call at a time: htslib counts who shares a reference or a header without a lock.
static OPENING: Mutex<()> = Mutex::new(());

/// Before anything else is called: has htslib know our names of files, and keeps it from writing to standard error,
/// for what matters is said by us.
pub(crate) fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        scheme::register();
        set_log_level(hts_sys::htsLogLevel_HTS_LOG_OFF);
    });
}

/// Has htslib write errors to standard error.
pub(crate) fn tell_errors() {
    set_log_level(hts_sys::htsLogLevel_HTS_LOG_ERROR);
}

fn set_log_level(level: hts_sys::htsLogLevel) {
    // SAFETY: it sets a global number, which other threads may read; each value of it is valid.
    unsafe { hts_sys::hts_set_log_level(level) };
}

/// What was written to a file in memory. (Reading moves no position: htslib's descriptor has the same one.)
fn read(memory: &File) -> Result<Vec<u8>, HtsRefused> {
    let failed = |_| HtsRefused("read back a file in memory");
    let mut all = vec![0; memory.metadata().map_err(failed)?.len() as usize];
    memory.read_exact_at(&mut all, 0).map_err(failed)?;
    Ok(all)
}

/// The header of an output, as htslib holds it.
#[derive(Debug)]
pub(crate) struct HtsHeader(NonNull<hts_sys::sam_hdr_t>);

// SAFETY: after `HtsHeader::parse` nothing changes it but the number of its users, under the lock `OPENING`.
unsafe impl Send for HtsHeader {}
// SAFETY: as above.
unsafe impl Sync for HtsHeader {}

impl HtsHeader {
    pub(crate) fn parse(text: &str) -> Result<Self, HtsRefused> {
        // SAFETY: the bytes live as long as the call, which copies them, and their length is given.
        let header = unsafe { hts_sys::sam_hdr_parse(text.len(), text.as_ptr().cast()) };
        let header = NonNull::new(header).map(HtsHeader).ok_or(HtsRefused("parse the header"))?;
        // SAFETY: the header is valid, and nobody else has it. Counting has htslib take it apart, which it does only
        // once: later it is only read.
        match unsafe { hts_sys::sam_hdr_count_lines(header.0.as_ptr(), c"SQ".as_ptr()) } {
            -1 => Err(HtsRefused("parse the header")),
            _ => Ok(header),
        }
    }
}

impl Drop for HtsHeader {
    fn drop(&mut self) {
        let _one = OPENING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: it is not used again here; htslib frees it when no file has it any more, and the lock is held.
        unsafe { hts_sys::sam_hdr_destroy(self.0.as_ptr()) };
    }
}

/// An open file of htslib.
#[derive(Debug)]
struct HtsFile(NonNull<hts_sys::htsFile>);

// SAFETY: htslib ties nothing of it to a thread. What it shares with other files is the reference, which it locks, but
// for the number of its users, which changes under the lock `OPENING`.
unsafe impl Send for HtsFile {}
// SAFETY: a shared file is only asked for its reference, which does not change.
unsafe impl Sync for HtsFile {}

impl HtsFile {
    fn pointer(&self) -> *mut hts_sys::htsFile {
        self.0.as_ptr()
    }

    /// Closes it; whether that went well.
    fn close(self) -> bool {
        let file = self.pointer();
        std::mem::forget(self);
        close(file)
    }
}

impl Drop for HtsFile {
    fn drop(&mut self) {
        close(self.pointer());
    }
}

fn close(file: *mut hts_sys::htsFile) -> bool {
    let _one = OPENING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: the file is open, and its owner does not use it again; the users of the reference are counted under the
    // lock.
    unsafe { hts_sys::hts_close(file) == 0 }
}

/// An open output of CRAM, in memory.
#[derive(Debug)]
pub(crate) struct MemoryFile {
    file: HtsFile,
    /// What htslib writes to.
    memory: File,
}

/// How CRAM is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteSettings {
    pub(crate) version: &'static CStr,
    /// Of the compression, from 0 to 9.
    pub(crate) level: u8,
    /// Whether records of several contigs may share a slice.
    pub(crate) mixes_contigs: bool,
}

impl MemoryFile {
    /// An empty one. Nothing can be written before it has a reference and a header.
    fn open(settings: WriteSettings) -> Result<Self, HtsRefused> {
        prepare();
        let memory = in_memory().map_err(|_| HtsRefused("get memory for a file"))?;
        let other = memory.try_clone().map_err(|_| HtsRefused("get memory for a file"))?.into_raw_fd();
        // SAFETY: htslib owns the second descriptor from here on, and closes it; modes are strings with their ends.
        let stream = unsafe { hts_sys::hdopen(other, c"w".as_ptr()) };
        if stream.is_null() {
            // SAFETY: htslib did not take it, so it is ours still.
            drop(unsafe { OwnedFd::from_raw_fd(other) });
            return Err(HtsRefused("open a file in memory"));
        }
        // SAFETY: the stream is open, and belongs to the new file.
        let file = unsafe { hts_sys::hts_hopen(stream, c"-".as_ptr(), c"wc".as_ptr()) };
        let Some(file) = NonNull::new(file).map(HtsFile) else {
            // SAFETY: htslib did not take it, and it is not used again.
            unsafe { hts_sys::hclose_abruptly(stream) };
            return Err(HtsRefused("open a file in memory"));
        };
        let opened = MemoryFile { file, memory };
        opened.set(settings)?;
        Ok(opened)
    }

    fn set(&self, WriteSettings { version, level, mixes_contigs }: WriteSettings) -> Result<(), HtsRefused> {
        let file = self.file.pointer();
        // SAFETY: the file is open, and this option takes a string with its end, which is read before it returns.
        let done = unsafe { hts_sys::hts_set_opt(file, hts_sys::hts_fmt_option_CRAM_OPT_VERSION, version.as_ptr()) };
        let numbers = [
            (hts_sys::hts_fmt_option_HTS_OPT_COMPRESSION_LEVEL, i32::from(level)),
            (hts_sys::hts_fmt_option_CRAM_OPT_MULTI_SEQ_PER_SLICE, i32::from(mixes_contigs)),
            // The reference that is given is used, or nothing: it is not put into the file.
            (hts_sys::hts_fmt_option_CRAM_OPT_EMBED_REF, 0),
            (hts_sys::hts_fmt_option_CRAM_OPT_NO_REF, 0),
            // MD and NM come back as they were, not as they would be computed.
            (hts_sys::hts_fmt_option_CRAM_OPT_STORE_MD, 1),
            (hts_sys::hts_fmt_option_CRAM_OPT_STORE_NM, 1),
            // Those of the header were just computed from this reference.
            (hts_sys::hts_fmt_option_CRAM_OPT_IGNORE_MD5, 1),
        ];
        // SAFETY: the file is open, and each of these options takes one int.
        let set = |(option, value)| unsafe { hts_sys::hts_set_opt(file, option, value as libc::c_int) };
        match done == 0 && numbers.into_iter().all(|number| set(number) == 0) {
            true => Ok(()),
            false => Err(HtsRefused("take its settings")),
        }
    }

    /// One that has a reference of this name.
    pub(crate) fn with_reference(settings: WriteSettings, reference: &CStr) -> Result<Self, HtsRefused> {
        let opened = MemoryFile::open(settings)?;
        // SAFETY: the file is open; the name is a string with its end, which htslib copies.
        let done = unsafe { hts_sys::hts_set_fai_filename(opened.file.pointer(), reference.as_ptr()) };
        if done == 0 { Ok(opened) } else { Err(HtsRefused("load the reference")) }
    }

    /// One that shares the reference of another, and has its header.
    pub(crate) fn sharing(&self, settings: WriteSettings, header: &HtsHeader) -> Result<Self, HtsRefused> {
        let opened = MemoryFile::open(settings)?;
        let file = opened.file.pointer();
        let _one = OPENING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        // SAFETY: the file is open for CRAM, so this member of the union is the one that is set; it has no header yet.
        // It is one more user of this one, which is counted under the lock, and which encoding only reads.
        unsafe {
            hts_sys::sam_hdr_incr_ref(header.0.as_ptr());
            hts_sys::cram_fd_set_header((*file).fp.cram, header.0.as_ptr());
        }
        // SAFETY: both files are open. The option takes the references, and counts one user more, under the lock.
        let shared = unsafe {
            let references = hts_sys::cram_get_refs(self.file.pointer());
            hts_sys::hts_set_opt(file, hts_sys::hts_fmt_option_CRAM_OPT_SHARED_REF, references)
        };
        if shared == 0 { Ok(opened) } else { Err(HtsRefused("share the reference")) }
    }

    /// Writes the header, and gives what the file holds then.
    pub(crate) fn write_header(&mut self, header: &HtsHeader) -> Result<Vec<u8>, HtsRefused> {
        // SAFETY: both are valid, and nobody else has the header yet.
        let done = unsafe { hts_sys::sam_hdr_write(self.file.pointer(), header.0.as_ptr()) };
        if done != 0 {
            return Err(HtsRefused("write the header"));
        }
        read(&self.memory)
    }

    pub(crate) fn write(&mut self, record: &HtsRecord, header: &HtsHeader) -> Result<(), HtsRefused> {
        let record = record.as_bam1();
        // SAFETY: all are valid; htslib copies the record, and does not look at the header.
        let done = unsafe { hts_sys::sam_write1(self.file.pointer(), header.0.as_ptr(), &record) };
        if done >= 0 { Ok(()) } else { Err(HtsRefused("take a record")) }
    }

    /// Encodes what was written so far.
    pub(crate) fn flush(&mut self) -> Result<(), HtsRefused> {
        // SAFETY: the file is open.
        let done = unsafe { hts_sys::hts_flush(self.file.pointer()) };
        if done == 0 { Ok(()) } else { Err(HtsRefused("encode the records")) }
    }

    /// Ends the file; gives all of it.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, HtsRefused> {
        // Now, for others wait while a file is closed.
        self.flush()?;
        let MemoryFile { file, memory } = self;
        match file.close() {
            true => read(&memory),
            false => Err(HtsRefused("end a file in memory")),
        }
    }
}

/// A record, as htslib holds it: that of BAM, but for a name that is padded so that CIGAR is aligned.
#[derive(Debug)]
pub(crate) struct HtsRecord {
    /// What has a fixed size; its data are not set.
    core: hts_sys::bam1_core_t,
    /// Name, CIGAR, bases, qualities and tags.
    data: Vec<u32>,
    /// Bytes of `data` that are used.
    length: usize,
}

impl HtsRecord {
    pub(crate) fn new() -> Self {
        let core = hts_sys::bam1_core_t {
            pos: -1,
            tid: -1,
            bin: 0,
            qual: 0,
            l_extranul: 0,
            flag: 0,
            l_qname: 0,
            n_cigar: 0,
            l_qseq: 0,
            mtid: -1,
            mpos: -1,
            isize_: 0,
        };
        HtsRecord { core, data: Vec::new(), length: 0 }
    }

    /// Takes over a record of BAM, with the length before it; none if it is not whole.
    pub(crate) fn set(&mut self, bam: &[u8]) -> Option<()> {
        let (fixed, rest) = Fixed::split(bam)?;
        let (name, rest) = rest.split_at_checked(fixed.name_bytes)?;
        let (cigar, tail) = rest.split_at_checked(4 * fixed.operations)?;
        let bases = usize::try_from(fixed.bases).ok()?;
        let (cigar, tail) = with_long_cigar(cigar, tail, bases + bases.div_ceil(2))?;
        let padding = name.len().next_multiple_of(4) - name.len();
        self.length = 0;
        self.data.clear();
        [name, &[0; 3][..padding], cigar, tail].iter().for_each(|part| self.push(part));
        self.core = hts_sys::bam1_core_t {
            tid: fixed.contig,
            pos: fixed.position.into(),
            qual: fixed.mapq,
            bin: fixed.bin,
            n_cigar: (cigar.len() / 4) as u32,
            flag: fixed.flags,
            l_qseq: fixed.bases,
            mtid: fixed.mate_contig,
            mpos: fixed.mate_position.into(),
            isize_: fixed.template_length.into(),
            l_qname: (name.len() + padding) as u16,
            l_extranul: padding as u8,
        };
        (!name.is_empty() && name.last() == Some(&0)).then_some(())
    }

    fn push(&mut self, bytes: &[u8]) {
        let at = self.length;
        self.length += bytes.len();
        self.data.resize(self.length.div_ceil(4), 0);
        // SAFETY: words may be seen as bytes: any byte is one, and all are initialised.
        let (_, all, _) = unsafe { self.data.align_to_mut::<u8>() };
        all[at..self.length].copy_from_slice(bytes);
    }

    /// What CRAM cannot hold of it, in words; none if it can.
    pub(crate) fn fault(&self, contigs: &[Contig]) -> Option<String> {
        let core = &self.core;
        let is_mapped = core.flag & UNMAPPED == 0;
        let what = match usize::try_from(core.tid).map(|contig| contigs.get(contig)) {
            Ok(None) => "it is on a contig that the header does not name",
            Err(_) if is_mapped => "it is mapped, but to no contig",
            _ if is_mapped && core.pos < 0 => "it is mapped, but has no position",
            Ok(_) if core.pos < 0 => "it names a contig, but has no position",
            _ if is_mapped && core.n_cigar == 0 && core.l_qseq > 0 => "it is mapped, but has no CIGAR",
            Ok(Some(contig)) => return self.behind(contig),
            Err(_) => return None,
        };
        Some(what.to_owned())
    }

    /// The message if it begins or ends behind the end of its contig.
    fn behind(&self, Contig { name, length, .. }: &Contig) -> Option<String> {
        let covered = if self.core.flag & UNMAPPED == 0 { self.bases_of_reference() } else { 0 };
        let end = u64::try_from(self.core.pos).unwrap_or(0) + covered.max(1);
        (end > *length).then(|| format!("it reaches to position {end} of '{name}', which has {length} bases"))
    }

    /// Bases of the reference that CIGAR covers.
    fn bases_of_reference(&self) -> u64 {
        let cigar = self.data.iter().skip(usize::from(self.core.l_qname) / 4).take(self.core.n_cigar as usize);
        let operations = cigar.map(|word| CigarOp(u32::from_le(*word)));
        operations.filter(|op| op.consumes_reference()).map(|op| u64::from(op.length())).sum()
    }

    /// Its name, and FLAG.
    pub(crate) fn name_and_flags(&self) -> (&[u8], u16) {
        // SAFETY: as in `push`.
        let (_, all, _) = unsafe { self.data.align_to::<u8>() };
        let name = &all[..usize::from(self.core.l_qname - u16::from(self.core.l_extranul))];
        (name.strip_suffix(&[0]).unwrap_or(name), self.core.flag)
    }

    fn as_bam1(&self) -> hts_sys::bam1_t {
        // SAFETY: zeros are a valid record without data.
        let mut record: hts_sys::bam1_t = unsafe { std::mem::zeroed() };
        record.core = self.core;
        record.data = self.data.as_ptr().cast_mut().cast();
        record.l_data = self.length as i32;
        record.m_data = (4 * self.data.len()) as u32;
        record
    }
}

/// The CIGAR that is meant, and what follows it, without the tag CG if it stands there, behind all others, as it is
/// written. `before` bytes of bases and qualities come before the tags.
fn with_long_cigar<'b>(cigar: &'b [u8], tail: &'b [u8], before: usize) -> Option<(&'b [u8], &'b [u8])> {
    /// Bytes of the tag before the operations: its name, its types, and how many there are.
    const TAG: usize = 8;
    match long_cigar(cigar, tail.get(before..)?) {
        Some((long, [])) => Some((long, &tail[..tail.len() - long.len() - TAG])),
        _ => Some((cigar, tail)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of BAM; bases are pairs of A.
    fn bam(name: &[u8], cigar: &[u32], bases: u32, tags: &[u8]) -> Vec<u8> {
        let mut bam = vec![0; 4];
        for number in [1i32, 41] {
            bam.extend_from_slice(&number.to_le_bytes());
        }
        bam.extend_from_slice(&[name.len() as u8 + 1, 60, 7, 0]);
        bam.extend_from_slice(&(cigar.len() as u16).to_le_bytes());
        bam.extend_from_slice(&99u16.to_le_bytes());
        for number in [bases as i32, -1, -1, -150] {
            bam.extend_from_slice(&number.to_le_bytes());
        }
        bam.extend_from_slice(name);
        bam.push(0);
        cigar.iter().for_each(|op| bam.extend_from_slice(&op.to_le_bytes()));
        bam.resize(bam.len() + bases.div_ceil(2) as usize, 0x11);
        bam.resize(bam.len() + bases as usize, 30);
        bam.extend_from_slice(tags);
        bam
    }

    fn bytes(record: &HtsRecord) -> Vec<u8> {
        record.data.iter().flat_map(|word| word.to_ne_bytes()).take(record.length).collect()
    }

    #[test]
    fn names_are_padded_so_that_cigar_is_aligned() {
        let mut record = HtsRecord::new();
        for name in [&b"r"[..], b"re", b"rea", b"read", b"read5"] {
            let cigar = [5 << 4, 3 << 4 | 1];
            record.set(&bam(name, &cigar, 3, b"NMC\x02")).unwrap();
            let core = record.core;
            assert_eq!((core.tid, core.pos, core.qual, core.flag, core.isize_), (1, 41, 60, 99, -150));
            assert_eq!((core.l_qname % 4, core.n_cigar, core.l_qseq), (0, 2, 3));
            assert_eq!(record.name_and_flags(), (name, 99));
            let tail =
                [&cigar[0].to_le_bytes()[..], &cigar[1].to_le_bytes(), &[0x11; 2], &[30; 3], b"NMC\x02"].concat();
            assert_eq!(bytes(&record)[usize::from(core.l_qname)..], tail);
        }
        assert!(record.set(&bam(b"r", &[5 << 4], 5, b"")[..40]).is_none());
    }

    #[test]
    fn a_long_cigar_comes_out_of_its_tag() {
        let (stands_in, meant) = ([4 << 4 | 4, 9 << 4 | 3], [1u32 << 4, 8 << 4 | 2, 3 << 4]);
        let long: Vec<u8> = meant.iter().flat_map(|op| op.to_le_bytes()).collect();
        let tags = [&b"XAZCGBI\x01\0NMC\x02CGBI\x03\0\0\0"[..], &long].concat();
        let mut record = HtsRecord::new();
        record.set(&bam(b"read", &stands_in, 4, &tags)).unwrap();
        assert_eq!(record.core.n_cigar, 3);
        let wanted = [&long[..], &[0x11; 2], &[30; 4], b"XAZCGBI\x01\0NMC\x02"].concat();
        assert_eq!(bytes(&record)[usize::from(record.core.l_qname)..], wanted);
        // The same tag of another CIGAR is a tag.
        record.set(&bam(b"read", &[4 << 4, 9 << 4 | 3], 4, &tags)).unwrap();
        assert_eq!(record.core.n_cigar, 2);
    }

    #[test]
    fn what_cram_cannot_hold() {
        let contigs = [Contig::new("a", 100), Contig::new("b", 50)];
        let fault = |(contig, position): (i32, i32), flags: u16, cigar: &[u32]| {
            let mut record = HtsRecord::new();
            record.set(&bam(b"read", cigar, 3, b"")).unwrap();
            (record.core.tid, record.core.pos, record.core.flag) = (contig, position.into(), flags);
            record.fault(&contigs)
        };
        let is = |what: &str| Some(what.to_owned());
        let cigar = [3 << 4];
        assert_eq!(fault((1, 0), 0, &cigar), None);
        assert_eq!(fault((1, 0), UNMAPPED, &[]), None, "beside its mate");
        assert_eq!(fault((-1, -1), UNMAPPED, &[]), None);
        assert_eq!(fault((2, 0), 0, &cigar), is("it is on a contig that the header does not name"));
        assert_eq!(fault((-1, -1), 0, &cigar), is("it is mapped, but to no contig"));
        assert_eq!(fault((1, -1), 0, &cigar), is("it is mapped, but has no position"));
        assert_eq!(fault((1, -1), UNMAPPED, &[]), is("it names a contig, but has no position"));
        assert_eq!(fault((1, 0), 0, &[]), is("it is mapped, but has no CIGAR"));
    }

    #[test]
    fn nothing_reaches_behind_the_end_of_its_contig() {
        let [match_, insertion, deletion, skip, soft, same, other] = [0u32, 1, 2, 3, 4, 7, 8];
        let contigs = [Contig::new("a", 100)];
        let end = |position: i32, flags: u16, cigar: &[(u32, u32)]| {
            let cigar: Vec<u32> = cigar.iter().map(|(bases, op)| bases << 4 | op).collect();
            let mut record = HtsRecord::new();
            record.set(&bam(b"read", &cigar, 3, b"")).unwrap();
            (record.core.tid, record.core.pos, record.core.flag) = (0, position.into(), flags);
            record.fault(&contigs)
        };
        let is = |end: u64| Some(format!("it reaches to position {end} of 'a', which has 100 bases"));
        assert_eq!(end(97, 0, &[(3, match_)]), None);
        assert_eq!(end(98, 0, &[(3, match_)]), is(101));
        assert_eq!(end(97, 0, &[(2, soft), (9, insertion), (3, same)]), None);
        for op in [deletion, skip, same, other] {
            assert_eq!(end(97, 0, &[(2, match_), (1, op)]), None);
            assert_eq!(end(97, 0, &[(2, match_), (2, op)]), is(101));
        }
        assert_eq!([end(99, UNMAPPED, &[]), end(100, UNMAPPED, &[])], [None, is(101)]);
        assert_eq!(end(i32::MAX, 0, &[(3, match_)]), is((1 << 31) + 2));
    }
}
