//! One thread's way to its chunks: lane after lane, taken by itself or dealt by the farm.

use crate::back_off::BackOff;
use crate::cohorts::{CohortId, behind, place};
use crate::failure::Failure;
use crate::farm::{EmitterMessage, WorkerEnd};
use crate::local_buffer;
use crate::progress::Progress;
use std::time::{Duration, Instant};
use zerohop_model::chunk::Chunk;
use zerohop_model::error::{Error, InputError};
use zerohop_model::source::{Claim, Claimed, Parse};

/// A lane as the threads that take its chunks see it.
pub enum LaneView<'a> {
    /// They take them themselves.
    Claim(&'a dyn Claim, &'a dyn Parse),
    /// The farm deals them.
    Farm(&'a dyn Parse),
}

/// The input of a run, and what goes with it.
pub struct Input<'a> {
    /// The lanes, in order.
    pub lanes: Vec<LaneView<'a>>,
    /// Where failures are reported.
    pub failure: &'a Failure,
    /// Where progress is reported.
    pub progress: &'a Progress,
}

impl Input<'_> {
    /// What finds the reads of a lane.
    pub fn parser(&self, lane: u32) -> &dyn Parse {
        let (LaneView::Claim(_, parser) | LaneView::Farm(parser)) = self.lanes[lane as usize];
        parser
    }
}

/// A chunk with text, and its number in the run: over all lanes, without gaps.
pub struct Taken {
    /// The chunk, with its text.
    pub chunk: Box<Chunk>,
    /// Its number in the run, from 0.
    pub number: u64,
}

/// The result of asking for a chunk.
pub(crate) enum AskedChunk {
    /// A chunk came.
    Came(Taken),
    /// There was something better to do while it was waited for.
    Not,
    /// The input is at its end.
    End,
}

/// A chunk that is kept when others are taken.
pub(crate) struct KeptChunk {
    pub(crate) chunk: Box<Chunk>,
    /// Whether another thread made it larger: it lies on that one's node, then.
    grown: bool,
}

/// The result of looking for a chunk in a lane.
enum LaneChunk {
    Not,
    Chunk(Box<Chunk>),
    LaneEnd { chunks: u64, reads: u64 },
}

/// One thread's own things for taking chunks.
pub struct Intake<'a> {
    input: &'a Input<'a>,
    end: WorkerEnd,
    /// Empty chunks, boxed as they go through the farm, of which one at a time is used for lanes without an emitter.
    /// They are this thread's own: it needs no lock for them.
    #[allow(clippy::vec_box)]
    spare: Vec<Box<Chunk>>,
    lane: usize,
    /// Chunks and reads of the lanes before.
    chunks_before: u64,
    reads_before: u64,
    /// Time spent reading, inflating and surveying input.
    pub claiming: Duration,
    /// Time spent waiting for input that was not there yet.
    pub waiting: Duration,
}

impl<'a> Intake<'a> {
    /// Made on the thread that will use it, so that its memory lies on that thread's node.
    pub fn new(input: &'a Input<'a>, mut end: WorkerEnd) -> Self {
        if input.lanes.iter().any(|lane| matches!(lane, LaneView::Farm(_))) {
            end.ask();
        }
        let (claiming, waiting) = (Duration::ZERO, Duration::ZERO);
        Intake { input, end, spare: Vec::new(), lane: 0, chunks_before: 0, reads_before: 0, claiming, waiting }
    }

    /// The next chunk; `None` when the input is at its end.
    ///
    /// # Errors
    /// [`Error::Stopped`]: a fault of the input was reported.
    pub fn take(&mut self) -> Result<Option<Taken>, Error> {
        Ok(match self.take_unless(&|| false)? {
            AskedChunk::Came(taken) => Some(taken),
            AskedChunk::Not | AskedChunk::End => None,
        })
    }

    /// The next chunk, unless there is something `better` to do than to wait for it.
    ///
    /// # Errors
    /// As for [`Intake::take`].
    pub(crate) fn take_unless(&mut self, better: &dyn Fn() -> bool) -> Result<AskedChunk, Error> {
        while self.lane < self.input.lanes.len() {
            match self.claim(better)? {
                LaneChunk::Not => return Ok(AskedChunk::Not),
                LaneChunk::Chunk(mut chunk) => {
                    chunk.ticket.first_read += self.reads_before;
                    let number = self.chunks_before + chunk.ticket.number;
                    return Ok(AskedChunk::Came(Taken { chunk, number }));
                }
                LaneChunk::LaneEnd { chunks, reads } => {
                    self.chunks_before += chunks;
                    self.reads_before += reads;
                    self.lane += 1;
                }
            }
        }
        Ok(AskedChunk::End)
    }

    /// Where the next chunk is that was dealt to this thread ahead; behind its lane if that has no more of them.
    pub(crate) fn dealt(&mut self) -> Option<CohortId> {
        let dealt = self.end.peek()?;
        let is_farm = |lane: &usize| matches!(self.input.lanes[*lane], LaneView::Farm(_));
        match dealt {
            EmitterMessage::Chunk(chunk) => Some(place(&chunk.ticket)),
            EmitterMessage::LaneEnd { .. } => {
                (self.lane..self.input.lanes.len()).find(is_farm).map(|lane| behind(lane as u32))
            }
        }
    }

    /// Finds the reads of a chunk.
    ///
    /// # Errors
    /// [`Error::Input`].
    pub fn parse(&self, chunk: &mut Chunk) -> Result<(), Error> {
        self.input.parser(chunk.ticket.lane).parse(chunk)
    }

    /// An error of a record of the fragment that `chunk` handed out last, with the file and the number of its read.
    pub fn with_place(&self, chunk: &Chunk, error: Error) -> Error {
        let Error::Record { read, mate, what } = error else { return error };
        let parser = self.input.parser(chunk.ticket.lane);
        let place = chunk.current().map(|(fragment, _)| chunk.place(fragment, mate));
        match place.and_then(|(text, record)| Some((parser.path(text)?, record))) {
            Some((path, record)) => {
                let (file, record) = (path.to_owned(), Some(record));
                Error::Input(InputError { file, record, byte: None, read: Some(read), what })
            }
            None => Error::Record { read, mate, what },
        }
    }

    /// Gives back a chunk that is done.
    pub fn put_back(&mut self, chunk: Box<Chunk>) {
        match self.input.lanes[self.lane] {
            LaneView::Claim(claim, _) => {
                self.spare.push(chunk);
                self.say_dealt(claim);
            }
            LaneView::Farm(_) => self.end.give_back(chunk),
        }
    }

    /// Keeps the chunk that was taken last while others are taken.
    pub(crate) fn keep(&mut self, chunk: Box<Chunk>) -> KeptChunk {
        let grown = match self.input.lanes[self.lane] {
            LaneView::Claim(claim, _) => {
                self.say_dealt(claim);
                false
            }
            LaneView::Farm(_) => {
                let other = self.spare.pop().unwrap_or_else(|| local_buffer::another(&chunk));
                self.end.keep(other)
            }
        };
        KeptChunk { chunk, grown }
    }

    /// Gives back a chunk that was kept.
    pub(crate) fn put_back_kept(&mut self, KeptChunk { mut chunk, grown }: KeptChunk) {
        if grown {
            chunk.text.iter_mut().for_each(local_buffer::make_local);
        }
        self.spare.push(chunk);
    }

    fn say_dealt(&self, claim: &dyn Claim) {
        self.input.progress.set_dealt(self.lane, self.input.lanes.len(), claim.share_dealt());
    }

    /// Reports a failure with its place in the input.
    pub fn fail(&self, chunk: &Chunk, error: Error) -> Error {
        // An output or a program that fails says nothing about the chunk that was being done.
        let is_elsewhere = matches!(
            error,
            Error::Output { .. }
                | Error::Spill { .. }
                | Error::Kept { .. }
                | Error::BrokenPipe
                | Error::Instance { .. }
        );
        let at_chunk = !is_elsewhere;
        self.input.failure.report(at_chunk.then_some(chunk.ticket), error);
        Error::Stopped
    }

    /// The chunks that were dealt to this thread and come too late may hold a fault that comes earlier in the input
    /// than the one that stopped the run.
    pub fn parse_leftovers(&mut self) {
        while let Some(mut chunk) = self.end.leftover() {
            if let Err(error) = self.parse(&mut chunk) {
                self.fail(&chunk, error);
            }
        }
    }

    fn claim(&mut self, better: &dyn Fn() -> bool) -> Result<LaneChunk, Error> {
        let LaneView::Claim(claim, _) = self.input.lanes[self.lane] else {
            let (task, waited) = self.end.receive_unless(self.input.failure, better)?;
            self.waiting += waited;
            return Ok(match task {
                Some(EmitterMessage::Chunk(chunk)) => LaneChunk::Chunk(chunk),
                Some(EmitterMessage::LaneEnd { chunks, reads }) => LaneChunk::LaneEnd { chunks, reads },
                None => LaneChunk::Not,
            });
        };
        let started = Instant::now();
        let mut back_off = BackOff::new();
        let mut chunk = self.spare.pop().unwrap_or_else(local_buffer::chunk);
        loop {
            if self.input.failure.stopped() {
                return Err(Error::Stopped);
            }
            let claimed = claim.claim(&mut chunk).map_err(|e| self.fail(&chunk, e))?;
            let is_better = claimed == Claimed::NotYet && better();
            if claimed == Claimed::NotYet && !is_better {
                back_off.wait();
                continue;
            }
            self.waiting += back_off.waited();
            self.claiming += started.elapsed().saturating_sub(back_off.waited());
            let next = match claimed {
                Claimed::Chunk => return Ok(LaneChunk::Chunk(chunk)),
                Claimed::NotYet => LaneChunk::Not,
                Claimed::End { chunks, reads } => LaneChunk::LaneEnd { chunks, reads },
            };
            self.spare.push(chunk);
            return Ok(next);
        }
    }
}
