//! The runtime with made-up lanes, engine and sink: order in every shape of run, and a fault injected in every stage.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use zerohop_model::chunk::{Chunk, ReadSpans, Span, Ticket};
use zerohop_model::engine::{Engine, Law, Mapper};
use zerohop_model::error::{Error, InputError};
use zerohop_model::measurement::Tally;
use zerohop_model::plan::{HugePages, Pages, Placement, Plan, WorkerPlan};
use zerohop_model::record::{Contig, Record, RecordWriter};
use zerohop_model::sink::{Access, Encoder, Sink};
use zerohop_model::source::{Claim, Claimed, Deal, Emit, Lane, Parse};
use zerohop_runtime::{Job, Mapping, Order, Outcome, Progress, run};

/// Where a fault is injected, at chunk 7 of lane 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Claim,
    Parse,
    Map,
    MapPanic,
    Encode,
    Write,
    MapperPanic,
}

const FAULTY: (u32, u64) = (1, 7);

fn fault() -> Error {
    Error::Input(InputError::new(std::path::Path::new("made-up"), "injected"))
}

/// Chunk n of a lane has the one read "LANE.n".
fn fill(chunk: &mut Chunk, lane: u32, number: u64) {
    chunk.clear();
    chunk.ticket = Ticket { lane, number, first_fragment: number };
    chunk.text[0].bytes.extend_from_slice(format!("{lane}.{number}").as_bytes());
}

struct Counter {
    lane: u32,
    chunks: u64,
    next: AtomicU64,
    calls: AtomicU64,
    fault: Fault,
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
        let end = Claimed::End { chunks: self.chunks };
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
    fn emit(&mut self, chunk: &mut Chunk, _stop: &AtomicBool) -> Result<bool, Error> {
        self.next(chunk)
    }

    fn serial_time(&self) -> Duration {
        Duration::ZERO
    }

    fn share_dealt(&self) -> Option<f64> {
        None
    }
}

struct OneRead(Fault);

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

struct Echo(Fault);

impl Engine for Echo {
    fn program(&self) -> (&str, &str) {
        ("echo", "0")
    }

    fn law(&self) -> Law {
        Law::Free { preferred_bases: 1 }
    }

    fn max_read_bases(&self) -> usize {
        1
    }

    fn contigs(&self) -> &[Contig] {
        &[]
    }

    fn index_bytes(&self) -> u64 {
        0
    }

    fn replicate(&self) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(Echo(self.0)))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        assert!(self.0 != Fault::MapperPanic, "no mapper today");
        Box::new(EchoMapper(self.0))
    }
}

struct EchoMapper(Fault);

impl Mapper for EchoMapper {
    fn map(&mut self, chunk: &Chunk, out: &mut dyn RecordWriter) -> Result<Tally, Error> {
        for fragment in chunk.fragments() {
            if (chunk.ticket.lane, chunk.ticket.number) == FAULTY {
                match self.0 {
                    Fault::Map => return Err(fault()),
                    Fault::MapPanic => panic!("injected"),
                    _ => {}
                }
            }
            // Chunks take different times, so that they are finished out of order.
            std::thread::sleep(Duration::from_micros(chunk.ticket.number * 37 % 11 * 20));
            let name = fragment.first.name;
            out.write(&Record {
                name,
                flags: 4,
                locus: None,
                mapq: 0,
                cigar: &[],
                mate_locus: None,
                template_length: 0,
                seq: &[],
                qual: &[],
                tags: &[],
                comment: &[],
            })?;
        }
        Ok(Tally { reads: chunk.len() as u64, ..Tally::default() })
    }
}

struct Memory {
    files: Vec<Mutex<Vec<u8>>>,
    access: Access,
    fault: Fault,
}

impl Sink for Memory {
    fn files(&self) -> usize {
        self.files.len()
    }

    fn access(&self) -> Access {
        self.access
    }

    fn start(&self, _file: usize) -> u64 {
        2
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

struct Lines {
    out: Vec<u8>,
    fault: Fault,
}

impl RecordWriter for Lines {
    fn write(&mut self, record: &Record<'_>) -> Result<(), Error> {
        self.out.extend_from_slice(record.name);
        self.out.push(b'\n');
        Ok(())
    }
}

impl Encoder for Lines {
    fn begin(&mut self, _lane: u32, buffer: Vec<u8>) {
        assert!(buffer.is_empty());
        self.out = buffer;
    }

    fn line(&mut self, line: &[u8], _comment: &[u8]) -> Result<(), Error> {
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

    fn records(&mut self) -> &mut dyn RecordWriter {
        self
    }
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    workers: usize,
    /// Which lanes have an emitter.
    emitted: [bool; 3],
    access: Access,
    files: usize,
    order: Order,
}

const CHUNKS: [u64; 3] = [13, 40, 0];

/// Runs a shape; fails the test if it does not end.
fn run_shape(shape: Shape, fault: Fault) -> (Result<Outcome, Error>, Vec<String>) {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let lane = |lane: usize| {
            let (next, calls) = (AtomicU64::new(0), AtomicU64::new(0));
            let counter = Counter { lane: lane as u32, chunks: CHUNKS[lane], next, calls, fault };
            let deal = match shape.emitted[lane] {
                true => Deal::Emit(Box::new(counter)),
                false => Deal::Claim(Box::new(counter)),
            };
            Lane { deal, parser: Box::new(OneRead(fault)) }
        };
        let sink = Memory {
            files: (0..shape.files).map(|_| Mutex::new(b"h\n".to_vec())).collect(),
            access: shape.access,
            fault,
        };
        let placement = Placement { nodes: vec![], pages: Pages::FirstTouch, huge_pages: HugePages::Auto };
        let worker = |_| WorkerPlan { cpus: vec![], node: None, replica: 0 };
        let plan = Plan {
            replicas: vec![placement],
            workers: (0..shape.workers).map(worker).collect(),
            helper_cpus: vec![],
            reasons: vec![],
        };
        let engines: Vec<Box<dyn Engine>> = vec![Box::new(Echo(fault))];
        let (lanes, progress) = ((0..3).map(lane).collect(), Progress::default());
        let (order, plan, progress) = (shape.order, &plan, &progress);
        let outcome =
            run(Job { lanes, mapping: Mapping::Embedded { engines: &engines, sink: &sink }, order, plan, progress });
        let text = sink.files.iter().map(|f| String::from_utf8(f.lock().unwrap().clone()).unwrap()).collect();
        send.send((outcome, text)).unwrap();
    });
    receive.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("it hangs: {shape:?}, {fault:?}"))
}

fn shapes() -> impl Iterator<Item = Shape> {
    let bools = [false, true];
    let emitted = bools.into_iter().flat_map(move |a| bools.into_iter().map(move |b| [a, b, a != b]));
    emitted.flat_map(|emitted| {
        [Access::Positioned, Access::Sequential].into_iter().flat_map(move |access| {
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

#[test]
fn outputs_keep_the_order_of_the_input_in_every_shape() {
    let all: Vec<String> = (0..3).flat_map(|lane| (0..CHUNKS[lane]).map(move |n| format!("{lane}.{n}\n"))).collect();
    for shape in shapes() {
        let (outcome, texts) = run_shape(shape, Fault::None);
        let outcome = outcome.unwrap();
        for (i, text) in texts.iter().enumerate() {
            let expected: String = all.iter().skip(i).step_by(shape.files).map(String::as_str).collect();
            assert_eq!(text, &format!("h\n{expected}"), "{shape:?}");
            assert_eq!(outcome.lengths[i], text.len() as u64);
        }
        assert_eq!(outcome.report.tally.reads, 53);

        let (outcome, texts) = run_shape(Shape { order: Order::Any, ..shape }, Fault::None);
        outcome.unwrap();
        let mut lines: Vec<String> =
            texts.iter().flat_map(|t| t[2..].split_inclusive('\n').map(str::to_owned)).collect();
        lines.sort();
        let mut expected = all.clone();
        expected.sort();
        assert_eq!(lines, expected, "{shape:?}");
    }
}

#[test]
fn a_fault_in_any_stage_ends_the_run_and_is_named() {
    zerohop_runtime::install_hook();
    for shape in shapes() {
        for fault in [Fault::Claim, Fault::Parse, Fault::Map, Fault::Encode] {
            let error = run_shape(shape, fault).0.unwrap_err().to_string();
            assert_eq!(error, "made-up: injected", "{shape:?}, {fault:?}");
        }
        let error = run_shape(shape, Fault::MapPanic).0.unwrap_err().to_string();
        assert_eq!(error, "the engine failed on read '1.7' (fragment 8): injected", "{shape:?}");
        let error = run_shape(shape, Fault::Write).0.unwrap_err().to_string();
        assert!(error.starts_with("made-up: cannot write: "), "{error}, {shape:?}");
    }
}

#[test]
fn a_worker_that_dies_does_not_leave_the_others_waiting() {
    for shape in shapes().filter(|s| s.workers == 3) {
        let error = run_shape(shape, Fault::MapperPanic).0.unwrap_err().to_string();
        assert_eq!(error, "internal error, please report it: no mapper today");
    }
}
