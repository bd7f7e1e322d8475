//! A worker of an embedded engine: the path of a read through the program.

use crate::farm::Bench;
use crate::intake::{Input, Intake, Taken};
use crate::marks::Marks;
use crate::output::{Committer, Output};
use crate::part::Part;
use crate::shelf::Shelf;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::Mapper;
use zerohop_model::error::{Error, shown};
use zerohop_model::measurement::{Tally, WorkerReport};
use zerohop_model::plan::WorkerPlan;
use zerohop_model::sink::{Encoder, Sink};
use zerohop_model::timeline::Stage;

/// Why a worker stopped working with a copy.
#[derive(PartialEq, Eq)]
enum Left {
    AtTheEnd,
    ForAnotherCopy,
}

/// One worker's own things.
pub(crate) struct Worker<'a, 's> {
    input: &'a Input<'a>,
    intake: Intake<'a>,
    alignments: Alignments,
    encoder: Box<dyn Encoder + 'a>,
    committer: Committer<'a, 's>,
    report: WorkerReport,
    tally: Tally,
    marks: Marks,
}

impl<'a, 's> Worker<'a, 's> {
    /// A worker made on its own, pinned thread, so that its memory lies on its node.
    pub(crate) fn new(
        input: &'a Input<'a>,
        output: &'a Output<'s>,
        bench: Bench,
        sink: &'a dyn Sink,
        plan: &WorkerPlan,
    ) -> Self {
        Worker {
            input,
            intake: Intake::new(input, bench),
            alignments: Alignments::default(),
            encoder: sink.encoder(),
            committer: Committer::new(output),
            report: WorkerReport { cpus: plan.cpus.clone(), replica: plan.replica, ..WorkerReport::default() },
            tally: Tally::default(),
            marks: Marks::since(Instant::now()),
        }
    }

    /// Works until the input ends or somebody fails.
    ///
    /// # Errors
    /// The failure, which was reported with its place in the input already.
    pub(crate) fn run(mut self, shelf: &Shelf, number: usize) -> Result<Part, Error> {
        let started = self.marks.started;
        if let Err(error) = self.read_from(shelf, number) {
            self.intake.parse_leftovers();
            return Err(error);
        }
        (self.report.claim, self.report.wait_input) = (self.intake.claiming, self.intake.waiting);
        (self.report.commit, self.report.wait_output) = (self.committer.writing, self.committer.waiting);
        self.report.wall = started.elapsed();
        self.report.timeline = self.marks.end();
        Ok(Part { worker: self.report, tally: self.tally, bytes: self.committer.bytes, instance: None })
    }

    /// Works with the copy that lies on the shelf, and with the next when there is another.
    fn read_from(&mut self, shelf: &Shelf, number: usize) -> Result<(), Error> {
        loop {
            let (moves, engine) = shelf.read_by(number);
            let mut mapper = engine.mapper();
            if self.work(&mut *mapper, &|| shelf.has_moved(number, moves))? == Left::ForAnotherCopy {
                continue;
            }
            return self.committer.finish();
        }
    }

    fn work(&mut self, mapper: &mut dyn Mapper, moved: &dyn Fn() -> bool) -> Result<Left, Error> {
        while !moved() {
            let before = (Instant::now(), self.intake.claiming, self.intake.waiting);
            let Some(Taken { mut chunk, number }) = self.intake.take()? else { return Ok(Left::AtTheEnd) };
            let (claiming, waiting) = (self.intake.claiming - before.1, self.intake.waiting - before.2);
            self.marks.add(before.0, [(Stage::Claim, claiming), (Stage::WaitInput, waiting)]);
            if let Err(error) = self.process(number, &mut chunk, mapper) {
                return Err(self.intake.fail(&chunk, error));
            }
            self.intake.put_back(chunk);
        }
        Ok(Left::ForAnotherCopy)
    }

    /// The path of a read: parse, map, encode, commit. (Claiming went before.)
    fn process(&mut self, number: u64, chunk: &mut Chunk, mapper: &mut dyn Mapper) -> Result<(), Error> {
        let started = Instant::now();
        self.intake.parse(chunk)?;
        let parsed = Instant::now();
        let in_place = |error| self.intake.with_place(chunk, error);
        map_guarded(mapper, chunk, &mut self.alignments).map_err(in_place)?;
        let mapped = Instant::now();
        let tally = Tally::of(chunk, &self.alignments);
        self.encoder.begin(chunk.ticket.lane, self.committer.buffer());
        self.encoder.encode(chunk, &self.alignments).map_err(in_place)?;
        let bytes = self.encoder.finish()?;
        let encoded = Instant::now();
        let before = (self.committer.writing, self.committer.waiting);
        self.committer.commit(number, bytes, &tally)?;
        let (writing, waiting) = (self.committer.writing - before.0, self.committer.waiting - before.1);
        let stages = [
            (Stage::Parse, parsed - started),
            (Stage::Map, mapped - parsed),
            (Stage::Encode, encoded - mapped),
            (Stage::WaitOutput, waiting),
            (Stage::Commit, writing),
        ];
        self.marks.add(started, stages);
        self.report.parse += parsed - started;
        self.report.map += mapped - parsed;
        self.report.encode += encoded - mapped;
        self.report.chunks += 1;
        self.input.progress.add(tally.reads);
        self.tally += &tally;
        Ok(())
    }
}

/// Maps a chunk, and turns a panic of the engine into an error that names the read.
fn map_guarded(mapper: &mut dyn Mapper, chunk: &Chunk, alignments: &mut Alignments) -> Result<(), Error> {
    alignments.clear();
    let outcome = crate::panics::quietly(|| catch_unwind(AssertUnwindSafe(|| mapper.map(chunk, alignments))));
    outcome.unwrap_or_else(|payload| {
        let (index, name) = chunk.current().unwrap_or((0, b"?"));
        Err(Error::Engine {
            read: shown(name),
            fragment: chunk.ticket.first_fragment + index as u64 + 1,
            what: crate::panics::message(&*payload),
        })
    })
}
