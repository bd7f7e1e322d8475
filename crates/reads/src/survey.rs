//! Regular files, plain or BGZF: dealt by the workers themselves, with no lock in front of the input.
//!
//! A file is a row of stretches of fixed size. A worker that wants a chunk and finds none ready
//!
//! 1. takes the next stretch of the file that is behind by one atomic step, reads it (`pread`), inflates it and marks its
//!    records, in parallel with all others who do the same ([`Survey::survey_one`]);
//! 2. hands it to the cutter, if nobody is cutting just now ([`Survey::cut_ready`]; a `try_lock`, so nobody waits), which puts
//!    stretches in order, adds up their newlines and bases, and queues the chunks that this closes;
//! 3. takes a chunk from the lock-free queue of ready chunks, and copies its text into its own memory.
//!
//! Where in a record, or in a BGZF block, a stretch starts is not known when it is surveyed. It is guessed from its content,
//! and checked when the stretches before it are there; a wrong guess (damaged text) costs time and nothing else.

use crate::bgzf::{self, MAX_BLOCK};
use crate::cutter::{Cut, Cutter};
use crate::fault::read_fault;
use crate::segment::{LineState, Segment, guess_state, mark_fastq};
use crossbeam_queue::ArrayQueue;
use libdeflater::Decompressor;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::chunk::Chunk;
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Claim, Claimed};

/// Bytes of a plain file that are surveyed at once: about the text of one chunk of strobealign.
const PLAIN_STRETCH: u64 = 1 << 20;
/// Bytes of a BGZF file that are surveyed at once; FASTQ shrinks about fourfold.
const BGZF_STRETCH: u64 = 1 << 18;
/// Chunks that may be ready before anyone asks for them.
const READY: usize = 64;

/// How a regular file's bytes become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Plain,
    Bgzf,
}

/// A stretch as surveyed, before it is known what comes before it.
struct Stretch {
    segment: Segment,
    /// The state that the marks assume.
    guess: LineState,
    after: LineState,
    /// Offsets in the file of the first byte that went into the segment, and of the first one behind.
    range: (u64, u64),
}

/// One regular file. Its length is taken once, at the start.
struct Regular {
    path: PathBuf,
    file: File,
    coding: Coding,
    length: u64,
    /// The next stretch to be surveyed, and how far surveying may run ahead.
    next: AtomicU64,
    limit: AtomicU64,
    /// Fragments known and not dealt: the file with fewer of them is surveyed first.
    units_ahead: AtomicU64,
    surveyed: ArrayQueue<(u64, Result<Stretch, InputError>)>,
}

impl Regular {
    fn stretch_size(&self) -> u64 {
        match self.coding {
            Coding::Plain => PLAIN_STRETCH,
            Coding::Bgzf => BGZF_STRETCH,
        }
    }

    fn stretch_end(&self, index: u64) -> u64 {
        ((index + 1) * self.stretch_size()).min(self.length)
    }

    fn stretches(&self) -> u64 {
        self.length.div_ceil(self.stretch_size())
    }

    /// Takes the next stretch, if surveying may go on.
    fn take_next(&self) -> Option<u64> {
        let allowed = self.limit.load(Ordering::Acquire).min(self.stretches());
        self.next.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |next| (next < allowed).then_some(next + 1)).ok()
    }

    /// Reads over what `buffer` holds: to empty it first would be to write zeros into it again.
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64, length: u64) -> Result<(), InputError> {
        buffer.resize(length as usize, 0);
        self.file.read_exact_at(buffer, offset).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                InputError::new(&self.path, "the file became shorter while it was read")
            }
            _ => InputError::new(&self.path, format!("cannot read: {e}")),
        })
    }

    /// Reads the text of stretch `index` into `text`, over what it holds; returns the range of the file that it came from.
    /// For BGZF these are the blocks that start in the stretch; the first is at `block_start`, or looked for.
    fn read_text(&self, index: u64, block_start: Option<u64>, text: &mut Vec<u8>) -> Result<(u64, u64), InputError> {
        let (start, end) = (index * self.stretch_size(), self.stretch_end(index));
        if self.coding == Coding::Plain {
            self.read_at(text, start, end - start)?;
            return Ok((start, end));
        }
        text.clear();
        thread_local! {
            static SCRATCH: RefCell<(Vec<u8>, Decompressor)> = RefCell::new((Vec::new(), Decompressor::new()));
        }
        SCRATCH.with_borrow_mut(|(raw, decompressor)| {
            // The last block may reach beyond the stretch.
            let read_end = (end + MAX_BLOCK as u64).min(self.length);
            let from = block_start.unwrap_or(start);
            self.read_at(raw, from, read_end - from)?;
            let skip = match block_start {
                Some(_) => Some(0),
                None if index == 0 => Some(0),
                None => bgzf::find_block(raw).filter(|&at| start + (at as u64) < end),
            };
            let Some(skip) = skip else { return Ok((end, end)) };
            let first = from + skip as u64;
            let limit = (end - first) as usize;
            let at_end = read_end == self.length;
            let used = bgzf::inflate_chain(&self.path, first, &raw[skip..], limit, at_end, decompressor, text)?;
            Ok((first, first + used as u64))
        })
    }

    fn survey(&self, index: u64, mut text: Vec<u8>) -> Result<Stretch, InputError> {
        let range = self.read_text(index, None, &mut text)?;
        let guess =
            if index == 0 { LineState::RECORD_START } else { guess_state(&text).unwrap_or(LineState::RECORD_START) };
        let (marks, after) = mark_fastq(&text, guess);
        Ok(Stretch { segment: Segment { bytes: text, marks }, guess, after, range })
    }
}

/// The stretches of one file, being put in order.
struct InOrder {
    waiting: BTreeMap<u64, Result<Stretch, InputError>>,
    next: u64,
    /// A fault was found: nothing behind it counts.
    faulty: bool,
    /// Where the next stretch must start: its line state, and its first BGZF block.
    state: LineState,
    block: u64,
}

struct Cutting {
    cutter: Cutter,
    files: Vec<InOrder>,
}

/// One or two regular files, dealt in step.
pub(crate) struct Survey {
    files: Vec<Regular>,
    cutting: Mutex<Cutting>,
    ready: ArrayQueue<Result<Cut, (zerohop_model::chunk::Ticket, InputError)>>,
    /// Set when all chunks are cut; `chunks` is their number then.
    all_cut: AtomicBool,
    chunks: AtomicU64,
    /// Buffers of segments that are used up.
    spare: ArrayQueue<Vec<u8>>,
    /// How many stretches surveying may be ahead of dealing.
    window: u64,
    serial_nanos: AtomicU64,
}

impl Survey {
    /// A survey of `files` (path, open file, coding) that `workers` will do.
    ///
    /// # Errors
    /// When the length of a file cannot be had.
    pub(crate) fn new(files: Vec<(PathBuf, File, Coding)>, cutter: Cutter, workers: usize) -> Result<Self, InputError> {
        let window = workers as u64 + 2;
        let files: Vec<Regular> = files
            .into_iter()
            .map(|(path, file, coding)| {
                Ok(Regular {
                    length: file.metadata().map_err(|e| read_fault(&path, &e))?.len(),
                    path,
                    file,
                    coding,
                    next: AtomicU64::new(0),
                    limit: AtomicU64::new(window),
                    units_ahead: AtomicU64::new(0),
                    surveyed: ArrayQueue::new(4 * window as usize),
                })
            })
            .collect::<Result<_, InputError>>()?;
        let in_order =
            |_| InOrder { waiting: BTreeMap::new(), next: 0, faulty: false, state: LineState::RECORD_START, block: 0 };
        Ok(Survey {
            ready: ArrayQueue::new(READY),
            all_cut: AtomicBool::new(false),
            chunks: AtomicU64::new(0),
            spare: ArrayQueue::new(2 * window as usize + cutter.stretches_per_chunk(PLAIN_STRETCH)),
            cutting: Mutex::new(Cutting { cutter, files: files.iter().map(in_order).collect() }),
            files,
            window,
            serial_nanos: AtomicU64::new(0),
        })
    }

    /// Surveys one stretch of the file that is behind; false when no stretch may be surveyed now.
    fn survey_one(&self) -> bool {
        let behind = |f: &&Regular| (f.units_ahead.load(Ordering::Relaxed), f.next.load(Ordering::Relaxed));
        let mut files: Vec<&Regular> = self.files.iter().collect();
        files.sort_by_key(behind);
        for file in files {
            if let Some(index) = file.take_next() {
                let surveyed = file.survey(index, self.spare.pop().unwrap_or_default());
                let mut entry = (index, surveyed);
                // Room for all stretches within the window is there; more can only be a matter of a moment.
                while let Err(back) = file.surveyed.push(entry) {
                    entry = back;
                    std::thread::yield_now();
                }
                return true;
            }
        }
        false
    }

    /// Cuts what can be cut, unless another worker is at it; true when chunks became ready.
    fn cut_ready(&self) -> bool {
        let Ok(mut guard) = self.cutting.try_lock() else { return false };
        let started = Instant::now();
        let Cutting { cutter, files } = &mut *guard;
        self.put_in_order(cutter, files);
        let mut any = false;
        while !self.ready.is_full() {
            let ticket = cutter.next_ticket();
            let Some(cut) = cutter.cut() else { break };
            any = true;
            // Only this thread adds, so there is room.
            let _ = self.ready.push(cut.map_err(|e| (ticket, e)));
        }
        if !any && !self.ready.is_full() {
            self.widen(cutter, files);
        }
        for (i, (file, order)) in self.files.iter().zip(files.iter()).enumerate() {
            file.units_ahead.store(cutter.units_ahead(i), Ordering::Relaxed);
            if any {
                file.limit.fetch_max(order.next + self.window, Ordering::AcqRel);
            }
        }
        if cutter.is_done() {
            self.chunks.store(cutter.next_ticket().number, Ordering::Relaxed);
            self.all_cut.store(true, Ordering::Release);
        }
        self.serial_nanos.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        any
    }

    /// When everything that may be surveyed is here and still closes no chunk, more of the file that is behind may be.
    fn widen(&self, cutter: &Cutter, files: &[InOrder]) {
        let unfinished = (0..files.len()).filter(|&i| files[i].next < self.files[i].stretches());
        if let Some(behind) = unfinished.min_by_key(|&i| cutter.units_ahead(i)) {
            self.files[behind].limit.fetch_max(files[behind].next + self.window, Ordering::AcqRel);
        }
    }

    /// Gives the cutter all stretches that follow one another without a gap.
    fn put_in_order(&self, cutter: &mut Cutter, files: &mut [InOrder]) {
        for (i, (file, order)) in self.files.iter().zip(files).enumerate() {
            while let Some((index, stretch)) = file.surveyed.pop() {
                order.waiting.insert(index, stretch);
            }
            while let Some(stretch) = order.waiting.remove(&order.next).filter(|_| !order.faulty) {
                let settled = match stretch {
                    Ok(stretch) => settle(file, order, stretch),
                    Err(_) => settle_anew(file, order),
                };
                match settled {
                    Ok(segment) => cutter.push(i, segment),
                    Err(fault) => {
                        cutter.fault(i, fault);
                        order.faulty = true;
                        break;
                    }
                }
                order.next += 1;
            }
            if order.next == file.stretches() && !order.faulty {
                cutter.end(i);
            }
        }
    }
}

/// A stretch that could not be read may have been tried from a wrong place: reads it from the right one.
fn settle_anew(file: &Regular, order: &mut InOrder) -> Result<Segment, InputError> {
    let mut bytes = Vec::new();
    if file.coding == Coding::Plain || order.block < file.stretch_end(order.next) {
        order.block = file.read_text(order.next, Some(order.block), &mut bytes)?.1;
    }
    let (marks, after) = mark_fastq(&bytes, order.state);
    order.state = after;
    Ok(Segment { bytes, marks })
}

/// Checks the guesses of the stretch that is next in `order`, makes good what was guessed wrong, and moves on behind it.
fn settle(file: &Regular, order: &mut InOrder, stretch: Stretch) -> Result<Segment, InputError> {
    let Stretch { mut segment, guess, mut after, mut range } = stretch;
    let mut trusted = guess == order.state;
    if file.coding == Coding::Bgzf {
        let stretch_end = file.stretch_end(order.next);
        if range.0 != order.block && order.block < stretch_end {
            range = file.read_text(order.next, Some(order.block), &mut segment.bytes)?;
            trusted = false;
        } else if order.block >= stretch_end {
            // A block of the stretch before reaches over all of this one.
            segment.bytes.clear();
            range = (order.block, order.block);
            trusted = false;
        }
        order.block = range.1;
    }
    if !trusted {
        (segment.marks, after) = mark_fastq(&segment.bytes, order.state);
    }
    order.state = after;
    Ok(segment)
}

impl Claim for Survey {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        loop {
            let all_cut = self.all_cut.load(Ordering::Acquire);
            if let Some(cut) = self.ready.pop() {
                return match cut {
                    Ok(cut) => {
                        cut.fill(chunk, |_, bytes| {
                            let _ = self.spare.push(bytes);
                        });
                        Ok(Claimed::Chunk)
                    }
                    Err((ticket, fault)) => {
                        chunk.ticket = ticket;
                        Err(fault.into())
                    }
                };
            }
            if all_cut {
                return Ok(Claimed::End { chunks: self.chunks.load(Ordering::Relaxed) });
            }
            let surveyed = self.survey_one();
            if !self.cut_ready() && !surveyed {
                return Ok(Claimed::NotYet);
            }
        }
    }

    fn serial_time(&self) -> Duration {
        Duration::from_nanos(self.serial_nanos.load(Ordering::Relaxed))
    }

    fn share_dealt(&self) -> Option<f64> {
        let file = self.files.first()?;
        let surveyed = file.next.load(Ordering::Relaxed) as f64;
        Some(if file.stretches() == 0 { 1.0 } else { surveyed / file.stretches() as f64 })
    }
}

/// Whether a BGZF file ends with the marker that its writer puts there last.
pub(crate) fn has_end_marker(file: &File, path: &Path) -> Result<bool, InputError> {
    let fault = |e| InputError::new(path, format!("cannot read: {e}"));
    let length = file.metadata().map_err(fault)?.len();
    let mut end = [0; bgzf::END_MARKER.len()];
    let Some(offset) = length.checked_sub(end.len() as u64) else { return Ok(false) };
    file.read_exact_at(&mut end, offset).map_err(fault)?;
    Ok(end == bgzf::END_MARKER)
}
