//! A worker of an embedded engine: the path of a read through the program.

use crate::farm::Bench;
use crate::intake::{Input, Intake, Taken};
use crate::output::{Committer, Output};
use crate::part::Part;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::{Engine, Mapper};
use zerohop_model::error::Error;
use zerohop_model::measurement::{Tally, WorkerReport};
use zerohop_model::plan::WorkerPlan;
use zerohop_model::sink::{Encoder, Sink};

/// One worker's own things.
pub(crate) struct Worker<'a, 's> {
    input: &'a Input<'a>,
    intake: Intake<'a>,
    mapper: Box<dyn Mapper + 'a>,
    encoder: Box<dyn Encoder + 'a>,
    committer: Committer<'a, 's>,
    report: WorkerReport,
    tally: Tally,
}

impl<'a, 's> Worker<'a, 's> {
    /// A worker made on its own, pinned thread, so that its memory lies on its node.
    pub(crate) fn new(
        input: &'a Input<'a>,
        output: &'a Output<'s>,
        bench: Bench,
        engine: &'a dyn Engine,
        sink: &'a dyn Sink,
        plan: &WorkerPlan,
    ) -> Self {
        Worker {
            input,
            intake: Intake::new(input, bench),
            mapper: engine.mapper(),
            encoder: sink.encoder(),
            committer: Committer::new(output),
            report: WorkerReport { cpus: plan.cpus.clone(), replica: plan.replica, ..WorkerReport::default() },
            tally: Tally::default(),
        }
    }

    /// Works until the input ends or somebody fails.
    ///
    /// # Errors
    /// The failure, which was reported with its place in the input already.
    pub(crate) fn run(mut self) -> Result<Part, Error> {
        let started = Instant::now();
        if let Err(error) = self.work() {
            self.intake.parse_leftovers();
            return Err(error);
        }
        (self.report.claim, self.report.wait_input) = (self.intake.claiming, self.intake.waiting);
        (self.report.commit, self.report.wait_output) = (self.committer.writing, self.committer.waiting);
        self.report.wall = started.elapsed();
        Ok(Part { worker: self.report, tally: self.tally, bytes: self.committer.bytes, instance: None })
    }

    fn work(&mut self) -> Result<(), Error> {
        while let Some(Taken { mut chunk, number }) = self.intake.take()? {
            if let Err(error) = self.process(number, &mut chunk) {
                return Err(self.intake.fail(&chunk, error));
            }
            self.intake.put_back(chunk);
        }
        self.committer.finish()
    }

    /// The path of a read: parse, map, encode, commit. (Claiming went before.)
    fn process(&mut self, number: u64, chunk: &mut Chunk) -> Result<(), Error> {
        let started = Instant::now();
        self.intake.parse(chunk)?;
        let parsed = Instant::now();
        self.encoder.begin(chunk.ticket.lane, self.committer.buffer());
        let tally = map_guarded(&mut *self.mapper, chunk, &mut *self.encoder)?;
        let mapped = Instant::now();
        let bytes = self.encoder.finish()?;
        let encoded = Instant::now();
        self.committer.commit(number, bytes)?;
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
