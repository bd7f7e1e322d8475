//! The farm (after Misale et al., "Sequence Alignment Tools: One Parallel Pattern to Rule Them All?", 2014): one
//! emitter deals chunks to workers through bounded lock-free queues, on demand.
//!
//! A worker asks for work by sending an empty chunk, which lies in memory of its node and comes back filled. So a slow
//! worker gets less, no chunk waits behind another worker's long one, and memory is bounded by the chunks that the
//! workers made.
//!
//! A chunk that is too small grows in the hands of the emitter, and then lies on the emitter's node. Its worker sees
//! that when it comes, and makes itself another that is large enough before it asks again: after a few chunks none
//! grows any more.

use crate::back_off::BackOff;
use crate::failure::Failure;
use crate::local_buffer::make_local;
use crate::spsc::{Consumer, Producer, channel};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::source::{Claim, Claimed, Deal, Emit, Emitted};

/// Chunks that each worker has in a run: one that it maps, and one that is filled meanwhile.
pub(crate) const CHUNKS_PER_WORKER: usize = 2;

/// How often the emitter looks for an empty chunk before it sleeps.
const LOOKS: u32 = 64;
/// How often a sleeping emitter looks whether the run was stopped.
const STOP_POLL: Duration = Duration::from_millis(20);

/// What the emitter tells a worker.
#[derive(Debug)]
pub enum EmitterMessage {
    /// A filled chunk.
    Chunk(Box<Chunk>),
    /// The lane is at its end.
    LaneEnd {
        /// How many chunks it had.
        chunks: u64,
        /// How many reads were in them.
        reads: u64,
    },
}

/// A worker's end of the farm.
pub struct WorkerEnd {
    tasks: Consumer<EmitterMessage>,
    /// A task that was looked at.
    next: Option<EmitterMessage>,
    empty: Producer<Box<Chunk>>,
    chunks: usize,
    emitter: Arc<OnceLock<Thread>>,
    /// Bytes that the texts of each chunk had room for when it was sent, in the order in which they come back.
    sent: VecDeque<[usize; 2]>,
    /// Whether the chunk that came last has grown.
    grown: bool,
}

/// The emitter's end of the farm.
pub struct EmitterEnd {
    tasks: Vec<Producer<EmitterMessage>>,
    empty: Vec<Consumer<Box<Chunk>>>,
    /// Who is asked first for an empty chunk.
    turn: usize,
    /// The thread that deals, to be woken when a chunk comes back.
    emitter: Arc<OnceLock<Thread>>,
    /// Whether nobody else is asked while that one has none.
    strict: bool,
    /// An empty chunk that was fetched and not used.
    held: Option<(usize, Box<Chunk>)>,
}

/// The two ends of a farm of `workers` for an input of `lanes`; each worker has so many `chunks`, at least 1.
pub fn farm(workers: usize, lanes: usize, chunks: usize) -> (EmitterEnd, Vec<WorkerEnd>) {
    let emitter = Arc::new(OnceLock::new());
    let (tasks, empty) = (Vec::new(), Vec::new());
    let mut emitter_end =
        EmitterEnd { tasks, empty, turn: 0, emitter: Arc::clone(&emitter), strict: false, held: None };
    let ends = (0..workers)
        .map(|_| {
            // Room for the ends of all lanes: the emitter must never wait for a worker that stands still until others
            // get on.
            let (task_in, task_out) = channel(chunks + lanes);
            let (empty_in, empty_out) = channel(chunks);
            emitter_end.tasks.push(task_in);
            emitter_end.empty.push(empty_out);
            let emitter = Arc::clone(&emitter);
            WorkerEnd {
                tasks: task_out,
                next: None,
                empty: empty_in,
                chunks,
                emitter,
                sent: VecDeque::new(),
                grown: false,
            }
        })
        .collect();
    (emitter_end, ends)
}

impl WorkerEnd {
    /// Asks for as much work as a worker may have; called once, on the worker's own thread.
    pub fn ask(&mut self) {
        for _ in 0..self.chunks {
            self.give_back(Box::default());
        }
    }

    /// Gives an empty chunk back, which asks for the next task.
    pub fn give_back(&mut self, mut chunk: Box<Chunk>) {
        if std::mem::take(&mut self.grown) {
            chunk.text.iter_mut().for_each(make_local);
        }
        self.sent.push_back(capacities(&chunk));
        // The queue has room for all chunks of this worker.
        let _ = self.empty.push(chunk);
        if let Some(emitter) = self.emitter.get() {
            emitter.unpark();
        }
    }

    /// Keeps the chunk that came last, and asks for the next task with another one in its place; returns whether the
    /// chunk that is kept has grown.
    pub(crate) fn keep(&mut self, other: Box<Chunk>) -> bool {
        let grown = std::mem::take(&mut self.grown);
        self.give_back(other);
        grown
    }

    /// The next task, if there is one by now; it stays the next.
    pub(crate) fn peek(&mut self) -> Option<&EmitterMessage> {
        if self.next.is_none() {
            self.next = self.tasks.pop();
        }
        self.next.as_ref()
    }

    fn pop(&mut self) -> Option<EmitterMessage> {
        self.next.take().or_else(|| self.tasks.pop())
    }

    /// A filled chunk that was dealt and will not be mapped, because the run failed.
    pub fn leftover(&mut self) -> Option<Box<Chunk>> {
        loop {
            match self.pop()? {
                EmitterMessage::Chunk(chunk) => return Some(chunk),
                EmitterMessage::LaneEnd { .. } => {}
            }
        }
    }

    /// Waits for the next task; returns it with the time waited.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the run failed.
    pub fn receive(&mut self, failure: &Failure) -> Result<(EmitterMessage, Duration), Error> {
        let (task, waited) = self.receive_unless(failure, &|| false)?;
        Ok((task.ok_or(Error::Stopped)?, waited))
    }

    /// Waits for the next task, or until there is something `better` to do; returns it with the time waited.
    pub(crate) fn receive_unless(
        &mut self,
        failure: &Failure,
        better: &dyn Fn() -> bool,
    ) -> Result<(Option<EmitterMessage>, Duration), Error> {
        let mut back_off = BackOff::new();
        loop {
            let gone = self.tasks.is_closed();
            if let Some(task) = self.pop() {
                if let EmitterMessage::Chunk(chunk) = &task {
                    self.grown = self.sent.pop_front().is_some_and(|sent| sent != capacities(chunk));
                }
                return Ok((Some(task), back_off.waited()));
            }
            if gone || failure.stopped() {
                return Err(Error::Stopped);
            }
            if better() {
                return Ok((None, back_off.waited()));
            }
            back_off.wait();
        }
    }
}

fn capacities(chunk: &Chunk) -> [usize; 2] {
    [0, 1].map(|i| chunk.text[i].bytes.capacity())
}

impl EmitterEnd {
    /// Deals each chunk to the next worker in turn from now on, whether it has room or not.
    pub fn strictly_in_turn(&mut self) {
        self.strict = true;
    }

    /// Deals a whole lane; `dealt` is called with the part of it that was dealt so far.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the run failed: elsewhere, or here by a fault of the input, which was reported then.
    pub fn deal(
        &mut self,
        emitter: &mut dyn Emit,
        failure: &Failure,
        dealt: impl Fn(Option<f64>),
    ) -> Result<(), Error> {
        let _ = self.emitter.set(std::thread::current());
        loop {
            let (worker, mut chunk) = self.next_empty(failure)?;
            match emitter.emit(&mut chunk, failure.flag()) {
                Ok(Emitted::Chunk) => {
                    self.send(worker, EmitterMessage::Chunk(chunk), failure)?;
                    dealt(emitter.share_dealt());
                }
                Ok(Emitted::End { chunks, reads }) => {
                    self.held = Some((worker, chunk));
                    let end = || EmitterMessage::LaneEnd { chunks, reads };
                    return (0..self.tasks.len()).try_for_each(|worker| self.send(worker, end(), failure));
                }
                Err(fault) => {
                    failure.report(Some(chunk.ticket), fault);
                    return Err(Error::Stopped);
                }
            }
        }
    }

    /// Waits until some worker asks for work.
    fn next_empty(&mut self, failure: &Failure) -> Result<(usize, Box<Chunk>), Error> {
        if let Some(held) = self.held.take() {
            return Ok(held);
        }
        let mut looks = 0;
        while !failure.stopped() {
            let asked = if self.strict { 1 } else { self.empty.len() };
            for step in 0..asked {
                let worker = (self.turn + step) % self.empty.len();
                if let Some(chunk) = self.empty[worker].pop() {
                    self.turn = worker + 1;
                    return Ok((worker, chunk));
                }
            }
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                // Asleep it takes no core from a worker. Who sends a chunk wakes it, and a wake before the sleep is not
                // lost.
                std::thread::park_timeout(STOP_POLL);
            }
        }
        Err(Error::Stopped)
    }

    fn send(&mut self, worker: usize, task: EmitterMessage, failure: &Failure) -> Result<(), Error> {
        let mut back_off = BackOff::new();
        let mut task = task;
        while let Err(back) = self.tasks[worker].push(task) {
            if failure.stopped() || self.tasks[worker].is_closed() {
                return Err(Error::Stopped);
            }
            task = back;
            back_off.wait();
        }
        Ok(())
    }
}

/// The same input, to be dealt by the farm even if workers could take it themselves.
pub(crate) fn emitted(deal: Deal) -> Deal {
    match deal {
        Deal::Claim(claim) => Deal::Emit(Box::new(Taker(claim))),
        emit => emit,
    }
}

/// An emitter that takes what it emits.
struct Taker(Box<dyn Claim>);

impl Emit for Taker {
    fn emit(&mut self, chunk: &mut Chunk, stop: &AtomicBool) -> Result<Emitted, Error> {
        let mut back_off = BackOff::new();
        while !stop.load(Ordering::Acquire) {
            match self.0.claim(chunk)? {
                Claimed::Chunk => return Ok(Emitted::Chunk),
                Claimed::End { chunks, reads } => return Ok(Emitted::End { chunks, reads }),
                Claimed::NotYet => back_off.wait(),
            }
        }
        Err(Error::Stopped)
    }

    fn serial_time(&self) -> Duration {
        self.0.serial_time()
    }

    fn share_dealt(&self) -> Option<f64> {
        self.0.share_dealt()
    }
}
