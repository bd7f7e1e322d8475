//! What is known of a machine, looked up once for all strategies: with hundreds of nodes that takes longer than to
//! judge one.

use crate::room::banks_of_one;
use crate::{cpu_nodes, homes};
use std::collections::{BTreeMap, BTreeSet};
use zerohop_model::machine::{CpuId, Machine, Node, NodeId};
use zerohop_model::memory_map::MemoryMap;

/// Assumed where nothing was measured: the way to a node's own memory, in nanoseconds.
const LOCAL_NS: f64 = 100.0;
/// Distances of firmware: 10 is local, 20 is twice as far.
const LOCAL_DISTANCE: u32 = 10;
const REMOTE_DISTANCE: u32 = 20;

/// A machine, as a model of its memory sees it. Nodes are known by their place among those of the machine.
#[derive(Debug, Clone)]
pub(crate) struct KnownMachine<'m> {
    /// The nodes with CPUs that this process may use.
    pub nodes: Vec<&'m Node>,
    /// Those of them with memory that this process may use.
    pub homes: Vec<&'m Node>,
    /// The nodes over which one copy is spread.
    pub banks_of_one: Vec<NodeId>,
    /// Cores that this process may use.
    pub cores: usize,
    /// CPUs that we may use on each of these cores, in the mean.
    pub threads_of_a_core: f64,
    /// Bytes of the last cache of a node.
    pub cache: f64,
    /// Whether ways and banks were measured.
    pub is_measured: bool,
    places: BTreeMap<NodeId, usize>,
    home_ids: BTreeSet<NodeId>,
    ways_ns: Vec<Vec<f64>>,
    banks: Vec<Bank>,
}

#[derive(Debug, Clone, Copy)]
struct Bank {
    /// GB/s that it gives in order, if that was measured.
    measured_gb_s: Option<f64>,
    /// Cores of its node.
    cores: f64,
}

impl<'m> KnownMachine<'m> {
    /// For an index of so many bytes.
    pub(crate) fn of(machine: &'m Machine, map: Option<&MemoryMap>, index_bytes: u64) -> Self {
        let nodes = cpu_nodes(machine);
        let homes = homes(machine, &nodes);
        let cores = cores(machine);
        let threads_of_a_core = machine.allowed.cpus.len().max(1) as f64 / cores as f64;
        let of_node = cores_of_nodes(machine, threads_of_a_core);
        let bank = |(node, cores): (&Node, f64)| Bank { measured_gb_s: bank_gb_s(map, node.id), cores };
        KnownMachine {
            home_ids: homes.iter().map(|node| node.id).collect(),
            homes,
            nodes,
            banks_of_one: banks_of_one(machine, index_bytes).iter().map(|node| node.id).collect(),
            cores,
            threads_of_a_core,
            cache: cache(machine),
            is_measured: map.is_some(),
            places: machine.nodes.iter().enumerate().map(|(place, node)| (node.id, place)).collect(),
            ways_ns: ways_ns(machine, map),
            banks: machine.nodes.iter().zip(of_node).map(bank).collect(),
        }
    }

    pub(crate) fn place(&self, node: NodeId) -> usize {
        self.places.get(&node).copied().unwrap_or(0)
    }

    pub(crate) fn is_home(&self, node: NodeId) -> bool {
        self.home_ids.contains(&node)
    }

    /// The way from the CPUs of one node to the memory of another one.
    pub(crate) fn way_ns(&self, from: usize, to: usize) -> f64 {
        self.ways_ns[from][to]
    }

    /// GB/s that a bank gives in order; not measured, it is assumed to be so much for each core.
    pub(crate) fn bank_gb_s(&self, bank: usize, core_gb_s: f64) -> f64 {
        let Bank { measured_gb_s, cores } = self.banks[bank];
        measured_gb_s.unwrap_or(core_gb_s * cores.max(1.0))
    }
}

/// Cores with CPUs that we may use, each counted once. Under a cpuset on a machine that does not tell which CPUs share
/// a core, each CPU counts as one.
pub(crate) fn cores(machine: &Machine) -> usize {
    let allowed = machine.allowed.cpus.len();
    if !machine.cores.is_empty() {
        let ours: BTreeSet<CpuId> = machine.allowed.cpus.iter().copied().collect();
        return machine.cores.iter().filter(|core| core.iter().any(|cpu| ours.contains(cpu))).count().max(1);
    }
    if allowed < machine.nodes.iter().map(|node| node.cpus.len()).sum::<usize>() {
        return allowed.max(1);
    }
    let per_core = machine.caches.iter().filter(|cache| cache.level == 1 && cache.kind != "Instruction");
    let per_core = per_core.map(|cache| cache.shared_by.max(1)).min().unwrap_or(1);
    (allowed / per_core as usize).max(1)
}

/// The cores of each node, those that we may not use, too. Of memory without CPUs nothing is known, and it is taken to
/// be as the others are.
fn cores_of_nodes(machine: &Machine, threads_of_a_core: f64) -> Vec<f64> {
    let first: BTreeSet<CpuId> = machine.cores.iter().filter_map(|core| core.first().copied()).collect();
    let of_node = |node: &Node| match first.is_empty() {
        true => node.cpus.len() as f64 / threads_of_a_core,
        false => node.cpus.iter().filter(|cpu| first.contains(cpu)).count() as f64,
    };
    let cores: Vec<f64> = machine.nodes.iter().map(of_node).collect();
    let mean = cores.iter().sum::<f64>() / with_cpus(machine);
    let is_empty = |place: usize| machine.nodes[place].cpus.is_empty();
    cores.iter().enumerate().map(|(place, cores)| if is_empty(place) { mean } else { *cores }).collect()
}

/// The number of nodes with CPUs.
fn with_cpus(machine: &Machine) -> f64 {
    machine.nodes.iter().filter(|node| !node.cpus.is_empty()).count().max(1) as f64
}

fn cache(machine: &Machine) -> f64 {
    let last = machine.caches.iter().filter(|cache| cache.kind != "Instruction").max_by_key(|cache| cache.level);
    last.map_or(0.0, |cache| cache.size.0 as f64 * f64::from(cache.count)) / with_cpus(machine)
}

fn ways_ns(machine: &Machine, map: Option<&MemoryMap>) -> Vec<Vec<f64>> {
    let way = |from: usize, to: usize| {
        let measured = map.and_then(|map| {
            let row = map.sources.iter().position(|source| source.node == machine.nodes[from].id)?;
            let column = map.targets.iter().position(|target| *target == machine.nodes[to].id)?;
            map.one_thread.latency_ns.get(row)?.get(column).copied()
        });
        let distance = machine.distances.get(from).and_then(|row| row.get(to)).copied();
        let distance = distance.unwrap_or(if from == to { LOCAL_DISTANCE } else { REMOTE_DISTANCE });
        measured.unwrap_or(LOCAL_NS * f64::from(distance) / f64::from(LOCAL_DISTANCE))
    };
    let nodes = machine.nodes.len();
    (0..nodes).map(|from| (0..nodes).map(|to| way(from, to)).collect()).collect()
}

/// GB/s that the threads of a node get from its bank together. Memory without CPUs gives what any node can take from
/// it.
fn bank_gb_s(map: Option<&MemoryMap>, bank: NodeId) -> Option<f64> {
    let map = map?;
    let column = map.targets.iter().position(|target| *target == bank)?;
    let from = |row: &Vec<f64>| row.get(column).copied();
    let rows = &map.all_threads.bandwidth_gb_s;
    let own = map.sources.iter().position(|source| source.node == bank).and_then(|row| rows.get(row));
    own.and_then(from).or_else(|| rows.iter().filter_map(from).max_by(f64::total_cmp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine;
    use zerohop_model::machine::{Bytes, Cache};

    #[test]
    fn hardware_threads_are_known_under_a_cpuset_too() {
        // Two threads of a core: 0 and 8, 1 and 9, as Linux numbers them.
        let mut smt = machine(2, 8, 16);
        smt.caches = vec![Cache { level: 1, kind: "Data".into(), size: Bytes(1 << 15), shared_by: 2, count: 8 }];
        assert_eq!(cores(&smt), 8, "by the caches");
        smt.cores = (0..8).map(|core| vec![CpuId(core), CpuId(core + 8)]).collect();
        assert_eq!(cores(&smt), 8);
        let of = |cpus: &[u32]| {
            let mut limited = smt.clone();
            limited.allowed.cpus = cpus.iter().copied().map(CpuId).collect();
            cores(&limited)
        };
        assert_eq!(of(&[0, 1, 2, 3]), 4, "one thread of each of four cores");
        assert_eq!(of(&[0, 1, 8, 9]), 2, "both threads of two cores");
        smt.cores.clear();
        smt.allowed.cpus.truncate(4);
        assert_eq!(cores(&smt), 4, "not told, so none is taken for two");
    }

    #[test]
    fn a_bank_has_the_cores_of_its_node_whichever_are_ours() {
        let mut smt = machine(2, 8, 16);
        smt.cores = (0..8).map(|core| vec![CpuId(2 * core), CpuId(2 * core + 1)]).collect();
        smt.allowed.cpus = (0..8).map(|core| CpuId(2 * core)).collect();
        let known = KnownMachine::of(&smt, None, 1 << 30);
        assert_eq!((known.cores, known.threads_of_a_core), (8, 1.0));
        assert_eq!(known.bank_gb_s(0, 1.0), 4.0, "four cores of two threads");
    }
}
