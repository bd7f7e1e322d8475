//! What the farm promises: memory within chunks x workers x queue length, no deadlock at queue length 1, buffers that
//! come back to the worker that made them, work for whoever asks.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use zerohop_model::chunk::{Chunk, Ticket};
use zerohop_model::error::Error;
use zerohop_model::source::{Emit, Emitted};
use zerohop_runtime::{EmitterMessage, Failure, farm};

/// How long the slow worker waits for the others.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of a task's text, about.
const TASK: usize = 1000;

/// Gives so many tasks of slightly different sizes, and watches how many bytes are under way.
struct Watched<'w> {
    left: u64,
    number: u64,
    under_way: &'w AtomicUsize,
    most: &'w AtomicUsize,
}

impl Emit for Watched<'_> {
    fn emit(&mut self, chunk: &mut Chunk, _stop: &AtomicBool) -> Result<Emitted, Error> {
        if self.left == 0 {
            return Ok(Emitted::End { chunks: self.number, reads: self.number });
        }
        self.left -= 1;
        chunk.clear();
        chunk.ticket = Ticket { number: self.number, ..Ticket::default() };
        let bytes = TASK - (self.number * 31 % 100) as usize;
        chunk.text[0].bytes.resize(bytes, b'x');
        self.number += 1;
        let now = self.under_way.fetch_add(bytes, Ordering::SeqCst) + bytes;
        self.most.fetch_max(now, Ordering::SeqCst);
        Ok(Emitted::Chunk)
    }

    fn serial_time(&self) -> Duration {
        Duration::ZERO
    }

    fn share_dealt(&self) -> Option<f64> {
        None
    }
}

/// What one worker saw: the numbers of its tasks, and where its chunks and their texts lay.
#[derive(Default)]
struct Seen {
    numbers: Vec<u64>,
    chunks: BTreeSet<usize>,
    /// How often each text lay at each place, after the first few tasks.
    texts: BTreeMap<usize, usize>,
}

/// Deals `tasks` tasks over `lanes` lanes to workers of which the first is `slow`; returns what they saw and the most
/// bytes under way.
fn deal(workers: usize, queue: usize, tasks: u64, lanes: usize, slow: bool) -> (Vec<Seen>, usize) {
    let (mut desk, benches) = farm(workers, lanes, queue);
    let (under_way, most, failure) = (AtomicUsize::new(0), AtomicUsize::new(0), Failure::default());
    let by_others = AtomicU64::new(0);
    let seen = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for (worker, mut bench) in benches.into_iter().enumerate() {
            let (failure, under_way, seen, by_others) = (&failure, &under_way, &seen, &by_others);
            scope.spawn(move || {
                let (mut own, mut ended) = (Seen::default(), 0);
                bench.ask();
                while ended < lanes {
                    match bench.receive(failure).unwrap().0 {
                        EmitterMessage::LaneEnd { chunks, reads } => {
                            assert_eq!((chunks, reads), (tasks, tasks));
                            ended += 1;
                        }
                        EmitterMessage::Chunk(chunk) => {
                            own.numbers.push(chunk.ticket.number);
                            own.chunks.insert(std::ptr::from_ref(&*chunk).addr());
                            if own.numbers.len() > 3 * queue {
                                *own.texts.entry(chunk.text[0].bytes.as_ptr().addr()).or_default() += 1;
                            }
                            if worker != 0 {
                                by_others.fetch_add(1, Ordering::SeqCst);
                            } else if slow && own.numbers.len() == 1 {
                                // As slow as it takes: until the others have all the rest, if it is dealt to them.
                                let (rest, start) = (tasks - queue as u64 - 1, Instant::now());
                                while by_others.load(Ordering::SeqCst) < rest && start.elapsed() < PATIENCE {
                                    std::thread::sleep(Duration::from_millis(1));
                                }
                            }
                            under_way.fetch_sub(chunk.text[0].bytes.len(), Ordering::SeqCst);
                            bench.give_back(chunk);
                        }
                    }
                }
                seen.lock().unwrap().push((worker, own));
            });
        }
        for _ in 0..lanes {
            let mut emitter = Watched { left: tasks, number: 0, under_way: &under_way, most: &most };
            desk.deal(&mut emitter, &failure, |_| ()).unwrap();
        }
        // Its channels close with it.
        drop(desk);
    });
    failure.into_result().unwrap();
    let mut seen = seen.into_inner().unwrap();
    seen.sort_by_key(|(worker, _)| *worker);
    (seen.into_iter().map(|(_, seen)| seen).collect(), most.into_inner())
}

#[test]
fn memory_is_bounded_and_buffers_come_back_to_their_worker() {
    for (workers, queue) in [(1, 1), (3, 1), (4, 2), (2, 5)] {
        let (seen, most) = deal(workers, queue, 500, 1, false);
        assert!(most <= TASK * workers * queue, "{most} bytes under way with {workers} workers, queue {queue}");
        let all: BTreeSet<u64> = seen.iter().flat_map(|seen| seen.numbers.iter().copied()).collect();
        assert_eq!(all, (0..500).collect());
        for (i, one) in seen.iter().enumerate() {
            assert!(one.chunks.len() <= queue, "a worker has {} chunks, queue {queue}", one.chunks.len());
            assert!(one.texts.len() <= queue, "texts move about: {:?}", one.texts);
            assert!(one.numbers.is_sorted(), "a worker gets its tasks in order");
            assert!(
                seen[..i].iter().all(|other| other.chunks.is_disjoint(&one.chunks)),
                "a chunk went to another worker"
            );
        }
    }
}

#[test]
fn a_queue_of_one_does_not_deadlock_over_several_lanes() {
    for _ in 0..50 {
        let (seen, _) = deal(3, 1, 20, 4, false);
        assert_eq!(seen.iter().map(|seen| seen.numbers.len()).sum::<usize>(), 80);
    }
}

#[test]
fn a_slow_worker_gets_fewer_tasks() {
    for queue in [1, 2] {
        let (seen, _) = deal(4, queue, 400, 1, true);
        assert!(seen[0].numbers.len() <= queue + 1, "the slow one got {}", seen[0].numbers.len());
    }
}
