//! Parts of an output, made by the workers of several processes: each is there once, in its place, whoever is slow.
#![allow(clippy::unwrap_used, clippy::panic)]

mod made_up;

use made_up::{Fault, Memory};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zerohop_model::error::Error;
use zerohop_model::plan::{HugePages, Pages, Placement, Plan, WorkerPlan};
use zerohop_model::sink::{MakePart, OutputAccess, Parts};
use zerohop_model::source::Complete;
use zerohop_runtime::{Grains, Progress, ROWS_IN_GRAIN, write_parts};

/// Parts that are lines with their numbers.
struct Numbers {
    count: usize,
    row: usize,
    makers: AtomicUsize,
}

/// The first of a process takes its time over some of its parts.
struct Maker {
    is_slow: bool,
    made: usize,
}

impl Parts for Numbers {
    fn count(&self) -> usize {
        self.count
    }

    fn in_a_row(&self) -> usize {
        self.row
    }

    fn maker(&self) -> Box<dyn MakePart + '_> {
        Box::new(Maker { is_slow: self.makers.fetch_add(1, Ordering::Relaxed) == 0, made: 0 })
    }
}

impl MakePart for Maker {
    fn make(&mut self, number: usize, mut buffer: Vec<u8>) -> Result<Vec<u8>, Error> {
        self.made += 1;
        if self.is_slow && self.made % 7 == 1 {
            std::thread::sleep(Duration::from_millis(30));
        }
        buffer.extend_from_slice(line(number).as_bytes());
        Ok(buffer)
    }
}

fn line(number: usize) -> String {
    format!("{}{number}\n", "x".repeat(number * 7 % 5))
}

fn plan(workers: usize) -> Plan {
    let placement = Placement { nodes: vec![], pages: Pages::FirstTouch, huge_pages: HugePages::Auto };
    let worker = |_| WorkerPlan { cpus: vec![], node: None, replica: 0 };
    Plan {
        replicas: vec![placement],
        workers: (0..workers).map(worker).collect(),
        helper_cpus: vec![],
        reasons: vec![],
    }
}

/// What one process after the other is given, as many as it may be given at once.
fn deal(count: usize, each: usize, processes: usize) -> Vec<Vec<Range<u64>>> {
    let mut given = vec![Vec::new(); processes];
    for (grain, first) in (0..count).step_by(each).enumerate() {
        given[grain % processes].push(first as u64..(first + each).min(count) as u64);
    }
    given
}

/// Says where complete grains go, in their order, until all are placed.
fn place(all: &[Arc<Grains>], count: usize) {
    let (mut made, mut next, mut offset) = (BTreeMap::<u64, Complete>::new(), 0, 2);
    while next < count as u64 {
        made.extend(all.iter().flat_map(|grains| grains.take_complete()).map(|grain| (grain.chunks.start, grain)));
        while let Some(grain) = made.remove(&next) {
            all.iter().for_each(|grains| grains.place(next, &[offset]));
            (next, offset) = (grain.chunks.end, offset + grain.bytes[0]);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Fails the test if it does not end.
fn written(count: usize, row: usize, workers: usize, processes: usize) -> String {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let sink = Memory { files: vec![Mutex::default()], access: OutputAccess::Positioned, fault: Fault::None };
        let all: Vec<Arc<Grains>> = (0..processes).map(|_| Arc::new(Grains::new(1))).collect();
        for (grains, given) in all.iter().zip(deal(count, ROWS_IN_GRAIN * row * workers, processes)) {
            given.into_iter().for_each(|parts| grains.give(parts));
            grains.end();
        }
        let run = |grains: &Grains| {
            let parts = Numbers { count, row, makers: AtomicUsize::new(0) };
            write_parts(&parts, &sink, &plan(workers), workers, Some(grains), &Progress::default()).unwrap();
        };
        std::thread::scope(|scope| {
            all.iter().for_each(|grains| drop(scope.spawn(|| run(grains))));
            place(&all, count);
        });
        let text = sink.files[0].lock().unwrap().clone();
        send.send(String::from_utf8(text).unwrap()).unwrap();
    });
    receive.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("it hangs: rows of {row}, {workers} each"))
}

#[test]
fn parts_of_several_processes_are_in_order_whoever_is_slow() {
    for (count, row) in [(1, 1), (40, 1), (90, 4), (300, 13)] {
        let wanted: String = (0..count).map(line).collect();
        for (workers, processes) in [(1, 1), (2, 1), (3, 1), (2, 3)] {
            let text = written(count, row, workers, processes);
            assert_eq!(text, format!("h\n{wanted}"), "{count} parts in rows of {row}, {workers} of {processes}");
        }
    }
}
