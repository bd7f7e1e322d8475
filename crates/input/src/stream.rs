//! Inputs that are read from front to back: pipes, standard input, interleaved reads, FASTA; over ranks plain gzip.
//!
//! One thread per input reads and inflates ahead, marks whole records, and hands segments through a bounded channel to
//! the emitter, which cuts them into chunks and copies each chunk into the buffer of the worker that asked for it.

use crate::bam::mark::{self as bam_mark, BamState};
use crate::content::Content;
use crate::cutter::{CutChunk, Cutter};
use crate::errors::{endless, read_fault, record_text_limit};
use crate::header;
use crate::open::OpenedFile;
use crate::parse::TextFormat;
use crate::segment::{LineState, RecordMarks, Segment, join_mates, mark_fasta, mark_fastq};
use crate::sizes::SEGMENT;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use zerohop_model::chunk::{Chunk, Ticket};
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Emit, Emitted};
use zerohop_model::spare::Spare;

/// Segments that a reader may be ahead of the emitter.
const AHEAD: usize = 3;
/// Parts of a segment that the readers of two streams hand on, as many more of them: one program may write both, so
/// that of the shorter reads little comes at a time.
const PARTS_OF_TWO: usize = 4;
/// Bytes of text that one of two streams may be ahead of the other, if nothing comes of that.
const LEAD: u64 = 16 << 20;
/// How often a waiting emitter looks whether the run was stopped.
const STOP_POLL: Duration = Duration::from_millis(20);
/// How soon it looks again for a stream that may go on now.
const SOON: Duration = Duration::from_millis(1);

/// How to read one stream.
pub(crate) struct StreamSpec {
    /// A regular file is opened when the first chunk is wanted.
    pub(crate) file: OpenedFile,
    pub(crate) interleaved: bool,
    pub(crate) max_read_bases: usize,
}

/// What a reader thread says. A channel that closes without one of the last two means that the thread died.
enum Message {
    Segment(Segment),
    Fault(InputError),
    End,
}

/// Reads one stream into segments of whole records.
struct StreamReader {
    path: PathBuf,
    content: Content,
    interleaved: bool,
    max_read_bases: usize,
    /// Inflated text.
    text: Box<dyn Read + Send>,
    /// Records and bytes handed on.
    records: u64,
    bytes: u64,
    /// Where the next segment starts, of BAM.
    state: BamState,
    /// Bytes of a segment.
    segment: usize,
    spare: Arc<Spare>,
}

impl StreamReader {
    /// Hands on segments until the end, a fault, or until nobody wants them any more.
    fn run(mut self, segments: &SyncSender<Message>) {
        let mut carried = Vec::new();
        loop {
            let (messages, last) = match self.next_segment(&mut carried) {
                Ok((segment, false)) => ([Some(Message::Segment(segment)), None], false),
                Ok((segment, true)) => ([Some(Message::Segment(segment)), Some(Message::End)], true),
                Err(fault) => ([Some(Message::Fault(fault)), None], true),
            };
            let unwanted = messages.into_iter().flatten().any(|message| segments.send(message).is_err());
            if unwanted || last {
                return;
            }
        }
    }

    /// The next segment, and whether it is the last; what follows its last whole unit goes to `carried`.
    fn next_segment(&mut self, carried: &mut Vec<u8>) -> Result<(Segment, bool), InputError> {
        let mut bytes = self.spare.take().unwrap_or_default();
        bytes.clear();
        bytes.append(carried);
        if let Content::Bam { .. } = self.content {
            return self.next_records(bytes, carried);
        }
        let mut wanted = self.segment;
        loop {
            if self.fill(&mut bytes, wanted)? {
                let marks = self.mark(&bytes, true).0;
                return Ok((Segment::new(bytes, marks), true));
            }
            let (marks, ends_whole) = self.mark(&bytes, false);
            let (marks, whole) = if ends_whole { (marks, bytes.len()) } else { without_last(marks) };
            if whole > 0 {
                carried.extend_from_slice(&bytes[whole..]);
                bytes.truncate(whole);
                self.records += u64::from(marks.records);
                self.bytes += whole as u64;
                return Ok((Segment::new(bytes, marks), false));
            }
            let most = record_text_limit(self.max_read_bases as u64) as usize;
            if bytes.len() > most {
                let (bases, limit) = (self.mark(&bytes, false).0.bases, self.max_read_bases as u64);
                let fault = endless(&self.path, &bytes, u64::from(bases), limit);
                return Err(fault.at(self.records + 1, self.bytes));
            }
            // All that is there is marked anew: so each time there is to be twice as much.
            wanted = (2 * bytes.len()).min(most) + self.segment;
        }
    }

    /// The next segment of BAM: it ends anywhere but in the beginning of a record, which goes to `carried`.
    fn next_records(&mut self, mut bytes: Vec<u8>, carried: &mut Vec<u8>) -> Result<(Segment, bool), InputError> {
        let is_end = self.fill(&mut bytes, self.segment)?;
        let marked = bam_mark::mark(&bytes, self.state, |_| is_end.then(Vec::new));
        carried.extend_from_slice(&bytes[marked.bytes..]);
        bytes.truncate(marked.bytes);
        self.bytes += bytes.len() as u64;
        self.state = marked.after;
        let is_last = is_end || marked.marks.damaged_at.is_some();
        Ok((Segment::new(bytes, marked.marks), is_last))
    }

    /// Reads until `bytes` holds `wanted` bytes; true at the end of the stream.
    fn fill(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> Result<bool, InputError> {
        let missing = wanted.saturating_sub(bytes.len()) as u64;
        let got = self.text.by_ref().take(missing).read_to_end(bytes).map_err(|e| {
            let at = self.bytes + bytes.len() as u64;
            let mut fault = read_fault(&self.path, &e);
            fault.byte = Some(at);
            fault
        })?;
        Ok((got as u64) < missing)
    }

    /// Marks the units of `bytes`, to the end of the stream or not; returns the marks and whether the last unit is
    /// certainly whole.
    fn mark(&self, bytes: &[u8], is_end: bool) -> (RecordMarks, bool) {
        let (marks, ends_whole) = match self.content {
            Content::Text(TextFormat::Fastq) | Content::Bam { .. } => {
                let (marks, after) = mark_fastq(bytes, LineState::RECORD_START);
                (marks, after == LineState::RECORD_START)
            }
            // More lines of the last sequence may be still to come,
            Content::Text(TextFormat::Fasta) => (mark_fasta(bytes), false),
        };
        if !self.interleaved {
            return (marks, ends_whole);
        }
        let name_at = |start: u32| {
            let line = &bytes[start as usize + 1..];
            let end = memchr::memchr(b'\n', line).or(is_end.then_some(line.len()))?;
            let (name, _) = header::split(&line[..end]);
            Some(if self.content == Content::Text(TextFormat::Fastq) {
                header::without_mate_number(name)
            } else {
                name
            })
        };
        // or the mate of the last read.
        (join_mates(marks, name_at), false)
    }
}

/// The marks without the last unit, and where that one starts.
fn without_last(mut marks: RecordMarks) -> (RecordMarks, usize) {
    let (Some(start), Some(bases)) = (marks.starts.pop(), marks.bases_before.pop()) else { return (marks, 0) };
    marks.bases = bases;
    marks.records = marks.records_before.pop().unwrap_or(marks.starts.len() as u32);
    (marks, start as usize)
}

/// The segments of one stream, as they come.
struct SegmentStream {
    path: PathBuf,
    segments: Receiver<Message>,
    /// Buffers of segments that are used up, for its reader.
    spare: Arc<Spare>,
    progress: Option<(Arc<AtomicU64>, u64)>,
    ended: bool,
}

impl SegmentStream {
    /// Starts to read it; its segments are one of so many `parts` of the usual size.
    fn start(spec: StreamSpec, parts: usize) -> Result<Self, Error> {
        let StreamSpec { file, interleaved, max_read_bases } = spec;
        let (send, segments) = sync_channel(AHEAD * parts);
        let spare = Arc::new(Spare::new(2 * AHEAD * parts));
        let (path, content) = (file.path.clone(), file.content.unwrap_or(Content::Text(TextFormat::Fastq)));
        let state = match content {
            Content::Bam { header, .. } => BamState { skip: header, open: 0 },
            Content::Text(_) => BamState::default(),
        };
        let segment = (SEGMENT as usize).div_ceil(parts);
        let text = file.into_text()?;
        let progress = text.progress.clone();
        let reader = StreamReader {
            path: path.clone(),
            content,
            interleaved,
            max_read_bases,
            text: text.into_reader(),
            records: 0,
            bytes: 0,
            state,
            segment,
            spare: Arc::clone(&spare),
        };
        // It ends by itself when the input ends or when nobody takes its segments any more. It is not joined, for it
        // may be blocked in a read that never comes back.
        std::thread::Builder::new()
            .name("inflate".into())
            .spawn(move || {
                reader.run(&send);
            })
            .map_err(Error::Thread)?;
        Ok(SegmentStream { path, segments, spare, progress, ended: false })
    }
}

/// One stream, or two in step, as an input for the farm.
pub(crate) struct StreamEmitter {
    /// What is to be read, until the first chunk is asked for.
    specs: Vec<StreamSpec>,
    streams: Vec<SegmentStream>,
    cutter: Cutter,
    is_converted: bool,
    /// What ended it: every further call gives it again.
    fault: Option<InputError>,
    serial: Duration,
}

impl StreamEmitter {
    /// An emitter that starts to read when it is first asked for a chunk, with threads that inherit the emitter's CPUs.
    pub(crate) fn new(specs: Vec<StreamSpec>, cutter: Cutter) -> Self {
        let is_converted = specs.iter().any(|spec| spec.file.is_converted);
        let (streams, fault, serial) = (Vec::new(), None, Duration::ZERO);
        StreamEmitter { specs, streams, cutter, is_converted, fault, serial }
    }

    /// Waits for the next segment of the stream that is behind.
    fn receive(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        let open = (0..self.streams.len()).filter(|&i| !self.streams[i].ended);
        let Some(behind) = open.min_by_key(|&i| self.cutter.units_ahead(i)) else {
            return Err(Error::Internal("all streams have ended, and their end was not cut".to_owned()));
        };
        let mut wait = STOP_POLL;
        loop {
            match self.streams[behind].segments.recv_timeout(wait) {
                Ok(message) => self.put(behind, message),
                Err(RecvTimeoutError::Disconnected) => {
                    let path = &self.streams[behind].path;
                    let fault = InputError::new(path, "the thread that reads it died: please report this");
                    self.put(behind, Message::Fault(fault));
                }
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Acquire) => return Err(Error::Stopped),
                Err(RecvTimeoutError::Timeout) => {
                    wait = if self.take_of_others(behind) { SOON } else { STOP_POLL };
                    continue;
                }
            }
            return Ok(());
        }
    }

    fn put(&mut self, stream: usize, message: Message) {
        match message {
            Message::Segment(segment) => return self.cutter.push(stream, segment),
            Message::Fault(fault) => self.cutter.fault(stream, fault),
            Message::End => self.cutter.end(stream),
        }
        self.streams[stream].ended = true;
    }

    /// Takes what there is of the other streams, while nothing comes of the one that is behind: one program may write
    /// both, mate by mate, and wait until somebody takes the longer ones. Whether there was something.
    fn take_of_others(&mut self, behind: usize) -> bool {
        let mut any = false;
        for other in (0..self.streams.len()).filter(|&other| other != behind) {
            while !self.streams[other].ended && self.cutter.text_held(other) < LEAD {
                let Ok(message) = self.streams[other].segments.try_recv() else { break };
                self.put(other, message);
                any = true;
            }
        }
        any
    }
}

impl StreamEmitter {
    fn cut_next(&mut self, stop: &AtomicBool) -> Result<Option<CutChunk>, Error> {
        let parts = if self.specs.len() > 1 { PARTS_OF_TWO } else { 1 };
        for spec in self.specs.drain(..) {
            self.streams.push(SegmentStream::start(spec, parts)?);
        }
        loop {
            let started = Instant::now();
            let cut = self.cutter.cut();
            self.serial += started.elapsed();
            match cut {
                Some(cut) => return cut.map(Some).map_err(|fault| self.placed(fault).into()),
                None if self.cutter.is_done() => return Ok(None),
                None => self.receive(stop)?,
            }
        }
    }

    /// A fault, without its byte if that is not a place in the file.
    fn placed(&self, mut fault: InputError) -> InputError {
        fault.byte = fault.byte.filter(|_| !self.is_converted);
        fault
    }
}

impl CutEmit for StreamEmitter {
    fn next(&mut self, stop: &AtomicBool) -> Result<Option<CutChunk>, Error> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone().into());
        }
        let next = self.cut_next(stop);
        if let Err(Error::Input(fault)) = &next {
            self.fault = Some(fault.clone());
        }
        if !matches!(next, Ok(Some(_))) {
            // What reads them ends, where it has not come to their ends.
            self.streams.clear();
        }
        next
    }

    fn fill(&mut self, cut: CutChunk, chunk: &mut Chunk) {
        let started = Instant::now();
        let streams = &self.streams;
        cut.fill(chunk, |input, segment| streams[input].spare.give_back(segment.node, segment.bytes));
        self.serial += started.elapsed();
    }

    fn pass_over(&mut self, cut: CutChunk) {
        let streams = &self.streams;
        cut.recycle(|input, segment| streams[input].spare.give_back(segment.node, segment.bytes));
    }

    fn ticket(&self) -> Ticket {
        self.cutter.next_ticket()
    }

    fn serial_time(&self) -> Duration {
        self.serial
    }

    fn share_dealt(&self) -> Option<f64> {
        let (read, length) = self.streams.first()?.progress.as_ref()?;
        Some(read.load(Ordering::Relaxed) as f64 / (*length).max(1) as f64)
    }
}

/// Cuts all chunks of a lane, from front to back.
pub(crate) trait CutEmit: Send {
    /// The next chunk, before its text is copied; none at the end. A fault is one of the chunk of [`CutEmit::ticket`].
    ///
    /// # Errors
    /// A fault of the input; every further call gives it again. [`Error::Stopped`].
    fn next(&mut self, stop: &AtomicBool) -> Result<Option<CutChunk>, Error>;

    /// Copies the text of a chunk.
    fn fill(&mut self, cut: CutChunk, chunk: &mut Chunk);

    /// Passes over a chunk.
    fn pass_over(&mut self, cut: CutChunk);

    /// The place of the next chunk; at the end it counts all chunks and reads.
    fn ticket(&self) -> Ticket;

    /// Time so far in which only the emitter could go on.
    fn serial_time(&self) -> Duration;

    /// The part of the input emitted so far, 0 to 1, if it is known.
    fn share_dealt(&self) -> Option<f64>;
}

/// Emits all of them.
pub(crate) struct AllChunks<C>(pub(crate) C);

impl<C: CutEmit> Emit for AllChunks<C> {
    fn emit(&mut self, chunk: &mut Chunk, stop: &AtomicBool) -> Result<Emitted, Error> {
        let AllChunks(all) = self;
        let cut = all.next(stop).inspect_err(|_| chunk.ticket = all.ticket())?;
        let Some(cut) = cut else {
            let Ticket { number: chunks, first_read: reads, .. } = all.ticket();
            return Ok(Emitted::End { chunks, reads });
        };
        all.fill(cut, chunk);
        Ok(Emitted::Chunk)
    }

    fn serial_time(&self) -> Duration {
        self.0.serial_time()
    }

    fn share_dealt(&self) -> Option<f64> {
        self.0.share_dealt()
    }
}
