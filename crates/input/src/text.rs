//! The inflated text of one file, read from front to back.

use crate::bam;
use crate::errors::read_fault;
use crate::garbage::TrailingGarbage;
use crate::gzip::GzipMembers;
use crate::lasting::Lasting;
use crate::sizes::COMPRESSED_READ;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zerohop_model::error::InputError;

/// How a file is compressed, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Bgzf,
}

/// A file's bytes.
pub(crate) type Raw = Box<dyn Read + Send>;

/// Opens a file, or standard input for `-`; gives the file itself, too, if it is a regular one.
pub(crate) fn open_raw(path: &Path) -> Result<(Raw, Option<File>), InputError> {
    if path == Path::new("-") {
        return Ok((Box::new(std::io::stdin()), None));
    }
    let fault = |e| InputError::new(path, format!("cannot open: {e}"));
    let file = File::open(path).map_err(fault)?;
    let kind = file.metadata().map_err(fault)?;
    if kind.is_dir() {
        return Err(InputError::new(path, "is a directory, not a file of reads"));
    }
    let regular = if kind.is_file() { Some(file.try_clone().map_err(fault)?) } else { None };
    Ok((Box::new(file), regular))
}

/// Counts the bytes that pass.
pub(crate) struct Counting<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Bytes of the file that were read so far, and its length.
type ReadOf = (Arc<AtomicU64>, u64);

/// The text of one file: what was read of it to look at it, and the rest.
pub(crate) struct FileText {
    path: PathBuf,
    pub(crate) prefix: Vec<u8>,
    rest: Counting<Lasting<Box<dyn Read + Send>>>,
    /// Bytes of text that were read so far.
    pub(crate) read: Arc<AtomicU64>,
    /// Of a regular file.
    pub(crate) progress: Option<ReadOf>,
    pub(crate) compression: Compression,
    /// Whether htslib made BAM of it: then places in the text are not places in the file.
    pub(crate) is_converted: bool,
    /// Set at the end of BGZF that does not end as its writers end it.
    pub(crate) ends_in_text: Arc<AtomicBool>,
}

impl FileText {
    /// The text of a file of which nothing was read yet, with its `length` if it is a regular one.
    pub(crate) fn begin(path: &Path, raw: Raw, length: Option<u64>) -> Result<Self, InputError> {
        let count = Arc::new(AtomicU64::new(0));
        let mut raw = Counting { inner: raw, count: Arc::clone(&count) };
        let mut first = Vec::new();
        raw.by_ref().take(512).read_to_end(&mut first).map_err(|e| read_fault(path, &e))?;
        let compression = match &first[..] {
            bytes if zerohop_bgzf::frame(bytes).is_some() => Compression::Bgzf,
            bytes if bytes.starts_with(&zerohop_gzip::MAGIC) => Compression::Gzip,
            _ => Compression::None,
        };
        let raw = Cursor::new(first).chain(raw);
        let mut ends_in_text = Arc::default();
        let rest: Box<dyn Read + Send> = match compression {
            Compression::None => Box::new(raw),
            Compression::Gzip | Compression::Bgzf => {
                let members = GzipMembers::new(raw, COMPRESSED_READ);
                ends_in_text = Arc::clone(&members.ends_in_text);
                Box::new(members)
            }
        };
        let read = Arc::new(AtomicU64::new(0));
        let rest = Counting { inner: Lasting::new(rest), count: Arc::clone(&read) };
        let (path, progress) = (path.to_owned(), length.map(|length| (count, length)));
        let (prefix, is_converted) = (Vec::new(), false);
        Ok(FileText { path, prefix, rest, read, progress, compression, is_converted, ends_in_text })
    }

    /// SAM or CRAM as BAM. `reference` is for CRAM.
    pub(crate) fn into_bam(self, reference: Option<&Path>) -> Result<Self, InputError> {
        let text = Cursor::new(self.prefix).chain(self.rest);
        let bam = zerohop_cram::as_bam(text, reference.map(Path::to_owned)).map_err(|e| read_fault(&self.path, &e))?;
        let rest: Box<dyn Read + Send> = Box::new(GzipMembers::new(bam, COMPRESSED_READ));
        let rest = Counting { inner: Lasting::new(rest), count: Arc::clone(&self.read) };
        Ok(FileText { prefix: Vec::new(), rest, is_converted: true, ..self })
    }

    /// Reads until `prefix` holds `wanted` bytes; false when the text ends before.
    pub(crate) fn read_more(&mut self, wanted: usize) -> Result<bool, InputError> {
        let missing = wanted.saturating_sub(self.prefix.len()) as u64;
        let before = self.prefix.len();
        self.rest.by_ref().take(missing).read_to_end(&mut self.prefix).map_err(|e| self.fault(&e))?;
        Ok((self.prefix.len() - before) as u64 == missing)
    }

    /// What an error means. For BAM, whose messages have places from here on, with its place: behind all that was read.
    fn fault(&self, error: &std::io::Error) -> InputError {
        let fault = read_fault(&self.path, error);
        let is_bam = self.prefix.starts_with(&bam::MAGIC) && !self.is_converted;
        let has_own_place = error.get_ref().is_some_and(|inner| inner.is::<TrailingGarbage>());
        let byte = (is_bam && !has_own_place).then_some(self.prefix.len() as u64);
        InputError { byte: fault.byte.or(byte), ..fault }
    }

    /// All of it, from the start.
    pub(crate) fn into_reader(self) -> Box<dyn Read + Send> {
        Box::new(Cursor::new(self.prefix).chain(self.rest))
    }
}
