//! Bases and qualities of primary records by cycle: by place in the read as it was sequenced, clipped bases too. They
//! are counted once; each tool adds up those of the reads that it takes for first and last ones.

mod bases;
mod qualities;

use crate::record::{ReadOrder, Record};
pub(crate) use bases::Bases;
use bases::StrandBases;
pub(crate) use qualities::{QualityCycles, quality_sum};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Cycles that are counted: more bases of a read only where they are in no cycle. samtools and Picard have no such
/// limit; their tables of one read of a million bases take gigabytes, and a million lines.
pub(crate) const MOST_CYCLES: usize = if cfg!(test) { 48 } else { 1 << 16 };

/// Of all primary records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cycles {
    /// By [`ReadOrder`].
    orders: [OfOrder; ReadOrder::ALL.len()],
    /// Room for the bases of a read.
    #[serde(skip)]
    codes: Vec<u8>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OfOrder {
    /// Of forward reads and of reverse ones, as they stand in the records.
    strands: [StrandBases; 2],
    qualities: QualityCycles,
}

/// What is known of a read when its bases and qualities are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReadSums {
    /// How many bases are G or C.
    pub(crate) gc: u32,
    /// The sum of the qualities.
    pub(crate) qualities: u64,
}

impl Cycles {
    /// Adds a primary record.
    pub(crate) fn add(&mut self, record: &Record<'_>) -> ReadSums {
        let is_reverse = record.flags.is_reverse();
        let OfOrder { strands, qualities } = &mut self.orders[record.flags.order() as usize];
        let gc = strands[usize::from(is_reverse)].add(record, &mut self.codes);
        qualities.add(of_first_cycles(record.qualities, MOST_CYCLES, is_reverse), is_reverse);
        ReadSums { gc, qualities: quality_sum(record.qualities) }
    }

    /// Bases by cycle of some reads, as they stand in the records.
    pub(crate) fn bases_in_records(&self, orders: &[ReadOrder]) -> Vec<Bases> {
        let mut all = Vec::new();
        let strands = orders.iter().flat_map(|order| &self.orders[*order as usize].strands);
        strands.for_each(|strand| bases::add(&mut all, strand.by_cycle()));
        all
    }

    /// The same as they were sequenced.
    pub(crate) fn bases_in_reads(&self, orders: &[ReadOrder]) -> Vec<Bases> {
        let mut all = Vec::new();
        for order in orders {
            let [forward, reverse] = &self.orders[*order as usize].strands;
            bases::add(&mut all, forward.by_cycle());
            bases::add(&mut all, reverse.by_cycle().into_iter().map(bases::complement));
        }
        all
    }

    /// Qualities by cycle of some reads.
    pub(crate) fn qualities(&self, orders: &[ReadOrder]) -> QualityCycles {
        let mut all = QualityCycles::default();
        orders.iter().for_each(|order| all += &self.orders[*order as usize].qualities);
        all
    }

    /// Counts all that is held until many can be counted at a time. It comes before they are added up, or told.
    pub(crate) fn settle(&mut self) {
        for OfOrder { strands, qualities } in &mut self.orders {
            strands.iter_mut().zip([false, true]).for_each(|(strand, is_reverse)| strand.settle(is_reverse));
            qualities.settle();
        }
    }
}

/// Of the bytes of a read, as they stand in its record, those that were sequenced first: `most` at most.
#[inline]
fn of_first_cycles(bytes: &[u8], most: usize, is_reverse: bool) -> &[u8] {
    let behind = bytes.len().saturating_sub(most);
    if is_reverse { &bytes[behind..] } else { &bytes[..bytes.len() - behind] }
}

/// The bytes of a read, one for each base, as it was sequenced.
#[inline]
fn as_sequenced(bytes: &[u8], is_reverse: bool) -> impl Iterator<Item = u8> {
    let last = bytes.len().wrapping_sub(1);
    (0..bytes.len()).map(move |cycle| bytes[if is_reverse { last - cycle } else { cycle }])
}

impl AddAssign<&Cycles> for Cycles {
    /// Both are settled.
    fn add_assign(&mut self, more: &Cycles) {
        for (all, more) in self.orders.iter_mut().zip(&more.orders) {
            all.strands.iter_mut().zip(&more.strands).for_each(|(all, more)| *all += more);
            all.qualities += &more.qualities;
        }
    }
}
