//! What this process may use: affinity mask, cpuset and cgroup limits together.

use crate::TopologyError;
use crate::cgroup;
use crate::nodes::status_list;
use crate::sysfs::Sysfs;
use zerohop_model::machine::{Allowed, Bytes, CpuId, Node, NodeId};

/// Intersects all that limits this process. `affinity` is the kernel's answer for the live machine; without it
/// `/proc/self/status` is read.
pub(crate) fn allowed(
    sysfs: &Sysfs,
    online: &[u32],
    nodes: &[Node],
    affinity: Option<Vec<u32>>,
) -> Result<Allowed, TopologyError> {
    let limits = cgroup::limits(sysfs)?;
    let affinity = match affinity {
        Some(cpus) => Some(cpus),
        None => status_list(sysfs, "Cpus_allowed_list")?,
    };
    let all_nodes: Vec<u32> = nodes.iter().map(|n| n.id.0).collect();
    let cpus = narrow(narrow(online.to_vec(), affinity.as_deref()), limits.cpus.as_deref());
    let mems = status_list(sysfs, "Mems_allowed_list")?;
    let nodes = narrow(narrow(all_nodes, mems.as_deref()), limits.nodes.as_deref());
    Ok(Allowed {
        cpus: cpus.into_iter().map(CpuId).collect(),
        nodes: nodes.into_iter().map(NodeId).collect(),
        cpu_quota: limits.cpu_quota,
        memory_limit: limits.memory.map(Bytes),
        memory_left: limits.memory_left.map(Bytes),
    })
}

/// Keeps what `mask` holds too. A mask that leaves nothing contradicts the fact that this process runs: it was read
/// from a hierarchy that is not ours, and is not followed.
fn narrow(numbers: Vec<u32>, mask: Option<&[u32]>) -> Vec<u32> {
    let Some(mask) = mask else { return numbers };
    let kept: Vec<u32> = numbers.iter().copied().filter(|n| mask.contains(n)).collect();
    if kept.is_empty() { numbers } else { kept }
}
