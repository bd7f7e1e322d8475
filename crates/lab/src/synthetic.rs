//! An engine of a settable cost: so much work, so many dependent memory accesses, or so long a sleep per read.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zerohop_engine_null::add_unmapped;
use zerohop_model::alignment::Alignments;
use zerohop_model::chunk::Chunk;
use zerohop_model::engine::{Cut, Engine};
use zerohop_model::error::Error;
use zerohop_model::mapper::Mapper;
use zerohop_model::record::Contig;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Rounds of work that are timed at once, and how often.
const ROUNDS: u64 = 1_000_000;
const TRIALS: usize = 5;

/// What a read costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Work that keeps the core busy. It is a number of rounds and not a time: a thread that is not running gets on
    /// with nothing.
    pub work: Duration,
    /// Sleep, which needs no core: as if each thread had one of its own. All reads of a chunk sleep together.
    pub sleep: Duration,
    /// Accesses to the table, each of which waits for the one before.
    pub accesses: u32,
    /// Bytes of the table.
    pub table_bytes: usize,
    /// The first fragment of each so many costs so many times as much; none if all are alike.
    pub skew: Option<(u64, u32)>,
}

/// The engine.
#[derive(Debug)]
pub struct Synthetic {
    cost: Cost,
    /// What [`Cost::work`] comes to.
    rounds: u64,
    /// Each line names the next one; a single circle through all.
    table: Vec<[u64; LINE / 8]>,
    contigs: Vec<Contig>,
    /// Mappers that were made.
    mappers: AtomicU64,
}

impl Synthetic {
    /// Makes the table, in memory as the calling thread has it placed. `rounds_per_second` is what
    /// [`rounds_per_second`] found: once for all that are compared.
    pub fn new(cost: Cost, rounds_per_second: f64) -> Self {
        let rounds = (cost.work.as_secs_f64() * rounds_per_second) as u64;
        let table = if cost.accesses == 0 { Vec::new() } else { circle((cost.table_bytes / LINE).max(1)) };
        Synthetic { cost, rounds, table, contigs: Vec::new(), mappers: AtomicU64::new(0) }
    }
}

/// Rounds of work per second of a core that nothing disturbs: the best of some trials.
pub fn rounds_per_second() -> f64 {
    let trial = |_| {
        let started = Instant::now();
        black_box(work(1, ROUNDS));
        started.elapsed()
    };
    ROUNDS as f64 / (0..TRIALS).map(trial).min().unwrap_or(Duration::from_secs(1)).as_secs_f64().max(1e-9)
}

/// Rounds of a linear congruential generator: each needs the one before. They stay in registers: through memory, on a
/// processor that guesses what a load will bring, some processes took 1.9 times as long as others.
fn work(seed: u64, rounds: u64) -> u64 {
    // The compiler must not know them, or it might find a shorter way.
    let (factor, term) = (black_box(6_364_136_223_846_793_005), black_box(1_442_695_040_888_963_407));
    black_box((0..rounds).fold(seed, |x: u64, _| x.wrapping_mul(factor).wrapping_add(term)))
}

/// A random circle through all lines (Sattolo's algorithm).
fn circle(lines: usize) -> Vec<[u64; LINE / 8]> {
    let mut table: Vec<[u64; LINE / 8]> = (0..lines as u64).map(|i| [i; LINE / 8]).collect();
    let mut random = 1;
    for i in (1..lines).rev() {
        random = work(random, 1);
        let j = (random >> 33) as usize % i;
        let (one, other) = (table[i][0], table[j][0]);
        (table[i][0], table[j][0]) = (other, one);
    }
    table
}

impl Engine for Synthetic {
    fn program(&self) -> (&str, &str) {
        ("zerohop-synthetic", env!("CARGO_PKG_VERSION"))
    }

    fn cut(&self) -> Cut {
        Cut::at(100_000)
    }

    fn max_read_bases(&self) -> usize {
        1 << 20
    }

    fn contigs(&self) -> &[Contig] {
        &self.contigs
    }

    fn index_bytes(&self) -> u64 {
        (self.table.len() * LINE) as u64
    }

    fn replicate(&self, _threads: usize) -> Result<Box<dyn Engine>, Error> {
        let (table, contigs) = (self.table.clone(), self.contigs.clone());
        Ok(Box::new(Synthetic { cost: self.cost, rounds: self.rounds, table, contigs, mappers: AtomicU64::new(0) }))
    }

    fn mapper(&self) -> Box<dyn Mapper + '_> {
        // Threads that started at one place would find what the others have just fetched.
        let place = work(self.mappers.fetch_add(1, Ordering::Relaxed) + u64::from(std::process::id()), 2) >> 8;
        Box::new(SyntheticMapper { engine: self, place, value: 1 })
    }
}

struct SyntheticMapper<'e> {
    engine: &'e Synthetic,
    place: u64,
    value: u64,
}

impl SyntheticMapper<'_> {
    fn cost_of(&mut self, times: u32) -> Duration {
        let Synthetic { cost, rounds, table, .. } = self.engine;
        for _ in 0..u64::from(cost.accesses) * u64::from(times) {
            self.place = table[self.place as usize % table.len()][0];
        }
        self.value = black_box(work(self.value ^ self.place, rounds * u64::from(times)));
        cost.sleep * times
    }
}

impl Mapper for SyntheticMapper<'_> {
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error> {
        let mut sleep = Duration::ZERO;
        for (number, fragment) in (chunk.ticket.first_fragment..).zip(chunk.fragments()) {
            let skewed = self.engine.cost.skew.filter(|(every, _)| number % every.max(&1) == 0);
            let times = skewed.map_or(1, |(_, times)| times);
            for _ in fragment.reads() {
                sleep += self.cost_of(times);
            }
            add_unmapped(fragment.mate.is_some(), out);
        }
        if !sleep.is_zero() {
            std::thread::sleep(sleep);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_one_circle() {
        for lines in [1, 2, 3, 100] {
            let table = circle(lines);
            let (mut place, mut steps) = (0, 0);
            loop {
                place = table[place][0] as usize;
                steps += 1;
                if place == 0 {
                    break;
                }
            }
            assert_eq!(steps, lines);
        }
    }
}
