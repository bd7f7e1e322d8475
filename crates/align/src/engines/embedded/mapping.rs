//! Whether the index is better read where the system has it already, in its file cache, than loaded.

use zerohop_model::index::FilePages;
use zerohop_model::machine::Bytes;
use zerohop_model::plan::{HugePages, Placement};

/// Bytes of the index for each base of the reads, from which on small pages cost less than loading it.
///
/// On 1 Gb, small pages took 3 % more time for mapping, and 500,000 pairs 7 % less CPU in all
/// (bench/runs/2026-11-29-epyc-2cpu-limit/mapped-1G, 20 bytes for each base); with memory that a virtual machine has to
/// get from its host first, much less. To time new memory before does not tell: what was freed last comes first.
const BYTES_PER_BASE: u64 = 16;

/// What is smaller is loaded in a moment.
const SMALL: Bytes = Bytes(64 << 20);

/// The pages of the file cache on which an index of so many bytes is to be mapped, if it lies there, for reads of so
/// many bases, if that is known. None where something is lost then: there are several nodes or copies, or huge pages
/// are not wanted.
pub fn mapped_pages(bases: Option<u64>, index: Bytes, nodes: usize, copies: &[Placement]) -> Option<FilePages> {
    let asks_for_huge_pages = |copy: &Placement| copy.huge_pages == HugePages::Auto;
    let is_one = nodes == 1 && copies.len() == 1 && copies.iter().all(asks_for_huge_pages);
    let are_few = bases.is_some_and(|bases| bases.saturating_mul(BYTES_PER_BASE) <= index.0);
    match (is_one, are_few) {
        (true, true) => Some(FilePages::Any),
        (true, false) if index >= SMALL => Some(FilePages::Huge),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_model::plan::Pages;

    #[test]
    fn one_copy_on_one_node_is_mapped() {
        let copy = |huge_pages| Placement { nodes: Vec::new(), pages: Pages::FirstTouch, huge_pages };
        let (usual, small) = (copy(HugePages::Auto), copy(HugePages::Off));
        let pages = |bases, index, copies: &[Placement]| mapped_pages(bases, Bytes(index), 1, copies);
        let one = std::slice::from_ref(&usual);
        assert_eq!(pages(Some(1000), 16_000, one), Some(FilePages::Any));
        for many in [Some(1001), Some(u64::MAX), None] {
            assert_eq!(pages(many, 16_000, one), None);
        }
        assert_eq!(pages(Some(u64::MAX), 64 << 20, one), Some(FilePages::Huge));
        assert_eq!(pages(None, 1 << 40, one), Some(FilePages::Huge));
        for index in [1000, 64 << 20] {
            assert_eq!(mapped_pages(Some(1), Bytes(index), 2, one), None);
            assert_eq!(pages(Some(1), index, &[usual.clone(), usual.clone()]), None);
            assert_eq!(pages(Some(1), index, std::slice::from_ref(&small)), None);
        }
    }
}
