//! Index copies that an earlier command left in memory for the runs to come.

use zerohop_model::machine::{Bytes, Machine, Node};
use zerohop_model::plan::Placement;

/// Whether a run that asks for nothing else reads these copies alone.
pub fn kept_suffice(machine: &Machine, kept: &[Placement]) -> bool {
    nearest(&crate::homes(machine, &crate::cpu_nodes(machine)), kept).is_some()
}

/// For each of `homes` the copy that is on it, and on the fewest other nodes; each copy once. None if there is a node
/// without.
pub(crate) fn nearest<'k>(homes: &[&Node], kept: &'k [Placement]) -> Option<Vec<&'k Placement>> {
    let of = |home: &&Node| {
        let on_it = kept.iter().filter(|placement| placement.nodes.contains(&home.id));
        on_it.min_by_key(|placement| placement.nodes.len())
    };
    let mut all: Vec<&Placement> = Vec::new();
    for home in homes {
        let copy = of(home)?;
        if !all.contains(&copy) {
            all.push(copy);
        }
    }
    (!all.is_empty()).then_some(all)
}

/// The machine as it was before copies were kept, each of so many bytes: what they take is free for themselves.
pub(crate) fn before(machine: &Machine, kept: &[Placement], index_bytes: u64) -> Machine {
    let mut before = machine.clone();
    for copy in kept {
        let on_each = index_bytes / copy.nodes.len().max(1) as u64;
        let nodes = before.nodes.iter_mut().filter(|node| copy.nodes.contains(&node.id));
        nodes.for_each(|node| node.free = Bytes((node.free.0 + on_each).min(node.memory.0)));
    }
    before
}

/// How many copies, which are to lie like this, are not among those that are kept, and so need memory.
pub fn count_missing(placements: &[Placement], kept: &[Placement]) -> usize {
    let is_missing = |placement: &&Placement| {
        !kept.iter().any(|copy| copy.nodes == placement.nodes && copy.pages == placement.pages)
    };
    placements.iter().filter(is_missing).count()
}

#[cfg(test)]
mod tests {
    use crate::tests::{machine, request};
    use crate::{PlanError, Replicas, Request, kept_suffice, plan};
    use zerohop_model::machine::{Bytes, NodeId};
    use zerohop_model::plan::{HugePages, Pages, Placement};

    fn copy(nodes: &[u32], pages: Pages) -> Placement {
        Placement { nodes: nodes.iter().copied().map(NodeId).collect(), pages, huge_pages: HugePages::Auto }
    }

    #[test]
    fn kept_copies_are_read_where_there_is_no_room_for_others() {
        let mut full = machine(4, 2, 16);
        full.nodes.iter_mut().for_each(|node| node.free = Bytes(1 << 30));
        let kept = [0, 1, 2, 3].map(|node| copy(&[node], Pages::Local));
        let asked = Request { kept: &kept, ..request(4) };
        let all = plan(&full, &asked).unwrap();
        assert_eq!(all.replicas, kept);
        assert_eq!(all.reasons[0], "Index copies that 'zerohop index --keep' put into memory.");
        assert!(all.workers.iter().all(|worker| kept[worker.replica].nodes == [worker.node.unwrap()]));
        let few = plan(&full, &Request { workers: Some(2), ..asked }).unwrap();
        assert_eq!(few.replicas, kept[..2], "those of the nodes on which workers are");
        full.allowed.cpus.retain(|cpu| cpu.0 >= 6);
        let last = plan(&full, &asked).unwrap();
        assert_eq!((&last.replicas[..], last.workers[0].replica), (&kept[3..], 0));
    }

    #[test]
    fn one_kept_copy_for_all_is_read_unless_there_are_nearer_ones() {
        let (four, all) = (machine(4, 2, 16), copy(&[0, 1, 2, 3], Pages::Interleave));
        let far = plan(&four, &Request { kept: std::slice::from_ref(&all), ..request(1) }).unwrap();
        assert_eq!(far.replicas, std::slice::from_ref(&all));
        let kept = [all.clone(), copy(&[2], Pages::Local)];
        let nearer = plan(&four, &Request { kept: &kept, ..request(1) }).unwrap();
        assert_eq!(nearer.replicas, kept);
        let readers =
            |copy| nearer.workers.iter().filter(move |worker| worker.replica == copy).map(|worker| worker.node);
        assert!(readers(1).all(|node| node == Some(NodeId(2))) && readers(0).count() == 6, "{:?}", nearer.workers);
    }

    #[test]
    fn what_is_not_kept_for_all_or_was_not_asked_for_is_not_counted_on() {
        let four = machine(4, 2, 16);
        let kept = [0, 1, 2].map(|node| copy(&[node], Pages::Local));
        assert!(!kept_suffice(&four, &kept) && !kept_suffice(&four, &[]));
        let asked = Request { kept: &kept, ..request(12) };
        assert_eq!(plan(&four, &asked).unwrap().replicas, [copy(&[0, 1, 2, 3], Pages::Interleave)]);
        // Three of four are there, and the memory that is free is too little for more than one.
        let mut full = machine(4, 2, 16);
        full.nodes.iter_mut().for_each(|node| node.free = Bytes((if node.id.0 < 3 { 8 } else { 14 }) << 30));
        let rest = plan(&full, &Request { kept: &kept, ..request(5) }).unwrap();
        assert_eq!(rest.replicas, [0, 1, 2, 3].map(|node| copy(&[node], Pages::Local)));
        // Four of 17 GiB are more than there is, but of these only the fourth must be made.
        let counted = |kept| plan(&four, &Request { replicas: Replicas::Count(4), kept, ..request(17) });
        assert!(counted(&kept).is_ok());
        assert!(matches!(counted(&[]), Err(PlanError::TooLarge { copies: 4, .. })));
    }
}
