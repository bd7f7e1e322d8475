//! SAM and CRAM as BAM: htslib reads them, and writes what a reader of BAM takes.
#![allow(unsafe_code)]

use crate::hts::{Refused, be_silent, string};
use std::collections::HashMap;
use std::ffi::CStr;
use std::io::{self, PipeReader, Read};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Text that is not SAM or CRAM, or damaged; in words for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(String);

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// Reads SAM or CRAM (`text`), and gives BAM in blocks of BGZF that are not compressed. `reference` is a FASTA file
/// with an index beside it, for CRAM of aligned reads, which needs it. Two threads do the work; they end when the text
/// ends, or when nobody reads what comes of it any more and the text is not waited for.
///
/// # Errors
/// A system that gives no pipe or thread. What is wrong with the text, reading says: an error that holds an
/// [`Unreadable`].
pub fn as_bam(mut text: impl Read + Send + 'static, reference: Option<PathBuf>) -> io::Result<impl Read + Send> {
    let ((from_text, mut to_htslib), (bam, from_htslib)) = (io::pipe()?, io::pipe()?);
    let own = from_htslib.try_clone()?;
    let failure = Arc::new(Mutex::new(None));
    let [of_text, of_records] = [(); 2].map(|()| Failure(Arc::clone(&failure)));
    // Neither is joined: the first may be blocked in a read that never comes back, and the second waits for it.
    std::thread::Builder::new().name("sam".into()).spawn(move || {
        let copied = io::copy(&mut text, &mut to_htslib);
        // Where htslib has stopped to read, it says why.
        copied.map(drop).or_else(but_closed).unwrap_or_else(|error| of_text.set(error));
    })?;
    std::thread::Builder::new().name("htslib".into()).spawn(move || {
        let records = records(from_text.into(), own.into(), reference.as_deref());
        records.unwrap_or_else(|what| of_records.set(io::Error::new(io::ErrorKind::InvalidData, Unreadable(what))));
        // Only now may the reader see an end.
        drop(from_htslib);
    })?;
    Ok(Bam { bam, failure })
}

fn but_closed(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

/// What went wrong in a thread; the first counts. It is set before the pipe that the thread writes to is closed.
struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    fn set(&self, error: io::Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// BAM as it comes.
struct Bam {
    bam: PipeReader,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Read for Bam {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bam.read(buffer)?;
        if bytes == 0
            && !buffer.is_empty()
            && let Some(error) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            return Err(error);
        }
        Ok(bytes)
    }
}

/// Copies all records.
fn records(text: OwnedFd, bam: OwnedFd, reference: Option<&Path>) -> Result<(), String> {
    be_silent();
    let htslib = |Refused(what): Refused| format!("htslib did not {what}: is it SAM or CRAM?");
    let (text, bam) = (Stream::open(text, c"r").map_err(htslib)?, Stream::open(bam, c"wb0").map_err(htslib)?);
    // SAFETY: the file is open, and was not read from yet.
    let header = unsafe { hts_sys::sam_hdr_read(text.pointer()) };
    let header = NonNull::new(header).map(Header).ok_or("its header is damaged, or it is truncated")?;
    // Without it htslib looks for the reference that the header names, and not all CRAM needs one.
    let reference = match reference.filter(|_| text.is_cram()) {
        None => Reference::NotGiven,
        Some(path) => header.reference(path, &text),
    };
    // SAFETY: both are valid.
    if unsafe { hts_sys::sam_hdr_write(bam.pointer(), header.0.as_ptr()) } != 0 {
        return Err("its header cannot be written as that of BAM".to_owned());
    }
    // SAFETY: it allocates, and may fail.
    let record = NonNull::new(unsafe { hts_sys::bam_init1() }).map(Record).ok_or("there is no memory for a record")?;
    for number in 1u64.. {
        // SAFETY: all are valid and belong to this thread.
        match unsafe { hts_sys::sam_read1(text.pointer(), header.0.as_ptr(), record.0.as_ptr()) } {
            0.. => {}
            -1 => break,
            _ => return Err(damaged(number, text.is_cram(), &reference)),
        }
        record.forget_places();
        // SAFETY: as above; htslib copies the record.
        if unsafe { hts_sys::sam_write1(bam.pointer(), header.0.as_ptr(), record.0.as_ptr()) } < 0 {
            // Or nobody reads it any more: then nobody reads this either.
            return Err(format!("record {number} of it cannot be written as BAM"));
        }
    }
    if !text.has_end() {
        return Err("it lacks the end that CRAM has: it is truncated".to_owned());
    }
    // Where the records do not go through to their end, nobody reads them any more.
    bam.close();
    match text.close() {
        true => Ok(()),
        false => Err("it does not end as it should: it is truncated".to_owned()),
    }
}

/// What became of the reference that was given.
enum Reference<'p> {
    NotGiven,
    /// It has no .fai index beside it.
    NoIndex(&'p Path),
    /// By its index it is not what the header names.
    Other(&'p Path),
    Taken(&'p Path),
}

impl std::fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reference::NotGiven => f.write_str("none was given"),
            Reference::NoIndex(path) => {
                write!(f, "{0} has no index beside it: 'samtools faidx {0}' makes it", path.display())
            }
            Reference::Other(path) => write!(f, "{} has other contigs", path.display()),
            Reference::Taken(path) => write!(f, "{} was tried", path.display()),
        }
    }
}

fn damaged(number: u64, is_cram: bool, reference: &Reference<'_>) -> String {
    if !is_cram {
        return format!(
            "record {number} of all in it, or what follows, is damaged or truncated, or is on a contig, and the header \
             has no @SQ line"
        );
    }
    format!(
        "record {number} of all in it, or what follows, is damaged or truncated, or is compressed by lzma, which \
         zerohop does not have; CRAM of reads that were aligned also needs the reference that they were aligned to \
         ({reference}): 'samtools view -b -T REFERENCE' makes BAM of it"
    )
}

/// An open pipe of htslib, which shares nothing with another file: so it is closed without the lock that others wait
/// for, for closing may wait until somebody reads what is left.
struct Stream(NonNull<hts_sys::htsFile>);

impl Stream {
    fn open(descriptor: OwnedFd, mode: &CStr) -> Result<Self, Refused> {
        let descriptor = descriptor.into_raw_fd();
        // SAFETY: htslib owns the descriptor from here on, and closes it; the mode is a string with its end.
        let stream = unsafe { hts_sys::hdopen(descriptor, mode.as_ptr()) };
        if stream.is_null() {
            // SAFETY: htslib did not take it, so it is ours still.
            drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
            return Err(Refused("open a pipe"));
        }
        // SAFETY: the stream is open, and belongs to the new file.
        let file = unsafe { hts_sys::hts_hopen(stream, c"-".as_ptr(), mode.as_ptr()) };
        NonNull::new(file).map(Stream).ok_or_else(|| {
            // SAFETY: htslib did not take it, and it is not used again.
            unsafe { hts_sys::hclose_abruptly(stream) };
            Refused("know its format")
        })
    }

    fn pointer(&self) -> *mut hts_sys::htsFile {
        self.0.as_ptr()
    }

    /// Has htslib take a reference; whether it could be loaded.
    fn take_reference(&self, reference: &Path) -> bool {
        // SAFETY: the file is open; the name is a string with its end, which htslib copies.
        string(reference).is_ok_and(|name| unsafe { hts_sys::hts_set_fai_filename(self.pointer(), name.as_ptr()) } == 0)
    }

    fn is_cram(&self) -> bool {
        // SAFETY: the file is open, and so has a format.
        unsafe { (*hts_sys::hts_get_format(self.pointer())).format == hts_sys::htsExactFormat_cram }
    }

    /// Whether what was read to its end ended with the container that ends CRAM; SAM has none.
    fn has_end(&self) -> bool {
        const END_CONTAINER: i32 = 1;
        // SAFETY: the file is open; if it is CRAM, this member of the union is the one that is set.
        !self.is_cram() || unsafe { hts_sys::cram_eof((*self.pointer()).fp.cram) == END_CONTAINER }
    }

    /// Closes it; whether that went well.
    fn close(self) -> bool {
        let file = self.pointer();
        std::mem::forget(self);
        // SAFETY: the file is open, and is not used again.
        unsafe { hts_sys::hts_close(file) == 0 }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the file is open, and is not used again.
        unsafe { hts_sys::hts_close(self.pointer()) };
    }
}

struct Header(NonNull<hts_sys::sam_hdr_t>);

impl Header {
    /// Gives the reference to `text`, if it is that of this header.
    fn reference<'p>(&self, path: &'p Path, text: &Stream) -> Reference<'p> {
        let mut index = path.as_os_str().to_owned();
        index.push(".fai");
        match std::fs::read(index) {
            Err(_) => Reference::NoIndex(path),
            Ok(index) if self.fits(&index) && text.take_reference(path) => Reference::Taken(path),
            Ok(_) => Reference::Other(path),
        }
    }

    /// Whether a reference, by its .fai index, has contigs of this header, and none of them with another length.
    fn fits(&self, index: &[u8]) -> bool {
        let contig = |line: &'_ [u8]| {
            let mut fields = line.split(|&b| b == b'\t');
            let (name, length) = (fields.next()?.to_vec(), fields.next()?);
            Some((name, std::str::from_utf8(length).ok()?.parse().ok()?))
        };
        let lengths: HashMap<Vec<u8>, i64> = index.split(|&b| b == b'\n').filter_map(contig).collect();
        let header = self.0.as_ptr();
        // SAFETY: the header is valid.
        let contigs = unsafe { hts_sys::sam_hdr_nref(header) };
        let lengths_there = (0..contigs).filter_map(|contig| {
            // SAFETY: the header is valid, and has a contig of this number: its name is a string with its end that
            // lives as long.
            let (name, length) = unsafe {
                let name = CStr::from_ptr(hts_sys::sam_hdr_tid2name(header, contig));
                (name.to_bytes(), hts_sys::sam_hdr_tid2len(header, contig))
            };
            Some(*lengths.get(name)? == length)
        });
        let is_same: Vec<bool> = lengths_there.collect();
        !is_same.is_empty() && is_same.iter().all(|same| *same)
    }
}

impl Drop for Header {
    fn drop(&mut self) {
        // SAFETY: it is not used again here; htslib frees it when no file has it any more. The files are of this
        // thread.
        unsafe { hts_sys::sam_hdr_destroy(self.0.as_ptr()) };
    }
}

struct Record(NonNull<hts_sys::bam1_t>);

impl Record {
    /// Takes away where it was aligned: of no use for a read, and SAM knows places that BAM cannot say.
    fn forget_places(&self) {
        // SAFETY: it was made by bam_init1 and belongs to this thread; nobody else has a reference to it.
        let core = unsafe { &mut (*self.0.as_ptr()).core };
        (core.tid, core.pos, core.mtid, core.mpos, core.isize_) = (-1, -1, -1, -1, 0);
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // SAFETY: it was made by bam_init1, and is not used again.
        unsafe { hts_sys::bam_destroy1(self.0.as_ptr()) };
    }
}
