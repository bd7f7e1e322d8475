//! Opens a file of reads, and finds out by its content what it is.

use crate::bam::{self, Beginning};
use crate::content::Content;
use crate::errors::{DAMAGED_RECORD, TRUNCATED_RECORD, not_reads, read_fault};
use crate::header;
use crate::parse::TextFormat;
use crate::regular::FileCoding;
use crate::sam;
use crate::seen::{ClosedFile, SeenFile};
use crate::survey::has_end_marker;
use crate::text::{Compression, FileText, Raw, open_raw};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop_model::error::{InputError, shown_path};

/// Bytes of BAM that are read at first.
const BEGIN: usize = 1 << 16;
/// Bytes after which a header of BAM is taken for damaged.
const MOST_HEADER: usize = 1 << 30;
/// Bytes of records within which the first read must come.
const MOST_BEFORE_FIRST: usize = 1 << 26;

/// One file that was opened, and what was learned of it. A regular file is closed until its turn comes.
pub(crate) struct OpenedFile {
    pub(crate) path: PathBuf,
    /// What it was like when it was looked at, if it is a regular file: it can be opened again.
    pub(crate) seen: Option<SeenFile>,
    /// The reference, which CRAM of aligned reads needs.
    reference: Option<PathBuf>,
    pub(crate) compression: Compression,
    /// `None` for a file without any text.
    pub(crate) content: Option<Content>,
    /// What is before the records, if it is BAM.
    pub(crate) header: bam::BamHeader,
    /// Whether htslib made BAM of it: then places in the text are not places in the file.
    pub(crate) is_converted: bool,
    /// Whether it is a file of BGZF that does not end as its writers end it.
    pub(crate) lacks_end_marker: bool,
    /// The same of a pipe, known at its end.
    end_of_pipe: Option<Arc<AtomicBool>>,
    /// None while it is closed.
    text: Option<FileText>,
}

/// What is known of a lane only when all its reads were read.
pub enum WhenRead {
    /// Whether a pipe of BGZF has its end. That of a file is looked at before; see [`crate::OpenLane::check_ends`].
    EndOfPipe(EndOfPipe),
    /// Whether BAM holds single reads among pairs.
    Mates(Arc<bam::SeenMates>),
}

impl WhenRead {
    /// What the user should know of it.
    ///
    /// # Errors
    /// A pipe of BAM or SAM without its end.
    pub fn note(&self) -> Result<Option<String>, InputError> {
        match self {
            WhenRead::EndOfPipe(end) => end.note(),
            WhenRead::Mates(seen) => Ok(seen.note()),
        }
    }
}

/// The end of a pipe of BGZF.
pub struct EndOfPipe {
    path: PathBuf,
    is_bam: bool,
    lacks_marker: Arc<AtomicBool>,
}

impl EndOfPipe {
    fn note(&self) -> Result<Option<String>, InputError> {
        match (self.lacks_marker.load(Ordering::Relaxed), self.is_bam) {
            (false, _) => Ok(None),
            (true, false) => Ok(Some(no_end_marker(&self.path))),
            (true, true) => Err(bam_without_end(&self.path)),
        }
    }
}

/// What is said of a file or pipe of BGZF that does not end as its writers end it.
pub(crate) fn no_end_marker(path: &Path) -> String {
    let what = if path == Path::new("-") { ": did the program that wrote it fail?" } else { "." };
    let path = shown_path(path);
    format!("{path} lacks the end marker of BGZF: it may be truncated between two blocks{what}")
}

/// What to say of BAM or SAM in BGZF that does not end as its writers end it: all of them do, for years.
pub(crate) fn bam_without_end(path: &Path) -> InputError {
    let what = match path == Path::new("-") {
        true => "did the program that wrote it fail?",
        false => {
            "it is truncated between two blocks, or its writer leaves the end marker out; 'samtools view -b -o \
             WHOLE.bam FILE' makes a whole file of the reads that are there"
        }
    };
    InputError::new(path, format!("it lacks the end marker of BGZF: {what}"))
}

/// Of reads in gzip or BAM, rather too many.
const BASES_PER_COMPRESSED_BYTE: u64 = 3;

/// Bytes of text within which two reads are looked for: of a file, and of a pipe, whose writer may wait for another one
/// to be opened.
const FIRST_TWO: usize = 1 << 12;
const FIRST_TWO_OF_PIPE: usize = 1 << 9;

/// Looks at the first bytes of a file. `reference` is for CRAM.
pub(crate) fn look(
    path: &Path,
    (raw, regular): (Raw, Option<File>),
    reference: Option<&Path>,
) -> Result<OpenedFile, InputError> {
    let seen = regular.as_ref().map(SeenFile::of).transpose().map_err(|e| read_fault(path, &e))?;
    let mut text = FileText::begin(path, raw, seen.map(|seen| seen.length))?;
    let compression = text.compression;
    let is_bgzf = compression == Compression::Bgzf;
    let lacks_end_marker = match &regular {
        Some(regular) if is_bgzf => !has_end_marker(regular, path)?,
        _ => false,
    };
    let end_of_pipe = (is_bgzf && regular.is_none()).then(|| Arc::clone(&text.ends_in_text));
    text.read_more(bam::MAGIC.len())?;
    if !text.prefix.starts_with(&bam::MAGIC) {
        text.read_more(sam::wanted(text.prefix.first()))?;
        if sam::is_cram(&text.prefix) || sam::is_sam(&text.prefix) {
            text = text.into_bam(reference)?;
            text.read_more(bam::MAGIC.len())?;
        }
    }
    let (content, header) = content_of(path, &mut text)?;
    Ok(OpenedFile {
        path: path.to_owned(),
        seen,
        reference: reference.map(Path::to_owned),
        compression,
        content,
        header,
        is_converted: text.is_converted,
        lacks_end_marker,
        end_of_pipe,
        text: Some(text),
    })
}

/// What a text holds, and what is before its records, if it is BAM.
fn content_of(path: &Path, text: &mut FileText) -> Result<(Option<Content>, bam::BamHeader), InputError> {
    if text.prefix.starts_with(&bam::MAGIC) {
        let (content, header) = look_at_bam(path, text)?;
        return Ok((Some(content), header));
    }
    let blank = |b: &u8| matches!(b, b'\n' | b'\r');
    let content = match text.prefix.first().copied() {
        None => None,
        // A file of a few empty lines is as good as empty.
        Some(first) if blank(&first) && !text.read_more(512)? && text.prefix.iter().all(blank) => None,
        Some(b'@') => Some(Content::Text(TextFormat::Fastq)),
        Some(b'>') => Some(Content::Text(TextFormat::Fasta)),
        Some(_) => return Err(not_reads(path, &text.prefix)),
    };
    Ok((content, bam::BamHeader::default()))
}

/// Reads the header of a file of BAM, and its first read.
fn look_at_bam(path: &Path, text: &mut FileText) -> Result<(Content, bam::BamHeader), InputError> {
    let mut wanted = BEGIN;
    let header = loop {
        let more = text.read_more(wanted)?;
        let fault = |what: &str| InputError::new(path, what).at(1, 0);
        match bam::BamHeader::of(&text.prefix).map_err(fault)? {
            Some(header) => break header,
            None if !more => {
                let what = "the file ends in the middle of its header: it is truncated";
                return Err(InputError::new(path, what));
            }
            None if wanted >= MOST_HEADER => {
                return Err(fault("its header would have more than a gibibyte: the file is damaged"));
            }
            None => wanted *= 2,
        }
    };
    let (start, contigs) = (header.bytes, header.contigs);
    loop {
        let more = text.read_more(wanted)?;
        // A fault before the first read may be in no chunk, so that nobody would find it later.
        let (what, left) = match bam::first_read(text.prefix.get(start..).unwrap_or_default()) {
            Beginning::Open { .. } if more && wanted < start + MOST_BEFORE_FIRST => {
                wanted *= 2;
                continue;
            }
            Beginning::Open { first: None, cut_off } if more => {
                let what = match cut_off < MOST_BEFORE_FIRST {
                    true => "its first 64 MiB hold secondary and supplementary records alone: does it hold reads?",
                    false => "its first record has more than 64 MiB: the file is damaged, or has very long fields",
                };
                return Err(InputError::new(path, what).at(1, start as u64));
            }
            Beginning::Open { first: None, cut_off: cut_off @ 1.. } => (TRUNCATED_RECORD, cut_off),
            Beginning::Damaged { left } => (DAMAGED_RECORD, left),
            Beginning::Open { first, .. } => {
                return Ok((Content::Bam { header: start as u64, contigs, first }, header));
            }
            Beginning::Known(first) => {
                return Ok((Content::Bam { header: start as u64, contigs, first: Some(first) }, header));
            }
        };
        let mut fault = InputError::new(path, what).at(1, (text.prefix.len() - left) as u64);
        fault.byte = fault.byte.filter(|_| !text.is_converted);
        return Err(fault);
    }
}

impl OpenedFile {
    /// Its end, if it is a pipe of BGZF.
    pub(crate) fn end_of_pipe(&self) -> Option<EndOfPipe> {
        let lacks_marker = Arc::clone(self.end_of_pipe.as_ref()?);
        Some(EndOfPipe { path: self.path.clone(), is_bam: self.is_bam(), lacks_marker })
    }

    /// Closes it until its turn comes, if it can be opened again.
    pub(crate) fn close(&mut self) {
        if self.seen.is_some() {
            self.text = None;
        }
    }

    /// Its text, which is read anew if it was closed.
    pub(crate) fn text(&mut self) -> Result<&mut FileText, InputError> {
        let text = match self.text.take() {
            Some(text) => text,
            None => self.open_again()?,
        };
        Ok(self.text.insert(text))
    }

    /// Its text, from the start.
    pub(crate) fn into_text(mut self) -> Result<FileText, InputError> {
        self.text.take().map_or_else(|| self.open_again(), Ok)
    }

    fn open_again(&self) -> Result<FileText, InputError> {
        let (raw, regular) = open_raw(&self.path)?;
        if let Some(seen) = self.seen {
            seen.check(&self.path, regular.as_ref())?;
        }
        let mut text = FileText::begin(&self.path, raw, self.seen.map(|seen| seen.length))?;
        if self.is_converted {
            text = text.into_bam(self.reference.as_deref())?;
        }
        Ok(text)
    }

    /// Reads until so many bytes of its text are known; false when the text ends before.
    pub(crate) fn read_more(&mut self, wanted: usize) -> Result<bool, InputError> {
        self.text()?.read_more(wanted)
    }

    /// What is known of its text.
    pub(crate) fn prefix(&self) -> &[u8] {
        self.text.as_ref().map_or(&[], |text| &text.prefix)
    }

    /// Where records begin in its text.
    pub(crate) fn records_start(&self) -> usize {
        match self.content {
            Some(Content::Bam { header, .. }) => header as usize,
            Some(Content::Text(_)) | None => 0,
        }
    }

    /// Whether it can be read at any place, for it is a file and not made of another one.
    pub(crate) fn is_regular(&self) -> bool {
        self.seen.is_some() && !self.is_converted
    }

    /// About how many bases its reads have, by its length; unknown of what is no file, or made of another one.
    pub(crate) fn about_bases(&self) -> Option<u64> {
        let bytes = self.is_regular().then(|| std::fs::metadata(&self.path).ok())??.len();
        Some(match (self.compression, self.content) {
            (Compression::Gzip | Compression::Bgzf, _) => bytes.saturating_mul(BASES_PER_COMPRESSED_BYTE),
            (Compression::None, Some(Content::Text(TextFormat::Fastq))) => bytes / 2,
            (Compression::None, _) => bytes,
        })
    }

    /// The same file, to be opened when its turn comes, if workers can deal it themselves.
    pub(crate) fn closed(&self) -> Option<ClosedFile> {
        let (coding, content) = self.coding()?;
        Some(ClosedFile { path: self.path.clone(), seen: self.seen?, coding, content })
    }

    /// Whether the first two reads have the same name, of FASTQ; as far as that is seen soon.
    pub(crate) fn seems_interleaved(&mut self) -> Result<bool, InputError> {
        if self.content != Some(Content::Text(TextFormat::Fastq)) {
            return Ok(false);
        }
        self.read_more(if self.is_regular() { FIRST_TWO } else { FIRST_TWO_OF_PIPE })?;
        let mut headers = self.prefix().split(|&b| b == b'\n').step_by(4).take(2);
        let mut name = || {
            let (name, _) = header::split(headers.next()?.strip_prefix(b"@")?);
            Some(header::without_mate_number(name))
        };
        Ok(name().is_some_and(|first| name() == Some(first)))
    }

    /// The lines of the first read of FASTQ; as far as they are seen soon.
    pub(crate) fn first_record(&mut self) -> Result<Option<Vec<&[u8]>>, InputError> {
        if self.content != Some(Content::Text(TextFormat::Fastq)) {
            return Ok(None);
        }
        self.read_more(if self.is_regular() { FIRST_TWO } else { FIRST_TWO_OF_PIPE })?;
        Ok(Some(self.prefix().split(|&b| b == b'\n').take(4).collect()))
    }

    /// The name of the first read of FASTQ, with what follows it, or of BAM; as far as it is seen soon.
    pub(crate) fn first_name(&mut self) -> Result<Option<Vec<u8>>, InputError> {
        if let Some(Content::Bam { header, .. }) = self.content {
            self.read_more(header as usize + FIRST_TWO)?;
            return Ok(self.prefix().get(header as usize..).map(|text| bam::name_of_first(text).to_vec()));
        }
        Ok(self.first_record()?.and_then(|lines| Some(lines.first()?.strip_prefix(b"@")?.to_vec())))
    }

    pub(crate) fn is_bam(&self) -> bool {
        matches!(self.content, Some(Content::Bam { .. }))
    }

    /// How its bytes can be read at any offset, and what they hold, if workers can deal it themselves.
    pub(crate) fn coding(&self) -> Option<(FileCoding, Content)> {
        const FASTQ: Content = Content::Text(TextFormat::Fastq);
        match (self.is_regular(), self.content, self.compression) {
            (true, Some(FASTQ), Compression::None) => Some((FileCoding::Plain, FASTQ)),
            (true, Some(content @ (FASTQ | Content::Bam { .. })), Compression::Bgzf) => {
                Some((FileCoding::Bgzf, content))
            }
            (true, Some(FASTQ), Compression::Gzip) => Some((FileCoding::Gzip, FASTQ)),
            // An empty file holds no stretch.
            (true, None, Compression::None) => Some((FileCoding::Plain, FASTQ)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{TEXT, sample};
    use std::io::Read;
    use std::sync::atomic::{AtomicU64, Ordering};

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
