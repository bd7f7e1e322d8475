//! Made-up results, of sizes and numbers that differ much between ranks and batches, and what any exchange must do with
//! them. The tests of the laboratory have them, too.
#![allow(clippy::unwrap_used, dead_code)]

use std::sync::{Arc, Mutex};
use std::time::Duration;
use zerohop_ranks::exchange::{Batch, Frame, Output, RankReport, Record};
use zerohop_ranks::{ExchangeError, Transport, TransportError, Twin};

/// Where an exchange has its batches from.
pub type Next<'n> = &'n mut dyn FnMut() -> Result<Option<Batch>, String>;
/// What it comes to.
pub type Outcome = Result<(RankReport, u64), ExchangeError>;

#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub seed: u64,
    pub batches: u64,
    pub ranks: usize,
    pub most: usize,
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

impl Job {
    /// What `rank` found for batch `number`.
    pub fn batch(&self, rank: usize, number: u64) -> Batch {
        let mut state = self.seed * 1_000_003 + number * 1009 + rank as u64;
        let frame = (!number.is_multiple_of(3)).then(|| -> Box<dyn Frame> { Box::new(Counts) });
        let mut batch = Batch { frame, ..Batch::default() };
        for query in 0..6u32 {
            // Some ranks have nothing, some a lot.
            let results = match random(&mut state) % 4 {
                0 => 0,
                few => random(&mut state) % (few * few),
            };
            let mut keys: Vec<u8> = (0..results).map(|_| (random(&mut state) % 50) as u8).collect();
            keys.sort_unstable();
            for (i, key) in keys.into_iter().enumerate() {
                let text =
                    format!("{number} {query} {key} {rank} {i} {}\n", "x".repeat((random(&mut state) % 40) as usize));
                let mut bytes = [0; Record::KEY_BYTES];
                (bytes[0], bytes[1], bytes[2]) = (key, rank as u8, i as u8);
                batch.records.push(Record { query, key: bytes, bytes: text.len() as u32 });
                batch.text.extend_from_slice(text.as_bytes());
            }
        }
        batch
    }
}

/// Says before each query how many of its results there are, and at the end how many there are in all.
#[derive(Debug)]
struct Counts;

impl Frame for Counts {
    fn pieces(&self, survivors: &[(u32, [u8; Record::KEY_BYTES])]) -> Vec<(usize, Vec<u8>)> {
        let mut pieces: Vec<(usize, Vec<u8>)> = (0..6)
            .map(|query| {
                let first = survivors.partition_point(|(other, _)| *other < query);
                (first, count(survivors.iter().filter(|(other, _)| *other == query).count()))
            })
            .collect();
        pieces.push((survivors.len(), count(survivors.len())));
        pieces
    }
}

fn count(results: usize) -> Vec<u8> {
    format!("{} results\n", "|".repeat(results)).into_bytes()
}

/// All results of all ranks, sorted and cut, and with their numbers where these belong.
pub fn expected(job: Job) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..job.batches {
        let mut all = Vec::new();
        for rank in 0..job.ranks {
            let batch = job.batch(rank, number);
            let mut at = 0;
            for record in batch.records {
                all.push((record, batch.text[at..at + record.bytes as usize].to_vec()));
                at += record.bytes as usize;
            }
        }
        all.sort();
        let mut in_all = 0;
        let say = |results: usize, text: &mut Vec<u8>| {
            if !number.is_multiple_of(3) {
                text.extend(count(results))
            }
        };
        for query in 0..6 {
            let kept: Vec<_> = all.iter().filter(|(record, _)| record.query == query).take(job.most).collect();
            say(kept.len(), &mut text);
            kept.iter().for_each(|(_, line)| text.extend_from_slice(line));
            in_all += kept.len();
        }
        say(in_all, &mut text);
    }
    text
}

/// A file in memory.
#[derive(Clone, Default)]
pub struct Memory(pub Arc<Mutex<Vec<u8>>>);

impl Output for Memory {
    fn write(&mut self, _: u64, offset: u64, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = self.0.lock().unwrap();
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        if file.len() < end {
            file.resize(end, 0);
        }
        assert!(file[start..end].iter().all(|byte| *byte == 0), "written twice");
        file[start..end].copy_from_slice(bytes);
        Ok(())
    }
}

pub struct Nowhere;

impl Output for Nowhere {
    fn write(&mut self, _: u64, _: u64, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
}

/// The output of an exchange between threads, and what each did.
pub fn run_on_twins(
    job: Job,
    exchange: &(dyn Fn(&Twin, Next, &mut dyn Output) -> Outcome + Sync),
) -> (Vec<u8>, Vec<RankReport>) {
    let memory = Memory::default();
    let ranks = Twin::ranks(job.ranks, Duration::from_secs(30));
    let reports = std::thread::scope(|scope| {
        let work = |twin: Twin, mut output: Memory| {
            let mut number = 0;
            let mut next = || {
                number += 1;
                Ok((number <= job.batches).then(|| job.batch(twin.rank(), number - 1)))
            };
            exchange(&twin, &mut next, &mut output).unwrap().0
        };
        let start = |twin| {
            let output = memory.clone();
            scope.spawn(move || work(twin, output))
        };
        let threads: Vec<_> = ranks.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let text = memory.0.lock().unwrap().clone();
    (text, reports)
}

/// An exchange of 3 ranks of which rank 1 has no fourth batch must end on all of them: that rank says so, or nothing
/// for longer than the others wait.
pub fn one_ends_all(what: &str, silent: bool, exchange: &(dyn Fn(&Twin, Next, &mut dyn Output) -> Outcome + Sync)) {
    let limit = Duration::from_secs(if silent { 3 } else { 60 });
    let job = Job { seed: 1, batches: 6, ranks: 3, most: 3 };
    let work = |twin: Twin| {
        let mut number = 0;
        let mut next = || {
            number += 1;
            match twin.rank() == 1 && number == 4 {
                true if silent => {
                    std::thread::sleep(2 * limit);
                    Err("late".to_owned())
                }
                true => Err("the search failed".to_owned()),
                false => Ok(Some(job.batch(twin.rank(), number))),
            }
        };
        let outcome = exchange(&twin, &mut next, &mut Nowhere);
        if outcome.is_err() && !silent {
            twin.fail();
        }
        (twin.rank(), outcome.unwrap_err())
    };
    let errors: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = Twin::ranks(3, limit).into_iter().map(|twin| scope.spawn(|| work(twin))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (rank, error) in errors {
        let expected = match rank {
            1 => matches!(error, ExchangeError::Search(_)),
            _ => matches!(error, ExchangeError::Transport(TransportError::PeerFailed | TransportError::Silent { .. })),
        };
        assert!(expected, "{what}: rank {rank}: {error}");
    }
}
