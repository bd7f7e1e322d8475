//! Instances of an external aligner: programs of their own, fed and drained by different threads.
//!
//! The path of a read: a *feeder* claims and parses a chunk, as a worker would, and gives it to the program; the
//! program maps; the *drainer* takes what it says apart into the records of each chunk; *finishers* check, encode and
//! commit these. A feeder never waits for an output and a drainer never waits for an input, so an instance that is
//! ahead of the others stands still without keeping them from going on.

use crate::back_off::BackOff;
use crate::farm::WorkerEnd;
use crate::intake::{Input, Intake, Taken};
use crate::output::{Committer, Output};
use crate::report_share::ReportShare;
use crate::stages::ThreadStages;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::{Error, InputError};
use zerohop_model::instance::{Answer, Blame, Drain, Feed, Instance, Leave};
use zerohop_model::measurement::{Tally, WorkerReport};
use zerohop_model::sink::{Encoder, Sink};
use zerohop_model::timeline::Stage;

/// How chunks reach the instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dealing {
    /// Each instance takes the next chunk when it has room: a slow one gets fewer.
    OnDemand,
    /// To each in turn, whether it has room or not: equal parts, as the studies of Lenis & Senar gave them.
    Static,
}

/// An output that can be opened only when an instance has said its header.
pub trait LateSink: Sync {
    /// Opens the output: `header` is the text of the header that an instance said first.
    ///
    /// # Errors
    /// What is wrong with the header or the output.
    fn open(&self, header: &[u8]) -> Result<&dyn Sink, Error>;

    /// Compares the header of a further instance with the first.
    ///
    /// # Errors
    /// [`Error::Instance`] when it is another.
    fn check(&self, instance: usize, header: &[u8]) -> Result<(), Error>;
}

/// Instances that come while the run goes on, that others hand their reads over to (which
/// [`Leave`](zerohop_model::instance::Leave) asks them to).
pub struct Handover {
    /// Where they come from.
    pub fresh: Receiver<Instance>,
    /// How many may come.
    pub most: usize,
}

/// Answers on their way from a drainer to a finisher.
const ANSWERS_UNDER_WAY: usize = 2;
/// Threads of an aligner that one finisher thread can keep up with, also with fast aligners and BAM.
const THREADS_PER_FINISHER: usize = 4;

/// Finisher threads of an instance with this many threads; none means that the drainer finishes its answers itself.
pub(crate) fn finishers(threads: usize) -> usize {
    if threads == 1 { 0 } else { threads.div_ceil(THREADS_PER_FINISHER) }
}

/// The feeder's thread.
///
/// # Errors
/// The failure, which was reported with its place in the input already.
pub(crate) fn feed(
    input: &Input<'_>,
    end: WorkerEnd,
    feed: &mut dyn Feed,
    leave: &Leave,
    ended: &AtomicBool,
    started: Instant,
) -> Result<ReportShare, Error> {
    let (intake, report, stages) = (Intake::new(input, end), WorkerReport::default(), ThreadStages::since(started));
    let mut feeder = InstanceFeeder { intake, input, leave, ended, report, stages };
    if let Err(error) = feeder.feed_all(feed) {
        feeder.intake.parse_leftovers();
        return Err(error);
    }
    feeder.stages.tell(&mut feeder.report);
    Ok(ReportShare { worker: feeder.report, ..ReportShare::default() })
}

struct InstanceFeeder<'a> {
    intake: Intake<'a>,
    input: &'a Input<'a>,
    leave: &'a Leave,
    /// Set when the input has ended.
    ended: &'a AtomicBool,
    report: WorkerReport,
    stages: ThreadStages,
}

impl InstanceFeeder<'_> {
    fn feed_all(&mut self, feed: &mut dyn Feed) -> Result<(), Error> {
        while !self.leave.is_asked() {
            self.stages.begin();
            let Some(Taken { mut chunk, number }) = self.intake.take()? else {
                self.ended.store(true, Ordering::Release);
                break;
            };
            self.stages.end_several([(Stage::Claim, self.intake.claiming), (Stage::WaitInput, self.intake.waiting)]);
            match self.feed_one(number, &mut chunk, feed) {
                Ok(true) => self.intake.put_back(chunk),
                Ok(false) => return Err(self.await_failure()),
                Err(error) => return Err(self.intake.fail(&chunk, error)),
            }
        }
        feed.end(self.input.failure.flag());
        Ok(())
    }

    /// The program takes no more reads. Why, its drainer will find and report: reads are still owed.
    fn await_failure(&self) -> Error {
        let mut back_off = BackOff::new();
        while !self.input.failure.stopped() {
            back_off.wait();
        }
        Error::Stopped
    }

    fn feed_one(&mut self, number: u64, chunk: &mut Chunk, feed: &mut dyn Feed) -> Result<bool, Error> {
        self.intake.parse(chunk)?;
        self.stages.end(Stage::Parse);
        let taken = feed.feed(chunk, number, self.input.failure.flag())?;
        self.stages.end(Stage::Map);
        self.report.chunks += 1;
        Ok(taken)
    }
}

/// What the threads behind the programs share.
pub(crate) struct Behind<'a, 's> {
    pub(crate) input: &'a Input<'a>,
    /// Open when the first header has come.
    pub(crate) output: &'a OnceLock<Output<'s>>,
    /// Makes an error of the program's out of what is wrong with its records.
    pub(crate) blame: Blame,
    /// When the run began.
    pub(crate) started: Instant,
}

impl<'a, 's> Behind<'a, 's> {
    /// Waits until the output is open.
    fn output(&self) -> Result<&'a Output<'s>, Error> {
        let mut back_off = BackOff::new();
        loop {
            if let Some(output) = self.output.get() {
                return Ok(output);
            }
            if self.input.failure.stopped() {
                return Err(Error::Stopped);
            }
            back_off.wait();
        }
    }
}

/// A drainer's way to the finisher threads of its instance.
pub(crate) struct Outlet {
    /// One per finisher thread.
    answers: Vec<SyncSender<Box<Answer>>>,
    /// All come back to the drainer that filled them first, whatever node its finishers are on.
    spare: Receiver<Box<Answer>>,
}

/// A finisher thread's ends of the same.
pub(crate) struct Inlet {
    answers: Receiver<Box<Answer>>,
    spare: Sender<Box<Answer>>,
}

/// The ways between a drainer and its finisher threads.
pub(crate) fn outlet(finishers: usize) -> (Outlet, Vec<Inlet>) {
    let (give_back, spare) = channel();
    let (senders, inlets) = (0..finishers)
        .map(|_| {
            let (send, answers) = sync_channel(ANSWERS_UNDER_WAY);
            (send, Inlet { answers, spare: give_back.clone() })
        })
        .unzip();
    (Outlet { answers: senders, spare }, inlets)
}

/// The drainer's thread of instance `instance`; its header goes to `headers`.
///
/// # Errors
/// What the program did wrong, or what the output says.
pub(crate) fn drain(
    behind: &Behind<'_, '_>,
    instance: usize,
    drain: &mut dyn Drain,
    headers: Sender<(usize, Vec<u8>)>,
    outlet: &Outlet,
) -> Result<ReportShare, Error> {
    let (started, stop) = (Instant::now(), behind.input.failure.flag());
    let header = drain.header(stop)?;
    if header.is_empty() {
        return without_header(instance, drain, stop);
    }
    // Nobody who asks for it means that the run failed, which `output` will find.
    let _ = headers.send((instance, header));
    drop(headers);
    let output = behind.output()?;
    let mut own = outlet.answers.is_empty().then(|| Finisher::new(behind, output));
    let (mut count, mut answer) = (0, Box::<Answer>::default());
    while drain.drain(&mut answer, stop)? {
        match &mut own {
            Some(finisher) => finisher.finish(&answer)?,
            None => {
                outlet.answers[count % outlet.answers.len()].send(answer).map_err(|_| Error::Stopped)?;
                answer = outlet.spare.try_recv().unwrap_or_default();
            }
        }
        count += 1;
    }
    let mut part = own.map_or_else(|| Ok(ReportShare::default()), Finisher::end)?;
    part.worker.wall = started.elapsed();
    part.instance = Some(drain.report());
    Ok(part)
}

/// A program that had no reads may write nothing at all.
fn without_header(instance: usize, drain: &mut dyn Drain, stop: &AtomicBool) -> Result<ReportShare, Error> {
    match drain.drain(&mut Answer::default(), stop)? {
        true => Err(Error::Header(format!("instance {instance} wrote records, but no header before them"))),
        false => Ok(ReportShare { instance: Some(drain.report()), ..ReportShare::default() }),
    }
}

/// A finisher's thread.
///
/// # Errors
/// A damaged record, or what the output says.
pub(crate) fn finish(behind: &Behind<'_, '_>, inlet: &Inlet) -> Result<ReportShare, Error> {
    let Ok(first) = inlet.answers.recv() else { return Ok(ReportShare::default()) };
    let mut finisher = Finisher::new(behind, behind.output()?);
    let mut next = Some(first);
    while let Some(answer) = next {
        finisher.finish(&answer)?;
        // The drainer may have ended.
        let _ = inlet.spare.send(answer);
        next = inlet.answers.recv().ok();
    }
    finisher.end()
}

/// What checks, encodes and commits answers.
struct Finisher<'a, 's> {
    input: &'a Input<'a>,
    blame: Blame,
    encoder: Box<dyn Encoder + 's>,
    committer: Committer<'a, 's>,
    tally: Tally,
    stages: ThreadStages,
}

impl<'a, 's> Finisher<'a, 's> {
    fn new(behind: &Behind<'a, 's>, output: &'a Output<'s>) -> Self {
        let (encoder, committer) = (output.sink().encoder(), Committer::new(output));
        Finisher {
            input: behind.input,
            blame: Arc::clone(&behind.blame),
            encoder,
            committer,
            tally: Tally::default(),
            stages: ThreadStages::since(behind.started),
        }
    }

    fn finish(&mut self, answer: &Answer) -> Result<(), Error> {
        self.stages.begin();
        self.encoder.begin(answer.lane, self.committer.buffer());
        for (line, of_read, is_first) in answer.records() {
            self.encoder.line(line, of_read, is_first).map_err(|error| match error {
                Error::Damaged { read, what } => {
                    (self.blame)(&format!("wrote a damaged record of read '{read}': {what}"))
                }
                other => self.with_file(answer.lane, other),
            })?;
        }
        let bytes = self.encoder.finish()?;
        let mut tally = answer.tally.clone();
        tally.correct(self.encoder.elsewhere());
        self.stages.end(Stage::Encode);
        self.committer.commit(answer.number, bytes, &tally)?;
        self.committer.commit_beside(answer.number, |file, buffer| self.encoder.finish_beside(file, buffer))?;
        self.end_commit();
        self.input.progress.add(&tally);
        self.tally += &tally;
        Ok(())
    }

    /// An error of a record, with the file of its read.
    fn with_file(&self, lane: u32, error: Error) -> Error {
        match error {
            Error::Record { read, mate, what } => {
                let parser = self.input.parser(lane);
                // Interleaved mates lie in one file.
                match parser.path(mate).or_else(|| parser.path(0)).map(Path::to_owned) {
                    Some(file) => Error::Input(InputError { file, record: None, byte: None, read: Some(read), what }),
                    None => Error::Record { read, mate, what },
                }
            }
            other => other,
        }
    }

    fn end_commit(&mut self) {
        let (waiting, writing) = (self.committer.waiting, self.committer.writing);
        self.stages.end_several([(Stage::WaitOutput, waiting), (Stage::Commit, writing)]);
    }

    fn end(mut self) -> Result<ReportShare, Error> {
        self.stages.begin();
        self.committer.finish()?;
        self.end_commit();
        let mut worker = WorkerReport::default();
        self.stages.tell(&mut worker);
        Ok(ReportShare { worker, tally: self.tally, bytes: self.committer.bytes, instance: None })
    }
}
