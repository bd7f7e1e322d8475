//! Made-up lanes and a made-up sink, with a fault injected where a test wants one.
// Each test program uses a part of it.
#![allow(dead_code)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::{Chunk, ReadSpans, Span, Ticket};
use zerohop_model::error::{Error, InputError};
use zerohop_model::plan::{HugePages, Pages, Placement, Plan, WorkerPlan};
use zerohop_model::sink::{Encoder, OfRead, OutputAccess, Sink};
use zerohop_model::source::{Claim, Claimed, Deal, Emit, Emitted, Lane, Parse};
use zerohop_runtime::{Job, Mapping, Order, Outcome, Progress, run};

/// Where a fault is injected, at chunk 7 of lane 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    Claim,
    Parse,
    Map,
    MapPanic,
    Encode,
    Write,
    MapperPanic,
    /// The program ends badly.
    Die,
    /// It takes no more reads.
    Refuse,
    /// Instance 1 writes another header.
    OtherHeader,
    /// It writes records and no header.
    NoHeader,
    /// Lane 1 never ends, and the run is to stop soon.
    Endless,
}

pub const FAULTY: (u32, u64) = (1, 7);

pub fn fault() -> Error {
    Error::Input(InputError::new(std::path::Path::new("made-up"), "injected"))
}

/// Chunk n of a lane has the one read "LANE.n".
fn fill(chunk: &mut Chunk, lane: u32, number: u64) {
    chunk.clear();
    let first = Ticket::first_of(lane);
    chunk.ticket = Ticket { number, first_fragment: number, first_read: number, cohort: number, ..first };
    chunk.text[0].bytes.extend_from_slice(format!("{lane}.{number}").as_bytes());
}

pub struct Counter {
    pub lane: u32,
    pub chunks: u64,
    pub next: AtomicU64,
    pub calls: AtomicU64,
    pub fault: Fault,
}

impl Counter {
    fn next(&self, chunk: &mut Chunk) -> Result<bool, Error> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        if number >= self.chunks {
            return Ok(false);
        }
        fill(chunk, self.lane, number);
        if self.fault == Fault::Claim && (self.lane, number) == FAULTY { Err(fault()) } else { Ok(true) }
    }
}

impl Claim for Counter {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        // Now and then there is nothing to do.
        if self.calls.fetch_add(1, Ordering::Relaxed) % 3 == 1 {
            return Ok(Claimed::NotYet);
        }
        let end = Claimed::End { chunks: self.chunks, reads: self.chunks };
        self.next(chunk).map(|more| if more { Claimed::Chunk } else { end })
    }

    fn serial_time(&self) -> Duration {
        Duration::ZERO
    }

    fn share_dealt(&self) -> Option<f64> {
        None
    }
}

impl Emit for Counter {
    fn emit(&mut self, chunk: &mut Chunk, _stop: &AtomicBool) -> Result<Emitted, Error> {
        let end = Emitted::End { chunks: self.chunks, reads: self.chunks };
        self.next(chunk).map(|more| if more { Emitted::Chunk } else { end })
    }

    fn serial_time(&self) -> Duration {
        Duration::ZERO
    }

    fn share_dealt(&self) -> Option<f64> {
        None
    }
}

pub struct OneRead(pub Fault);

impl Parse for OneRead {
    fn parse(&self, chunk: &mut Chunk) -> Result<(), Error> {
        if self.0 == Fault::Parse && (chunk.ticket.lane, chunk.ticket.number) == FAULTY {
            return Err(fault());
        }
        chunk.forget_reads();
        let name = Span { start: 0, end: chunk.text[0].bytes.len() as u32 };
        chunk.push(ReadSpans { name, ..ReadSpans::default() }, None);
        Ok(())
    }
}

pub struct Memory {
    pub files: Vec<Mutex<Vec<u8>>>,
    pub access: OutputAccess,
    pub fault: Fault,
}

impl Sink for Memory {
    fn files(&self) -> usize {
        self.files.len()
    }

    fn access(&self) -> OutputAccess {
        self.access
    }

    fn start(&self, _file: usize) -> u64 {
        2
    }

    fn write_header(&self) -> Result<(), Error> {
        self.write_at(0, 0, b"h\n")
    }

    fn write_at(&self, file: usize, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        if self.fault == Fault::Write && offset > 30 {
            let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(Error::Output { path: "made-up".into(), source });
        }
        let mut data = self.files[file].lock().unwrap();
        let end = offset as usize + bytes.len();
        if data.len() < end {
            data.resize(end, b'?');
        }
        data[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn encoder(&self) -> Box<dyn Encoder + '_> {
        Box::new(Lines { out: Vec::new(), fault: self.fault })
    }
}

pub struct Lines {
    pub out: Vec<u8>,
    pub fault: Fault,
}

impl Encoder for Lines {
    fn begin(&mut self, _lane: u32, buffer: Vec<u8>) {
        assert!(buffer.is_empty());
        self.out = buffer;
    }

    fn encode(&mut self, chunk: &Chunk, alignments: &Alignments) -> Result<(), Error> {
        assert_eq!(alignments.fragments(), chunk.len());
        for fragment in chunk.fragments() {
            self.out.extend_from_slice(fragment.first.name);
            self.out.push(b'\n');
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8], _of_read: OfRead<'_>, _is_first: bool) -> Result<(), Error> {
        self.out.extend_from_slice(line);
        self.out.push(b'\n');
        Ok(())
    }

    fn finish(&mut self) -> Result<Vec<u8>, Error> {
        if self.fault == Fault::Encode && self.out == b"1.7\n" {
            return Err(fault());
        }
        Ok(std::mem::take(&mut self.out))
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub workers: usize,
    /// Which lanes have an emitter, in turn.
    pub emitted: [bool; 3],
    pub access: OutputAccess,
    pub files: usize,
    pub order: Order,
}

/// Chunks of each lane; the short ones at the end are over before a worker that stands still has seen them.
pub const CHUNKS: [u64; 9] = [13, 40, 0, 1, 0, 2, 1, 1, 1];
/// Reads of all lanes.
pub const READS: u64 = 59;

pub fn shapes() -> impl Iterator<Item = Shape> {
    let bools = [false, true];
    let emitted = bools.into_iter().flat_map(move |a| bools.into_iter().map(move |b| [a, b, a != b]));
    emitted.flat_map(|emitted| {
        [OutputAccess::Positioned, OutputAccess::Sequential].into_iter().flat_map(move |access| {
            [(1, 1), (3, 1), (8, 1), (3, 4)].into_iter().map(move |(workers, files)| Shape {
                workers,
                emitted,
                access,
                files,
                order: Order::Input,
            })
        })
    })
}

/// Runs a job with this mapping.
pub type Run<'r> = &'r dyn Fn(Mapping<'_>) -> Result<Outcome, Error>;

/// What came of a run, and what is in the files.
pub type Came = (Result<Outcome, Error>, Vec<String>);

/// Runs a shape with what `mapping` makes of the sink; fails the test if it does not end.
pub fn run_shape(
    shape: Shape,
    fault: Fault,
    mapping: impl FnOnce(&Memory, Run<'_>) -> Result<Outcome, Error> + Send + 'static,
) -> Came {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let lane = |lane: usize| {
            let (next, calls) = (AtomicU64::new(0), AtomicU64::new(0));
            let is_endless = fault == Fault::Endless && lane as u32 == FAULTY.0;
            let chunks = if is_endless { u64::MAX } else { CHUNKS[lane] };
            let counter = Counter { lane: lane as u32, chunks, next, calls, fault };
            let deal = match shape.emitted[lane % 3] {
                true => Deal::Emit(Box::new(counter)),
                false => Deal::Claim(Box::new(counter)),
            };
            Lane { deal, parser: Box::new(OneRead(fault)) }
        };
        let files = (0..shape.files).map(|_| Mutex::new(b"h\n".to_vec())).collect();
        let sink = Memory { files, access: shape.access, fault };
        let placement = Placement { nodes: vec![], pages: Pages::FirstTouch, huge_pages: HugePages::Auto };
        let worker = |_| WorkerPlan { cpus: vec![], node: None, replica: 0 };
        let workers = (0..shape.workers).map(worker).collect();
        let plan = Plan { replicas: vec![placement], workers, helper_cpus: vec![], reasons: vec![] };
        let progress = Progress::default();
        let outcome = mapping(&sink, &|mapping| {
            let lanes = (0..CHUNKS.len()).map(lane).collect();
            let until = (fault == Fault::Endless).then(|| Instant::now() + Duration::from_millis(20));
            run(Job { lanes, mapping, order: shape.order, grains: None, plan: &plan, progress: &progress, until })
        });
        let text = sink.files.iter().map(|f| String::from_utf8(f.lock().unwrap().clone()).unwrap()).collect();
        send.send((outcome, text)).unwrap();
    });
    receive.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("it hangs: {shape:?}, {fault:?}"))
}

/// The lines of all lanes, in order.
pub fn all_lines() -> Vec<String> {
    (0..CHUNKS.len()).flat_map(|lane| (0..CHUNKS[lane]).map(move |n| format!("{lane}.{n}\n"))).collect()
}

/// Checks that the files hold the lines in the order of the input.
pub fn assert_in_order(texts: &[String], shape: Shape) {
    for (i, text) in texts.iter().enumerate() {
        let expected: String = all_lines().iter().skip(i).step_by(shape.files).map(String::as_str).collect();
        assert_eq!(text, &format!("h\n{expected}"), "{shape:?}");
    }
}

/// Checks that the files hold the lines in any order.
pub fn assert_all_there(texts: &[String], shape: Shape) {
    let mut lines: Vec<String> = texts.iter().flat_map(|t| t[2..].split_inclusive('\n').map(str::to_owned)).collect();
    let mut expected = all_lines();
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected, "{shape:?}");
}
