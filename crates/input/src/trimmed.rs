//! Deals reads that are trimmed first: chunks end where they would end if the files held what stays of the reads.
//!
//! Raw chunks are claimed, parsed and trimmed by whoever comes; what stays of each is FASTQ again, and goes in the
//! order of the input to a second cutter, which cuts by the law of the engine. So neither who trims nor how the raw
//! chunks are cut makes a difference.

use crate::cutter::{CutChunk, Cutter};
use crate::segment::{RecordMarks, Segment};
use crate::trimming::{Trimmed, input_error};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::Cut;
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Claim, Claimed, Emit, Emitted, Parse};
use zerohop_trim::Counts;

/// Raw chunks have about so many bases.
pub(crate) const RAW_CUT: Cut = Cut::at(if cfg!(test) { 1000 } else { 300_000 });

/// What the files of a lane hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// Single reads.
    One,
    /// Mates in step.
    Two,
    /// Mates that follow one another, and single reads: fragments are units for the cutter.
    Interleaved,
}

impl Inputs {
    fn count(self) -> usize {
        if self == Inputs::Two { 2 } else { 1 }
    }
}

/// What stays of one raw chunk.
struct Piece {
    segments: Vec<Segment>,
    counts: Counts,
}

/// What stays of the raw chunks, in their order.
struct Kept {
    cutter: Cutter,
    inputs: Inputs,
    waiting: BTreeMap<u64, Piece>,
    /// The raw chunk that comes next.
    next: u64,
    /// How many raw chunks there are, once that is known.
    end: Option<u64>,
    /// What is wrong, from this raw chunk on.
    fault: Option<(u64, InputError)>,
    /// What was reported.
    failed: Option<InputError>,
    serial: Duration,
}

/// What can be dealt.
enum Next {
    Chunk(CutChunk),
    Ended {
        chunks: u64,
        reads: u64,
    },
    /// Raw chunks are wanted first.
    More,
    /// All are taken, and some are not trimmed yet.
    Waits,
}

impl Kept {
    fn new(cutter: Cutter, inputs: Inputs) -> Self {
        Kept {
            cutter,
            inputs,
            waiting: BTreeMap::new(),
            next: 0,
            end: None,
            fault: None,
            failed: None,
            serial: Duration::ZERO,
        }
    }

    /// Adds what stays of raw chunk `number`.
    fn add(&mut self, number: u64, piece: Piece, trimmed: &Trimmed) {
        let started = Instant::now();
        self.waiting.insert(number, piece);
        while let Some(Piece { segments, counts }) = self.waiting.remove(&self.next) {
            self.next += 1;
            trimmed.add(&counts);
            segments.into_iter().enumerate().for_each(|(input, segment)| self.cutter.push(input, segment));
        }
        self.see_end();
        self.serial += started.elapsed();
    }

    /// Notes that there are so many raw chunks.
    fn end_at(&mut self, chunks: u64) {
        self.end = Some(chunks);
        self.see_end();
    }

    /// Notes that something is wrong from a raw chunk on.
    fn fail_at(&mut self, number: u64, fault: InputError) {
        if self.fault.as_ref().is_none_or(|(first, _)| number < *first) {
            self.fault = Some((number, fault));
        }
        self.see_end();
    }

    fn see_end(&mut self) {
        if let Some((_, fault)) = self.fault.take_if(|(number, _)| *number == self.next) {
            self.cutter.fault(0, fault);
            self.end = Some(self.next);
        }
        if self.end == Some(self.next) {
            (0..self.inputs.count()).for_each(|input| self.cutter.end(input));
        }
    }

    /// The next chunk, if all of it is known; `chunk` gets its ticket.
    fn next(&mut self, chunk: &mut Chunk) -> Result<Next, Error> {
        let started = Instant::now();
        chunk.ticket = self.cutter.next_ticket();
        if let Some(fault) = &self.failed {
            return Err(fault.clone().into());
        }
        let next = match self.cutter.cut() {
            Some(Ok(cut)) => Next::Chunk(cut),
            Some(Err(fault)) => {
                self.failed = Some(fault.clone());
                return Err(fault.into());
            }
            None if self.cutter.is_done() => {
                Next::Ended { chunks: chunk.ticket.number, reads: chunk.ticket.first_read }
            }
            None if self.end.is_some() || self.fault.is_some() => Next::Waits,
            None => Next::More,
        };
        self.serial += started.elapsed();
        Ok(next)
    }
}

/// Trims a raw chunk.
fn trim(chunk: &Chunk, trimmed: &Trimmed, inputs: Inputs) -> Piece {
    let mut texts = vec![(Vec::new(), RecordMarks::default()); inputs.count()];
    let counts = trimmed.trim(chunk, |number, spans| {
        let fragment = chunk.fragment(number);
        for ((mate, read), span) in fragment.reads().enumerate().zip(spans) {
            let (text, marks) = match inputs {
                Inputs::One | Inputs::Interleaved => &mut texts[0],
                Inputs::Two => &mut texts[mate],
            };
            if inputs != Inputs::Interleaved || mate == 0 {
                marks.push(text.len(), marks.bases);
            }
            if inputs == Inputs::Interleaved && mate == 0 {
                marks.records_before.push(marks.records);
            }
            marks.records += 1;
            marks.bases += span.len() as u32;
            text.push(b'@');
            text.extend_from_slice(chunk.header(number, mate));
            if chunk.comments_are_fields && !read.comment.is_empty() {
                text.push(b' ');
                text.extend_from_slice(read.comment);
            }
            text.push(b'\n');
            text.extend_from_slice(&read.seq[span.range()]);
            text.extend_from_slice(b"\n+\n");
            text.extend_from_slice(&read.qual.unwrap_or_default()[span.range()]);
            text.push(b'\n');
        }
    });
    Piece { segments: texts.into_iter().map(|(text, marks)| Segment::new(text, marks)).collect(), counts }
}

/// Trims what workers deal.
pub(crate) struct TrimmedClaim {
    raw: Box<dyn Claim>,
    parser: Box<dyn Parse>,
    trimmed: Arc<Trimmed>,
    inputs: Inputs,
    kept: Mutex<Kept>,
    /// Chunks for raw reads that nobody uses.
    spare: Mutex<Vec<Chunk>>,
}

impl TrimmedClaim {
    /// What `raw` deals of so many inputs and `parser` finds in it, trimmed, and dealt by `cutter`.
    pub(crate) fn new(
        raw: Box<dyn Claim>,
        parser: Box<dyn Parse>,
        trimmed: Arc<Trimmed>,
        (cutter, inputs): (Cutter, Inputs),
    ) -> Self {
        let kept = Mutex::new(Kept::new(cutter, inputs));
        TrimmedClaim { raw, parser, trimmed, inputs, kept, spare: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Chunk>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a raw chunk and trims it; false if there is none now.
    fn help(&self) -> Result<bool, Error> {
        let mut chunk = self.spare().pop().unwrap_or_default();
        let claimed = self.raw.claim(&mut chunk);
        let number = chunk.ticket.number;
        let parsed = match claimed {
            Ok(Claimed::Chunk) => self.parser.parse(&mut chunk),
            Ok(Claimed::NotYet) => return Ok(false),
            Ok(Claimed::End { chunks, .. }) => {
                self.kept().end_at(chunks);
                return Ok(true);
            }
            Err(error) => Err(error),
        };
        match parsed {
            Ok(()) => {
                let piece = trim(&chunk, &self.trimmed, self.inputs);
                self.kept().add(number, piece, &self.trimmed);
            }
            Err(error) => self.kept().fail_at(number, input_error(error)?),
        }
        self.spare().push(chunk);
        Ok(true)
    }
}

impl Claim for TrimmedClaim {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        loop {
            let next = self.kept().next(chunk)?;
            match next {
                // Copied by whoever has it, while others go on.
                Next::Chunk(cut) => {
                    cut.fill(chunk, |_, _| ());
                    return Ok(Claimed::Chunk);
                }
                Next::Ended { chunks, reads } => return Ok(Claimed::End { chunks, reads }),
                Next::Waits => return Ok(Claimed::NotYet),
                Next::More if !self.help()? => return Ok(Claimed::NotYet),
                Next::More => {}
            }
        }
    }

    fn serial_time(&self) -> Duration {
        self.raw.serial_time() + self.kept().serial
    }

    fn share_dealt(&self) -> Option<f64> {
        self.raw.share_dealt()
    }
}

/// Trims what an emitter deals.
pub(crate) struct TrimmedEmit {
    raw: Box<dyn Emit>,
    parser: Box<dyn Parse>,
    trimmed: Arc<Trimmed>,
    inputs: Inputs,
    kept: Kept,
    chunk: Chunk,
}

impl TrimmedEmit {
    /// As [`TrimmedClaim::new`].
    pub(crate) fn new(
        raw: Box<dyn Emit>,
        parser: Box<dyn Parse>,
        trimmed: Arc<Trimmed>,
        (cutter, inputs): (Cutter, Inputs),
    ) -> Self {
        TrimmedEmit { raw, parser, trimmed, inputs, kept: Kept::new(cutter, inputs), chunk: Chunk::default() }
    }
}

impl Emit for TrimmedEmit {
    fn emit(&mut self, chunk: &mut Chunk, stop: &AtomicBool) -> Result<Emitted, Error> {
        loop {
            match self.kept.next(chunk)? {
                Next::Chunk(cut) => {
                    cut.fill(chunk, |_, _| ());
                    return Ok(Emitted::Chunk);
                }
                Next::Ended { chunks, reads } => return Ok(Emitted::End { chunks, reads }),
                Next::More | Next::Waits => {}
            }
            let emitted = self.raw.emit(&mut self.chunk, stop);
            let number = self.chunk.ticket.number;
            let parsed = match emitted {
                Ok(Emitted::Chunk) => self.parser.parse(&mut self.chunk),
                Ok(Emitted::End { chunks, .. }) => {
                    self.kept.end_at(chunks);
                    continue;
                }
                Err(error) => Err(error),
            };
            match parsed {
                Ok(()) => self.kept.add(number, trim(&self.chunk, &self.trimmed, self.inputs), &self.trimmed),
                Err(error) => self.kept.fail_at(number, input_error(error)?),
            }
        }
    }

    fn serial_time(&self) -> Duration {
        self.raw.serial_time() + self.kept.serial
    }

    fn share_dealt(&self) -> Option<f64> {
        self.raw.share_dealt()
    }
}
