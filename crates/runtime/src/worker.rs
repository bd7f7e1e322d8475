//! A worker of an embedded engine: the path of a read through the program.

use crate::cohorts::{Cohorts, Next, Over};
use crate::farm::WorkerEnd;
use crate::intake::{AskedChunk, Input, Intake, KeptChunk, Taken};
use crate::output::{Committer, Output};
use crate::replica_map::ReplicaMap;
use crate::report_share::ReportShare;
use crate::stages::ThreadStages;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::{Error, shown};
use zerohop_model::mapper::Mapper;
use zerohop_model::mapper::{AnyPartial, AnyStatistics, AnySummary, PhasedMapper};
use zerohop_model::measurement::{Tally, WorkerReport};
use zerohop_model::plan::WorkerPlan;
use zerohop_model::sink::{Encoder, Sink};
use zerohop_model::timeline::Stage;

/// Why a worker stopped working with a copy.
#[derive(PartialEq, Eq)]
enum WhyLeft {
    AtTheEnd,
    ForAnotherCopy,
}

/// A piece of a cohort whose first phase is done.
struct HeldPiece {
    number: u64,
    kept: KeptChunk,
    partial: AnyPartial,
    /// Bytes of its text.
    text: u64,
}

/// One worker's own things.
pub(crate) struct Worker<'a, 's> {
    number: usize,
    input: &'a Input<'a>,
    intake: Intake<'a>,
    alignments: Alignments,
    encoder: Box<dyn Encoder + 'a>,
    committer: Committer<'a, 's>,
    cohorts: &'a Cohorts<AnySummary, AnyStatistics>,
    /// What waits for its second phase, in the order of the input.
    held: VecDeque<HeldPiece>,
    /// Whether there is nothing more to be claimed, where there are two phases.
    ended: bool,
    report: WorkerReport,
    tally: Tally,
    stages: ThreadStages,
}

impl<'a, 's> Worker<'a, 's> {
    /// A worker made on its own, pinned thread, so that its memory lies on its node.
    pub(crate) fn new(
        input: &'a Input<'a>,
        output: &'a Output<'s>,
        cohorts: &'a Cohorts<AnySummary, AnyStatistics>,
        end: WorkerEnd,
        sink: &'a dyn Sink,
        (number, plan): (usize, &WorkerPlan),
    ) -> Self {
        Worker {
            number,
            input,
            intake: Intake::new(input, end),
            alignments: Alignments::default(),
            encoder: sink.encoder(),
            committer: Committer::new(output),
            cohorts,
            held: VecDeque::new(),
            ended: false,
            report: WorkerReport { cpus: plan.cpus.clone(), replica: plan.replica, ..WorkerReport::default() },
            tally: Tally::default(),
            stages: ThreadStages::since(Instant::now()),
        }
    }

    /// Works until the input ends or somebody fails.
    ///
    /// # Errors
    /// The failure, which was reported with its place in the input already.
    pub(crate) fn run(mut self, replicas: &ReplicaMap) -> Result<ReportShare, Error> {
        let started = self.stages.started;
        if let Err(error) = self.read_from(replicas) {
            self.intake.parse_leftovers();
            return Err(error);
        }
        self.report.wall = started.elapsed();
        self.stages.tell(&mut self.report);
        Ok(ReportShare { worker: self.report, tally: self.tally, bytes: self.committer.bytes, instance: None })
    }

    /// Works with the copy that the map gives it, and with the next when there is another.
    fn read_from(&mut self, replicas: &ReplicaMap) -> Result<(), Error> {
        let number = self.number;
        loop {
            let (moves, engine) = replicas.read_by(number);
            let mut mapper = engine.mapper();
            let moved = || replicas.has_moved(number, moves);
            let left = match mapper.phases() {
                Some(mapper) => self.work_in_phases(mapper, &moved)?,
                None if self.held.is_empty() => self.work(&mut *mapper, &moved)?,
                None => return Err(Error::Internal("the copies of an index are of different engines".to_owned())),
            };
            if left == WhyLeft::AtTheEnd {
                self.stages.begin();
                self.committer.finish()?;
                self.end_commit();
                return Ok(());
            }
        }
    }

    fn work(&mut self, mapper: &mut dyn Mapper, moved: &dyn Fn() -> bool) -> Result<WhyLeft, Error> {
        while !moved() {
            self.stages.begin();
            let Some(Taken { mut chunk, number }) = self.intake.take()? else { return Ok(WhyLeft::AtTheEnd) };
            self.end_claim();
            if let Err(error) = self.process(number, &mut chunk, mapper) {
                return Err(self.intake.fail(&chunk, error));
            }
            self.intake.put_back(chunk);
        }
        Ok(WhyLeft::ForAnotherCopy)
    }

    /// The same with an engine that maps in two phases.
    fn work_in_phases(&mut self, mapper: &mut dyn PhasedMapper, moved: &dyn Fn() -> bool) -> Result<WhyLeft, Error> {
        while !moved() {
            let before = Instant::now();
            self.stages.begin();
            let held = self.held.front().zip(self.held.back());
            let held = held.map(|(first, last)| (&first.kept.chunk.ticket, &last.kept.chunk.ticket));
            let (intake, ended) = (&mut self.intake, self.ended);
            let next = self.cohorts.next(held, ended, || intake.dealt()).map_err(|over| match over {
                Over::Closed => Error::Stopped,
                Over::Missing => Error::Internal("pieces of a cohort never came".to_owned()),
            })?;
            self.intake.waiting += before.elapsed();
            self.end_claim();
            match next {
                Next::Second(statistics) => self.second(mapper, &statistics)?,
                Next::Claim => self.claim_piece(mapper)?,
                Next::Nothing => return Ok(WhyLeft::AtTheEnd),
            }
        }
        Ok(WhyLeft::ForAnotherCopy)
    }

    /// Takes a piece and does its first phase, unless a second phase can be done instead of waiting for it.
    fn claim_piece(&mut self, mapper: &mut dyn PhasedMapper) -> Result<(), Error> {
        self.stages.begin();
        let (cohorts, held) = (self.cohorts, self.held.front().map(|piece| piece.kept.chunk.ticket));
        let asked = self.intake.take_unless(&|| held.is_some_and(|first| cohorts.is_ready(&first)))?;
        self.end_claim();
        match asked {
            AskedChunk::Not => {}
            AskedChunk::End => {
                self.ended = true;
                cohorts.end(self.number);
            }
            AskedChunk::Came(Taken { mut chunk, number }) => {
                let text = chunk.text.iter().map(|text| text.bytes.len() as u64).sum();
                cohorts.claimed(self.number, &chunk.ticket, text);
                match self.first(&mut chunk, mapper) {
                    Ok(partial) => {
                        let kept = self.intake.keep(chunk);
                        self.held.push_back(HeldPiece { number, kept, partial, text });
                    }
                    Err(error) => return Err(self.intake.fail(&chunk, error)),
                }
            }
        }
        Ok(())
    }

    /// The first half of the path of a read, where there are two phases: parse, first phase; and the statistics of its
    /// cohort, if this was the last piece that they waited for.
    fn first(&mut self, chunk: &mut Chunk, mapper: &mut dyn PhasedMapper) -> Result<AnyPartial, Error> {
        self.intake.parse(chunk)?;
        self.stages.end(Stage::Parse);
        let in_place = |error| self.intake.with_place(chunk, error);
        let (partial, summary) = guarded(chunk, || mapper.first(chunk)).map_err(in_place)?;
        if let Some(summaries) = self.cohorts.summarised(&chunk.ticket, summary) {
            let statistics = guarded(chunk, || mapper.combine(summaries)).map_err(of_statistics)?;
            self.cohorts.combined(&chunk.ticket, statistics);
        }
        self.stages.end(Stage::Map);
        Ok(partial)
    }

    /// The second half, of the first piece that is held: second phase, encode, commit.
    fn second(&mut self, mapper: &mut dyn PhasedMapper, statistics: &AnyStatistics) -> Result<(), Error> {
        let Some(HeldPiece { number, kept, partial, text }) = self.held.pop_front() else { return Ok(()) };
        let chunk = &*kept.chunk;
        self.stages.begin();
        self.alignments.clear();
        let alignments = &mut self.alignments;
        let mapped = guarded(chunk, || mapper.second(chunk, partial, statistics, alignments));
        let outcome = mapped.map_err(|error| self.intake.with_place(chunk, error)).and_then(|()| {
            self.stages.end(Stage::Map);
            self.put_out(number, chunk)
        });
        if let Err(error) = outcome {
            return Err(self.intake.fail(chunk, error));
        }
        self.cohorts.finished(&chunk.ticket, text);
        self.intake.put_back_kept(kept);
        Ok(())
    }

    /// The path of a read: parse, map, encode, commit. (Claiming went before.)
    fn process(&mut self, number: u64, chunk: &mut Chunk, mapper: &mut dyn Mapper) -> Result<(), Error> {
        self.intake.parse(chunk)?;
        self.stages.end(Stage::Parse);
        self.alignments.clear();
        let alignments = &mut self.alignments;
        let mapped = guarded(chunk, || mapper.map(chunk, alignments));
        mapped.map_err(|error| self.intake.with_place(chunk, error))?;
        self.stages.end(Stage::Map);
        self.put_out(number, chunk)
    }

    /// Encodes and commits a chunk that is mapped.
    fn put_out(&mut self, number: u64, chunk: &Chunk) -> Result<(), Error> {
        // A walk of its own, before the encoder's: an engine that gave a read two primary records, or none, ends the
        // run before anything of the chunk is written. All that is not mapping takes 7 % of the CPU time
        // (docs/reads.md).
        let mut tally = Tally::of(chunk, &self.alignments)?;
        self.encoder.begin(chunk.ticket.lane, self.committer.buffer());
        let encoded = self.encoder.encode(chunk, &self.alignments);
        encoded.map_err(|error| self.intake.with_place(chunk, error))?;
        let bytes = self.encoder.finish()?;
        tally.correct(self.encoder.elsewhere());
        self.stages.end(Stage::Encode);
        self.committer.commit(number, bytes, &tally)?;
        self.committer.commit_beside(number, |file, buffer| self.encoder.finish_beside(file, buffer))?;
        self.end_commit();
        self.report.chunks += 1;
        self.input.progress.add(&tally);
        self.tally += &tally;
        Ok(())
    }

    fn end_claim(&mut self) {
        self.stages.end_several([(Stage::Claim, self.intake.claiming), (Stage::WaitInput, self.intake.waiting)]);
    }

    fn end_commit(&mut self) {
        let (waiting, writing) = (self.committer.waiting, self.committer.writing);
        self.stages.end_several([(Stage::WaitOutput, waiting), (Stage::Commit, writing)]);
    }
}

/// Has an engine map a chunk, and turns its panic into an error that names the read.
fn guarded<R>(chunk: &Chunk, map: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    let outcome = crate::panics::quietly(|| catch_unwind(AssertUnwindSafe(map)));
    outcome.unwrap_or_else(|payload| {
        let (index, name) = chunk.current().unwrap_or((0, b"?"));
        Err(Error::Engine {
            read: shown(name),
            fragment: chunk.ticket.first_fragment + index as u64 + 1,
            what: crate::panics::message(&*payload),
        })
    })
}

/// An error of the engine that concerns all reads of a cohort; it names one of them.
fn of_statistics(error: Error) -> Error {
    match error {
        Error::Engine { read, fragment, what } => {
            Error::Engine { read, fragment, what: format!("the statistics of its cohort: {what}") }
        }
        error => error,
    }
}
