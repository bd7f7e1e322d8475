//! Whether index copies fit into memory, and with how much to spare.

use crate::{PlanError, cpu_nodes, homes};
use zerohop_model::machine::{Bytes, Machine, Node};

/// The part of free memory, and of each node, that index copies may take. The other half is for reads and records on
/// their way to and from the disk, and for what the aligner takes for itself.
const PART_FOR_COPIES: f64 = 0.5;

/// How a number of copies fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CopiesFit {
    /// Well, also while they are loaded.
    Well,
    /// Once they are loaded; why it may be too tight before.
    Tight(String),
    /// Not at all, and why.
    No(String),
}

/// Memory, seen by who places copies of an index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Nodes that can hold a copy for their own CPUs.
    nodes: usize,
    /// Memory of the smallest of them, in bytes.
    smallest: u64,
    /// What is free on that of them which has least, in bytes.
    least_free: u64,
    /// What of all memory can be taken now, in bytes.
    free: u64,
    /// Bytes of one copy.
    index: u64,
}

impl Room {
    pub(crate) fn of(machine: &Machine, index_bytes: u64) -> Self {
        let nodes = homes(machine, &cpu_nodes(machine));
        let smallest = nodes.iter().map(|node| node.memory.0).filter(|&bytes| bytes > 0).min().unwrap_or(0);
        let with_memory = nodes.iter().filter(|node| node.memory.0 > 0);
        let least_free = with_memory.map(|node| node.free.0).min().unwrap_or(0);
        Room { nodes: nodes.len().max(1), smallest, least_free, free: free_memory(machine), index: index_bytes }
    }

    /// Whether `copies` fit. One always does: whether there is memory for it at all, [`check`] says.
    pub(crate) fn fit(&self, copies: usize) -> CopiesFit {
        let Room { nodes, smallest, least_free, free, index } = *self;
        if copies == 1 {
            return CopiesFit::Well;
        }
        let on_a_node = index.saturating_mul(copies.div_ceil(nodes) as u64) / (nodes / copies).max(1) as u64;
        let all = index.saturating_mul(copies as u64);
        // A copy is read through the page cache, which holds the index files once as long as copies are loaded.
        let loading = all.saturating_add(index);
        let more_than_half = |bytes: u64, of: u64| bytes as f64 > PART_FOR_COPIES * of as f64;
        let (each_node, smallest) = (Bytes(on_a_node), Bytes(smallest));
        if more_than_half(on_a_node, smallest.0) {
            return CopiesFit::No(format!(
                "{copies} copies put {each_node} on each node, more than half of its memory ({smallest})."
            ));
        }
        // What of a copy does not fit on its node would lie on others.
        if more_than_half(on_a_node, least_free) {
            return CopiesFit::No(format!(
                "{copies} copies put {each_node} on each node, more than half of what is free on one of them ({}).",
                Bytes(least_free)
            ));
        }
        let (all, free) = (Bytes(all), Bytes(free));
        if more_than_half(all.0, free.0) {
            return CopiesFit::No(format!("{copies} copies ({all}) are more than half of free memory ({free})."));
        }
        match more_than_half(loading, free.0) {
            true => CopiesFit::Tight(format!(
                "{copies} copies ({all}), with the index files in the page cache, are more than half of free memory \
                 ({free})."
            )),
            false => CopiesFit::Well,
        }
    }
}

/// Whether so many copies of an index leave enough memory for all else, as the rule asks for.
pub fn leaves_room(machine: &Machine, index_bytes: u64, copies: usize) -> bool {
    !matches!(Room::of(machine, index_bytes).fit(copies), CopiesFit::No(_))
}

/// The nodes over which a single copy is spread: those with memory that this process may use. Memory without CPUs of
/// its own (CXL, HBM beside other memory, a GPU's) is near to nobody, and taken only if the copy is too large for the
/// rest.
pub(crate) fn banks_of_one(machine: &Machine, index_bytes: u64) -> Vec<&Node> {
    let all = machine.memory_nodes();
    let with_cpus: Vec<&Node> = all.iter().copied().filter(|node| !node.cpus.is_empty()).collect();
    let free: u64 = with_cpus.iter().map(|node| node.free.0).sum();
    let is_enough = !with_cpus.is_empty() && index_bytes as f64 <= PART_FOR_COPIES * free as f64;
    if is_enough { with_cpus } else { all }
}

/// Memory that can be taken now, in bytes, within the limits of control groups.
pub fn free_memory(machine: &Machine) -> u64 {
    let free: u64 = machine.memory_nodes().iter().map(|node| node.free.0).sum();
    let limits = [machine.allowed.memory_limit, machine.allowed.memory_left];
    limits.into_iter().flatten().fold(free, |least, limit| least.min(limit.0))
}

/// Whether there is memory for `copies` more of an index at all.
///
/// # Errors
/// [`PlanError::NoRoom`] where one is larger than what this process may use, so that the kernel would kill it;
/// [`PlanError::TooLarge`] where several do not fit into what is free now.
pub(crate) fn check(machine: &Machine, index_bytes: u64, copies: usize) -> Result<(), PlanError> {
    if copies == 0 {
        return Ok(());
    }
    let all: u64 = machine.memory_nodes().iter().map(|node| node.memory.0).sum();
    let (needs, free) = (Bytes(index_bytes), free_memory(machine));
    if let Some(left) = machine.allowed.memory_left.filter(|left| index_bytes > left.0) {
        let why = "its control group has a memory limit: ask for more memory (sbatch --mem, docker --memory)";
        return Err(PlanError::NoRoom { needs, room: left, why });
    }
    // A machine that does not tell its memory may have enough.
    if all > 0 && index_bytes > all {
        let why = "that is all the memory of its nodes: take a machine with more, or a smaller index";
        return Err(PlanError::NoRoom { needs, room: Bytes(all), why });
    }
    if copies > 1 && (copies as u64).saturating_mul(index_bytes) > free {
        return Err(PlanError::TooLarge { copies, each: needs, free: Bytes(free) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine;

    const GIB: u64 = 1 << 30;

    #[test]
    fn copies_fit_well_tightly_or_not() {
        let fit = |copies, index_gib: u64| Room::of(&machine(4, 2, 16), index_gib * GIB).fit(copies);
        assert_eq!(fit(4, 4), CopiesFit::Well, "20 of 64 GiB while loading");
        assert!(matches!(fit(4, 7), CopiesFit::Tight(_)), "28 of 64, but 35 while loading");
        assert!(
            matches!(fit(4, 8), CopiesFit::Tight(_)) && matches!(fit(4, 9), CopiesFit::No(_)),
            "half of a node and no more"
        );
        assert!(matches!(fit(8, 4), CopiesFit::Tight(_)), "two on each node");
        assert!(
            matches!(fit(16, 3), CopiesFit::No(_)) && fit(2, 9) == CopiesFit::Well && fit(1, 60) == CopiesFit::Well
        );
    }

    #[test]
    fn a_node_that_others_have_filled_gets_no_copy_of_its_own() {
        let mut busy = machine(2, 2, 128);
        busy.nodes[0].free = Bytes(GIB);
        let CopiesFit::No(why) = Room::of(&busy, 20 * GIB).fit(2) else { panic!("it is taken") };
        assert!(why.contains("more than half of what is free on one of them (1.0 GiB)"), "{why}");
        assert_eq!(Room::of(&busy, 20 * GIB).fit(1), CopiesFit::Well);
    }

    #[test]
    fn memory_without_cpus_is_for_copies_that_fit_nowhere_else() {
        let mut machine = machine(4, 2, 16);
        let banks = |machine: &Machine, gib| -> Vec<u32> {
            banks_of_one(machine, gib * GIB).iter().map(|node| node.id.0).collect()
        };
        assert_eq!(banks(&machine, 40), [0, 1, 2, 3]);
        machine.nodes[1].cpus.clear();
        machine.nodes[3].cpus.clear();
        assert_eq!(banks(&machine, 16), [0, 2], "half of what is free");
        assert_eq!(banks(&machine, 17), [0, 1, 2, 3]);
        machine.allowed.nodes.retain(|node| [1, 3].contains(&node.0));
        assert_eq!(banks(&machine, 1), [1, 3], "there is no other memory for us");
    }

    #[test]
    fn what_the_kernel_would_kill_is_refused() {
        let mut limited = machine(2, 2, 16);
        assert_eq!(check(&limited, 32 * GIB, 1), Ok(()));
        let refused = check(&limited, 33 * GIB, 1).unwrap_err().to_string();
        assert!(
            refused.starts_with("the index needs 33.0 GiB, this process may use 32.0 GiB: that is all"),
            "{refused}"
        );
        (limited.allowed.memory_limit, limited.allowed.memory_left) = (Some(Bytes(8 * GIB)), Some(Bytes(5 * GIB)));
        let refused = check(&limited, 6 * GIB, 1).unwrap_err().to_string();
        assert!(
            refused.starts_with("the index needs 6.0 GiB, this process may use 5.0 GiB: its control group"),
            "{refused}"
        );
        assert!(matches!(check(&limited, 3 * GIB, 2), Err(PlanError::TooLarge { copies: 2, .. })));
        assert!(matches!(Room::of(&limited, 2 * GIB).fit(2), CopiesFit::No(_)));
    }
}
