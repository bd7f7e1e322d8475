//! NUMA nodes: CPUs, memory, distances.

use crate::meminfo::MemInfo;
use crate::sysfs::Sysfs;
use crate::{TopologyError, cpulist};
use zerohop_model::machine::{Bytes, CpuId, Node, NodeId};

const NODES: &str = "sys/devices/system/node";

/// The kernel's own values where the firmware says nothing (`include/linux/topology.h`).
pub(crate) const LOCAL: u32 = 10;
const REMOTE: u32 = 20;

/// Nodes that differ from the machine's total by more than one part in this many are scaled to it.
const TOLERANCE: u64 = 10;

/// All online nodes, ascending, and their distances.
pub(crate) fn nodes(sysfs: &Sysfs, online: &[u32]) -> Result<(Vec<Node>, Vec<Vec<u32>>), TopologyError> {
    let machine = MemInfo::of_machine(sysfs);
    let ids = online_nodes(sysfs)?;
    if ids.is_empty() {
        return Ok((vec![only_node(online, machine.unwrap_or_default())], vec![vec![LOCAL]]));
    }
    let mut nodes = ids.iter().map(|&id| node(sysfs, id, online)).collect::<Result<Vec<_>, _>>()?;
    if let Some(machine) = machine {
        reconcile(&mut nodes, &machine);
    }
    let distances = distances(sysfs, &ids)?;
    Ok((nodes, distances))
}

/// The CPUs that are online; an old or trimmed `/sys` falls back to what the process may run on, which is `affinity`
/// where the kernel was asked. It is right in any case: lxcfs has `/sys` say the first CPUs, as many as a container may
/// use, whichever these are.
pub(crate) fn online_cpus(sysfs: &Sysfs, affinity: Option<&[u32]>) -> Result<Vec<u32>, TopologyError> {
    if let Some(mut cpus) = sysfs.list("sys/devices/system/cpu/online")?.filter(|cpus| !cpus.is_empty()) {
        cpus.extend(affinity.unwrap_or_default());
        cpus.sort_unstable();
        cpus.dedup();
        return Ok(cpus);
    }
    let cpus = match (status_list(sysfs, "Cpus_allowed_list")?, affinity) {
        (Some(cpus), _) => cpus,
        (None, Some(cpus)) => cpus.to_vec(),
        (None, None) => sysfs.numbered("sys/devices/system/cpu", "cpu"),
    };
    if cpus.is_empty() { Err(TopologyError::NoCpus(sysfs.root().to_owned())) } else { Ok(cpus) }
}

/// A list in `/proc/self/status` (`proc_pid_status(5)`).
pub(crate) fn status_list(sysfs: &Sysfs, name: &str) -> Result<Option<Vec<u32>>, TopologyError> {
    let Some(status) = sysfs.text("proc/self/status") else { return Ok(None) };
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.map(cpulist::parse).transpose()
}

fn online_nodes(sysfs: &Sysfs) -> Result<Vec<u32>, TopologyError> {
    let present = sysfs.numbered(NODES, "node");
    let online = sysfs.list(&format!("{NODES}/online"))?;
    Ok(present.into_iter().filter(|id| online.as_ref().is_none_or(|online| online.contains(id))).collect())
}

fn only_node(online: &[u32], memory: MemInfo) -> Node {
    Node {
        id: NodeId(0),
        cpus: online.iter().copied().map(CpuId).collect(),
        memory: Bytes(memory.total),
        free: Bytes(memory.usable()),
    }
}

fn node(sysfs: &Sysfs, id: u32, online: &[u32]) -> Result<Node, TopologyError> {
    let cpus = sysfs.list(&format!("{NODES}/node{id}/cpulist"))?.unwrap_or_default();
    let memory = MemInfo::of_node(sysfs, id).unwrap_or_default();
    Ok(Node {
        id: NodeId(id),
        // Some kernels list CPUs that were taken offline.
        cpus: cpus.into_iter().filter(|cpu| online.contains(cpu)).map(CpuId).collect(),
        memory: Bytes(memory.total),
        free: Bytes(memory.usable()),
    })
}

/// Makes the nodes' memory agree with `/proc/meminfo`, which counts memory that a virtual machine was given later.
fn reconcile(nodes: &mut [Node], machine: &MemInfo) {
    let sum: u64 = nodes.iter().map(|n| n.memory.0).sum();
    let far = sum.abs_diff(machine.total) > machine.total / TOLERANCE;
    if far && machine.total > 0 {
        match nodes {
            [node] => (node.memory, node.free) = (Bytes(machine.total), Bytes(machine.usable())),
            _ if sum == 0 => spread(nodes, machine),
            _ => nodes.iter_mut().for_each(|node| scale(node, machine.total, sum)),
        }
    }
    let free: u64 = nodes.iter().map(|n| n.free.0).sum();
    if let Some(available) = machine.available.filter(|&available| available < free) {
        nodes.iter_mut().for_each(|node| node.free = scaled(node.free, available, free));
    }
}

/// No node tells its memory: an even share each is the best guess.
fn spread(nodes: &mut [Node], machine: &MemInfo) {
    let share = nodes.len() as u64;
    for node in nodes {
        (node.memory, node.free) = (Bytes(machine.total / share), Bytes(machine.usable() / share));
    }
}

fn scale(node: &mut Node, numerator: u64, denominator: u64) {
    node.memory = scaled(node.memory, numerator, denominator);
    node.free = scaled(node.free, numerator, denominator);
}

fn scaled(bytes: Bytes, numerator: u64, denominator: u64) -> Bytes {
    // 128 bits: two byte counts of a large machine do not fit 64 when multiplied.
    let product = u128::from(bytes.0) * u128::from(numerator) / u128::from(denominator.max(1));
    Bytes(u64::try_from(product).unwrap_or(u64::MAX))
}

fn distances(sysfs: &Sysfs, ids: &[u32]) -> Result<Vec<Vec<u32>>, TopologyError> {
    (0..ids.len()).map(|row| distance_row(sysfs, ids, row)).collect()
}

/// One node's distances: a number for each online node, in ascending order.
fn distance_row(sysfs: &Sysfs, ids: &[u32], row: usize) -> Result<Vec<u32>, TopologyError> {
    let path = format!("{NODES}/node{}/distance", ids[row]);
    let Some(text) = sysfs.text(&path) else {
        return Ok((0..ids.len()).map(|column| if column == row { LOCAL } else { REMOTE }).collect());
    };
    let numbers: Option<Vec<u32>> = text.split_whitespace().map(|number| number.parse().ok()).collect();
    match numbers {
        Some(numbers) if numbers.len() == ids.len() => Ok(numbers),
        _ => Err(TopologyError::File {
            path: sysfs.path(&path),
            reason: format!("'{text}' is not a row of {} distances", ids.len()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn online(files: &[(&str, &str)], affinity: Option<&[u32]>) -> Vec<u32> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        online_cpus(&Sysfs::at(root.path()), affinity).unwrap()
    }

    #[test]
    fn the_cpus_of_a_container_count_where_lxcfs_says_the_first_ones() {
        let lxcfs = [("sys/devices/system/cpu/online", "0-1\n")];
        assert_eq!(online(&lxcfs, Some(&[6, 7])), [0, 1, 6, 7]);
        assert_eq!(online(&lxcfs, Some(&[1])), [0, 1]);
        assert_eq!(online(&lxcfs, None), [0, 1]);
    }

    #[test]
    fn without_a_list_the_process_own_cpus_are_online() {
        let status = [("proc/self/status", "Name:\tx\nCpus_allowed_list:\t2-3\n")];
        assert_eq!(online(&status, Some(&[5])), [2, 3]);
        assert_eq!(online(&[], Some(&[5])), [5]);
        assert_eq!(online(&[("sys/devices/system/cpu/cpu4/x", "")], None), [4]);
    }
}
