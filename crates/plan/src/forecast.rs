//! What a strategy should come to: threads that queue at memory banks, and at what only one thread of a program does at
//! a time.
//!
//! Each thread computes for a while, then needs a cache line that lies in some bank: the line takes the time of the way
//! there, and waits while the bank serves others. That is a closed network with one station per bank, solved by mean
//! value analysis (Reiser and Lavenberg, 1980). A program of its own has besides a part of work that its threads do one
//! after the other (Amdahl, 1967): reading, writing, and the locks of its allocator.
//!
//! Latencies and bandwidths are those that `zerohop topo --measure` found on this machine, or assumed from the
//! firmware's distances and the number of cores; of the aligner nothing is known but whether it is a program of its
//! own. [`Assumed`] says what is taken for the rest. No figure in it was fitted to the published times, and the rule
//! asks what would be best if each were half or twice as large (rank.rs).

use crate::group;
use crate::known::KnownMachine;
use crate::strategy::{Engine, Need, Strategy};
use std::collections::BTreeMap;
use zerohop_model::machine::{Machine, Node, NodeId};
use zerohop_model::memory_map::MemoryMap;
use zerohop_model::plan::Pages;

/// Bytes of a line.
const LINE: f64 = 64.0;
/// Random lines get about half of what a bank gives in order, for each opens another row of it.
const RANDOM: f64 = 0.5;
/// The part of lines that are a thread's own: reads, records, and what it computes with.
const PRIVATE: f64 = 0.25;
/// The part of index lines at most that the last cache holds: the rest of it is for the threads' own.
const CACHED: f64 = 0.5;
/// A thread that shares its core with another one computes so many times as long: two threads of a core are a third
/// faster than one.
const SHARED_CORE: f64 = 1.5;

/// What is assumed of an aligner, and of banks that were not measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumed {
    /// Nanoseconds that a thread computes between two lines that it must wait for: about as long as a line takes to
    /// come, for aligners spend a third to a half of their time waiting for memory.
    pub think_ns: f64,
    /// The part of its work that a program of its own does in one thread at a time: with 16 threads, which Langmead et
    /// al. (2019) found processes best with, a hundredth costs an eighth of the speed.
    pub serial: f64,
    /// GB/s that a bank gives in order for each core of its node: one channel of memory for eight cores, or eight
    /// channels for 64.
    pub core_gb_s: f64,
}

impl Assumed {
    /// What is assumed unless somebody asks what would be if.
    pub const USUAL: Assumed = Assumed { think_ns: 100.0, serial: 0.01, core_gb_s: 1.25 };

    /// These assumptions, and all others in which each figure is the same, twice as large, or half as large; a program
    /// may also do nothing in one thread at a time. The first are these.
    pub fn around(self) -> Vec<Assumed> {
        const TIMES: [f64; 3] = [1.0, 0.5, 2.0];
        const TIMES_SERIAL: [f64; 3] = [1.0, 0.0, 2.0];
        let of = |think: f64, serial: f64, bank: f64| Assumed {
            think_ns: think * self.think_ns,
            serial: serial * self.serial,
            core_gb_s: bank * self.core_gb_s,
        };
        let banks = |think, serial| TIMES.map(|bank| of(think, serial, bank));
        TIMES.iter().flat_map(|&think| TIMES_SERIAL.iter().flat_map(move |&serial| banks(think, serial))).collect()
    }
}

/// What a strategy is expected to come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Lines per microsecond, of all threads: higher is faster. Only ratios mean anything.
    pub speed: f64,
    /// The part of accesses that go to other nodes, 0 to 1.
    pub remote: f64,
    /// The part of time in which the busiest bank is busy, 0 to 1.
    pub busiest: f64,
    /// Whether the ways were measured, and not assumed.
    pub measured: bool,
}

/// What `strategy` should come to for `need` on `machine`.
pub fn forecast(
    machine: &Machine,
    map: Option<&MemoryMap>,
    need: &Need,
    strategy: Strategy,
    assumed: &Assumed,
) -> Forecast {
    forecast_on(&KnownMachine::of(machine, map, need.index_bytes), need, strategy, assumed)
}

/// The same, where the machine has been looked up.
pub(crate) fn forecast_on(known: &KnownMachine<'_>, need: &Need, strategy: Strategy, assumed: &Assumed) -> Forecast {
    let copies = strategy.copies.max(1);
    let groups = group(&known.homes, copies);
    // Copies on one node share its bank and its cache; copies on nodes of their own do not meet.
    let per_node = copies.div_ceil(known.homes.len().max(1));
    let model = Model { known, need, assumed, per_node };
    let threads_each = (need.threads as f64 * per_node as f64 / copies as f64).round().max(1.0) as usize;
    let (mut speed, mut remote, mut busiest) = (0.0, 0.0, 0.0f64);
    let distinct = groups.len() / per_node;
    for readers in groups.iter().take(distinct) {
        let readers = if copies == 1 { &known.nodes } else { readers };
        let banks = banks(known, readers, strategy);
        let network = model.network(readers, &banks, strategy.pages, threads_each);
        speed += network.speed;
        remote += network.remote / distinct as f64;
        busiest = busiest.max(network.busiest);
    }
    let in_order = match need.engine {
        Engine::Embedded => 1.0,
        Engine::External { .. } => {
            let threads = need.threads as f64 / copies as f64;
            1.0 / (1.0 + assumed.serial * (threads - 1.0).max(0.0))
        }
    };
    Forecast { speed: speed * in_order * 1e3, remote, busiest, measured: known.is_measured }
}

/// The banks that hold a copy, and the part of it that each holds.
fn banks(known: &KnownMachine<'_>, readers: &[&Node], strategy: Strategy) -> Vec<(NodeId, f64)> {
    let own: Vec<NodeId> = readers.iter().map(|node| node.id).filter(|node| known.is_home(*node)).collect();
    let nodes: Vec<NodeId> = match strategy.pages {
        Pages::Interleave if strategy.copies == 1 => known.banks_of_one.clone(),
        Pages::Interleave => own,
        // Bound to several nodes, or written by one thread: one bank after the other is filled.
        Pages::Local | Pages::FirstTouch | Pages::LocalAlloc => own.into_iter().take(1).collect(),
    };
    let part = 1.0 / nodes.len().max(1) as f64;
    nodes.into_iter().map(|node| (node, part)).collect()
}

/// What is known and assumed.
struct Model<'a> {
    known: &'a KnownMachine<'a>,
    need: &'a Need,
    assumed: &'a Assumed,
    /// Copies that share a node.
    per_node: usize,
}

impl Model<'_> {
    /// Nanoseconds of computing between two lines; longer where threads share cores.
    fn think_ns(&self) -> f64 {
        match self.need.threads > self.known.cores && self.known.threads_of_a_core > 1.0 {
            true => SHARED_CORE * self.assumed.think_ns,
            false => self.assumed.think_ns,
        }
    }

    /// The part of index lines that the last cache of a node holds.
    fn cached(&self) -> f64 {
        (self.known.cache / self.per_node as f64 / self.need.index_bytes.max(1) as f64).min(CACHED)
    }

    /// Threads of `readers` whose copy lies on `banks`, and what is their own where the policy puts it: an interleaved
    /// program has all its memory interleaved, while workers of an embedded engine keep their own on their node.
    fn network(&self, readers: &[&Node], banks: &[(NodeId, f64)], pages: Pages, threads: usize) -> Forecast {
        let spread_out = pages == Pages::Interleave && self.need.engine != Engine::Embedded;
        let of_index = (1.0 - PRIVATE) * (1.0 - self.cached());
        let readers: Vec<usize> = readers.iter().map(|reader| self.known.place(reader.id)).collect();
        let mut parts: BTreeMap<usize, f64> =
            banks.iter().map(|(bank, part)| (self.known.place(*bank), *part)).collect();
        // A reader without a bank of its own among these has its own lines there where the copy is.
        readers.iter().for_each(|reader| _ = parts.entry(*reader).or_insert(0.0));
        let share = 1.0 / readers.len().max(1) as f64;
        let (mut way_ns, mut remote) = (0.0, 0.0);
        let mut demands = Vec::with_capacity(parts.len());
        for (&bank, &part) in &parts {
            let mut asked = 0.0;
            for &reader in &readers {
                let own = if spread_out { part } else { f64::from(u8::from(bank == reader)) };
                let lines = share * (of_index * part + PRIVATE * own);
                way_ns += lines * self.known.way_ns(reader, bank);
                remote += if reader == bank { 0.0 } else { lines };
                asked += lines;
            }
            demands.push(asked * LINE / (RANDOM * self.known.bank_gb_s(bank, self.assumed.core_gb_s)));
        }
        // The way includes being served once.
        let delay_ns = self.think_ns() + (way_ns - demands.iter().sum::<f64>()).max(0.0);
        let speed = mean_value_analysis(delay_ns, &demands, threads);
        let busiest = demands.iter().fold(0.0, |most: f64, demand| most.max(demand * speed));
        Forecast { speed, remote, busiest, measured: self.known.is_measured }
    }
}

/// Rounds per nanosecond of `customers` that spend `delay` by themselves and `demands` at one station each, per round.
fn mean_value_analysis(delay: f64, demands: &[f64], customers: usize) -> f64 {
    let alike = alike(demands);
    let (mut queues, mut rate) = (vec![0.0; alike.len()], 0.0);
    for present in 1..=customers {
        let at = |((demand, _), queue): (&(f64, f64), &f64)| demand * (1.0 + queue);
        let times: f64 = alike.iter().zip(&queues).map(|(station, queue)| station.1 * at((station, queue))).sum();
        rate = present as f64 / (delay + times);
        queues.iter_mut().zip(&alike).for_each(|(queue, station)| *queue = at((station, queue)) * rate);
    }
    rate
}

/// Stations with the same demand have the same queue: each demand once, and of how many stations it is. Those of
/// hundreds of nodes are nearly always the same.
fn alike(demands: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = demands.to_vec();
    sorted.sort_by(f64::total_cmp);
    // They were added up in different orders.
    let same = sorted.chunk_by(|one, other| other - one <= 1e-9 * other.abs());
    same.filter_map(|stations| Some((*stations.first()?, stations.len() as f64))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_follow_the_known_laws() {
        // One customer never waits; many are limited by the slowest station.
        assert!((mean_value_analysis(90.0, &[10.0], 1) - 0.01).abs() < 1e-12);
        let many = mean_value_analysis(90.0, &[10.0, 5.0], 200);
        assert!((0.099..=0.1).contains(&many), "{many}");
        // Two customers at one station, worked out by hand: at it 10 * (1 + 0.1) = 11, so 2 / 101.
        assert!((mean_value_analysis(90.0, &[10.0], 2) - 2.0 / 101.0).abs() < 1e-12);
        // Stations that are alike, each by itself: with n customers and m of them, n / (delay + demand * (n + m - 1)).
        let balanced = mean_value_analysis(0.0, &[10.0; 4], 6);
        assert!((balanced - 6.0 / (10.0 * 9.0)).abs() < 1e-12, "{balanced}");
        assert_eq!(alike(&[2.0, 1.0, 2.0 + 1e-12, 0.0, 0.0]), [(0.0, 2.0), (1.0, 1.0), (2.0, 2.0)]);
    }

    #[test]
    fn what_was_measured_of_memory_without_cpus_counts() {
        use zerohop_model::machine::Bytes;
        use zerohop_model::memory_map::{Reading, Source};
        // Two nodes with CPUs, and one with memory alone, which the copy needs.
        let mut machine = crate::tests::machine(3, 8, 16);
        machine.nodes[2].cpus.clear();
        machine.allowed.cpus.truncate(16);
        let need = Need { index_bytes: 20 << 30, engine: Engine::Embedded, threads: 16 };
        let speed = |far_gb_s: f64| {
            let of = |near: f64, other: f64, far: f64| vec![vec![near, other, far], vec![other, near, far]];
            let reading = Reading { latency_ns: of(90.0, 140.0, 250.0), bandwidth_gb_s: of(100.0, 60.0, far_gb_s) };
            let map = MemoryMap {
                measured_at: 0,
                buffer: Bytes(1 << 30),
                page_size: Bytes(4096),
                on_huge_pages: 1.0,
                sources: [0, 1].map(|node| Source { node: NodeId(node), cpus: 8 }).to_vec(),
                targets: [0, 1, 2].map(NodeId).to_vec(),
                one_thread: reading.clone(),
                all_threads: reading,
                contention: Vec::new(),
                notes: Vec::new(),
            };
            let one = Strategy { copies: 1, pages: Pages::Interleave };
            forecast(&machine, Some(&map), &need, one, &Assumed::USUAL).speed
        };
        assert!(speed(1.0) < 0.5 * speed(60.0), "{} {}", speed(1.0), speed(60.0));
        assert!(speed(60.0) <= speed(100.0));
    }

    #[test]
    fn the_first_assumptions_are_the_usual_ones() {
        let all = Assumed::USUAL.around();
        assert_eq!((all.len(), all[0]), (27, Assumed::USUAL));
    }
}
