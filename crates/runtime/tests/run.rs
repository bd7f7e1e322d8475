//! The runtime with made-up lanes, engine and sink: order in every shape of run, and a fault injected in every stage.
#![allow(clippy::unwrap_used, clippy::panic)]

mod made_up;

use made_up::{Came, FAULTY, Fault, READS, Shape, assert_all_there, assert_in_order, fault, run_shape, shapes};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zerohop_model::alignment::{Alignment, Alignments};
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::mapper::Mapper;
use zerohop_model::record::{Contig, UNMAPPED};
use zerohop_runtime::{Mapping, Order, ReplicaMap};

struct Echo(Fault);

impl Engine for Echo {
    fn program(&self) -> (&str, &str) {
        ("echo", "0")
    }

    fn cut(&self) -> Cut {
        Cut::at(1)
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

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(Echo(self.0)))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        assert!(self.0 != Fault::MapperPanic, "no mapper today");
        Box::new(EchoMapper(self.0))
    }
}

struct EchoMapper(Fault);

impl Mapper for EchoMapper {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        for _ in chunk.fragments() {
            if (chunk.ticket.lane, chunk.ticket.number) == FAULTY {
                match self.0 {
                    Fault::Map => return Err(fault()),
                    Fault::MapPanic => panic!("injected"),
                    _ => {}
                }
            }
            // Chunks take different times, so that they are finished out of order.
            std::thread::sleep(Duration::from_micros(chunk.ticket.number * 37 % 11 * 20));
            out.push(Alignment { flags: UNMAPPED, ..Alignment::default() }, [], []);
            out.end_fragment();
        }
        Ok(())
    }
}

fn embedded(shape: Shape, fault: Fault) -> Came {
    run_shape(shape, fault, move |sink, run| {
        let engine: Arc<dyn Engine> = Arc::new(Echo(fault));
        let replicas = ReplicaMap::new(vec![engine; shape.workers]);
        run(Mapping::Embedded { replicas: &replicas, sink, held: 1 })
    })
}

#[test]
fn outputs_keep_the_order_of_the_input_in_every_shape() {
    for shape in shapes() {
        let (outcome, texts) = embedded(shape, Fault::None);
        let outcome = outcome.unwrap();
        assert_in_order(&texts, shape);
        assert_eq!(outcome.lengths, texts.iter().map(|text| text.len() as u64).collect::<Vec<_>>());
        assert_eq!(outcome.report.tally.reads, READS);

        let shape = Shape { order: Order::Any, ..shape };
        let (outcome, texts) = embedded(shape, Fault::None);
        outcome.unwrap();
        assert_all_there(&texts, shape);
    }
}

#[test]
fn a_fault_in_any_stage_ends_the_run_and_is_named() {
    zerohop_runtime::install_hook();
    for shape in shapes() {
        for fault in [Fault::Claim, Fault::Parse, Fault::Map, Fault::Encode] {
            let error = embedded(shape, fault).0.unwrap_err().to_string();
            assert_eq!(error, "made-up: injected", "{shape:?}, {fault:?}");
        }
        let error = embedded(shape, Fault::MapPanic).0.unwrap_err().to_string();
        assert_eq!(error, "the engine failed on read '1.7' (fragment 8): injected", "{shape:?}");
        let error = embedded(shape, Fault::Write).0.unwrap_err().to_string();
        assert!(error.starts_with("made-up: cannot write: "), "{error}, {shape:?}");
    }
}

#[test]
fn a_run_stops_when_its_time_is_up() {
    for shape in shapes() {
        assert!(matches!(embedded(shape, Fault::Endless).0, Err(Error::Stopped)), "{shape:?}");
    }
}

#[test]
fn a_worker_that_dies_does_not_leave_the_others_waiting() {
    for shape in shapes().filter(|s| s.workers == 3) {
        let error = embedded(shape, Fault::MapperPanic).0.unwrap_err().to_string();
        assert_eq!(error, "internal error, please report it: no mapper today");
    }
}

/// An engine that counts those who read it.
struct Counted(Echo, Arc<AtomicBool>);

impl Engine for Counted {
    fn program(&self) -> (&str, &str) {
        self.0.program()
    }

    fn cut(&self) -> Cut {
        self.0.cut()
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

    fn replicate(&self, threads: usize) -> Result<Box<dyn Engine>, Error> {
        self.0.replicate(threads)
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        self.1.store(true, Ordering::Relaxed);
        self.0.mapper()
    }
}

#[test]
fn workers_move_to_copies_that_come_while_they_run() {
    let read = Arc::new(AtomicBool::new(false));
    for shape in shapes() {
        let was_read = Arc::clone(&read);
        let (outcome, texts) = run_shape(shape, Fault::None, move |sink, run| {
            let first: Arc<dyn Engine> = Arc::new(Echo(Fault::None));
            let replicas = ReplicaMap::new(vec![Arc::clone(&first); shape.workers]);
            let over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        let copy: Arc<dyn Engine> = Arc::new(Counted(Echo(Fault::None), Arc::clone(&was_read)));
                        (0..shape.workers).for_each(|worker| replicas.move_to(worker, Arc::clone(&copy)));
                        std::thread::yield_now();
                    }
                    // Let go of by all who read it: nothing is kept.
                    assert!(Arc::strong_count(&first) <= 1 + shape.workers);
                });
                let outcome = run(Mapping::Embedded { replicas: &replicas, sink, held: 1 });
                over.store(true, Ordering::Relaxed);
                outcome
            })
        });
        outcome.unwrap();
        assert_in_order(&texts, shape);
    }
    assert!(read.load(Ordering::Relaxed), "nobody moved");
}
