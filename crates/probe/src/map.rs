//! The map: every node's CPUs against every node's memory, then all at once.

use crate::crowd::{AccessPattern, Crowd, ProbeError, ReadingThread};
use crate::ring::Ring;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zerohop_memory::Placed;
use zerohop_model::machine::{Bytes, CpuId, Machine, NodeId};
use zerohop_model::memory_map::{Banks, Contention, MemoryMap, Reading, Source};
use zerohop_model::plan::{HugePages, Pages, Placement};

/// Each figure is the median of so many readings.
const READINGS: usize = 3;
/// How long one reading takes.
const READING: Duration = Duration::from_millis(60);
/// A ring is at least so large, and so many times as large as the largest cache.
const LEAST_BYTES: u64 = 256 << 20;
const TIMES_CACHE: u64 = 8;
/// A ring takes at most this part of a node's free memory.
const MOST_OF_NODE: u64 = 4;

/// How much memory is read, and on which pages it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of each ring; by default eight times the largest cache and 256 MiB at least, but no more than a quarter of
    /// what is free on the node that has least.
    pub bytes: Option<Bytes>,
    /// Huge pages or not.
    pub huge_pages: HugePages,
}

/// A ring, and the placement under which it lies.
struct Laid {
    ring: Ring,
    placed: Placed,
}

/// Measures `machine`, which must be this one. `progress` is called with the part that is done, from 0 to 1.
///
/// # Errors
/// Threads that cannot be pinned; a machine without CPUs or memory that this process may use.
pub fn measure(machine: &Machine, extent: Extent, progress: &mut dyn FnMut(f64)) -> Result<MemoryMap, ProbeError> {
    let sources = sources(machine);
    let targets: Vec<NodeId> = machine.memory_nodes().iter().map(|node| node.id).collect();
    if sources.is_empty() || targets.is_empty() {
        return Err(ProbeError::Nothing);
    }
    let bytes = extent.bytes.map_or_else(|| ring_bytes(machine), |bytes| bytes.0);
    let lay = |nodes: Vec<NodeId>, pages| {
        let placed = Placed::new(&Placement { nodes, pages, huge_pages: extent.huge_pages });
        Laid { ring: placed.run(|| Ring::new(bytes as usize, 1)), placed }
    };
    let banks: Vec<Laid> = targets.iter().map(|node| lay(vec![*node], Pages::Local)).collect();
    let spread = (targets.len() > 1).then(|| lay(targets.clone(), Pages::Interleave));

    let readings = sources.len() * targets.len() * 4 + 2 * (targets.len() + 2);
    let mut round = ReadingRound { sources: &sources, banks: &banks, progress, done: 0, readings };
    let one_thread = Reading {
        latency_ns: round.each(AccessPattern::Chase, 1)?,
        bandwidth_gb_s: round.each(AccessPattern::Stream, 1)?,
    };
    let all = usize::MAX;
    let all_threads = Reading {
        latency_ns: round.each(AccessPattern::Chase, all)?,
        bandwidth_gb_s: round.each(AccessPattern::Stream, all)?,
    };
    // A node without memory reads the nearest bank in place of its own.
    let own: Vec<&Ring> = sources.iter().map(|(node, _)| &banks[nearest(machine, &targets, *node)].ring).collect();
    let mut contention = vec![round.crowd(Banks::Own, &own)?];
    if let Some(spread) = &spread {
        for (node, bank) in targets.iter().zip(&banks) {
            contention.push(round.crowd(Banks::One(*node), &vec![&bank.ring; sources.len()])?);
        }
        contention.push(round.crowd(Banks::Spread, &vec![&spread.ring; sources.len()])?);
    }

    let mut notes: Vec<String> = Vec::new();
    if sources.iter().map(|(_, cpus)| cpus.len()).sum::<usize>() > machine.allowed.worker_count() {
        notes.push("A CPU quota holds: it may have held up all threads together.".to_owned());
    }
    let on_huge_pages = look(&banks, &targets, &mut notes);
    (round.progress)(1.0);
    Ok(MemoryMap {
        measured_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        buffer: Bytes(banks[0].ring.bytes() as u64),
        page_size: machine.page_size,
        on_huge_pages,
        sources: sources.iter().map(|(node, cpus)| Source { node: *node, cpus: cpus.len() }).collect(),
        targets,
        one_thread,
        all_threads,
        contention,
        notes,
    })
}

/// A round of readings.
struct ReadingRound<'a> {
    sources: &'a [(NodeId, Vec<CpuId>)],
    banks: &'a [Laid],
    progress: &'a mut dyn FnMut(f64),
    done: usize,
    readings: usize,
}

impl ReadingRound<'_> {
    /// Every node's CPUs, `most` of them, against every bank.
    fn each(&mut self, kind: AccessPattern, most: usize) -> Result<Vec<Vec<f64>>, ProbeError> {
        let (sources, banks) = (self.sources, self.banks);
        let mut cell = |cpus: &[CpuId], bank: &Laid| {
            let readers = cpus.iter().take(most).map(|&cpu| ReadingThread { cpu, ring: &bank.ring });
            self.median(&Crowd::new(readers.collect()), kind)
        };
        sources.iter().map(|(_, cpus)| banks.iter().map(|bank| cell(cpus, bank)).collect()).collect()
    }

    /// All CPUs at once; those of each node read one ring.
    fn crowd(&mut self, memory: Banks, rings: &[&Ring]) -> Result<Contention, ProbeError> {
        let of_node = |((_, cpus), &ring)| -> Vec<_> {
            let cpus: &Vec<CpuId> = cpus;
            cpus.iter().map(|&cpu| ReadingThread { cpu, ring }).collect()
        };
        let all =
            Crowd::new(self.sources.iter().map(|(node, cpus)| (node, cpus)).zip(rings).flat_map(of_node).collect());
        let (latency_ns, bandwidth_gb_s) =
            (self.median(&all, AccessPattern::Chase)?, self.median(&all, AccessPattern::Stream)?);
        Ok(Contention { memory, latency_ns, bandwidth_gb_s })
    }

    /// Nanoseconds per load of a chase, GB/s of a stream.
    fn median(&mut self, crowd: &Crowd<'_>, kind: AccessPattern) -> Result<f64, ProbeError> {
        (self.progress)(self.done as f64 / self.readings as f64);
        self.done += 1;
        let reading = |_| {
            let pace = crowd.read(kind, READING)?;
            Ok(if kind == AccessPattern::Chase { pace.line_ns } else { pace.gb_s })
        };
        let mut readings = (0..READINGS).map(reading).collect::<Result<Vec<f64>, ProbeError>>()?;
        readings.sort_by(f64::total_cmp);
        Ok(readings[READINGS / 2])
    }
}

/// The nodes with CPUs that this process may use, and these CPUs.
fn sources(machine: &Machine) -> Vec<(NodeId, Vec<CpuId>)> {
    let cpus = |cpus: &[CpuId]| cpus.iter().copied().filter(|cpu| machine.allowed.cpus.contains(cpu)).collect();
    let all = machine.nodes.iter().map(|node| (node.id, cpus(&node.cpus)));
    all.filter(|(_, cpus): &(NodeId, Vec<CpuId>)| !cpus.is_empty()).collect()
}

fn ring_bytes(machine: &Machine) -> u64 {
    let cache = machine.caches.iter().map(|cache| cache.size.0).max().unwrap_or(0);
    let free: Vec<u64> = machine.memory_nodes().iter().map(|node| node.free.0).collect();
    ring_bytes_within(cache, &free, machine.allowed.memory_left.map(|left| left.0))
}

/// For a largest cache of so many bytes, what is `free` on each node, and what is `left` to the control group.
fn ring_bytes_within(cache: u64, free: &[u64], left: Option<u64>) -> u64 {
    let least_free = free.iter().copied().min().unwrap_or(u64::MAX);
    // The largest ring, and the one over all nodes, lie at the same time.
    let of_node = (cache * TIMES_CACHE).max(LEAST_BYTES).min(least_free / MOST_OF_NODE);
    // So do those of all nodes, within the limit of the control group.
    let rings = free.len() as u64 + 1;
    left.map_or(of_node, |left| of_node.min(left / (MOST_OF_NODE * rings)))
}

/// The position in `targets` of the memory that is nearest to `node`.
fn nearest(machine: &Machine, targets: &[NodeId], node: NodeId) -> usize {
    let far = |target: NodeId| if target == node { 0 } else { machine.distance(node, target).unwrap_or(u32::MAX) };
    (0..targets.len()).min_by_key(|&at| far(targets[at])).unwrap_or(0)
}

/// Whether the rings lie where they were to lie; gives the part that is on huge pages.
fn look(banks: &[Laid], targets: &[NodeId], notes: &mut Vec<String>) -> f64 {
    let (mut present, mut huge) = (0, 0);
    for (bank, node) in banks.iter().zip(targets) {
        notes.extend(bank.placed.refused());
        match bank.placed.census() {
            Err(error) => notes.push(format!("Where the memory of node {node} lies cannot be found out: {error}.")),
            Ok(census) => {
                present += census.pages.present.0;
                huge += census.pages.huge.0;
                let there: u64 = census.pages.per_node.iter().filter(|(n, _)| n == node).map(|(_, b)| b.0).sum();
                if there < census.pages.present.0 {
                    let part = 100.0 * there as f64 / census.pages.present.0 as f64;
                    notes.push(format!("Only {part:.1} % of what was to lie on node {node} does."));
                }
            }
        }
    }
    if present == 0 { 0.0 } else { huge as f64 / present as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rings_fit_what_is_free() {
        const GIB: u64 = 1 << 30;
        assert_eq!(ring_bytes_within(1 << 20, &[16 * GIB; 2], None), LEAST_BYTES);
        assert_eq!(ring_bytes_within(GIB, &[64 * GIB; 2], None), 8 * GIB, "eight times the largest cache");
        assert_eq!(ring_bytes_within(GIB, &[64 * GIB, GIB], None), GIB / 4);
        assert_eq!(ring_bytes_within(GIB, &[64 * GIB, 0], None), 0);
        // Three rings lie at the same time: one of each node, and one over both.
        assert_eq!(ring_bytes_within(GIB, &[64 * GIB; 2], Some(12 * GIB)), GIB);
    }
}
