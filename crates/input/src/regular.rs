//! A regular file as a row of stretches of fixed size, each of which can be read, inflated and marked by itself.
//!
//! Where in a record, or in a BGZF block, a stretch starts is not known when nothing before it was looked at. It is
//! guessed from its content, and checked when the stretches before it are there ([`Front`]); a wrong guess (damaged
//! text) costs time and nothing else.

use crate::content::{Content, Marked, StretchStart};
use crate::garbage::TrailingGarbage;
use crate::gzip::GzipMembers;
use crate::segment::{RecordMarks, Segment};
use crate::sizes::{BGZF_STRETCH, GZIP_STRETCH, PLAIN_STRETCH};
use libdeflater::Decompressor;
use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use zerohop_gzip::MemberPart;
use zerohop_model::error::InputError;
use zerohop_model::machine::NodeId;
use zerohop_model::spare;

/// Bytes that are read at a time where only the beginning of a text is wanted.
const BEHIND_BYTES: usize = 1 << 12;

/// How a regular file's bytes become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileCoding {
    Plain,
    Bgzf,
    /// Plain gzip: its text is inflated piece by piece, and not here.
    Gzip,
}

/// What lies before a stretch: where in a record it starts, and where its first BGZF block does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Front {
    pub(crate) state: StretchStart,
    pub(crate) block: u64,
}

/// A stretch as surveyed.
pub(crate) struct Stretch {
    pub(crate) text: Vec<u8>,
    /// The state that the marks assume.
    pub(crate) guess: StretchStart,
    pub(crate) marked: Marked,
    /// Offsets in the file of the first byte that went into the segment, and of the first one behind; not of gzip.
    pub(crate) range: (u64, u64),
    /// Of gzip alone.
    pub(crate) tail: Option<Tail>,
    /// The node on which the text lies.
    pub(crate) node: NodeId,
}

/// What is needed of a piece of gzip, besides its text, to check it in order.
#[derive(Debug)]
pub(crate) struct Tail {
    /// Its text by members.
    pub(crate) parts: Vec<MemberPart>,
    /// Whether the file ends with it; or what is wrong behind its text.
    pub(crate) is_last: Result<bool, InputError>,
}

/// One regular file. Its length is taken once, when it is opened: what is counted is what is dealt, also of a file that
/// grows.
#[derive(Debug)]
pub(crate) struct Regular {
    pub(crate) path: PathBuf,
    file: File,
    coding: FileCoding,
    content: Content,
    length: u64,
}

impl Regular {
    /// The file, of which `length` bytes count.
    pub(crate) fn new(path: PathBuf, file: File, (coding, content): (FileCoding, Content), length: u64) -> Self {
        Regular { path, file, coding, content, length }
    }

    /// What lies before its first stretch.
    pub(crate) fn start(&self) -> Front {
        Front { state: self.content.start(), block: 0 }
    }

    /// Reads of each fragment, if all are as the first.
    pub(crate) fn reads_per_fragment(&self) -> u64 {
        self.content.reads_per_fragment()
    }

    fn stretch_size(&self) -> u64 {
        match self.coding {
            FileCoding::Plain => PLAIN_STRETCH,
            FileCoding::Bgzf => BGZF_STRETCH,
            FileCoding::Gzip => GZIP_STRETCH,
        }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn coding(&self) -> FileCoding {
        self.coding
    }

    /// Where stretch `index` ends in the file.
    pub(crate) fn stretch_end(&self, index: u64) -> u64 {
        ((index + 1) * self.stretch_size()).min(self.length)
    }

    pub(crate) fn stretches(&self) -> u64 {
        self.length.div_ceil(self.stretch_size())
    }

    /// Reads over what `buffer` holds: to empty it first would be to write zeros into it again.
    pub(crate) fn read_at(&self, buffer: &mut Vec<u8>, offset: u64, length: u64) -> Result<(), InputError> {
        buffer.resize(length as usize, 0);
        self.file.read_exact_at(buffer, offset).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                InputError::new(&self.path, "the file became shorter while it was read")
            }
            _ => InputError::new(&self.path, format!("cannot read: {e}")),
        })
    }

    /// Reads the text of stretch `index` into `text`, over what it holds; returns the range of the file that it came
    /// from. For BGZF these are the blocks that start in the stretch; the first is at `block_start`, or looked for.
    fn read_text(&self, index: u64, block_start: Option<u64>, text: &mut Vec<u8>) -> Result<(u64, u64), InputError> {
        let (start, end) = (index * self.stretch_size(), self.stretch_end(index));
        if self.coding == FileCoding::Plain {
            self.read_at(text, start, end - start)?;
            return Ok((start, end));
        }
        text.clear();
        thread_local! {
            static SCRATCH: RefCell<(Vec<u8>, Decompressor)> = RefCell::new((Vec::new(), Decompressor::new()));
        }
        SCRATCH.with_borrow_mut(|(raw, decompressor)| {
            // The last block may reach beyond the stretch.
            let read_end = (end + zerohop_bgzf::MAX_BLOCK as u64).min(self.length);
            let from = block_start.unwrap_or(start);
            self.read_at(raw, from, read_end - from)?;
            let skip = match block_start {
                Some(_) => Some(0),
                None if index == 0 => Some(0),
                None => zerohop_bgzf::find_block(raw).filter(|&at| start + (at as u64) < end),
            };
            let Some(skip) = skip else { return Ok((end, end)) };
            let first = from + skip as u64;
            let limit = (end - first) as usize;
            let at_end = read_end == self.length;
            let used = zerohop_bgzf::inflate_chain(&self.path, first, &raw[skip..], limit, at_end, decompressor, text)?;
            if used < limit {
                self.check_padding(first + used as u64)?;
                return Ok((first, self.length));
            }
            Ok((first, first + used as u64))
        })
    }

    /// Zeros up to the end of a compressed file are padding.
    ///
    /// # Errors
    /// Anything else from byte `offset` on, where the last gzip member ends.
    pub(crate) fn check_padding(&self, mut offset: u64) -> Result<(), InputError> {
        let mut buffer = Vec::new();
        while offset < self.length {
            self.read_at(&mut buffer, offset, (self.length - offset).min(BGZF_STRETCH))?;
            if let Some(other) = buffer.iter().position(|&b| b != 0) {
                let garbage = TrailingGarbage { offset: offset + other as u64 };
                return Err(InputError::new(&self.path, garbage.to_string()));
            }
            offset += buffer.len() as u64;
        }
        Ok(())
    }

    /// Reads and marks a stretch, as if nothing were known of what lies before it, unless that is given.
    pub(crate) fn survey(&self, index: u64, known: Option<Front>, mut text: Vec<u8>) -> Result<Stretch, InputError> {
        if let Some(front) = known.filter(|front| self.is_passed_over(index, front)) {
            text.clear();
            let marked = Marked { marks: RecordMarks::default(), after: front.state, opening: 0 };
            let (guess, range, node) = (front.state, (front.block, front.block), spare::node());
            return Ok(Stretch { text, guess, marked, range, tail: None, node });
        }
        let range = self.read_text(index, known.map(|front| front.block), &mut text)?;
        let guess = match known {
            Some(front) => front.state,
            None if index == 0 => self.content.start(),
            None => self.guess(&text),
        };
        let marked = self.mark(&text, guess, range.1)?;
        Ok(Stretch { text, guess, marked, range, tail: None, node: spare::node() })
    }

    /// The state in which a text begins of which nothing is known.
    pub(crate) fn guess(&self, text: &[u8]) -> StretchStart {
        self.content.guess(text)
    }

    /// Marks a stretch that starts in `state`, and whose text is compressed in the bytes of the file before `end`.
    pub(crate) fn mark(&self, text: &[u8], state: StretchStart, end: u64) -> Result<Marked, InputError> {
        let mut unreadable = None;
        let marked = self.content.mark(text, state, |bytes| {
            self.behind(end, bytes).unwrap_or_else(|error| {
                unreadable = Some(error);
                Vec::new()
            })
        });
        unreadable.map_or(Ok(marked), |error| Err(InputError::new(&self.path, format!("cannot read: {error}"))))
    }

    /// Up to so many bytes of the text that is compressed from byte `offset` of the file on; fewer where the file ends
    /// or is damaged, which whoever surveys that part finds out.
    fn behind(&self, offset: u64, bytes: usize) -> std::io::Result<Vec<u8>> {
        let (mut text, mut failed) = (Vec::new(), None);
        let compressed = From { file: &self.file, end: self.length, offset, failed: &mut failed };
        let _ = GzipMembers::new(compressed, BEHIND_BYTES).take(bytes as u64).read_to_end(&mut text);
        failed.map_or(Ok(text), Err)
    }

    /// Whether a block of the stretch before reaches over all of this one.
    fn is_passed_over(&self, index: u64, front: &Front) -> bool {
        self.coding == FileCoding::Bgzf && front.block >= self.stretch_end(index)
    }

    /// Checks stretch `index` against what lies before it, makes good what was guessed wrong or could not be read, for
    /// it was tried from a wrong place, and moves `front` on behind it.
    pub(crate) fn settle(
        &self,
        index: u64,
        front: &mut Front,
        surveyed: Result<Stretch, InputError>,
    ) -> Result<Segment, InputError> {
        let mut stretch = match surveyed {
            Ok(stretch) if self.is_read_right(index, front, stretch.range.0) => stretch,
            Ok(stretch) => self.survey(index, Some(*front), stretch.text)?,
            Err(_) => self.survey(index, Some(*front), Vec::new())?,
        };
        if !stretch.marked.correct(stretch.guess, front.state) {
            stretch.marked = self.mark(&stretch.text, front.state, stretch.range.1)?;
        }
        *front = Front { state: stretch.marked.after, block: stretch.range.1 };
        Ok(Segment { bytes: stretch.text, marks: stretch.marked.marks, node: stretch.node })
    }

    /// Whether stretch `index`, read from byte `start` of the file on, was read from the right place.
    pub(crate) fn is_read_right(&self, index: u64, front: &Front, start: u64) -> bool {
        self.coding == FileCoding::Plain || (start == front.block && !self.is_passed_over(index, front))
    }
}

/// A file from some byte on; what the system did not do is said apart from what is wrong with the bytes.
struct From<'f> {
    file: &'f File,
    offset: u64,
    end: u64,
    failed: &'f mut Option<std::io::Error>,
}

impl Read for From<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min(self.end.saturating_sub(self.offset) as usize);
        let bytes = self.file.read_at(&mut buffer[..most], self.offset).or_else(|error| {
            if error.kind() != std::io::ErrorKind::Interrupted {
                *self.failed = Some(error);
                return Ok(0);
            }
            Err(error)
        })?;
        self.offset += bytes as u64;
        Ok(bytes)
    }
}
