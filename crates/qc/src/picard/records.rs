//! Records of several pileups beside each other.

use super::pileup::{BlockBases, Pileup};
use crate::depth::Place;
use std::collections::HashMap;

/// Records of several pileups, in their order.
pub(super) struct Records<'p> {
    pub(super) all: Vec<(&'p Pileup, usize)>,
    /// Of each record the one before it of the same name, if names matter.
    of_before: Vec<Option<usize>>,
}

impl<'p> Records<'p> {
    pub(super) fn new(all: Vec<(&'p Pileup, usize)>, names: bool) -> Self {
        let mut last = HashMap::new();
        let named = all.iter().enumerate().take(if names { all.len() } else { 0 });
        let of_before = named.map(|(at, (pileup, number))| last.insert(pileup.records[*number].name, at)).collect();
        Records { all, of_before }
    }

    pub(super) fn start(&self, at: usize) -> Place {
        let (pileup, number) = self.all[at];
        pileup.records[number].start
    }

    pub(super) fn blocks(&self, at: usize) -> impl Iterator<Item = BlockBases<'p>> + use<'p> {
        let (pileup, number) = self.all[at];
        pileup.blocks_of(number)
    }

    /// Blocks of earlier records of the same name that overlap this one.
    pub(super) fn same_name(&self, at: usize, block: BlockBases<'p>) -> impl Iterator<Item = BlockBases<'p>> {
        let before = |at: usize| self.of_before.get(at).copied().flatten();
        let others = std::iter::successors(before(at), move |at| before(*at));
        others.flat_map(|other| self.blocks(other)).filter(move |other| overlap(&block, other))
    }
}

fn overlap(one: &BlockBases<'_>, other: &BlockBases<'_>) -> bool {
    one.start < other.end() && other.start < one.end()
}
