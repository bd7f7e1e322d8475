//! Dealing to threads as ranks: each chunk is done once, and goes where it would go if one rank had done all.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zerohop_model::source::Complete;
use zerohop_ranks::deal::{DealError, Dealing, Dealt, Going, Local, deal};
use zerohop_ranks::{Transport, TransportError, Twin};

const HEADER: u64 = 100;
/// Chunks go to the files in turn.
const FILES: u64 = 3;

/// The bytes of a chunk's records.
fn length(chunk: u64) -> u64 {
    chunk.wrapping_mul(0x9E37_79B9) % 50
}

/// The bytes of the records of chunks in each file.
fn bytes(chunks: Range<u64>) -> Vec<u64> {
    (0..FILES).map(|file| chunks.clone().filter(|chunk| chunk % FILES == file).map(length).sum()).collect()
}

/// A rank whose work takes a moment for each grain.
#[derive(Default)]
struct Made {
    pause: Duration,
    /// The input ends here, which is found out when it is passed.
    end: u64,
    found: AtomicBool,
    ended: AtomicBool,
    fails_at: Option<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    given: Vec<Range<u64>>,
    complete: Vec<Complete>,
    placed: BTreeMap<u64, Vec<u64>>,
    unplaced: usize,
    failed: bool,
}

impl Local for Made {
    fn ahead(&self) -> u64 {
        0
    }

    fn give(&self, chunks: Range<u64>) {
        std::thread::sleep(self.pause);
        let mut state = self.state.lock().unwrap();
        state.failed |= self.fails_at.is_some_and(|at| chunks.contains(&at));
        let bytes = bytes(chunks.start..chunks.end.min(self.end));
        let header = (chunks.start == 0).then(|| vec![HEADER; FILES as usize]);
        if chunks.end > self.end {
            self.found.store(true, Ordering::Release);
        }
        state.given.push(chunks.clone());
        // Nobody waits for what is not there.
        state.unplaced += usize::from(chunks.start < self.end);
        // Later grains are made first now and then.
        let at = if chunks.start.is_multiple_of(3) { 0 } else { state.complete.len() };
        state.complete.insert(at, Complete { chunks, bytes, header });
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    fn take_complete(&self) -> Vec<Complete> {
        std::mem::take(&mut self.state.lock().unwrap().complete)
    }

    fn place(&self, chunk: u64, offsets: &[u64]) {
        let mut state = self.state.lock().unwrap();
        if state.given.iter().any(|given| given.start == chunk) {
            state.unplaced -= usize::from(chunk < self.end);
            assert_eq!(state.placed.insert(chunk, offsets.to_vec()), None);
        }
    }

    fn input_end(&self) -> Option<u64> {
        self.found.load(Ordering::Acquire).then_some(self.end)
    }

    fn going(&self) -> Going {
        let state = self.state.lock().unwrap();
        let over = self.ended.load(Ordering::Acquire) && state.unplaced == 0;
        if state.failed {
            Going::Failed
        } else if over {
            Going::Done
        } else {
            Going::On
        }
    }
}

type Came = Vec<(Result<Dealt, DealError>, Made)>;

fn run(ranks: usize, dealing: &Dealing, end: u64, fails_at: Option<u64>) -> Came {
    let work = |twin: Twin| {
        let pause = Duration::from_micros(300 * (1 + twin.rank() as u64));
        let made = Made { pause, end, fails_at, ..Made::default() };
        let outcome = deal(&twin, dealing, &made);
        if outcome.is_err() {
            twin.fail();
        }
        (outcome, made)
    };
    std::thread::scope(|scope| {
        let twins = Twin::ranks(ranks, Duration::from_secs(20));
        let threads: Vec<_> = twins.into_iter().map(|twin| scope.spawn(move || work(twin))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn every_chunk_is_done_once_and_goes_to_its_place() {
    for ranks in [1, 2, 3, 5] {
        for (first, end, is_known) in
            [(0, 0, true), (0, 1, true), (0, 90, true), (17, 90, true), (90, 90, true), (0, 90, false)]
        {
            let offsets_of = |chunk: u64| bytes(0..chunk).into_iter().map(|bytes| HEADER + bytes).collect::<Vec<u64>>();
            let offsets = (first > 0).then(|| offsets_of(first));
            let dealing =
                Dealing { files: FILES as usize, first, offsets, chunks: is_known.then_some(end), most: 7, ahead: 1 };
            let came = run(ranks, &dealing, end, None);
            let mut done: Vec<Range<u64>> = Vec::new();
            for (outcome, made) in came {
                let dealt = outcome.unwrap();
                assert_eq!(dealt.ends, (end > 0).then(|| offsets_of(end)), "{ranks} ranks, {first} to {end}");
                let state = made.state.into_inner().unwrap();
                assert_eq!(dealt.grains, state.given.len() as u64);
                assert!(state.placed.iter().all(|(&chunk, offsets)| *offsets == offsets_of(chunk.min(end))));
                done.extend(state.given);
            }
            done.sort_by_key(|chunks| chunks.start);
            let mut next = first;
            for chunks in done.iter().filter(|chunks| chunks.start < end) {
                assert_eq!(chunks.start, next);
                next = chunks.end;
            }
            assert!(if is_known { next == end } else { next >= end }, "{next} {end}");
        }
    }
}

#[test]
fn a_rank_that_fails_ends_all() {
    let dealing = Dealing { files: FILES as usize, first: 0, offsets: None, chunks: Some(50), most: 4, ahead: 1 };
    let came = run(3, &dealing, 50, Some(20));
    assert_eq!(came.iter().filter(|(outcome, _)| matches!(outcome, Err(DealError::Local))).count(), 1);
    let others = came.iter().filter(|(o, _)| matches!(o, Err(DealError::Transport(TransportError::PeerFailed))));
    assert_eq!(others.count(), 2);
}

#[test]
fn a_rank_that_is_silent_is_named() {
    let dealing = Dealing { files: FILES as usize, first: 0, offsets: None, chunks: Some(50), most: 4, ahead: 1 };
    let mut twins = Twin::ranks(2, Duration::from_millis(900));
    let (silent, twin) = (twins.pop().unwrap(), twins.pop().unwrap());
    std::thread::scope(|scope| {
        // It makes its window as all do, and then says nothing.
        scope.spawn(move || {
            let _window = silent.window(64, zerohop_ranks::Reach::Passive).unwrap();
            std::thread::sleep(Duration::from_millis(2500));
        });
        let made = Made { end: 50, ended: AtomicBool::new(false), ..Made::default() };
        let error = deal(&twin, &Dealing { chunks: Some(1000), ..dealing }, &Never(made)).unwrap_err();
        assert!(error.to_string().starts_with("no word from rank 1"), "{error}");
    });
}

/// A rank whose records are never made.
struct Never(Made);

impl Local for Never {
    fn ahead(&self) -> u64 {
        1
    }
    fn give(&self, _: Range<u64>) {}
    fn end(&self) {}
    fn take_complete(&self) -> Vec<Complete> {
        Vec::new()
    }
    fn place(&self, chunk: u64, offsets: &[u64]) {
        self.0.place(chunk, offsets);
    }
    fn input_end(&self) -> Option<u64> {
        None
    }
    fn going(&self) -> Going {
        Going::On
    }
}
