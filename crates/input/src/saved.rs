//! Reads that stay, and reads that are dropped, as FASTQ: each is written when what comes before it is.
//!
//! Whoever reduces a chunk compresses its part of each file. Where that goes is known in the order of the input; so one
//! after the other has its place, and all write at once.

use crate::kept;
use crate::per_base;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_bgzf::{BlockCompressor, END_MARKER};
use zerohop_model::chunk::Chunk;
use zerohop_model::directed::Directed;
use zerohop_model::error::Error;
use zerohop_trim::{Failed, Outcome, Span};

/// A file of reads that is being written.
#[derive(Debug)]
pub struct SavedFile {
    /// Its name, for messages.
    path: PathBuf,
    /// Where it is as long as it is written.
    written_at: PathBuf,
    file: File,
    level: Option<u8>,
    /// Its length so far, with what is being written.
    length: AtomicU64,
}

impl SavedFile {
    /// An empty regular file that will have the name `path`, and is at `written_at`. Its `level` of compression in
    /// blocks (BGZF) is 0 to 9 as in samtools; none of plain text.
    pub fn new(path: PathBuf, written_at: PathBuf, file: File, level: Option<u8>) -> Self {
        SavedFile { path, written_at, file, level, length: AtomicU64::new(0) }
    }

    /// Where it is as long as it is written.
    pub fn written_at(&self) -> PathBuf {
        self.written_at.clone()
    }

    fn write(&self, bytes: &[u8], at: u64) -> Result<(), Error> {
        self.file.write_all_at(bytes, at).map_err(|source| Error::Output { path: self.path.clone(), source })
    }

    /// Ends it.
    ///
    /// # Errors
    /// What the system says.
    pub fn end(&self) -> Result<(), Error> {
        let marker: &[u8] = if self.level.is_some() { &END_MARKER } else { b"" };
        self.write(marker, self.length.fetch_add(marker.len() as u64, Ordering::AcqRel))
    }

    /// How long it is now, with all of it on disk, where other hosts find it; what comes next begins at its start
    /// again.
    ///
    /// # Errors
    /// What the system says.
    pub fn take_length(&self) -> Result<u64, Error> {
        self.file.sync_data().map_err(|source| Error::Output { path: self.path.clone(), source })?;
        Ok(self.length.swap(0, Ordering::AcqRel))
    }

    /// Appends the first bytes of another file.
    ///
    /// # Errors
    /// What the system says.
    pub fn append(&self, other: &File, length: u64) -> Result<(), Error> {
        let mut buffer = vec![0; 1 << 20];
        let mut done = 0;
        while done < length {
            let most = buffer.len().min((length - done) as usize);
            let read = other.read_at(&mut buffer[..most], done);
            let read =
                read.and_then(|read| if read == 0 { Err(std::io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) });
            let read = read.map_err(|source| Error::Output { path: self.path.clone(), source })?;
            self.write(&buffer[..read], self.length.fetch_add(read as u64, Ordering::AcqRel))?;
            done += read as u64;
        }
        Ok(())
    }
}

/// The files of reads that stay and of those that are dropped: none, one, or one for each mate.
#[derive(Debug)]
pub struct SavedReads {
    /// Of what stays.
    pub trimmed: Vec<SavedFile>,
    /// Of whole reads that are dropped, with the reason behind their names.
    pub failed: Vec<SavedFile>,
}

/// Parts of the files, each with its place.
pub(crate) type PlacedParts = Vec<(usize, u64, Vec<u8>)>;

impl SavedReads {
    /// All of them.
    pub fn files(&self) -> impl Iterator<Item = &SavedFile> {
        self.trimmed.iter().chain(&self.failed)
    }

    /// Whether mates have files of their own.
    pub(crate) fn is_by_mate(&self) -> bool {
        self.trimmed.len() > 1 || self.failed.len() > 1
    }

    /// Gives the parts of a chunk, one for each file, their places behind those before.
    pub(crate) fn place(&self, parts: Vec<Vec<u8>>, placed: &mut PlacedParts) {
        for (number, (file, part)) in self.files().zip(parts).enumerate().filter(|(_, (_, part))| !part.is_empty()) {
            placed.push((number, file.length.fetch_add(part.len() as u64, Ordering::AcqRel), part));
        }
    }

    /// Writes parts at their places.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn write(&self, placed: PlacedParts) -> Result<(), Error> {
        let files: Vec<&SavedFile> = self.files().collect();
        placed.into_iter().try_for_each(|(number, at, part)| files[number].write(&part, at))
    }
}

/// The text of one chunk for each file.
pub(crate) struct SavedText<'s> {
    saved: &'s SavedReads,
    texts: Vec<Vec<u8>>,
}

impl<'s> SavedText<'s> {
    pub(crate) fn new(saved: &'s SavedReads) -> Self {
        SavedText { saved, texts: saved.files().map(|_| Vec::new()).collect() }
    }

    /// Adds a fragment of a chunk.
    pub(crate) fn add(
        &mut self,
        chunk: &Chunk,
        fragment: usize,
        outcome: &Outcome<&[Span]>,
        directed: Option<&Directed>,
    ) -> Result<(), (usize, String)> {
        let (before, files) = match outcome {
            Outcome::Kept(_) => (0, self.saved.trimmed.len()),
            Outcome::Dropped(_) => (self.saved.trimmed.len(), self.saved.failed.len()),
        };
        for (mate, read) in chunk.fragment(fragment).reads().enumerate() {
            let Some(text) = self.texts[before..before + files].get_mut(if files > 1 { mate } else { 0 }) else {
                return Ok(());
            };
            let (span, failed) = match outcome {
                Outcome::Kept(spans) => (spans[mate], None),
                Outcome::Dropped(failed) => (Span { start: 0, end: read.seq.len() as u32 }, Some((*failed, mate))),
            };
            text.push(b'@');
            put_header(chunk, (fragment, mate), (span, failed), directed, text).map_err(|what| (mate, what))?;
            kept::put_body(&read, span, text);
        }
        Ok(())
    }

    /// Its parts of the files.
    ///
    /// # Errors
    /// [`Error::Internal`] if compression fails.
    pub(crate) fn parts(self) -> Result<Vec<Vec<u8>>, Error> {
        let part = |(file, text): (&SavedFile, Vec<u8>)| match file.level.filter(|_| !text.is_empty()) {
            None => Ok(text),
            Some(level) => {
                let mut out = Vec::new();
                BlockCompressor::new(level).compress(&text, &mut out)?;
                Ok(out)
            }
        };
        self.saved.files().zip(self.texts).map(part).collect()
    }
}

/// Appends a header line, with a reason; optional fields are behind tabs, as `samtools fastq -T` writes them.
fn put_header(
    chunk: &Chunk,
    (fragment, mate): (usize, usize),
    (span, failed): (Span, Option<(Failed, usize)>),
    directed: Option<&Directed>,
    text: &mut Vec<u8>,
) -> Result<(), String> {
    let words = failed.map(|(failed, mate)| failed.words(mate));
    let Some(read) = chunk.fragment(fragment).reads().nth(mate) else { return Ok(()) };
    match chunk.comments_are_fields {
        false => kept::put_line(chunk.header(fragment, mate), &read, span, text),
        true => text.extend_from_slice(chunk.name_with_number(fragment, mate)),
    }
    if let Some(words) = words {
        text.push(b' ');
        text.extend_from_slice(words.as_bytes());
    }
    if chunk.comments_are_fields && !read.comment.is_empty() {
        text.push(b'\t');
        per_base::cut(read.comment, (read.seq, span.range()), directed, text)?;
    }
    text.push(b'\n');
    Ok(())
}
