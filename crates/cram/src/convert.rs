//! The process that makes BAM of SAM and CRAM. htslib reads them, whose decoder of CRAM has faults that damaged or
//! malicious files can reach. So this process has nothing that it could do harm with ([`confine`]), and shares no
//! memory with the one that wants the reads.
#![allow(unsafe_code)]

use crate::causes::{GivenReference, ReadFault};
use crate::hts::{prepare, tell_errors};
use crate::reference::{CramReference, NamedReference};
use crate::system::in_memory;
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::NonNull;
use zerohop_model::error::InputError;
use zerohop_process::confine;

/// Bytes of what htslib says that are looked at.
const MOST_SAID: usize = 1 << 16;

/// Makes BAM of standard input on standard output, if this is all that the process is for; `read` reads the reference
/// at a path. What is wrong goes to standard error, in words for the user.
///
/// # Errors
/// What was said.
pub(crate) fn convert(reference: Option<&Path>, read: ReadReference) -> Result<(), String> {
    let here = || -> io::Result<_> {
        let (text, bam) = (io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?);
        let (told, said) = (io::stderr().as_fd().try_clone_to_owned()?, in_memory()?);
        // SAFETY: both descriptors are open; what was standard error is kept.
        match unsafe { libc::dup2(said.as_raw_fd(), libc::STDERR_FILENO) } {
            0.. => Ok((text, bam, File::from(told), said)),
            _ => Err(io::Error::last_os_error()),
        }
    };
    let (text, bam, mut told, said) = here().map_err(|error| error.to_string())?;
    let converted = match confine() {
        Ok(()) => records(text, bam, reference, read).map_err(|fault| fault.words(&what_was_said(&said))),
        Err(error) => Err(format!(
            "the process that reads SAM and CRAM cannot give up its privileges (seccomp: {error}): 'samtools view -b' \
             converts it to BAM"
        )),
    };
    if let Err(words) = &converted {
        // Nobody may be there to read it.
        let _ = told.write_all(words.as_bytes());
    }
    converted
}

/// Reads the reference at a path.
pub type ReadReference = fn(&Path) -> Result<CramReference, InputError>;

/// What htslib wrote to standard error.
fn what_was_said(said: &File) -> String {
    let mut text = vec![0; MOST_SAID];
    let bytes = said.read_at(&mut text, 0).unwrap_or(0);
    String::from_utf8_lossy(&text[..bytes]).into_owned()
}

/// Copies all records.
fn records(text: OwnedFd, bam: OwnedFd, reference: Option<&Path>, read: ReadReference) -> Result<(), ReadFault> {
    prepare();
    tell_errors();
    let (text, bam) = (HtsPipe::open(text, c"r")?, HtsPipe::open(bam, c"wb0")?);
    // SAFETY: the file is open, and was not read from yet.
    let header = unsafe { hts_sys::sam_hdr_read(text.pointer()) };
    let header =
        NonNull::new(header).map(PipeHeader).ok_or_else(|| ReadFault::Header { is_cut_off: text.is_at_end() })?;
    // Without it htslib looks for the reference that the header names, and not all CRAM needs one.
    let (given, _named) = match reference.filter(|_| text.is_cram() && header.contigs() > 0) {
        None => (GivenReference::Nothing, None),
        Some(path) => header.give(read(path), path, &text),
    };
    // SAFETY: both are valid.
    if unsafe { hts_sys::sam_hdr_write(bam.pointer(), header.0.as_ptr()) } != 0 {
        return Err(ReadFault::Other("its header cannot be written as that of BAM".to_owned()));
    }
    // SAFETY: it allocates, and may fail.
    let record = NonNull::new(unsafe { hts_sys::bam_init1() }).map(PipeRecord);
    let record = record.ok_or_else(|| ReadFault::Other("there is no memory for a record".to_owned()))?;
    for number in 1u64.. {
        // SAFETY: all are valid and belong to this thread.
        match unsafe { hts_sys::sam_read1(text.pointer(), header.0.as_ptr(), record.0.as_ptr()) } {
            0.. => {}
            -1 => break,
            _ if text.is_cram() => return Err(ReadFault::Cram { number, is_cut_off: text.is_at_end(), given }),
            _ => return Err(ReadFault::Sam { number }),
        }
        record.forget_places();
        // SAFETY: as above; htslib copies the record.
        if unsafe { hts_sys::sam_write1(bam.pointer(), header.0.as_ptr(), record.0.as_ptr()) } < 0 {
            // Or nobody reads it any more: then nobody reads this either.
            return Err(ReadFault::Other(format!("record {number} of it cannot be written as BAM")));
        }
    }
    if !text.has_end() {
        return Err(ReadFault::NoEnd);
    }
    // Where the records do not go through to their end, nobody reads them any more.
    bam.close();
    match text.close() {
        true => Ok(()),
        false => Err(ReadFault::Other("it does not end as it should: it is truncated".to_owned())),
    }
}

/// An open pipe of htslib.
struct HtsPipe(NonNull<hts_sys::htsFile>);

impl HtsPipe {
    fn open(descriptor: OwnedFd, mode: &CStr) -> Result<Self, ReadFault> {
        let descriptor = descriptor.into_raw_fd();
        // SAFETY: htslib owns the descriptor from here on, and closes it; the mode is a string with its end.
        let stream = unsafe { hts_sys::hdopen(descriptor, mode.as_ptr()) };
        if stream.is_null() {
            // SAFETY: htslib did not take it, so it is ours still.
            drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
            return Err(ReadFault::Other("there is no memory to read it".to_owned()));
        }
        // SAFETY: the stream is open, and belongs to the new file.
        let file = unsafe { hts_sys::hts_hopen(stream, c"-".as_ptr(), mode.as_ptr()) };
        NonNull::new(file).map(HtsPipe).ok_or_else(|| {
            // Of CRAM the header is read here.
            let is_cut_off = mode == c"r" && is_at_end(stream);
            // SAFETY: htslib did not take it, and it is not used again.
            unsafe { hts_sys::hclose_abruptly(stream) };
            ReadFault::Header { is_cut_off }
        })
    }

    fn pointer(&self) -> *mut hts_sys::htsFile {
        self.0.as_ptr()
    }

    /// Has htslib take a reference; whether it could be loaded.
    fn take_reference(&self, reference: &NamedReference) -> bool {
        // SAFETY: the file is open; the name is a string with its end, which htslib copies.
        unsafe { hts_sys::hts_set_fai_filename(self.pointer(), reference.name.as_ptr()) == 0 }
    }

    /// Whether all of a CRAM was read. It waits for what comes.
    fn is_at_end(&self) -> bool {
        // SAFETY: the file is open; as it is CRAM, this member of the union is the one that is set.
        self.is_cram() && is_at_end(unsafe { hts_sys::cram_fd_get_fp((*self.pointer()).fp.cram) })
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

impl Drop for HtsPipe {
    fn drop(&mut self) {
        // SAFETY: the file is open, and is not used again.
        unsafe { hts_sys::hts_close(self.pointer()) };
    }
}

/// Whether a stream that is open to be read has nothing left.
fn is_at_end(stream: *mut hts_sys::hFILE) -> bool {
    let mut byte = 0u8;
    // SAFETY: the stream is open; there is room for a byte.
    unsafe { hts_sys::hpeek(stream, (&raw mut byte).cast(), 1) == 0 }
}

struct PipeHeader(NonNull<hts_sys::sam_hdr_t>);

impl PipeHeader {
    /// How many contigs it names.
    fn contigs(&self) -> i32 {
        // SAFETY: the header is valid.
        unsafe { hts_sys::sam_hdr_nref(self.0.as_ptr()) }
    }

    /// Gives the reference to `text`, if it is that of this header. What is returned beside what became of it must live
    /// as long as `text` is read.
    fn give(
        &self,
        reference: Result<CramReference, InputError>,
        path: &Path,
        text: &HtsPipe,
    ) -> (GivenReference, Option<(CramReference, NamedReference)>) {
        let reference = match reference {
            Ok(reference) => reference,
            Err(error) => return (GivenReference::Unusable(error.to_string()), None),
        };
        if !self.fits(&reference) {
            return (GivenReference::Other(path.to_owned()), None);
        }
        match reference.named(|_, _| true) {
            Ok(named) if text.take_reference(&named) => {
                (GivenReference::Taken(path.to_owned()), Some((reference, named)))
            }
            _ => (GivenReference::Unusable(format!("{}: htslib cannot load it", path.display())), None),
        }
    }

    /// Whether a reference has contigs of this header, and none of them with another length.
    fn fits(&self, reference: &CramReference) -> bool {
        let lengths = reference.lengths();
        let header = self.0.as_ptr();
        let is_same = (0..self.contigs()).filter_map(|contig| {
            // SAFETY: the header is valid, and has a contig of this number: its name is a string with its end that
            // lives as long.
            let (name, length) = unsafe {
                let name = CStr::from_ptr(hts_sys::sam_hdr_tid2name(header, contig));
                (name.to_str().ok()?, hts_sys::sam_hdr_tid2len(header, contig))
            };
            Some(i64::try_from(*lengths.get(name)?).is_ok_and(|known| known == length))
        });
        let is_same: Vec<bool> = is_same.collect();
        !is_same.is_empty() && is_same.iter().all(|same| *same)
    }
}

impl Drop for PipeHeader {
    fn drop(&mut self) {
        // SAFETY: it is not used again here; htslib frees it when no file has it any more. The files are of this
        // thread.
        unsafe { hts_sys::sam_hdr_destroy(self.0.as_ptr()) };
    }
}

struct PipeRecord(NonNull<hts_sys::bam1_t>);

impl PipeRecord {
    /// Takes away where it was aligned: of no use for a read, and SAM knows places that BAM cannot say.
    fn forget_places(&self) {
        // SAFETY: it was made by bam_init1 and belongs to this thread; nobody else has a reference to it.
        let core = unsafe { &mut (*self.0.as_ptr()).core };
        (core.tid, core.pos, core.mtid, core.mpos, core.isize_) = (-1, -1, -1, -1, 0);
    }
}

impl Drop for PipeRecord {
    fn drop(&mut self) {
        // SAFETY: it was made by bam_init1, and is not used again.
        unsafe { hts_sys::bam_destroy1(self.0.as_ptr()) };
    }
}
