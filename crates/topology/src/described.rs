//! Descriptions of machines that are not here: what cannot be is refused before anybody plans with it.

use std::collections::BTreeSet;
use zerohop_model::machine::{CpuId, Machine, Node, NodeId};

/// Linux is built for at most 1024 nodes and 8192 CPUs; anything far beyond is damage.
const MOST_NODES: usize = 1 << 12;
const MOST_CPUS: usize = 1 << 16;

/// Why no machine is as described.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptionError {
    /// The list of nodes is empty.
    #[error("it has no nodes")]
    NoNodes,
    /// No node has a CPU that may be used.
    #[error("none of its CPUs may be used: 'allowed' has no CPU that a node has")]
    NoCpus,
    /// More than any machine has.
    #[error("it has {count} {what}, more than the {most} that are possible")]
    TooMany {
        /// Nodes or CPUs.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there can be.
        most: usize,
    },
    /// A number that must be unique is there again.
    #[error("it has {what} {id} twice")]
    Twice {
        /// A node or a CPU.
        what: &'static str,
        /// Its number.
        id: u32,
    },
    /// Something allowed, or part of a core, that no node has.
    #[error("'{list}' has {what} {id}, which is not among the nodes")]
    Absent {
        /// The list that names it.
        list: &'static str,
        /// A node or a CPU.
        what: &'static str,
        /// Its number.
        id: u32,
    },
    /// The table of distances is not square, or of another size.
    #[error("its distances are not {nodes} rows of {nodes} numbers, one for each node")]
    Distances {
        /// The number of nodes.
        nodes: usize,
    },
    /// A distance of 0.
    #[error("the distance between nodes {from} and {to} is 0, and 10 is the smallest")]
    NoDistance {
        /// The node of the row.
        from: NodeId,
        /// The node of the column.
        to: NodeId,
    },
    /// More memory than 64 bits can count.
    #[error("its nodes have more memory than can be counted (2^64 bytes)")]
    TooMuchMemory,
    /// A node with more free memory than it has.
    #[error("node {0} has more free memory than memory")]
    FreeMemory(NodeId),
    /// A CPU quota that is no positive number.
    #[error("its CPU quota is {0}, which is not a positive number")]
    Quota(String),
}

/// Checks that a machine can be as it is described: each number once, a table of distances of the right size, or none,
/// and memory that can be added up.
///
/// # Errors
/// What is wrong first, in the order of the description.
pub fn check_described(machine: &Machine) -> Result<(), DescriptionError> {
    check_nodes(&machine.nodes)?;
    check_distances(machine)?;
    check_memory(&machine.nodes)?;
    check_allowed(machine)
}

fn check_nodes(nodes: &[Node]) -> Result<(), DescriptionError> {
    let most =
        |what, count, most| if count > most { Err(DescriptionError::TooMany { what, count, most }) } else { Ok(()) };
    if nodes.is_empty() {
        return Err(DescriptionError::NoNodes);
    }
    most("nodes", nodes.len(), MOST_NODES)?;
    most("CPUs", nodes.iter().map(|node| node.cpus.len()).sum(), MOST_CPUS)?;
    each_once("node", nodes.iter().map(|node| node.id.0))?;
    each_once("CPU", nodes.iter().flat_map(|node| &node.cpus).map(|cpu| cpu.0))
}

fn each_once(what: &'static str, ids: impl Iterator<Item = u32>) -> Result<(), DescriptionError> {
    let mut seen = BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(DescriptionError::Twice { what, id });
        }
    }
    Ok(())
}

fn check_distances(Machine { nodes, distances, .. }: &Machine) -> Result<(), DescriptionError> {
    // A description need not tell any.
    let is_square = distances.len() == nodes.len() && distances.iter().all(|row| row.len() == nodes.len());
    if !is_square && !distances.is_empty() {
        return Err(DescriptionError::Distances { nodes: nodes.len() });
    }
    for (row, from) in distances.iter().zip(nodes) {
        if let Some(column) = row.iter().position(|distance| *distance == 0) {
            return Err(DescriptionError::NoDistance { from: from.id, to: nodes[column].id });
        }
    }
    Ok(())
}

fn check_memory(nodes: &[Node]) -> Result<(), DescriptionError> {
    let all = nodes.iter().try_fold(0u64, |sum, node| sum.checked_add(node.memory.0));
    all.ok_or(DescriptionError::TooMuchMemory)?;
    match nodes.iter().find(|node| node.free > node.memory) {
        Some(node) => Err(DescriptionError::FreeMemory(node.id)),
        None => Ok(()),
    }
}

fn check_allowed(machine: &Machine) -> Result<(), DescriptionError> {
    let cpus: BTreeSet<CpuId> = machine.nodes.iter().flat_map(|node| &node.cpus).copied().collect();
    let nodes: BTreeSet<NodeId> = machine.nodes.iter().map(|node| node.id).collect();
    let all_cpus = |list, ids: &[CpuId]| match ids.iter().find(|cpu| !cpus.contains(cpu)) {
        Some(cpu) => Err(DescriptionError::Absent { list, what: "CPU", id: cpu.0 }),
        None => Ok(()),
    };
    each_once("CPU", machine.cores.iter().flatten().map(|cpu| cpu.0))?;
    machine.cores.iter().try_for_each(|core| all_cpus("cores", core))?;
    let allowed = &machine.allowed;
    each_once("CPU", allowed.cpus.iter().map(|cpu| cpu.0))?;
    all_cpus("allowed", &allowed.cpus)?;
    each_once("node", allowed.nodes.iter().map(|node| node.0))?;
    if let Some(node) = allowed.nodes.iter().find(|node| !nodes.contains(node)) {
        return Err(DescriptionError::Absent { list: "allowed", what: "node", id: node.0 });
    }
    if allowed.cpus.is_empty() {
        return Err(DescriptionError::NoCpus);
    }
    match allowed.cpu_quota.filter(|quota| !(quota.is_finite() && *quota > 0.0)) {
        Some(quota) => Err(DescriptionError::Quota(quota.to_string())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::machine::Bytes;

    fn machine() -> Machine {
        crate::fixtures::machine(2, 2)
    }

    #[test]
    fn what_can_be_is_taken() {
        check_described(&machine()).unwrap();
        check_described(&Machine { distances: Vec::new(), ..machine() }).unwrap();
        let mut without = machine();
        (without.nodes[1].memory, without.nodes[1].free) = (Bytes(0), Bytes(0));
        check_described(&without).unwrap();
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_reason() {
        type Spoil = fn(&mut Machine);
        let faults: [(Spoil, &str); 16] = [
            (|m| m.nodes.clear(), "it has no nodes"),
            (|m| m.nodes[1].id = NodeId(0), "it has node 0 twice"),
            (|m| m.nodes[1].cpus[0] = CpuId(2), "it has CPU 2 twice"),
            (|m| m.distances[1].truncate(1), "its distances are not 2 rows of 2 numbers, one for each node"),
            (|m| m.distances.truncate(1), "its distances are not 2 rows of 2 numbers, one for each node"),
            (|m| m.distances[0][1] = 0, "the distance between nodes 0 and 1 is 0, and 10 is the smallest"),
            (|m| m.nodes.iter_mut().for_each(|node| node.memory = Bytes(1 << 63)), "its nodes have more memory than"),
            (|m| m.nodes[1].free = Bytes(17 << 30), "node 1 has more free memory than memory"),
            (|m| m.allowed.cpus.push(CpuId(9)), "'allowed' has CPU 9, which is not among the nodes"),
            (|m| m.allowed.cpus.push(CpuId(3)), "it has CPU 3 twice"),
            (|m| m.allowed.nodes.push(NodeId(9)), "'allowed' has node 9, which is not among the nodes"),
            (|m| m.allowed.nodes.push(NodeId(1)), "it has node 1 twice"),
            (|m| m.allowed.cpus.clear(), "none of its CPUs may be used: 'allowed' has no CPU that a node has"),
            (|m| m.allowed.cpu_quota = Some(-1.0), "its CPU quota is -1, which is not a positive number"),
            (|m| m.cores = vec![vec![CpuId(0), CpuId(8)]], "'cores' has CPU 8, which is not among the nodes"),
            (|m| m.nodes[0].cpus = (4..100_000).map(CpuId).collect(), "it has 99998 CPUs, more than the 65536 that"),
        ];
        for (spoil, wanted) in faults {
            let mut spoilt = machine();
            spoil(&mut spoilt);
            let refused = check_described(&spoilt).expect_err(wanted).to_string();
            assert!(refused.starts_with(wanted), "{refused}");
        }
    }
}
