//! Opens a file of reads, and finds out by its content what it is.

use crate::bam::{self, Beginning};
use crate::content::Content;
use crate::fault::{DAMAGED_RECORD, TRUNCATED_RECORD, not_reads, read_fault};
use crate::gzip::{GzipMembers, TrailingGarbage};
use crate::header;
use crate::parse::Format;
use crate::regular::Coding;
use crate::sam;
use crate::sizes::COMPRESSED_READ;
use crate::survey::has_end_marker;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use zerohop_model::error::{InputError, shown_path};

/// Bytes of BAM that are read at first.
const BEGIN: usize = 1 << 16;
/// Bytes after which a header of BAM is taken for damaged.
const MOST_HEADER: usize = 1 << 30;
/// Bytes of records within which the first read must come.
const MOST_BEFORE_FIRST: usize = 1 << 26;

/// What a file's first bytes say of its compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Bgzf,
}

/// One opened file: its inflated text from the start, and what was learned of it.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    /// The file, if it is a regular one, for reading at any offset.
    pub(crate) regular: Option<File>,
    pub(crate) compression: Compression,
    /// `None` for a file without any text.
    pub(crate) content: Option<Content>,
    /// What is before the records, if it is BAM.
    pub(crate) header: bam::Header,
    /// Inflated text that was read for looking at it, and the rest.
    pub(crate) prefix: Vec<u8>,
    pub(crate) rest: Counting<Box<dyn Read + Send>>,
    /// Bytes of text that were read so far.
    pub(crate) text_read: Arc<AtomicU64>,
    pub(crate) progress: Option<(Arc<AtomicU64>, u64)>,
    /// Whether htslib made BAM of it: places in that are none of the file.
    pub(crate) is_converted: bool,
    /// Whether it is a file of BGZF that does not end as its writers end it.
    pub(crate) lacks_end_marker: bool,
    /// The same of a pipe, known at its end.
    end_of_pipe: Option<Arc<AtomicBool>>,
}

/// The end of a pipe of BGZF. That of a file is looked at before; see [`crate::OpenLane::check_ends`].
pub struct EndOfPipe {
    path: PathBuf,
    is_bam: bool,
    lacks_marker: Arc<AtomicBool>,
}

impl EndOfPipe {
    /// What the user should know of it, once the pipe was read to its end.
    ///
    /// # Errors
    /// BAM or SAM without its end.
    pub fn note(&self) -> Result<Option<String>, InputError> {
        match (self.lacks_marker.load(Ordering::Relaxed), self.is_bam) {
            (false, _) => Ok(None),
            (true, false) => Ok(Some(no_end_marker(&self.path))),
            (true, true) => Err(bam_without_end(&self.path)),
        }
    }
}

/// What is said of a file or pipe of BGZF that does not end as its writers end it.
pub(crate) fn no_end_marker(path: &Path) -> String {
    let what = if path == Path::new("-") { ": has the program failed that wrote it?" } else { "." };
    let path = shown_path(path);
    format!("{path} lacks the end marker of BGZF: it may be truncated between two blocks{what}")
}

/// What to say of BAM or SAM in BGZF that does not end as its writers end it: all of them do, for years.
pub(crate) fn bam_without_end(path: &Path) -> InputError {
    let what = match path == Path::new("-") {
        true => "has the program failed that wrote it?",
        false => {
            "it is truncated between two blocks, or its writer does not end files; 'samtools view -b -o WHOLE.bam \
             FILE' makes a whole file of the reads that are there"
        }
    };
    InputError::new(path, format!("it lacks the end marker of BGZF: {what}"))
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

/// A file's bytes, and the file itself if it is a regular one.
pub(crate) type Raw = (Box<dyn Read + Send>, Option<File>);

/// Opens a file, or standard input for `-`.
pub(crate) fn open_raw(path: &Path) -> Result<Raw, InputError> {
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

/// Bytes of text within which two reads are looked for: of a file, and of a pipe, whose writer may wait for another one
/// to be opened.
const FIRST_TWO: usize = 1 << 12;
const FIRST_TWO_OF_PIPE: usize = 1 << 9;

/// Looks at the first bytes of a file. `reference` is for CRAM.
pub(crate) fn look(path: &Path, (raw, regular): Raw, reference: Option<&Path>) -> Result<Opened, InputError> {
    let length = regular.as_ref().map(File::metadata).transpose().map_err(|e| read_fault(path, &e))?.map(|m| m.len());
    let count = Arc::new(AtomicU64::new(0));
    let mut raw = Counting { inner: raw, count: Arc::clone(&count) };
    let mut first = Vec::new();
    raw.by_ref().take(512).read_to_end(&mut first).map_err(|e| read_fault(path, &e))?;
    let compression = match &first[..] {
        bytes if zerohop_bgzf::frame(bytes).is_some() => Compression::Bgzf,
        [0x1f, 0x8b, ..] => Compression::Gzip,
        _ => Compression::None,
    };
    let raw = Cursor::new(first).chain(raw);
    let mut end_of_pipe = None;
    let rest: Box<dyn Read + Send> = match compression {
        Compression::None => Box::new(raw),
        _ => {
            let members = GzipMembers::new(raw, COMPRESSED_READ);
            if compression == Compression::Bgzf && regular.is_none() {
                end_of_pipe = Some(Arc::clone(&members.ends_in_text));
            }
            Box::new(members)
        }
    };
    let lacks_end_marker = match (compression, &regular) {
        (Compression::Bgzf, Some(regular)) => !has_end_marker(regular, path)?,
        _ => false,
    };
    let progress = length.map(|length| (count, length));
    let text_read = Arc::new(AtomicU64::new(0));
    let rest = Counting { inner: rest, count: Arc::clone(&text_read) };
    let (path_owned, prefix) = (path.to_owned(), Vec::new());
    let (header, is_converted) = (bam::Header::default(), false);
    let mut opened = Opened {
        path: path_owned,
        regular,
        compression,
        content: None,
        header,
        prefix,
        rest,
        text_read,
        progress,
        is_converted,
        lacks_end_marker,
        end_of_pipe,
    };
    opened.read_more(bam::MAGIC.len())?;
    if !opened.prefix.starts_with(&bam::MAGIC) {
        opened.read_more(sam::wanted(opened.prefix.first()))?;
        if sam::is_cram(&opened.prefix) || sam::is_sam(&opened.prefix) {
            opened = opened.into_bam(reference)?;
        }
    }
    let blank = |b: &u8| matches!(b, b'\n' | b'\r');
    opened.content = match opened.prefix.first().copied() {
        None => None,
        Some(_) if opened.prefix.starts_with(&bam::MAGIC) => Some(opened.look_at_bam()?),
        // A file of a few empty lines is as good as empty.
        Some(first) if blank(&first) && !opened.read_more(512)? && opened.prefix.iter().all(blank) => None,
        Some(b'@') => Some(Content::Text(Format::Fastq)),
        Some(b'>') => Some(Content::Text(Format::Fasta)),
        Some(_) => return Err(not_reads(path, &opened.prefix)),
    };
    Ok(opened)
}

impl Opened {
    /// Its end, if it is a pipe of BGZF.
    pub(crate) fn end_of_pipe(&self) -> Option<EndOfPipe> {
        let lacks_marker = Arc::clone(self.end_of_pipe.as_ref()?);
        Some(EndOfPipe { path: self.path.clone(), is_bam: self.is_bam(), lacks_marker })
    }

    /// Reads until `prefix` holds `wanted` bytes; false when the text ends before.
    pub(crate) fn read_more(&mut self, wanted: usize) -> Result<bool, InputError> {
        let missing = wanted.saturating_sub(self.prefix.len()) as u64;
        let before = self.prefix.len();
        self.rest.by_ref().take(missing).read_to_end(&mut self.prefix).map_err(|e| self.fault(&e))?;
        Ok((self.prefix.len() - before) as u64 == missing)
    }

    /// What an error means. Of BAM, whose records are told with their places from here on, with its place: behind all
    /// that was read.
    fn fault(&self, error: &std::io::Error) -> InputError {
        let fault = read_fault(&self.path, error);
        let is_bam = self.prefix.starts_with(&bam::MAGIC) && !self.is_converted;
        let has_own_place = error.get_ref().is_some_and(|inner| inner.is::<TrailingGarbage>());
        let byte = (is_bam && !has_own_place).then_some(self.prefix.len() as u64);
        InputError { byte: fault.byte.or(byte), ..fault }
    }

    /// Whether the first two reads have the same name, of FASTQ; as far as that is seen soon.
    pub(crate) fn seems_interleaved(&mut self) -> Result<bool, InputError> {
        if self.content != Some(Content::Text(Format::Fastq)) {
            return Ok(false);
        }
        self.read_more(if self.regular.is_some() { FIRST_TWO } else { FIRST_TWO_OF_PIPE })?;
        let mut headers = self.prefix.split(|&b| b == b'\n').step_by(4).take(2);
        let mut name = || {
            let (name, _) = header::split(headers.next()?.strip_prefix(b"@")?);
            Some(header::without_mate_number(name))
        };
        Ok(name().is_some_and(|first| name() == Some(first)))
    }

    /// The header line of the first read of FASTQ, without its `@`; as far as that is seen soon.
    pub(crate) fn first_header(&mut self) -> Result<Option<&[u8]>, InputError> {
        if self.content != Some(Content::Text(Format::Fastq)) {
            return Ok(None);
        }
        self.read_more(if self.regular.is_some() { FIRST_TWO } else { FIRST_TWO_OF_PIPE })?;
        Ok(self.prefix.split(|&b| b == b'\n').next().and_then(|line| line.strip_prefix(b"@")))
    }

    /// SAM or CRAM as BAM, which is read from front to back.
    fn into_bam(self, reference: Option<&Path>) -> Result<Self, InputError> {
        let text = Cursor::new(self.prefix).chain(self.rest);
        let bam = zerohop_cram::as_bam(text, reference.map(Path::to_owned)).map_err(|e| read_fault(&self.path, &e))?;
        let rest: Box<dyn Read + Send> = Box::new(GzipMembers::new(bam, COMPRESSED_READ));
        let rest = Counting { inner: rest, count: Arc::clone(&self.text_read) };
        let mut opened = Opened { regular: None, prefix: Vec::new(), rest, is_converted: true, ..self };
        opened.read_more(bam::MAGIC.len())?;
        Ok(opened)
    }

    /// Reads the header of a file of BAM, and its first read.
    fn look_at_bam(&mut self) -> Result<Content, InputError> {
        let mut wanted = BEGIN;
        let header = loop {
            let more = self.read_more(wanted)?;
            let fault = |what: &str| InputError::new(&self.path, what).at(1, 0);
            match bam::Header::of(&self.prefix).map_err(fault)? {
                Some(header) => break header,
                None if !more => {
                    let what = "the file ends in the middle of its header: it is truncated";
                    return Err(InputError::new(&self.path, what));
                }
                None if wanted >= MOST_HEADER => {
                    return Err(fault("its header would have more than a gibibyte: the file is damaged"));
                }
                None => wanted *= 2,
            }
        };
        let (start, contigs) = (header.bytes, header.contigs);
        self.header = header;
        loop {
            let more = self.read_more(wanted)?;
            // A fault before the first read may be in no chunk, so that nobody would find it later.
            let (what, left) = match bam::first_read(self.prefix.get(start..).unwrap_or_default()) {
                Beginning::Open { .. } if more && wanted < start + MOST_BEFORE_FIRST => {
                    wanted *= 2;
                    continue;
                }
                Beginning::Open { first: None, cut_off } if more => {
                    let what = match cut_off < MOST_BEFORE_FIRST {
                        true => {
                            "its first records are secondary and supplementary ones alone, for 64 MiB: are there reads?"
                        }
                        false => "its first record has more than 64 MiB: the file is damaged, or has very long fields",
                    };
                    return Err(InputError::new(&self.path, what).at(1, start as u64));
                }
                Beginning::Open { first: None, cut_off: cut_off @ 1.. } => (TRUNCATED_RECORD, cut_off),
                Beginning::Damaged { left } => (DAMAGED_RECORD, left),
                Beginning::Open { first, .. } => return Ok(Content::Bam { header: start as u64, contigs, first }),
                Beginning::Known(first) => {
                    return Ok(Content::Bam { header: start as u64, contigs, first: Some(first) });
                }
            };
            let mut fault = InputError::new(&self.path, what).at(1, (self.prefix.len() - left) as u64);
            fault.byte = fault.byte.filter(|_| !self.is_converted);
            return Err(fault);
        }
    }

    pub(crate) fn is_bam(&self) -> bool {
        matches!(self.content, Some(Content::Bam { .. }))
    }

    /// How its bytes can be read at any offset, and what they hold, if workers can deal it themselves.
    pub(crate) fn coding(&self) -> Option<(Coding, Content)> {
        const FASTQ: Content = Content::Text(Format::Fastq);
        match (self.regular.is_some(), self.content, self.compression) {
            (true, Some(FASTQ), Compression::None) => Some((Coding::Plain, FASTQ)),
            (true, Some(content @ (FASTQ | Content::Bam { .. })), Compression::Bgzf) => Some((Coding::Bgzf, content)),
            (true, Some(FASTQ), Compression::Gzip) => Some((Coding::Gzip, FASTQ)),
            // An empty file holds no stretch.
            (true, None, Compression::None) => Some((Coding::Plain, FASTQ)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{TEXT, sample};
    use std::sync::atomic::Ordering;

    /// FASTA without end, of records of so many bytes in lines of 60 bases; it counts what is read.
    struct Endless {
        record: u64,
        at: u64,
        read: Arc<AtomicU64>,
    }

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            for byte in buffer.iter_mut() {
                *byte = match self.at % self.record {
                    0 => b'>',
                    1 => b'r',
                    at if at % 61 == 2 || at + 1 == self.record => b'\n',
                    _ => b'A',
                };
                self.at += 1;
            }
            self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            Ok(buffer.len())
        }
    }

    #[test]
    fn of_long_reads_a_bounded_text_is_sampled() {
        let read = Arc::new(AtomicU64::new(0));
        let text = Endless { record: 610_000, at: 0, read: Arc::clone(&read) };
        let mut opened = look(Path::new("x.fa"), (Box::new(text), None), None).unwrap();
        // 500 reads would be 305 MB.
        let sample = sample(&mut opened, 500).unwrap();
        let mean = sample.bases / sample.reads as u64;
        assert!((590_000..610_000).contains(&mean), "{mean}");
        assert!(read.load(Ordering::Relaxed) <= TEXT as u64 + 1024);
    }
}
