//! Regular files, plain, gzip or BGZF: dealt by the workers themselves, with no lock in front of the input.
//!
//! A file is a row of stretches of fixed size; one of plain gzip becomes pieces of text, of which [`crate::chain`] says
//! more. A worker that wants a chunk and finds none ready
//!
//! 1. takes the next stretch of the file that is behind by one atomic step, reads it (`pread`), inflates it and marks
//!    its records, in parallel with all others who do the same ([`Survey::survey_one`]);
//! 2. hands it to the cutter, if nobody is cutting just now ([`Survey::cut_ready`]; a `try_lock`, so nobody waits),
//!    which puts stretches in order, adds up their newlines and bases, and queues the chunks that this closes;
//! 3. takes a chunk from the lock-free queue of ready chunks, and copies its text into its own memory.
//!
//! Where in a record, or in a BGZF block, a stretch starts is not known when it is surveyed. It is guessed from its
//! content, and checked when the stretches before it are there; a wrong guess (damaged text) costs time and nothing
//! else.

use crate::chain::{MembersBefore, PieceChain};
use crate::cutter::{CutChunk, Cutter};
use crate::regular::{FileCoding, Front, Regular, Stretch};
use crate::segment::Segment;
use crate::sizes::PLAIN_STRETCH;
use crate::table::Table;
use crossbeam_queue::ArrayQueue;
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use zerohop_model::chunk::{Chunk, Ticket};
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Claim, Claimed};
use zerohop_model::spare::Spare;

/// Chunks that may be ready before anyone asks for them.
const READY: usize = 64;

/// A run of stretches of a file, each of which is surveyed by itself.
struct SurveyedStretches {
    regular: Arc<Regular>,
    /// What is known of its stretches, with its number there.
    known: Option<(Arc<Table>, usize)>,
    /// The next stretch to be surveyed, and where surveying stops.
    next: AtomicU64,
    stop: u64,
}

impl SurveyedStretches {
    /// Takes the next stretch, if surveying may go on.
    fn take_next(&self, limit: u64) -> Option<u64> {
        let allowed = limit.min(self.stop);
        self.next.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |next| (next < allowed).then_some(next + 1)).ok()
    }

    fn survey(&self, index: u64, text: Vec<u8>) -> Result<Stretch, InputError> {
        let known = self.known.as_ref().and_then(|(table, file)| table.front(*file, index));
        self.regular.survey(index, known, text)
    }
}

/// What text comes from.
enum TextSource {
    Stretches(SurveyedStretches),
    Gzip(Box<PieceChain>),
}

impl TextSource {
    /// Of which about so many pieces are in work at a time.
    fn new(FilePart { regular, stretches, known }: FilePart, pieces: usize) -> Self {
        match regular.coding() {
            FileCoding::Gzip => TextSource::Gzip(Box::new(PieceChain::new(regular, pieces))),
            FileCoding::Plain | FileCoding::Bgzf => {
                let next = AtomicU64::new(stretches.start);
                TextSource::Stretches(SurveyedStretches { regular, known, next, stop: stretches.end })
            }
        }
    }
}

/// One file of a survey: all of it, or a part.
struct Surveyed {
    source: TextSource,
    /// How far surveying may run ahead.
    limit: AtomicU64,
    /// Fragments known and not dealt: the file with fewer of them is surveyed first.
    units_ahead: AtomicU64,
    surveyed: ArrayQueue<(u64, Result<Stretch, InputError>)>,
}

impl Surveyed {
    /// Surveys what comes next; false when nothing may be surveyed now. Gzip is inflated without what stands before it
    /// only where that is to be done `ahead`.
    fn survey_next(&self, ahead: bool, buffer: impl FnOnce() -> Vec<u8>) -> bool {
        let limit = self.limit.load(Ordering::Acquire);
        let mut entry = match &self.source {
            TextSource::Stretches(stretches) => match stretches.take_next(limit) {
                Some(index) => (index, stretches.survey(index, buffer())),
                None => return false,
            },
            TextSource::Gzip(chain) if ahead => return chain.inflate_ahead(limit),
            TextSource::Gzip(chain) => match chain.do_next(limit, buffer) {
                Some(entry) => entry,
                None => return false,
            },
        };
        // Room for all within the window is there; more can only be a matter of a moment.
        while let Err(back) = self.surveyed.push(entry) {
            entry = back;
            std::thread::yield_now();
        }
        true
    }

    /// Nanoseconds in which only one thread could go on, besides cutting.
    fn serial_nanos(&self) -> u64 {
        match &self.source {
            TextSource::Stretches(_) => 0,
            TextSource::Gzip(chain) => chain.serial_nanos(),
        }
    }

    /// Stretches that were taken, and how many there are to be.
    fn stretches(&self) -> (u64, u64) {
        match &self.source {
            TextSource::Stretches(stretches) => (stretches.next.load(Ordering::Relaxed), stretches.stop),
            TextSource::Gzip(chain) => chain.stretches(),
        }
    }
}

/// What is to be surveyed of a file.
pub(crate) struct FilePart {
    pub(crate) regular: Arc<Regular>,
    /// The stretches; to the file's last one if it is dealt to its end.
    pub(crate) stretches: Range<u64>,
    /// What is known of them, and the file's number there: it must be known, unless the file is surveyed from its
    /// start.
    pub(crate) known: Option<(Arc<Table>, usize)>,
}

impl FilePart {
    /// All of a file.
    pub(crate) fn all(regular: Regular) -> Self {
        FilePart { stretches: 0..regular.stretches(), regular: Arc::new(regular), known: None }
    }
}

/// The text of one file, being put in order.
struct InOrder {
    waiting: BTreeMap<u64, Result<Stretch, InputError>>,
    /// The next stretch, or piece of gzip, and what lies before it.
    next: u64,
    front: Front,
    members: MembersBefore,
    /// The last one of the file was settled.
    ended: bool,
    /// A fault was found: nothing behind it counts.
    faulty: bool,
}

impl InOrder {
    /// Settles the next text of a file.
    fn settle(&mut self, source: &TextSource, surveyed: Result<Stretch, InputError>) -> Result<Segment, InputError> {
        let segment = match source {
            TextSource::Stretches(SurveyedStretches { regular, .. }) => {
                let segment = regular.settle(self.next, &mut self.front, surveyed)?;
                self.ended = self.next + 1 == regular.stretches();
                segment
            }
            TextSource::Gzip(chain) => {
                let (segment, is_last) = chain.settle(&mut self.front.state, &mut self.members, surveyed)?;
                self.ended = is_last;
                segment
            }
        };
        self.next += 1;
        Ok(segment)
    }

    /// Whether more is to come of what is surveyed.
    fn goes_on(&self, source: &TextSource) -> bool {
        match source {
            TextSource::Stretches(stretches) => self.next < stretches.stop,
            TextSource::Gzip(_) => !self.ended,
        }
    }
}

struct SurveyCutter {
    cutter: Cutter,
    files: Vec<InOrder>,
}

/// One or two regular files, dealt in step.
pub(crate) struct Survey {
    files: Vec<Surveyed>,
    cutting: Mutex<SurveyCutter>,
    ready: ArrayQueue<CutChunk>,
    /// Set when all chunks are cut; `chunks` and `reads` are their numbers then.
    all_cut: AtomicBool,
    chunks: AtomicU64,
    reads: AtomicU64,
    /// Set before `all_cut` if a fault lies behind what was cut, with the place of the chunk that it affects.
    fault: OnceLock<(Ticket, InputError)>,
    /// Buffers of segments that are used up.
    spare: Spare,
    /// How many stretches surveying may be ahead of dealing.
    window: u64,
    serial_nanos: AtomicU64,
}

impl Survey {
    /// A survey of one or two files, in step, that `workers` will do.
    pub(crate) fn new(parts: Vec<FilePart>, cutter: Cutter, workers: usize) -> Self {
        let window = workers as u64 + 2;
        let in_order = |part: &FilePart| {
            let next = part.stretches.start;
            let known = part.known.as_ref().and_then(|(table, file)| table.front(*file, next));
            InOrder {
                waiting: BTreeMap::new(),
                next,
                front: known.unwrap_or_else(|| part.regular.start()),
                members: MembersBefore::default(),
                ended: part.regular.stretches() == 0,
                faulty: false,
            }
        };
        let surveyed = |part: FilePart| Surveyed {
            limit: AtomicU64::new(part.stretches.start + window),
            source: TextSource::new(part, window as usize),
            units_ahead: AtomicU64::new(0),
            surveyed: ArrayQueue::new(4 * window as usize),
        };
        Survey {
            ready: ArrayQueue::new(READY),
            all_cut: AtomicBool::new(false),
            chunks: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            fault: OnceLock::new(),
            spare: Spare::new(2 * window as usize + cutter.stretches_per_chunk(PLAIN_STRETCH)),
            cutting: Mutex::new(SurveyCutter { cutter, files: parts.iter().map(in_order).collect() }),
            files: parts.into_iter().map(surveyed).collect(),
            window,
            serial_nanos: AtomicU64::new(0),
        }
    }

    /// Surveys one stretch of the file that is behind; false when no stretch may be surveyed now.
    fn survey_one(&self) -> bool {
        let behind = |f: &&Surveyed| (f.units_ahead.load(Ordering::Relaxed), f.stretches().0);
        let mut files: Vec<&Surveyed> = self.files.iter().collect();
        files.sort_by_key(behind);
        let survey = |files: &[&Surveyed], ahead| {
            files.iter().any(|file| file.survey_next(ahead, || self.spare.take().unwrap_or_default()))
        };
        survey(&files, false) || survey(&files, true)
    }

    /// Cuts what can be cut, unless another worker is at it; true when chunks became ready.
    fn cut_ready(&self) -> bool {
        let Ok(mut guard) = self.cutting.try_lock() else { return false };
        let started = Instant::now();
        let SurveyCutter { cutter, files } = &mut *guard;
        self.put_in_order(cutter, files);
        let mut any = false;
        while !self.ready.is_full() {
            let ticket = cutter.next_ticket();
            let Some(cut) = cutter.cut() else { break };
            any = true;
            match cut {
                // Only this thread adds, so there is room.
                Ok(cut) => drop(self.ready.push(cut)),
                Err(fault) => drop(self.fault.set((ticket, fault))),
            }
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
            let end = cutter.next_ticket();
            self.chunks.store(end.number, Ordering::Relaxed);
            self.reads.store(end.first_read, Ordering::Relaxed);
            self.all_cut.store(true, Ordering::Release);
        }
        self.serial_nanos.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        any
    }

    /// When everything that may be surveyed is here and still closes no chunk, more of the file that is behind may be.
    fn widen(&self, cutter: &Cutter, files: &[InOrder]) {
        let unfinished = (0..files.len()).filter(|&i| files[i].goes_on(&self.files[i].source));
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
                match order.settle(&file.source, stretch) {
                    Ok(segment) => cutter.push(i, segment),
                    Err(fault) => {
                        cutter.fault(i, fault);
                        order.faulty = true;
                    }
                }
            }
            if order.ended && !order.faulty {
                cutter.end(i);
            }
        }
    }
}

impl Claim for Survey {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        loop {
            let all_cut = self.all_cut.load(Ordering::Acquire);
            if let Some(cut) = self.ready.pop() {
                cut.fill(chunk, |_, segment| self.spare.give_back(segment.node, segment.bytes));
                return Ok(Claimed::Chunk);
            }
            if all_cut && let Some((ticket, fault)) = self.fault.get() {
                chunk.ticket = *ticket;
                return Err(fault.clone().into());
            }
            if all_cut {
                let (chunks, reads) = (self.chunks.load(Ordering::Relaxed), self.reads.load(Ordering::Relaxed));
                return Ok(Claimed::End { chunks, reads });
            }
            let surveyed = self.survey_one();
            if !self.cut_ready() && !surveyed {
                return Ok(Claimed::NotYet);
            }
        }
    }

    fn serial_time(&self) -> Duration {
        let linking: u64 = self.files.iter().map(Surveyed::serial_nanos).sum();
        Duration::from_nanos(self.serial_nanos.load(Ordering::Relaxed) + linking)
    }

    fn share_dealt(&self) -> Option<f64> {
        let (surveyed, all) = self.files.first()?.stretches();
        Some(if all == 0 { 1.0 } else { surveyed as f64 / all as f64 })
    }
}

/// Whether a BGZF file ends with the marker that its writer puts there last; zeros behind it are padding.
pub(crate) fn has_end_marker(file: &File, path: &Path) -> Result<bool, InputError> {
    let fault = |e| InputError::new(path, format!("cannot read: {e}"));
    let marker = zerohop_bgzf::END_MARKER;
    // The marker ends with zeros itself.
    let own_zeros = marker.iter().rev().take_while(|&&b| b == 0).count() as u64;
    let (mut end, mut buffer) = (file.metadata().map_err(fault)?.len(), vec![0; 1 << 16]);
    let text_end = loop {
        let bytes = end.min(buffer.len() as u64);
        let part = &mut buffer[..bytes as usize];
        file.read_exact_at(part, end - bytes).map_err(fault)?;
        match part.iter().rposition(|&b| b != 0) {
            Some(last) => break end - bytes + last as u64 + 1,
            None if end == bytes => return Ok(false),
            None => end -= bytes,
        }
    };
    let mut found = marker;
    let Some(offset) = (text_end + own_zeros).checked_sub(marker.len() as u64) else { return Ok(false) };
    match file.read_exact_at(&mut found, offset) {
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => Err(fault(error)),
        read => Ok(read.is_ok() && found == marker),
    }
}
