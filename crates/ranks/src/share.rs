//! A rank among those on its machine: its share of the CPUs and of the memory.

use crate::Transport;
use crate::error::RanksError;
use crate::launch::host;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use zerohop_model::machine::{Bytes, CpuId, Machine, NodeId};

/// What a rank may use of its machine beside the others there; by default there are none.
#[derive(Debug, Default)]
pub struct RankShare {
    /// Ranks that take memory from the same nodes, this one too, and what of it was free before any of them took some.
    beside: Option<(usize, Bytes)>,
    /// Ranks under the same memory limit of a control group, this one too, and what it left before any of them took
    /// some.
    limited: Option<(usize, Bytes)>,
    /// What the user should know of the CPUs.
    pub note: Option<String>,
}

impl RankShare {
    /// Ranks that may use the same CPUs of one machine share them out, node by node, so that they do not sit on one
    /// another.
    ///
    /// # Errors
    /// Ranks that cannot go on together; what the system says.
    pub fn take(transport: &dyn Transport) -> Result<Self, RanksError> {
        let machine = zerohop_topology::detect()?;
        let is_allowed = |cpu: &CpuId| machine.allowed.cpus.contains(cpu);
        let cpus: Vec<CpuId> =
            machine.nodes.iter().flat_map(|node| node.cpus.iter().copied().filter(is_allowed)).collect();
        let own = RankPlace { host: host(), cpus: cpus.clone(), nodes: machine.allowed.nodes.clone() };
        let group = zerohop_topology::memory_group()?;
        let all = crate::values(transport, &(own.clone(), group.clone()))?;
        let under_limit = all.iter().filter(|(place, of)| place.host == own.host && *of == group).count();
        let limited = machine.allowed.memory_left.map(|left| (under_limit, left));
        let all: Vec<RankPlace> = all.into_iter().map(|(place, _)| place).collect();
        let ranks: Vec<usize> = (0..all.len()).filter(|&rank| all[rank] == own).collect();
        let mut unpinned = None;
        if let (2.., Some(place)) = (ranks.len(), ranks.iter().position(|&rank| rank == transport.rank())) {
            let refused = zerohop_topology::pin_current_thread(share(&cpus, place, ranks.len())).err();
            unpinned = refused.map(|refused| format!("the ranks on {} use the same CPUs: {refused}", own.host));
        }
        let here = || all.iter().filter(|place| place.host == own.host);
        let used: BTreeSet<CpuId> = here().flat_map(|place| place.cpus.iter().copied()).collect();
        let there = machine.nodes.iter().map(|node| node.cpus.len()).sum::<usize>();
        let bound = (2 * used.len() < there).then(|| {
            format!(
                "the ranks on {} may use {} of its {there} CPUs: the launcher has bound them (mpirun --bind-to none, \
                 srun --cpus-per-task)",
                own.host,
                used.len()
            )
        });
        let beside = Some((here().filter(|place| place.nodes == own.nodes).count(), free(&machine)));
        Ok(RankShare { beside, limited, note: unpinned.or(bound) })
    }

    /// How many ranks share what is free for this one: on the same nodes, or under the same limit of a control group.
    pub fn ranks_here(&self) -> usize {
        let ranks = |shared: Option<(usize, Bytes)>| shared.map_or(1, |(ranks, _)| ranks);
        ranks(self.beside).max(ranks(self.limited))
    }

    /// The machine, with this rank's share of its free memory as the limit.
    ///
    /// # Errors
    /// What the system says.
    pub fn machine(&self) -> Result<Machine, RanksError> {
        let mut machine = zerohop_topology::detect()?;
        if let Some((ranks @ 2.., free)) = self.beside {
            machine.allowed.memory_limit = Some(Bytes(free.0 / ranks as u64));
        }
        Ok(machine)
    }

    /// What the user should know of the index copies of all ranks on this machine, of which each holds `copies`, if
    /// fewer would do.
    ///
    /// # Errors
    /// More than its memory.
    pub fn weigh(&self, machine: &Machine, copies: usize, each: Bytes) -> Result<Option<String>, RanksError> {
        let ranks = self.beside.map_or(1, |(ranks, _)| ranks);
        let (nodes, all) = (machine.memory_nodes(), Bytes((ranks * copies) as u64 * each.0));
        let memory = Bytes(nodes.iter().map(|node| node.memory.0).sum());
        let held = format!("{ranks} ranks on {} hold an index of their own, {all} in all", machine.name);
        if ranks > 1 && all > memory {
            return Err(RanksError::Failed(format!(
                "{held}, and there are {memory} of memory: start one rank for each machine, or for each NUMA node, \
                 with more threads (-t)"
            )));
        }
        if let Some((ranks @ 2.., left)) = self.limited
            && (ranks * copies) as u64 * each.0 > left.0
        {
            let all = Bytes((ranks * copies) as u64 * each.0);
            return Err(RanksError::Failed(format!(
                "{ranks} ranks on {} need {all} for an index of their own each, and they may use {left}: their control \
                 group has a memory limit; ask for more (sbatch --mem), or start fewer ranks with more threads (-t)",
                machine.name
            )));
        }
        let with_cpus = nodes.iter().filter(|node| !node.cpus.is_empty()).count();
        let more_than_needed = ranks > 1 && ranks * copies > with_cpus && each.0 > 0;
        Ok(more_than_needed
            .then(|| format!("{held}: one for each NUMA node, with more threads (-t), needs less memory.")))
    }
}

/// What of memory can be taken now.
fn free(machine: &Machine) -> Bytes {
    let free = machine.memory_nodes().iter().map(|node| node.free.0).sum::<u64>();
    Bytes(free.min(machine.allowed.memory_limit.map_or(u64::MAX, |limit| limit.0)))
}

/// Where a rank is.
#[derive(Debug, PartialEq, Serialize, Deserialize, Clone)]
struct RankPlace {
    host: String,
    cpus: Vec<CpuId>,
    /// From which it may take memory.
    nodes: Vec<NodeId>,
}

/// The share of one of several; a CPU at least.
fn share(cpus: &[CpuId], place: usize, of: usize) -> &[CpuId] {
    let (start, end) = (place * cpus.len() / of, (place + 1) * cpus.len() / of);
    &cpus[start..end.max(start + 1).min(cpus.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_even_as_can_be() {
        let cpus: Vec<CpuId> = (0..5).map(CpuId).collect();
        let shares = |of| (0..of).map(|place| share(&cpus, place, of).len()).collect::<Vec<_>>();
        assert_eq!((shares(1), shares(2), shares(5)), (vec![5], vec![2, 3], vec![1; 5]));
        assert_eq!(shares(7).iter().filter(|&&cpus| cpus == 1).count(), 7, "more ranks than CPUs");
    }

    #[test]
    fn more_copies_than_memory_are_refused_and_more_than_nodes_are_told() {
        let alone = RankShare::default();
        let machine = alone.machine().unwrap();
        let (nodes, memory) = (machine.memory_nodes().len(), machine.memory_nodes().iter().map(|n| n.memory.0).sum());
        let (small, huge) = (Bytes(1 << 20), Bytes(memory));
        let seat = |ranks| RankShare { beside: Some((ranks, Bytes(memory))), limited: None, note: None };
        let is_told = |seat: RankShare, copies, each| seat.weigh(&machine, copies, each).unwrap().is_some();
        assert!(!is_told(RankShare::default(), nodes + 1, huge), "one process may have its reasons");
        assert!(!is_told(seat(1), nodes + 1, small));
        assert!(!is_told(seat(nodes), 1, small));
        assert!(is_told(seat(nodes + 1), 1, small) && is_told(seat(2), nodes, small));
        assert!(!is_told(seat(nodes + 1), 1, Bytes(0)), "an engine without an index");
        let refused = seat(2).weigh(&machine, 1, huge).unwrap_err().to_string();
        assert!(refused.contains("start one rank for each machine"), "{refused}");
        let limited = |ranks, left| RankShare { limited: Some((ranks, Bytes(left))), ..seat(ranks) };
        let refused = limited(2, 3 << 20).weigh(&machine, 2, small).unwrap_err().to_string();
        assert!(refused.contains("need 4.0 MiB") && refused.contains("they may use 3.0 MiB"), "{refused}");
        assert!(limited(2, 4 << 20).weigh(&machine, 2, small).is_ok());
        assert!(limited(1, 3 << 20).weigh(&machine, 4, small).is_ok(), "the plan of one process has been looked at");
        let limit = seat(2).machine().unwrap().allowed.memory_limit;
        assert_eq!(limit, Some(Bytes(memory / 2)));
    }
}
