//! The runtime with made-up programs in the place of aligners: order in every shape of run, and every way in which a
//! program can let it down.
#![allow(clippy::unwrap_used, clippy::panic)]

mod made_up;

use made_up::{Came, Fault, Memory, READS, Shape, assert_all_there, assert_in_order, run_shape, shapes};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use zerohop_model::chunk::{Chunk, Span};
use zerohop_model::error::Error;
use zerohop_model::instance::{Answer, AnswerLine, Drain, Feed, Instance};
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::{InstanceReport, PageCensus, Tally};
use zerohop_model::plan::{HugePages, InstancePlan, Pages, Placement};
use zerohop_model::sink::Sink;
use zerohop_runtime::{Dealing, Handover, LateSink, Mapping, Order};

const POLL: Duration = Duration::from_millis(5);

/// What a program was given: the number of the chunk, its lane, the name of its read.
type Given = (u64, u32, Vec<u8>);

struct Input {
    given: Option<SyncSender<Given>>,
    fault: Fault,
}

impl Feed for Input {
    fn feed(&mut self, chunk: &Chunk, number: u64, stop: &AtomicBool) -> Result<bool, Error> {
        let name = chunk.fragment(0).first.name.to_vec();
        if self.fault == Fault::Refuse && name == b"1.7" {
            // The program has gone away, and its draining end will find that.
            self.given = None;
            return Ok(false);
        }
        let mut item = (number, chunk.ticket.lane, name);
        while let Some(given) = &self.given {
            match given.try_send(item) {
                Ok(()) => return Ok(true),
                Err(TrySendError::Disconnected(_)) => return Ok(false),
                Err(TrySendError::Full(back)) => item = back,
            }
            if stop.load(Ordering::Acquire) {
                return Err(Error::Stopped);
            }
            std::thread::sleep(POLL / 10);
        }
        Ok(false)
    }

    fn end(&mut self, _stop: &AtomicBool) {
        self.given = None;
    }
}

/// Takes in up to `hoard` chunks before it puts one out, as aligners do.
struct Output {
    instance: usize,
    given: Receiver<Given>,
    hoard: usize,
    held: VecDeque<Given>,
    ended: bool,
    fault: Fault,
    done: u64,
}

impl Output {
    fn fault(&self, what: &str) -> Error {
        Error::Instance { instance: self.instance, program: "made-up".into(), what: what.into() }
    }

    /// Takes in as much as it wants.
    fn take_in(&mut self, wanted: usize, stop: &AtomicBool) -> Result<(), Error> {
        while !self.ended && self.held.len() < wanted {
            match self.given.recv_timeout(POLL) {
                Ok(given) => self.held.push_back(given),
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Acquire) => return Err(Error::Stopped),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        Ok(())
    }
}

impl Drain for Output {
    fn header(&mut self, stop: &AtomicBool) -> Result<Vec<u8>, Error> {
        self.take_in(1, stop)?;
        Ok(match self.fault {
            Fault::NoHeader => Vec::new(),
            // A program without reads may have no header either.
            _ if self.held.is_empty() && self.instance % 2 == 1 => Vec::new(),
            Fault::OtherHeader if self.instance == 1 => b"other".to_vec(),
            _ => b"header".to_vec(),
        })
    }

    fn drain(&mut self, answer: &mut Answer, stop: &AtomicBool) -> Result<bool, Error> {
        self.take_in(self.hoard, stop)?;
        let Some((number, lane, name)) = self.held.pop_front() else {
            return if self.fault == Fault::Refuse { Err(self.fault("took no more")) } else { Ok(false) };
        };
        if self.fault == Fault::Die && name == b"1.7" {
            return Err(self.fault("died"));
        }
        std::thread::sleep(Duration::from_micros(number * 37 % 11 * 20));
        let text = Span { start: 0, end: name.len() as u32 };
        let tally = Tally { reads: 1, primary_records: 1, ..Tally::default() };
        let lines = vec![AnswerLine {
            text,
            comment: Span::default(),
            failed_filters: false,
            has_qualities: true,
            pair_flags: 0,
            fragment: 0,
        }];
        *answer = Answer { number, lane, text: name, lines, tally, ..Answer::default() };
        self.done += 1;
        Ok(true)
    }

    fn report(&self) -> InstanceReport {
        InstanceReport {
            plan: plan(1),
            pid: 0,
            command: vec![],
            chunks: self.done,
            reads_in: self.done,
            reads_out: self.done,
            private: PageCensus::default(),
            shared: PageCensus::default(),
            peak_memory: Bytes(0),
            log: None,
            refused: vec![],
        }
    }
}

fn plan(threads: usize) -> InstancePlan {
    let placement = Placement { nodes: vec![], pages: Pages::FirstTouch, huge_pages: HugePages::Auto };
    InstancePlan { cpus: vec![], threads, replica: 0, placement }
}

/// An instance with this many threads: with more than one, finishers have threads of their own.
fn instance(i: usize, threads: usize, hoard: usize, fault: Fault) -> Instance {
    let (send, given) = sync_channel(1);
    let drain = Output { instance: i, given, hoard, held: VecDeque::new(), ended: false, fault, done: 0 };
    let feed = Box::new(Input { given: Some(send), fault });
    let blame = move |what: &str| Error::Instance { instance: i, program: "made-up".into(), what: what.into() };
    let leave = Arc::default();
    Instance { plan: plan(threads), feed, drain: Box::new(drain), blame: Arc::new(blame), leave }
}

struct Late<'s> {
    sink: &'s Memory,
    header: OnceLock<Vec<u8>>,
}

impl LateSink for Late<'_> {
    fn open(&self, header: &[u8]) -> Result<&dyn Sink, Error> {
        assert!(self.header.set(header.to_vec()).is_ok(), "opened twice");
        Ok(self.sink)
    }

    fn check(&self, instance: usize, header: &[u8]) -> Result<(), Error> {
        match self.header.get().is_some_and(|first| first == header) {
            true => Ok(()),
            false => Err(Error::Header(format!("instance {instance} wrote another header"))),
        }
    }
}

fn external(shape: Shape, threads: usize, dealing: Dealing, fault: Fault) -> Came {
    run_shape(shape, fault, move |sink, run| {
        let instances = (0..shape.workers).map(|i| instance(i, threads, 1 + i * 3, fault)).collect();
        let late = Late { sink, header: OnceLock::new() };
        run(Mapping::Instances { instances, sink: &late, dealing, held: 2, handover: None })
    })
}

#[test]
fn outputs_keep_the_order_of_the_input_in_every_shape() {
    for (i, shape) in shapes().enumerate() {
        let threads = [1, 9][i % 2];
        let (outcome, texts) = external(shape, threads, Dealing::OnDemand, Fault::None);
        let report = outcome.unwrap().report;
        assert_in_order(&texts, shape);
        assert_eq!((report.tally.reads, report.instances.len()), (READS, shape.workers));
        assert_eq!(report.instances.iter().map(|instance| instance.reads_out).sum::<u64>(), READS);

        for order in [Order::Input, Order::Any] {
            let shape = Shape { order, ..shape };
            let (outcome, texts) = external(shape, threads, Dealing::Static, Fault::None);
            if order == Order::Input {
                assert_in_order(&texts, shape)
            } else {
                assert_all_there(&texts, shape)
            }
            let parts: Vec<u64> = outcome.unwrap().report.instances.iter().map(|instance| instance.chunks).collect();
            assert!(parts.iter().max().unwrap() - parts.iter().min().unwrap() <= 1, "equal parts: {parts:?}");
        }
    }
}

#[test]
fn a_program_that_lets_us_down_ends_the_run_and_is_named() {
    for (i, shape) in shapes().enumerate() {
        let words = |fault| external(shape, [1, 9][i % 2], Dealing::OnDemand, fault).0.unwrap_err().to_string();
        assert!(words(Fault::Die).ends_with("of made-up died"), "{shape:?}");
        assert!(words(Fault::Refuse).ends_with("of made-up took no more"), "{shape:?}");
        assert!(words(Fault::NoHeader).contains("wrote records, but no header before them"), "{shape:?}");
        for fault in [Fault::Claim, Fault::Parse, Fault::Encode] {
            assert_eq!(words(fault), "made-up: injected", "{shape:?}, {fault:?}");
        }
        assert!(words(Fault::Write).starts_with("made-up: cannot write: "), "{shape:?}");
        if shape.workers == 3 {
            let words = words(Fault::OtherHeader);
            assert!(words.contains("wrote another header"), "{words}");
        }
    }
}

#[test]
fn a_run_stops_when_its_time_is_up() {
    for (i, shape) in shapes().enumerate() {
        let outcome = external(shape, [1, 9][i % 2], Dealing::OnDemand, Fault::Endless).0;
        assert!(matches!(outcome, Err(Error::Stopped)), "{shape:?}");
    }
}

/// Instances take turns: others come, those who were there leave, and so on until the input ends.
#[test]
fn instances_that_hand_over_give_all_records_and_order_is_kept() {
    const MOST: usize = 40;
    let mut came_later = 0;
    for (i, shape) in shapes().enumerate() {
        let threads = [1, 9][i % 2];
        let (outcome, texts) = run_shape(shape, Fault::None, move |sink, run| {
            let instances: Vec<Instance> =
                (0..shape.workers).map(|i| instance(i, threads, 1 + i * 3, Fault::None)).collect();
            let mut present: Vec<_> = instances.iter().map(|instance| Arc::clone(&instance.leave)).collect();
            let late = Late { sink, header: OnceLock::new() };
            let (send, fresh) = std::sync::mpsc::channel();
            let over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for number in 0..MOST {
                        // Odd ones may end without a header.
                        let other = instance(2 * number, threads, 2, Fault::None);
                        let leave = Arc::clone(&other.leave);
                        if send.send(other).is_err() {
                            break;
                        }
                        if !shape.emitted.contains(&true) {
                            present.drain(..).for_each(|old| old.ask());
                        }
                        present.push(leave);
                        std::thread::sleep(Duration::from_millis(1));
                        if over.load(Ordering::Acquire) {
                            break;
                        }
                    }
                    drop(send);
                });
                let handover = Some(Handover { fresh, most: MOST });
                let outcome =
                    run(Mapping::Instances { instances, sink: &late, dealing: Dealing::OnDemand, held: 2, handover });
                over.store(true, Ordering::Release);
                outcome
            })
        });
        let report = outcome.unwrap().report;
        assert_in_order(&texts, shape);
        assert_eq!(report.tally.reads, READS, "{shape:?}");
        assert_eq!(report.instances.iter().map(|instance| instance.reads_out).sum::<u64>(), READS, "{shape:?}");
        came_later += report.instances.len() - shape.workers;
    }
    assert!(came_later > 0, "nobody handed over");
}
