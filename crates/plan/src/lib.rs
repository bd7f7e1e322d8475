//! Strategies: which index copies lie where, and which worker reads which. Pure functions from plain data to plain
//! data, so they can plan for a machine that is described in a file.
//!
//! 1. [`plan`] takes the nodes whose CPUs and memory this process may use.
//! 2. If all of these nodes have an index copy that is kept in memory, it takes these (kept.rs). Otherwise a rule
//!    chooses the number of copies and where their pages lie. It reasons from the machine's description: what fits into
//!    memory (room.rs), and what a model of memory banks and of locks predicts (forecast.rs, rank.rs).
//! 3. It groups the nodes, and gives each worker a CPU (or a node's CPUs) and the copy of its group.
//!
//! What it refuses to do: touch the machine, measure, or place more copies than memory allows.
#![forbid(unsafe_code)]

mod candidates;
#[cfg(test)]
mod fixtures;
mod forecast;
mod kept;
mod known;
mod pilots;
mod race;
mod rank;
mod remarks;
mod room;
mod strategy;

pub use candidates::{Candidate, candidates};
pub use forecast::{Assumed, Forecast, forecast};
pub use kept::{count_missing, kept_suffice};
pub use pilots::{Pilots, watch_for};
pub use race::{Heat, Race, Rules};
pub use rank::{Ranked, Verdict, rank, rank_assuming};
pub use remarks::{Remark, remarks};
pub use room::{free_memory, leaves_room};
pub use strategy::{Engine, Need, Strategy};

use std::collections::{BTreeMap, BTreeSet};
use zerohop_model::machine::{Bytes, CpuId, Machine, Node, NodeId};
use zerohop_model::memory_map::MemoryMap;
use zerohop_model::plan::{HugePages, Pages, Placement, Plan, WorkerPlan};

/// How many index copies are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replicas {
    /// As many as the rule says.
    Auto,
    /// This many (at least one).
    Count(usize),
}

/// What the user asks for, and what is known of the index and of the machine's memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request<'a> {
    /// Number of workers; by default all that the machine allows.
    pub workers: Option<usize>,
    /// Number of index copies.
    pub replicas: Replicas,
    /// Page policy of each copy; by default as the rule says, or for a number of copies that was asked for: interleaved
    /// for a copy over several nodes, else local.
    pub pages: Option<Pages>,
    /// Huge pages or not.
    pub huge_pages: HugePages,
    /// Size of one index copy, if need be estimated.
    pub index_bytes: u64,
    /// Where copies of this index are kept in memory: a run that reads them needs no memory for others.
    pub kept: &'a [Placement],
    /// What kind of aligner reads it.
    pub engine: Engine,
    /// What was measured of the machine, if it was.
    pub map: Option<&'a MemoryMap>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// One copy is more than this process may use.
    #[error("the index needs {needs}, this process may use {room}: {why}")]
    NoRoom {
        /// Size of one copy.
        needs: Bytes,
        /// Memory that may be used.
        room: Bytes,
        /// Why it is not more, and what to do.
        why: &'static str,
    },
    /// The copies do not fit into memory.
    #[error(
        "{copies} index copies of {each} each do not fit into the {free} of memory that are free: ask for fewer \
         replicas"
    )]
    TooLarge {
        /// Copies asked for.
        copies: usize,
        /// Size of each.
        each: Bytes,
        /// Free memory.
        free: Bytes,
    },
}

/// The plan for `request` on `machine`.
///
/// # Errors
/// [`PlanError::NoRoom`] when not even one copy fits; [`PlanError::TooLarge`] when more copies are asked for than fit.
pub fn plan(machine: &Machine, request: &Request<'_>) -> Result<Plan, PlanError> {
    let number = request.workers.unwrap_or_else(|| machine.allowed.worker_count()).max(1);
    let Copies { mut placements, groups, are_kept, mut reasons } = copies(machine, request)?;
    let mut workers = place_workers(machine, &cpu_nodes(machine), &groups, number, &mut reasons);
    if are_kept {
        // Fewer workers than nodes read some alone.
        let read: BTreeSet<usize> = workers.iter().map(|worker| worker.replica).collect();
        workers.iter_mut().for_each(|worker| worker.replica = read.range(..worker.replica).count());
        placements = read.into_iter().map(|copy| placements[copy].clone()).collect();
    }
    Ok(Plan { replicas: placements, helper_cpus: helper_cpus(machine, &workers), workers, reasons })
}

/// Where index copies lie, before workers are assigned to them.
#[derive(Debug, Clone, PartialEq)]
pub struct Copies<'m> {
    /// Where each copy lies.
    pub placements: Vec<Placement>,
    /// The nodes whose workers read each copy.
    groups: Vec<Vec<&'m Node>>,
    /// Whether all of them are there already.
    are_kept: bool,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
}

/// The index copies of the [`plan`] for `request` on `machine`.
///
/// # Errors
/// As [`plan`].
pub fn copies<'m>(machine: &'m Machine, request: &Request<'_>) -> Result<Copies<'m>, PlanError> {
    let homes = homes(machine, &cpu_nodes(machine));
    if (request.replicas, request.pages) == (Replicas::Auto, None)
        && let Some(kept) = kept::nearest(&homes, request.kept)
    {
        return Ok(read_kept(machine, &kept, request.huge_pages));
    }
    let mut reasons = Vec::new();
    let workers = request.workers.unwrap_or_else(|| machine.allowed.worker_count()).max(1);
    let (copies, pages) = strategy(machine, request, workers, &mut reasons);
    let groups = group(&homes, copies);
    let placement = |group: &Vec<&Node>| placement(machine, request, group, (copies, pages));
    let placements: Vec<Placement> = groups.iter().map(placement).collect();
    room::check(machine, request.index_bytes, count_missing(&placements, request.kept))?;
    Ok(Copies { placements, groups, are_kept: false, reasons })
}

/// These copies, as they are.
fn read_kept<'m>(machine: &'m Machine, kept: &[&Placement], huge_pages: HugePages) -> Copies<'m> {
    let group = |copy: &&Placement| machine.nodes.iter().filter(|node| copy.nodes.contains(&node.id)).collect();
    let placement = |copy: &&Placement| Placement { huge_pages, ..(*copy).clone() };
    Copies {
        placements: kept.iter().map(placement).collect(),
        groups: kept.iter().map(group).collect(),
        are_kept: true,
        reasons: vec!["Index copies that 'zerohop index --keep' put into memory.".to_owned()],
    }
}

/// The CPUs of each of `nodes` that this process may use.
fn allowed_cpus(machine: &Machine, nodes: &[&Node]) -> Vec<Vec<CpuId>> {
    let ours: BTreeSet<CpuId> = machine.allowed.cpus.iter().copied().collect();
    nodes.iter().map(|node| node.cpus.iter().copied().filter(|cpu| ours.contains(cpu)).collect()).collect()
}

/// The nodes with CPUs that this process may use.
fn cpu_nodes(machine: &Machine) -> Vec<&Node> {
    let ours: BTreeSet<CpuId> = machine.allowed.cpus.iter().copied().collect();
    machine.nodes.iter().filter(|node| node.cpus.iter().any(|cpu| ours.contains(cpu))).collect()
}

/// Those of `nodes` with memory that this process may use: each can have a copy. All of them if none has.
fn homes<'m>(machine: &Machine, nodes: &[&'m Node]) -> Vec<&'m Node> {
    let memory = machine.memory_nodes();
    let with_memory: Vec<&Node> = nodes.iter().copied().filter(|n| memory.iter().any(|m| m.id == n.id)).collect();
    if with_memory.is_empty() { nodes.to_vec() } else { with_memory }
}

/// How many copies, and where the pages of each go if that was asked for or chosen.
fn strategy(
    machine: &Machine,
    request: &Request<'_>,
    workers: usize,
    reasons: &mut Vec<String>,
) -> (usize, Option<Pages>) {
    let Replicas::Count(asked) = request.replicas else {
        let need = Need { index_bytes: request.index_bytes, engine: request.engine, threads: workers };
        let machine = kept::before(machine, request.kept, request.index_bytes);
        let best = rank(&machine, &need, request.map).into_iter().next();
        let Some(Ranked { strategy, reasons: why, .. }) = best else { return (1, request.pages) };
        let copies = if strategy.copies == 1 {
            "One index copy".to_owned()
        } else {
            format!("{} index copies", strategy.copies)
        };
        reasons.push(format!("{copies}, by rule."));
        reasons.extend(why);
        return (strategy.copies, request.pages.or(Some(strategy.pages)));
    };
    let copies = asked.clamp(1, workers);
    reasons.push(match (asked, copies) {
        (1, _) => "One index copy, as was asked for.".to_owned(),
        _ if asked == copies => format!("{copies} index copies, as was asked for."),
        _ => {
            format!("{asked} index copies were asked for, but there are {workers} workers to read them: {copies} made.")
        }
    });
    (copies, request.pages)
}

/// Splits the nodes into `copies` groups of neighbours; with more copies than nodes, nodes are shared.
fn group<'m>(nodes: &[&'m Node], copies: usize) -> Vec<Vec<&'m Node>> {
    let n = nodes.len().max(1);
    if copies >= n {
        return (0..copies).map(|i| nodes.get(i % n).copied().into_iter().collect()).collect();
    }
    (0..copies).map(|i| nodes[i * n / copies..(i + 1) * n / copies].to_vec()).collect()
}

/// Where the copy of a group lies: on the group's own memory; a single copy on all memory there is, and if it is
/// interleaved on the banks that CPUs are near.
fn placement(
    machine: &Machine,
    request: &Request<'_>,
    group: &[&Node],
    (copies, pages): (usize, Option<Pages>),
) -> Placement {
    let own = |node: &&Node| copies == 1 || group.iter().any(|g| g.id == node.id);
    let nodes: Vec<&Node> = machine.memory_nodes().into_iter().filter(own).collect();
    // Whose CPUs are all of one node wants its pages there, as far as there is room.
    let is_spread = nodes.len() > 1 && cpu_nodes(machine).len() > 1;
    let pages = pages.unwrap_or(if is_spread { Pages::Interleave } else { Pages::Local });
    let nodes = match (copies, pages) {
        (1, Pages::Interleave) => room::banks_of_one(machine, request.index_bytes),
        _ => nodes,
    };
    Placement { nodes: nodes.into_iter().map(|node| node.id).collect(), pages, huge_pages: request.huge_pages }
}

/// The groups whose copy is nearest to `node`: that of the nearest node that is in one. Of several that it is in itself
/// those of the fewest nodes, for of their copies most is near.
fn nearest_groups(machine: &Machine, groups: &[Vec<&Node>], node: NodeId) -> Vec<usize> {
    let row = machine.nodes.iter().position(|n| n.id == node).and_then(|row| machine.distances.get(row));
    let distances: BTreeMap<NodeId, u32> =
        machine.nodes.iter().zip(row.into_iter().flatten()).map(|(n, distance)| (n.id, *distance)).collect();
    let to = |n: &&Node| if n.id == node { 0 } else { distances.get(&n.id).copied().unwrap_or(u32::MAX) };
    let order = |group: &Vec<&Node>| match group.iter().map(to).min().unwrap_or(u32::MAX) {
        0 => (0, group.len()),
        distance => (distance, 0),
    };
    let orders: Vec<(u32, usize)> = groups.iter().map(order).collect();
    let nearest = orders.iter().min();
    (0..groups.len()).filter(|&g| orders.get(g) == nearest).collect()
}

/// Deals workers to nodes in turn. If every CPU gets one, each is pinned to its own; if some CPUs stay free, to its
/// node, so that several runs on one machine do not pile up on the same CPUs; if there are not enough CPUs, to none.
fn place_workers(
    machine: &Machine,
    nodes: &[&Node],
    groups: &[Vec<&Node>],
    workers: usize,
    reasons: &mut Vec<String>,
) -> Vec<WorkerPlan> {
    let cpus = allowed_cpus(machine, nodes);
    let available: usize = cpus.iter().map(Vec::len).sum();
    if workers > available {
        reasons.push(format!("{workers} workers on {available} CPUs: they are not pinned."));
        return (0..workers).map(|i| WorkerPlan { cpus: Vec::new(), node: None, replica: i % groups.len() }).collect();
    }
    let whole = workers == available;
    reasons.push(match (whole, workers) {
        (true, 1) => "One worker, pinned to the one CPU.".to_owned(),
        (true, _) => format!("{workers} workers, each pinned to a CPU of its own."),
        (false, 1) => format!("One worker on {available} CPUs: it is pinned to the CPUs of its node."),
        (false, _) => format!("{workers} workers on {available} CPUs: each is pinned to the CPUs of its node."),
    });
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    if workers < nodes.len() {
        // Each copy gets its readers, on one of its nodes.
        let place = |group: &Vec<&Node>, node: usize| group.iter().position(|own| own.id == nodes[node].id);
        order.sort_by_key(|&node| groups.iter().filter_map(|group| place(group, node)).min().unwrap_or(0));
    }
    // Rounds over the nodes; a node whose CPUs are used up is passed over.
    let rounds = cpus.iter().map(Vec::len).max().unwrap_or(0);
    let turns = (0..rounds).flat_map(|round| order.iter().map(move |&node| (round, node)));
    let turns = turns.filter(|&(round, node)| round < cpus[node].len()).take(workers);
    let mut seen = vec![0; nodes.len()];
    let nearest: Vec<Vec<usize>> = nodes.iter().map(|node| nearest_groups(machine, groups, node.id)).collect();
    turns
        .map(|(round, node)| {
            let reading = &nearest[node];
            let replica = reading.get(seen[node] % reading.len().max(1)).copied().unwrap_or(0);
            seen[node] += 1;
            let cpus = if whole { vec![cpus[node][round]] } else { cpus[node].clone() };
            WorkerPlan { cpus, node: Some(nodes[node].id), replica }
        })
        .collect()
}

/// CPUs for the threads that are not workers: those that no worker has for itself, else all.
fn helper_cpus(machine: &Machine, workers: &[WorkerPlan]) -> Vec<CpuId> {
    let own = |worker: &WorkerPlan| if let [cpu] = worker.cpus[..] { Some(cpu) } else { None };
    let taken: BTreeSet<CpuId> = workers.iter().filter_map(own).collect();
    let free: Vec<CpuId> = machine.allowed.cpus.iter().copied().filter(|cpu| !taken.contains(cpu)).collect();
    if free.is_empty() { machine.allowed.cpus.clone() } else { free }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::invented;

    const GIB: u64 = 1 << 30;

    /// `nodes` nodes of `cpus` CPUs and `gib` GiB each.
    pub(crate) fn machine(nodes: u32, cpus: u32, gib: u64) -> Machine {
        invented(nodes, cpus, Bytes(gib * GIB), |a, b| 10 + 6 * a.abs_diff(b))
    }

    pub(crate) fn request(index_gib: u64) -> Request<'static> {
        Request {
            workers: None,
            replicas: Replicas::Auto,
            pages: None,
            huge_pages: HugePages::Auto,
            index_bytes: index_gib * GIB,
            kept: &[],
            engine: Engine::Embedded,
            map: None,
        }
    }

    fn nodes(plan: &Plan) -> Vec<Vec<u32>> {
        plan.replicas.iter().map(|r| r.nodes.iter().map(|n| n.0).collect()).collect()
    }

    #[test]
    fn each_copy_is_read_near_by_also_with_fewer_workers_than_nodes() {
        for (count, workers, copies) in [(4, 2, 2), (8, 4, 4), (8, 3, 2), (3, 2, 2), (4, 1, 1)] {
            let asked = Request { workers: Some(workers), replicas: Replicas::Count(copies), ..request(1) };
            let plan = plan(&machine(count, 4, 64), &asked).unwrap();
            let read: BTreeSet<usize> = plan.workers.iter().map(|worker| worker.replica).collect();
            assert_eq!(read.len(), copies, "{count} nodes, {workers} workers: {plan:?}");
            let is_near = |worker: &WorkerPlan| plan.replicas[worker.replica].nodes.contains(&worker.node.unwrap());
            assert!(plan.workers.iter().all(is_near), "{count} nodes, {workers} workers: {plan:?}");
        }
    }

    #[test]
    fn one_copy_for_cpus_of_one_node_lies_there_first() {
        let mut machine = machine(2, 4, 64);
        let one = |machine: &Machine| {
            let plan = plan(machine, &Request { replicas: Replicas::Count(1), ..request(1) }).unwrap();
            (plan.replicas[0].pages, plan.replicas[0].nodes.len())
        };
        assert_eq!(one(&machine), (Pages::Interleave, 2));
        machine.allowed.cpus.truncate(4);
        assert_eq!(one(&machine), (Pages::Local, 2), "the other node takes what does not fit");
    }

    #[test]
    fn one_copy_is_spread_over_memory_near_cpus() {
        // Two sockets, each with memory of its own and a memory behind CXL that is twice as large.
        let mut machine = machine(4, 32, 128);
        for node in [1, 3] {
            machine.nodes[node].cpus.clear();
            (machine.nodes[node].memory, machine.nodes[node].free) = (Bytes(256 * GIB), Bytes(256 * GIB));
        }
        machine.distances =
            vec![vec![10, 14, 21, 24], vec![14, 10, 24, 26], vec![21, 24, 10, 14], vec![24, 26, 14, 10]];
        machine.allowed.cpus.retain(|cpu| [0, 2].contains(&(cpu.0 / 32)));
        let placed = |index| {
            let plan = plan(&machine, &request(index)).unwrap();
            (nodes(&plan), plan.replicas[0].pages)
        };
        assert_eq!(placed(5), (vec![vec![0], vec![2]], Pages::Local));
        assert_eq!(placed(100), (vec![vec![0, 2]], Pages::Interleave), "too large for a copy on each");
        assert_eq!(placed(200), (vec![vec![0, 1, 2, 3]], Pages::Interleave), "too large for the memory near CPUs");
        let local = Request { replicas: Replicas::Count(1), pages: Some(Pages::Local), ..request(100) };
        let local = plan(&machine, &local).unwrap();
        assert_eq!(nodes(&local), [[0, 1, 2, 3]], "the nearest first, and the rest rather than none");
    }

    #[test]
    fn a_small_index_is_copied_to_each_node() {
        let plan = plan(&machine(4, 2, 16), &request(4)).unwrap();
        assert_eq!(nodes(&plan), [[0], [1], [2], [3]]);
        assert!(plan.replicas.iter().all(|r| r.pages == Pages::Local));
        let workers: Vec<_> = plan.workers.iter().map(|w| (w.cpus[0].0, w.replica)).collect();
        assert_eq!(workers, [(0, 0), (2, 1), (4, 2), (6, 3), (1, 0), (3, 1), (5, 2), (7, 3)]);
    }

    #[test]
    fn a_large_index_is_interleaved() {
        for (index, free_part) in [(12, 1.0), (16, 1.0), (6, 0.5)] {
            let mut machine = machine(4, 2, 16);
            machine.nodes.iter_mut().for_each(|n| n.free = Bytes((n.memory.0 as f64 * free_part) as u64));
            let plan = plan(&machine, &request(index)).unwrap();
            assert_eq!(nodes(&plan), [[0, 1, 2, 3]], "{index} GiB");
            assert_eq!(plan.replicas[0].pages, Pages::Interleave);
        }
    }

    #[test]
    fn what_does_not_fit_on_each_node_is_one_for_all_and_copies_for_groups_are_tried() {
        let (four, asked) = (machine(4, 2, 16), request(7));
        let one = plan(&four, &asked).unwrap();
        assert_eq!((nodes(&one), one.replicas[0].pages), (vec![vec![0, 1, 2, 3]], Pages::Interleave));
        let need = Need { index_bytes: asked.index_bytes, engine: asked.engine, threads: 8 };
        let tried = |copies| {
            let ranked = rank(&four, &need, None);
            ranked.iter().any(|one| one.verdict == Verdict::Pilot && one.strategy.copies == copies)
        };
        assert!(tried(2) && tried(4));
        let one = plan(&machine(1, 2, 16), &asked).unwrap();
        assert_eq!((nodes(&one), one.replicas[0].pages), (vec![vec![0]], Pages::Local), "one node is not interleaved");
    }

    #[test]
    fn copies_asked_for_share_out_the_nodes() {
        let ask = |n| plan(&machine(4, 1, 16), &Request { replicas: Replicas::Count(n), ..request(1) }).unwrap();
        assert_eq!(nodes(&ask(1)), [vec![0, 1, 2, 3]]);
        assert_eq!(nodes(&ask(2)), [[0, 1], [2, 3]]);
        assert_eq!(ask(2).replicas[0].pages, Pages::Interleave);
        assert_eq!(nodes(&ask(3)), [vec![0], vec![1], vec![2, 3]]);
        let single = Request { replicas: Replicas::Count(2), ..request(1) };
        assert_eq!(nodes(&plan(&machine(1, 2, 16), &single).unwrap()), [[0], [0]]);
        let workers = plan(&machine(1, 2, 16), &single).unwrap().workers;
        assert_eq!(workers.iter().map(|w| w.replica).collect::<Vec<_>>(), [0, 1]);
        let too_many = Request { replicas: Replicas::Count(4), ..request(17) };
        assert!(matches!(plan(&machine(4, 1, 16), &too_many), Err(PlanError::TooLarge { copies: 4, .. })));
    }

    #[test]
    fn workers_are_pinned_to_cpus_to_nodes_or_not() {
        let ask = |workers| plan(&machine(2, 2, 16), &Request { workers: Some(workers), ..request(1) }).unwrap();
        assert!(ask(4).workers.iter().all(|w| w.cpus.len() == 1));
        assert!(ask(3).workers.iter().all(|w| w.cpus.len() == 2));
        assert!(ask(5).workers.iter().all(|w| w.cpus.is_empty()));
        assert_eq!(ask(1).replicas.len(), 1);
    }

    #[test]
    fn odd_nodes_are_taken_as_they_are() {
        let mut odd = machine(4, 2, 16);
        odd.nodes[1].memory = Bytes(0);
        odd.nodes[2].cpus.clear();
        odd.allowed.cpus = [0, 2, 3, 6].map(CpuId).to_vec();
        let plan = plan(&odd, &request(1)).unwrap();
        // Node 1 has no memory: its workers read the nearest copy. Node 2 has no CPUs: no copy is needed there.
        assert_eq!(nodes(&plan), [[0], [3]]);
        let placed: Vec<_> = plan.workers.iter().map(|w| (w.cpus[0].0, w.replica)).collect();
        assert_eq!(placed, [(0, 0), (2, 0), (6, 1), (3, 0)]);
    }

    #[test]
    fn a_quota_limits_the_workers() {
        let mut limited = machine(1, 8, 16);
        limited.allowed.cpu_quota = Some(2.5);
        assert_eq!(plan(&limited, &request(1)).unwrap().workers.len(), 3);
    }
}
