//! A worker: the path of a read through the program.

use crate::failure::Failure;
use crate::farm::{Bench, Dealt};
use crate::output::{Committer, Output};
use crate::patience::Patience;
use crate::progress::Progress;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::{Engine, Mapper};
use zerohop_model::error::Error;
use zerohop_model::measurement::{Tally, WorkerReport};
use zerohop_model::plan::WorkerPlan;
use zerohop_model::sink::{Encoder, Sink};
use zerohop_model::source::{Claimed, Parse};

/// A lane as the workers see it.
pub(crate) enum LaneView<'a> {
    Claim(&'a dyn zerohop_model::source::Claim, &'a dyn Parse),
    Farm(&'a dyn Parse),
}

/// What all workers share.
pub(crate) struct Shared<'a> {
    pub(crate) lanes: Vec<LaneView<'a>>,
    pub(crate) output: &'a Output<'a>,
    pub(crate) failure: &'a Failure,
    pub(crate) progress: &'a Progress,
}

/// What a worker leaves behind.
pub(crate) struct Done {
    pub(crate) worker: WorkerReport,
    pub(crate) tally: Tally,
    /// Bytes that it put out.
    pub(crate) bytes: u64,
}

/// Where a worker's next chunk came from.
enum Next {
    Chunk(Box<Chunk>),
    LaneEnd { chunks: u64 },
}

/// One worker's own things.
pub(crate) struct Worker<'a> {
    shared: &'a Shared<'a>,
    bench: Bench,
    mapper: Box<dyn Mapper + 'a>,
    encoder: Box<dyn Encoder + 'a>,
    committer: Committer<'a, 'a>,
    /// The chunk that is used for lanes without an emitter.
    own: Option<Box<Chunk>>,
    report: WorkerReport,
    tally: Tally,
}

impl<'a> Worker<'a> {
    /// A worker made on its own, pinned thread, so that its memory lies on its node.
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        mut bench: Bench,
        engine: &'a dyn Engine,
        sink: &'a dyn Sink,
        plan: &WorkerPlan,
    ) -> Self {
        if shared.lanes.iter().any(|lane| matches!(lane, LaneView::Farm(_))) {
            bench.ask();
        }
        let report = WorkerReport { cpus: plan.cpus.clone(), replica: plan.replica, ..WorkerReport::default() };
        Worker {
            bench,
            mapper: engine.mapper(),
            encoder: sink.encoder(),
            committer: Committer::new(shared.output),
            own: Some(Box::default()),
            report,
            tally: Tally::default(),
            shared,
        }
    }

    /// Works until the input ends or somebody fails.
    ///
    /// # Errors
    /// The failure, which was reported with its place in the input already.
    pub(crate) fn run(mut self) -> Result<Done, Error> {
        let started = Instant::now();
        if let Err(error) = self.work() {
            self.parse_leftovers();
            return Err(error);
        }
        (self.report.commit, self.report.wait_output) = (self.committer.writing, self.committer.waiting);
        self.report.wall = started.elapsed();
        Ok(Done { worker: self.report, tally: self.tally, bytes: self.committer.bytes })
    }

    /// The chunks that were dealt to this worker and come too late may hold a fault that comes earlier in the input than
    /// the one that stopped the run.
    fn parse_leftovers(&mut self) {
        while let Some(mut chunk) = self.bench.leftover() {
            let (LaneView::Claim(_, parser) | LaneView::Farm(parser)) = self.shared.lanes[chunk.ticket.lane as usize];
            if let Err(error) = parser.parse(&mut chunk) {
                self.fail(&chunk, error);
            }
        }
    }

    fn work(&mut self) -> Result<(), Error> {
        let mut chunks_before = 0;
        for lane in 0..self.shared.lanes.len() {
            loop {
                match self.claim(lane)? {
                    Next::LaneEnd { chunks } => {
                        chunks_before += chunks;
                        break;
                    }
                    Next::Chunk(mut chunk) => {
                        if let Err(error) = self.process(lane, chunks_before, &mut chunk) {
                            return Err(self.fail(&chunk, error));
                        }
                        self.put_back(lane, chunk);
                    }
                }
            }
        }
        self.committer.finish()
    }

    /// The path of a read: parse, map, encode, commit. (Claiming went before.)
    fn process(&mut self, lane: usize, chunks_before: u64, chunk: &mut Chunk) -> Result<(), Error> {
        let (LaneView::Claim(_, parser) | LaneView::Farm(parser)) = self.shared.lanes[lane];
        let started = Instant::now();
        parser.parse(chunk)?;
        let parsed = Instant::now();
        self.encoder.begin(chunk.ticket.lane, self.committer.buffer());
        let tally = map_guarded(&mut *self.mapper, chunk, &mut *self.encoder)?;
        let mapped = Instant::now();
        let bytes = self.encoder.finish()?;
        let encoded = Instant::now();
        self.committer.commit(chunks_before + chunk.ticket.number, bytes)?;
        self.report.parse += parsed - started;
        self.report.map += mapped - parsed;
        self.report.encode += encoded - mapped;
        self.report.chunks += 1;
        self.shared.progress.add(tally.reads);
        if let LaneView::Claim(claim, _) = self.shared.lanes[lane] {
            self.shared.progress.set_dealt(lane, self.shared.lanes.len(), claim.share_dealt());
        }
        self.tally += &tally;
        Ok(())
    }

    fn claim(&mut self, lane: usize) -> Result<Next, Error> {
        let LaneView::Claim(claim, _) = self.shared.lanes[lane] else {
            let (task, waited) = self.bench.receive(self.shared.failure)?;
            self.report.wait_input += waited;
            return Ok(match task {
                Dealt::Chunk(chunk) => Next::Chunk(chunk),
                Dealt::LaneEnd { chunks } => Next::LaneEnd { chunks },
            });
        };
        let started = Instant::now();
        let mut patience = Patience::new();
        let mut chunk = self.own.take().unwrap_or_default();
        loop {
            if self.shared.failure.stopped() {
                return Err(Error::Stopped);
            }
            let claimed = claim.claim(&mut chunk).map_err(|e| self.fail(&chunk, e))?;
            if claimed == Claimed::NotYet {
                patience.wait();
                continue;
            }
            self.report.wait_input += patience.waited();
            self.report.claim += started.elapsed().saturating_sub(patience.waited());
            return Ok(match claimed {
                Claimed::End { chunks } => {
                    self.own = Some(chunk);
                    Next::LaneEnd { chunks }
                }
                _ => Next::Chunk(chunk),
            });
        }
    }

    fn put_back(&mut self, lane: usize, chunk: Box<Chunk>) {
        match self.shared.lanes[lane] {
            LaneView::Claim(..) => self.own = Some(chunk),
            LaneView::Farm(_) => self.bench.give_back(chunk),
        }
    }

    /// Reports a failure with its place in the input.
    fn fail(&self, chunk: &Chunk, error: Error) -> Error {
        // An output that fails says nothing about the chunk that was being written.
        let at_chunk = !matches!(error, Error::Output { .. } | Error::BrokenPipe);
        self.shared.failure.report(at_chunk.then_some(chunk.ticket), error);
        Error::Stopped
    }
}

/// Maps a chunk, and turns a panic of the engine into an error that names the read.
fn map_guarded(mapper: &mut dyn Mapper, chunk: &Chunk, encoder: &mut dyn Encoder) -> Result<Tally, Error> {
    let outcome = crate::panics::quietly(|| catch_unwind(AssertUnwindSafe(|| mapper.map(chunk, encoder.records()))));
    outcome.unwrap_or_else(|payload| {
        let (index, name) = chunk.current().unwrap_or((0, b"?"));
        Err(Error::Engine {
            read: String::from_utf8_lossy(name).into_owned(),
            fragment: chunk.ticket.first_fragment + index as u64 + 1,
            what: crate::panics::message(&*payload),
        })
    })
}
