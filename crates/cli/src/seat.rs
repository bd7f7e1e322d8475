//! A rank among those on its machine: its share of the CPUs and of the memory.

use crate::failure::Failure;
use crate::ranks::host;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use zerohop_distribute::Transport;
use zerohop_model::machine::{Bytes, CpuId, Machine, NodeId};

/// What a rank may use of its machine beside the others there; by default there are none.
#[derive(Debug, Default)]
pub struct Seat {
    /// The ranks on its machine; none for one process.
    beside: Option<Beside>,
    /// What the user should know of the CPUs.
    pub note: Option<String>,
}

/// The ranks on one machine, this one too.
#[derive(Debug)]
struct Beside {
    /// All of them: a control group's limit is for all together.
    here: usize,
    /// Those that take memory from the same nodes.
    same_nodes: usize,
    /// What of the memory of these nodes was free before any of them took some.
    free: Bytes,
    /// What the control group allows all of them.
    limit: Option<Bytes>,
}

impl Beside {
    /// A rank's share of the memory.
    fn share(&self) -> Bytes {
        let of_limit = self.limit.map_or(u64::MAX, |limit| limit.0 / self.here as u64);
        Bytes(of_limit.min(self.free.0 / self.same_nodes as u64))
    }
}

impl Seat {
    /// Ranks that may use the same CPUs of one machine share them out, node by node, so that they do not sit on one another.
    ///
    /// # Errors
    /// Ranks that cannot go on together; what the system says.
    pub fn take(transport: &dyn Transport) -> Result<Self, Failure> {
        let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
        let machine = zerohop_topology::detect()?;
        let is_allowed = |cpu: &CpuId| machine.allowed.cpus.contains(cpu);
        let cpus: Vec<CpuId> =
            machine.nodes.iter().flat_map(|node| node.cpus.iter().copied().filter(is_allowed)).collect();
        let own = Place { host: host(), cpus: cpus.clone(), nodes: machine.allowed.nodes.clone() };
        let all = transport.all_gather(&serde_json::to_vec(&own).map_err(|error| other(&error))?);
        let read = |text: &Vec<u8>| serde_json::from_slice::<Place>(text);
        let all: Vec<Place> = all
            .map_err(|error| other(&error))?
            .iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map_err(|error| other(&error))?;
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
                "the ranks on {} may use {} of its {there} CPUs: the launcher has bound them (mpirun --bind-to none, srun --cpus-per-task)",
                own.host,
                used.len()
            )
        });
        let beside = Beside {
            here: here().count(),
            same_nodes: here().filter(|place| place.nodes == own.nodes).count(),
            free: Bytes(machine.memory_nodes().iter().map(|node| node.free.0).sum()),
            limit: machine.allowed.memory_limit,
        };
        Ok(Seat { beside: Some(beside), note: unpinned.or(bound) })
    }

    /// The machine, with this rank's share of its free memory as the limit.
    ///
    /// # Errors
    /// What the system says.
    pub fn machine(&self) -> Result<Machine, Failure> {
        let mut machine = zerohop_topology::detect()?;
        if let Some(beside) = self.beside.as_ref().filter(|beside| beside.here > 1) {
            machine.allowed.memory_limit = Some(beside.share());
        }
        Ok(machine)
    }

    /// What the user should know of the index copies of all ranks on this machine, of which each holds `copies`, if fewer would do.
    ///
    /// # Errors
    /// More than its memory.
    pub fn weigh(&self, machine: &Machine, copies: usize, each: Bytes) -> Result<Option<String>, Failure> {
        let Some(beside) = &self.beside else { return Ok(None) };
        let nodes = machine.memory_nodes();
        let memory = Bytes(nodes.iter().map(|node| node.memory.0).sum());
        let held = |ranks: usize| {
            let all = Bytes((ranks * copies) as u64 * each.0);
            let (ranks, hold) =
                if ranks == 1 { ("1 rank".to_owned(), "holds") } else { (format!("{ranks} ranks"), "hold") };
            (all, format!("{ranks} on {} {hold} an index of their own, {all} in all", machine.name))
        };
        let refuse = |held: String, there: String| {
            Err(Failure::Other(format!(
                "{held}, and {there}: start one rank for each machine, or for each NUMA node, with more threads (-t)"
            )))
        };
        let (all, words) = held(beside.here);
        if let Some(limit) = beside.limit.filter(|limit| all > *limit) {
            return refuse(
                words,
                format!("their control group (of the job or the container) allows {limit} of memory"),
            );
        }
        let (all, words) = held(beside.same_nodes);
        if beside.same_nodes > 1 && all > memory {
            return refuse(words, format!("there are {memory} of memory"));
        }
        let more_than_needed = beside.same_nodes > 1 && beside.same_nodes * copies > nodes.len() && each.0 > 0;
        Ok(more_than_needed
            .then(|| format!("{words}: one for each NUMA node, with more threads (-t), needs less memory.")))
    }
}

/// Where a rank is.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Place {
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
        let alone = Seat::default();
        let machine = alone.machine().unwrap();
        let (nodes, memory) = (machine.memory_nodes().len(), machine.memory_nodes().iter().map(|n| n.memory.0).sum());
        let (small, huge) = (Bytes(1 << 20), Bytes(memory));
        let seat_under = |ranks, limit| {
            let beside = Beside { here: ranks, same_nodes: ranks, free: Bytes(memory), limit };
            Seat { beside: Some(beside), note: None }
        };
        let seat = |ranks| seat_under(ranks, None);
        let is_told = |seat: Seat, copies, each| seat.weigh(&machine, copies, each).unwrap().is_some();
        assert!(!is_told(Seat::default(), nodes + 1, huge), "one process may have its reasons");
        assert!(!is_told(seat(1), nodes + 1, small));
        assert!(!is_told(seat(nodes), 1, small));
        assert!(is_told(seat(nodes + 1), 1, small) && is_told(seat(2), nodes, small));
        assert!(!is_told(seat(nodes + 1), 1, Bytes(0)), "an engine without an index");
        let refused = seat(2).weigh(&machine, 1, huge).unwrap_err().to_string();
        assert!(refused.contains("start one rank for each machine"), "{refused}");
        let limit = seat(2).machine().unwrap().allowed.memory_limit;
        assert_eq!(limit, Some(Bytes(memory / 2)));
        // The limit of a container or a job is for all ranks in it together.
        let (each, limit) = (Bytes(3 << 30), Some(Bytes(5 << 30)));
        assert!(seat_under(1, limit).weigh(&machine, 1, each).is_ok());
        let refused = seat_under(2, limit).weigh(&machine, 1, each).unwrap_err().to_string();
        assert!(refused.contains("6.0 GiB in all") && refused.contains("allows 5.0 GiB of memory"), "{refused}");
        let share = seat_under(2, limit).machine().unwrap().allowed.memory_limit;
        assert_eq!(share, Some(Bytes((5 << 29).min(memory / 2))));
    }
}
