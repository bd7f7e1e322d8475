//! What a strategy should come to: threads that queue at memory banks.
//!
//! Each thread computes for a while, then needs a cache line that lies in some bank: the line takes the time of the way there, and
//! waits while the bank serves others. That is a closed network with one station per bank, solved by mean value analysis (Reiser and
//! Lavenberg, 1980). Latencies and bandwidths are those that `zerohop topo --measure` found on this machine, or assumed from the
//! firmware's distances; how often an aligner needs a line is assumed. So it explains a strategy and puts those in order that nobody
//! tried; it never overrules what was tried (crates/plan/tests/published.rs says how often its order is right).

use crate::strategy::Strategy;
use crate::{cpu_nodes, group, homes};
use zerohop_model::machine::{Machine, Node, NodeId};
use zerohop_model::memory_map::MemoryMap;
use zerohop_model::plan::Pages;

/// Nanoseconds that a thread computes between two lines that it must wait for: about as long as a line takes to come, for aligners
/// spend a third to a half of their time waiting for memory.
const THINK_NS: f64 = 100.0;
/// Assumed where nothing was measured: the way to a node's own memory, and what a bank gives.
const LOCAL_NS: f64 = 100.0;
const BANK_GB_S: f64 = 10.0;
/// Bytes of a line.
const LINE: f64 = 64.0;

/// What a strategy should come to.
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

/// What `strategy` should come to with `threads` threads on `machine`.
pub fn forecast(machine: &Machine, map: Option<&MemoryMap>, strategy: Strategy, threads: usize) -> Forecast {
    let ways = Ways { machine, map };
    let nodes = cpu_nodes(machine);
    let homes = homes(machine, &nodes);
    let groups = group(&homes, strategy.copies);
    // Copies on one node share its bank; copies on nodes of their own do not meet.
    let per_bank = strategy.copies.div_ceil(homes.len().max(1));
    let threads_each = (threads as f64 * per_bank as f64 / strategy.copies as f64).round().max(1.0) as usize;
    let (mut speed, mut remote, mut busiest) = (0.0, 0.0, 0.0f64);
    let distinct = groups.len() / per_bank;
    for readers in groups.iter().take(distinct) {
        let readers = if strategy.copies == 1 { &nodes } else { readers };
        let banks = banks(machine, &homes, readers, strategy);
        let network = ways.network(readers, &banks, threads_each);
        speed += network.speed;
        remote += network.remote / distinct as f64;
        busiest = busiest.max(network.busiest);
    }
    Forecast { speed: speed * 1e3, remote, busiest, measured: map.is_some() }
}

/// The banks that hold a copy, and the part of it that each holds.
fn banks(machine: &Machine, homes: &[&Node], readers: &[&Node], strategy: Strategy) -> Vec<(NodeId, f64)> {
    let own: Vec<NodeId> =
        readers.iter().filter(|node| homes.iter().any(|home| home.id == node.id)).map(|node| node.id).collect();
    let all = || machine.memory_nodes().iter().map(|node| node.id).collect();
    let nodes: Vec<NodeId> = match strategy.pages {
        Pages::Interleave if strategy.copies == 1 => all(),
        Pages::Interleave => own,
        // Bound to several nodes, or written by one thread: one bank after the other is filled.
        Pages::Local | Pages::FirstTouch | Pages::LocalAlloc => own.into_iter().take(1).collect(),
    };
    let part = 1.0 / nodes.len().max(1) as f64;
    nodes.into_iter().map(|node| (node, part)).collect()
}

/// What is known of the ways between nodes.
struct Ways<'a> {
    machine: &'a Machine,
    map: Option<&'a MemoryMap>,
}

impl Ways<'_> {
    fn latency_ns(&self, from: NodeId, to: NodeId) -> f64 {
        let measured = self.map.and_then(|map| {
            let (row, column) = Self::place(map, from, to)?;
            map.one_thread.latency_ns.get(row)?.get(column).copied()
        });
        // Distances of firmware: 10 is local, 20 is twice as far.
        let assumed =
            || LOCAL_NS * f64::from(self.machine.distance(from, to).unwrap_or(if from == to { 10 } else { 20 })) / 10.0;
        measured.unwrap_or_else(assumed)
    }

    fn bank_gb_s(&self, bank: NodeId) -> f64 {
        let measured = self.map.and_then(|map| {
            let (row, column) = Self::place(map, bank, bank)?;
            map.all_threads.bandwidth_gb_s.get(row)?.get(column).copied()
        });
        measured.unwrap_or(BANK_GB_S)
    }

    fn place(map: &MemoryMap, from: NodeId, to: NodeId) -> Option<(usize, usize)> {
        let row = map.sources.iter().position(|source| source.node == from)?;
        Some((row, map.targets.iter().position(|target| *target == to)?))
    }

    fn network(&self, readers: &[&Node], banks: &[(NodeId, f64)], threads: usize) -> Forecast {
        let (mut way_ns, mut remote) = (0.0, 0.0);
        for reader in readers {
            for (bank, part) in banks {
                let share = part / readers.len() as f64;
                way_ns += share * self.latency_ns(reader.id, *bank);
                remote += if reader.id == *bank { 0.0 } else { share };
            }
        }
        let demands: Vec<f64> = banks.iter().map(|(bank, part)| part * LINE / self.bank_gb_s(*bank)).collect();
        // The way includes being served once.
        let delay_ns = THINK_NS + (way_ns - demands.iter().sum::<f64>()).max(0.0);
        let speed = mean_value_analysis(delay_ns, &demands, threads);
        let busiest = demands.iter().fold(0.0, |most: f64, demand| most.max(demand * speed));
        Forecast { speed, remote, busiest, measured: self.map.is_some() }
    }
}

/// Rounds per nanosecond of `customers` that spend `delay` by themselves and `demands` at one station each, per round.
fn mean_value_analysis(delay: f64, demands: &[f64], customers: usize) -> f64 {
    let (mut queues, mut rate) = (vec![0.0; demands.len()], 0.0);
    for present in 1..=customers {
        let at: Vec<f64> = demands.iter().zip(&queues).map(|(demand, queue)| demand * (1.0 + queue)).collect();
        rate = present as f64 / (delay + at.iter().sum::<f64>());
        queues = at.iter().map(|time| time * rate).collect();
    }
    rate
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
    }
}
