//! Whether so few reads come that the index is better read where the system has it already.

use zerohop_model::machine::Bytes;
use zerohop_model::plan::{HugePages, Placement};

/// Bytes of the index for each base of the reads, from which on it is mapped from its file in place of being loaded.
///
/// On 1 Gb, small pages took 3 % more time for mapping, and 500,000 pairs 7 % less CPU in all
/// (bench/runs/2026-11-29-epyc-2cpu-limit/mapped-1G, 20 bytes for each base); with memory that a virtual machine has to
/// get from its host first, much less. To time new memory before does not tell: what was freed last comes first.
const BYTES_PER_BASE: u64 = 16;

/// Whether reads of so many bases, if that is known, are few beside an index of so many bytes, and nothing is lost when
/// it lies where the system's file cache has put it: the machine has one node, and one copy of the index is wanted.
pub fn is_brief(bases: Option<u64>, index: Bytes, nodes: usize, copies: &[Placement]) -> bool {
    let asks_for_huge_pages = |copy: &Placement| copy.huge_pages == HugePages::Auto;
    let is_one = nodes == 1 && copies.len() == 1 && copies.iter().all(asks_for_huge_pages);
    is_one && bases.is_some_and(|bases| bases.saturating_mul(BYTES_PER_BASE) <= index.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::plan::Pages;

    #[test]
    fn only_few_reads_on_one_node_are_brief() {
        let copy = |huge_pages| Placement { nodes: Vec::new(), pages: Pages::FirstTouch, huge_pages };
        let (usual, small) = (copy(HugePages::Auto), copy(HugePages::Off));
        let index = Bytes(16_000);
        assert!(is_brief(Some(1000), index, 1, std::slice::from_ref(&usual)));
        assert!(!is_brief(Some(1001), index, 1, std::slice::from_ref(&usual)));
        assert!(!is_brief(Some(u64::MAX), index, 1, std::slice::from_ref(&usual)));
        assert!(!is_brief(None, index, 1, std::slice::from_ref(&usual)));
        assert!(!is_brief(Some(1), index, 2, std::slice::from_ref(&usual)));
        assert!(!is_brief(Some(1), index, 1, &[usual.clone(), usual]));
        assert!(!is_brief(Some(1), index, 1, &[small]));
    }
}
