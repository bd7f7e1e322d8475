//! Deals reads of which not all stays: those that are trimmed, or have barcodes where a cutter cannot know it. Chunks
//! end where they would end if the files held what stays of the reads.
//!
//! Raw chunks are claimed, parsed and reduced to what stays by whoever comes. What stays of each is FASTQ again, and
//! goes in the order of the input to a second cutter, which cuts by the law of the engine. So neither who reduces nor
//! how the raw chunks are cut makes a difference.

use crate::cutter::{CutChunk, Cutter};
use crate::errors::fault_of;
use crate::kept;
use crate::saved::{PlacedParts, SavedReads, SavedText};
use crate::segment::{RecordMarks, Segment};
use crate::stream::{AllChunks, CutEmit, StreamEmitter};
use crate::trimming::{Trimmed, input_error};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zerohop_model::chunk::{Chunk, Read, Ticket};
use zerohop_model::directed::Directed;
use zerohop_model::engine::Cut;
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Claim, Claimed, Emit, Emitted, Parse};
use zerohop_trim::{Counts, Outcome, Span};

/// Raw chunks have about so many bases.
pub(crate) const RAW_CUT: Cut = Cut::at(if cfg!(any(test, fuzzing)) { 1000 } else { 300_000 });

/// Pieces that may wait for each worker.
const WAITING_PER_WORKER: usize = 4;

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
pub(crate) struct Piece {
    /// Of each input.
    pub(crate) segments: Vec<Segment>,
    counts: Counts,
    /// For each file of saved reads.
    saved: Vec<Vec<u8>>,
}

impl Piece {
    /// Forgets its text.
    pub(crate) fn forget_text(&mut self) {
        self.segments = Vec::new();
    }
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
    Ended,
    /// Raw chunks are wanted first.
    More,
    /// All are taken, and some are not trimmed yet.
    Waits,
}

impl Kept {
    /// Of the raw chunks from number `first` on.
    fn new(cutter: Cutter, inputs: Inputs, first: u64) -> Self {
        Kept {
            cutter,
            inputs,
            waiting: BTreeMap::new(),
            next: first,
            end: None,
            fault: None,
            failed: None,
            serial: Duration::ZERO,
        }
    }

    /// Adds what stays of raw chunk `number`. Gives parts of saved reads that are to be written.
    fn add(&mut self, number: u64, piece: Piece, reducer: &Reducer) -> PlacedParts {
        let started = Instant::now();
        let mut placed = Vec::new();
        self.waiting.insert(number, piece);
        while let Some(mut piece) = self.waiting.remove(&self.next) {
            self.next += 1;
            reducer.take_counts(&mut piece, &mut placed);
            let Piece { segments, .. } = piece;
            segments.into_iter().enumerate().for_each(|(input, segment)| self.cutter.push(input, segment));
        }
        self.see_end();
        self.serial += started.elapsed();
        placed
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

    /// The next chunk, if all of it is known.
    fn next(&mut self) -> Result<Next, Error> {
        let started = Instant::now();
        if let Some(fault) = &self.failed {
            return Err(fault.clone().into());
        }
        let next = match self.cutter.cut() {
            Some(Ok(cut)) => Next::Chunk(cut),
            Some(Err(fault)) => {
                self.failed = Some(fault.clone());
                return Err(fault.into());
            }
            None if self.cutter.is_done() => Next::Ended,
            None if self.end.is_some() || self.fault.is_some() => Next::Waits,
            None => Next::More,
        };
        self.serial += started.elapsed();
        Ok(next)
    }
}

/// What makes pieces of raw chunks.
pub(crate) struct Reducer {
    /// Finds the reads, and takes their barcodes.
    pub(crate) parser: Box<dyn Parse>,
    /// What trims them, if they are trimmed.
    pub(crate) trimmed: Option<Arc<Trimmed>>,
    pub(crate) inputs: Inputs,
    /// Of BAM: fields that go with the direction of a read have one value per base, and are cut with the bases.
    /// Of comments of FASTQ base modifications alone are cut, and the text of chunks is that of the files.
    pub(crate) directed: Option<Directed>,
    /// Whether it counts what is trimmed.
    pub(crate) counts: bool,
    /// Where reads are saved, if they are.
    pub(crate) saved: Option<Arc<SavedReads>>,
}

impl Reducer {
    /// What stays of a raw chunk.
    ///
    /// # Errors
    /// Those of the parser; a field that cannot be cut.
    pub(crate) fn reduce(&self, chunk: &mut Chunk) -> Result<Piece, Error> {
        self.parser.parse(chunk)?;
        let mut texts = vec![(Vec::new(), RecordMarks::default()); self.inputs.count()];
        let mut fault = None;
        let mut saved = self.saved.as_deref().map(SavedText::new);
        let each = |number: usize, outcome: Outcome<&[Span]>| {
            let mut add = || -> Result<(), (usize, String)> {
                if let Some(saved) = &mut saved {
                    saved.add(chunk, number, &outcome, self.directed.as_ref())?;
                }
                let Outcome::Kept(spans) = outcome else { return Ok(()) };
                for (mate, span) in spans.iter().enumerate() {
                    let (text, marks) = match self.inputs {
                        Inputs::One | Inputs::Interleaved => &mut texts[0],
                        Inputs::Two => &mut texts[mate],
                    };
                    if self.inputs != Inputs::Interleaved || mate == 0 {
                        marks.push(text.len(), marks.bases);
                    }
                    if self.inputs == Inputs::Interleaved && mate == 0 {
                        marks.records_before.push(marks.records);
                    }
                    marks.records += 1;
                    marks.bases += span.len() as u32;
                    kept::push(text, chunk, (number, mate), *span, self.directed.as_ref())
                        .map_err(|what| (mate, what))?;
                }
                Ok(())
            };
            if let Err((mate, what)) = add() {
                let path = |text| self.parser.path(text);
                fault.get_or_insert_with(|| fault_of(chunk, (number, mate), (path, self.directed.is_none()), what));
            }
        };
        let counts = match &self.trimmed {
            Some(trimmed) if self.counts => trimmed.trim(chunk, each),
            Some(trimmed) => {
                trimmed.trim_uncounted(chunk, each);
                Counts::default()
            }
            None => {
                keep_all(chunk, each);
                Counts::default()
            }
        };
        let saved = saved.map_or(Ok(Vec::new()), SavedText::parts)?;
        match fault {
            Some(fault) => Err(fault.into()),
            None => {
                let segments = texts.into_iter().map(|(text, marks)| Segment::new(text, marks)).collect();
                Ok(Piece { segments, counts, saved })
            }
        }
    }

    /// Takes what was counted of a piece, in the order of the input, and gives what of it is saved its place.
    pub(crate) fn take_counts(&self, piece: &mut Piece, placed: &mut PlacedParts) {
        if let Some(trimmed) = self.trimmed.as_ref().filter(|_| self.counts) {
            trimmed.add(&piece.counts);
        }
        if let Some(saved) = &self.saved {
            saved.place(std::mem::take(&mut piece.saved), placed);
        }
    }

    /// Writes what is saved of pieces.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn write(&self, placed: PlacedParts) -> Result<(), Error> {
        self.saved.as_ref().map_or(Ok(()), |saved| saved.write(placed))
    }
}

/// All of all fragments.
fn keep_all(chunk: &Chunk, mut each: impl FnMut(usize, Outcome<&[Span]>)) {
    for number in 0..chunk.len() {
        let whole = |read: Read<'_>| Span { start: 0, end: read.seq.len() as u32 };
        let spans: Vec<Span> = chunk.fragment(number).reads().map(whole).collect();
        each(number, Outcome::Kept(&spans));
    }
}

/// Deals what stays of what workers deal.
pub(crate) struct TrimmedClaim {
    raw: Box<dyn Claim>,
    reducer: Arc<Reducer>,
    kept: Mutex<Kept>,
    /// Pieces that may wait for one before them: while there are more, nobody makes another one.
    most_waiting: usize,
    /// Chunks for raw reads that nobody uses.
    spare: Mutex<Vec<Chunk>>,
}

impl TrimmedClaim {
    /// What stays of what `raw` deals, whose first chunk has number `first`, dealt by `cutter`.
    /// So many workers claim its chunks.
    pub(crate) fn new(raw: Box<dyn Claim>, first: u64, reducer: Arc<Reducer>, cutter: Cutter, workers: usize) -> Self {
        let kept = Mutex::new(Kept::new(cutter, reducer.inputs, first));
        TrimmedClaim { raw, reducer, kept, most_waiting: WAITING_PER_WORKER * workers, spare: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Chunk>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a raw chunk and reduces it; false if there is none now.
    fn help(&self) -> Result<bool, Error> {
        let mut chunk = self.spare().pop().unwrap_or_default();
        let claimed = self.raw.claim(&mut chunk);
        let number = chunk.ticket.number;
        let reduced = match claimed {
            Ok(Claimed::Chunk) => self.reducer.reduce(&mut chunk),
            Ok(Claimed::NotYet) => return Ok(false),
            Ok(Claimed::End { chunks, .. }) => {
                self.kept().end_at(chunks);
                return Ok(true);
            }
            Err(error) => Err(error),
        };
        match reduced {
            Ok(piece) => {
                let placed = self.kept().add(number, piece, &self.reducer);
                self.reducer.write(placed)?;
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
            let (next, ticket, is_full) = {
                let mut kept = self.kept();
                chunk.ticket = kept.cutter.next_ticket();
                (kept.next()?, kept.cutter.next_ticket(), kept.waiting.len() > self.most_waiting)
            };
            match next {
                // Copied by whoever has it, while others go on.
                Next::Chunk(cut) => {
                    cut.fill(chunk, |_, _| ());
                    return Ok(Claimed::Chunk);
                }
                Next::Ended => return Ok(Claimed::End { chunks: ticket.number, reads: ticket.first_read }),
                Next::Waits => return Ok(Claimed::NotYet),
                Next::More if is_full || !self.help()? => return Ok(Claimed::NotYet),
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

/// Deals what stays of what an emitter deals.
pub(crate) struct TrimmedEmit {
    raw: AllChunks<StreamEmitter>,
    reducer: Reducer,
    kept: Kept,
    chunk: Chunk,
}

impl TrimmedEmit {
    /// As [`TrimmedClaim::new`].
    pub(crate) fn new(raw: StreamEmitter, reducer: Reducer, cutter: Cutter) -> Self {
        let kept = Kept::new(cutter, reducer.inputs, 0);
        TrimmedEmit { raw: AllChunks(raw), reducer, kept, chunk: Chunk::default() }
    }
}

impl CutEmit for TrimmedEmit {
    fn next(&mut self, stop: &AtomicBool) -> Result<Option<CutChunk>, Error> {
        loop {
            match self.kept.next()? {
                Next::Chunk(cut) => return Ok(Some(cut)),
                Next::Ended => return Ok(None),
                Next::More | Next::Waits => {}
            }
            let emitted = self.raw.emit(&mut self.chunk, stop);
            let number = self.chunk.ticket.number;
            let reduced = match emitted {
                Ok(Emitted::Chunk) => self.reducer.reduce(&mut self.chunk),
                Ok(Emitted::End { chunks, .. }) => {
                    self.kept.end_at(chunks);
                    continue;
                }
                Err(error) => Err(error),
            };
            match reduced {
                Ok(piece) => {
                    let placed = self.kept.add(number, piece, &self.reducer);
                    self.reducer.write(placed)?;
                }
                Err(error) => self.kept.fail_at(number, input_error(error)?),
            }
        }
    }

    fn fill(&mut self, cut: CutChunk, chunk: &mut Chunk) {
        cut.fill(chunk, |_, _| ());
    }

    fn pass_over(&mut self, cut: CutChunk) {
        cut.recycle(|_, _| ());
    }

    fn ticket(&self) -> Ticket {
        self.kept.cutter.next_ticket()
    }

    fn serial_time(&self) -> Duration {
        self.raw.serial_time() + self.kept.serial
    }

    fn share_dealt(&self) -> Option<f64> {
        self.raw.share_dealt()
    }
}
