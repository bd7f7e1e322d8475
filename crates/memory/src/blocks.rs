//! The table of live large blocks: address, length, placement.
//!
//! It is written from inside the allocator, so it has a fixed size, takes no lock and allocates nothing. A block has
//! its slot among the [`WINDOW`] that follow the place its address hashes to; when these are all taken it is only
//! counted.

use crate::id::PlacementId;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*, fence};

/// Room for 64 GiB in blocks of the smallest large size, and for far more in practice, where blocks are larger.
const SLOTS: usize = 1 << 14;
const WINDOW: usize = 64;

/// Slot states besides an address; no block begins here.
const FREE: usize = 0;
const CLAIMED: usize = 1;

static LIVE: BlockTable<SLOTS> = BlockTable::new();

/// Enters a block. It must be mapped already, and not be unmapped before [`forget`].
pub(crate) fn remember(address: usize, bytes: usize, id: PlacementId) {
    LIVE.remember(address, bytes, id);
}

/// Takes a block out and tells its placement; `None` for one that had found no slot.
pub(crate) fn forget(address: usize) -> Option<PlacementId> {
    LIVE.forget(address)
}

/// Whether a live block that has a slot begins there.
pub(crate) fn is_known(address: usize) -> bool {
    LIVE.slot(address).is_some()
}

/// Notes a block's new length.
pub(crate) fn resize(address: usize, bytes: usize) {
    LIVE.resize(address, bytes);
}

/// Counts a live block that has no slot: its placement is not known any more.
pub(crate) fn remember_unknown() {
    LIVE.untracked.fetch_add(1, Relaxed);
}

/// The live blocks of a placement as (address, bytes), and the number of live blocks of all placements without a slot.
pub(crate) fn of(id: PlacementId) -> (Vec<(usize, usize)>, usize) {
    (LIVE.of(id), LIVE.untracked.load(Relaxed))
}

struct Slot {
    address: AtomicUsize,
    bytes: AtomicUsize,
    id: AtomicU32,
}

struct BlockTable<const N: usize> {
    slots: [Slot; N],
    untracked: AtomicUsize,
}

impl<const N: usize> BlockTable<N> {
    const fn new() -> Self {
        Self { slots: [const { Slot::empty() }; N], untracked: AtomicUsize::new(0) }
    }

    fn window(&self, address: usize) -> impl Iterator<Item = &Slot> {
        // Blocks begin at multiples of a huge page: the bits below are all zero. Multiplying by the golden ratio
        // spreads neighbours over the table (Knuth, vol. 3, 6.4).
        let hash = ((address >> 21) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let start = hash as usize % N;
        (0..WINDOW.min(N)).map(move |step| &self.slots[(start + step) % N])
    }

    fn slot(&self, address: usize) -> Option<&Slot> {
        self.window(address).find(|slot| slot.address.load(Relaxed) == address)
    }

    fn remember(&self, address: usize, bytes: usize, id: PlacementId) {
        let free = |slot: &&Slot| slot.address.compare_exchange(FREE, CLAIMED, Acquire, Relaxed).is_ok();
        let Some(slot) = self.window(address).find(free) else {
            self.untracked.fetch_add(1, Relaxed);
            return;
        };
        slot.bytes.store(bytes, Relaxed);
        slot.id.store(id.0, Relaxed);
        slot.address.store(address, Release);
    }

    fn forget(&self, address: usize) -> Option<PlacementId> {
        let Some(slot) = self.slot(address) else {
            self.untracked.fetch_sub(1, Relaxed);
            return None;
        };
        let id = PlacementId(slot.id.load(Relaxed));
        slot.address.store(FREE, Release);
        Some(id)
    }

    fn resize(&self, address: usize, bytes: usize) {
        if let Some(slot) = self.slot(address) {
            slot.bytes.store(bytes, Relaxed);
        }
    }

    fn of(&self, id: PlacementId) -> Vec<(usize, usize)> {
        // Blocks come and go while this runs. One that goes is at worst asked for in vain: the kernel says of each page
        // whether it is there.
        let mut blocks: Vec<_> = self.slots.iter().filter_map(|slot| slot.read(id)).collect();
        blocks.sort_unstable();
        blocks
    }
}

impl Slot {
    const fn empty() -> Self {
        Self { address: AtomicUsize::new(FREE), bytes: AtomicUsize::new(0), id: AtomicU32::new(0) }
    }

    fn read(&self, wanted: PlacementId) -> Option<(usize, usize)> {
        let address = self.address.load(Acquire);
        let (bytes, id) = (self.bytes.load(Relaxed), self.id.load(Relaxed));
        fence(Acquire);
        // Taken over by another block while reading: that one is too young to be counted.
        let same = self.address.load(Relaxed) == address;
        (address > CLAIMED && same && id == wanted.0).then_some((address, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PlacementId = PlacementId(7);
    const B: PlacementId = PlacementId(8);

    fn at(block: usize) -> usize {
        (block + 1) << 21
    }

    #[test]
    fn blocks_are_found_by_placement() {
        let table = BlockTable::<64>::new();
        table.remember(at(1), 10, A);
        table.remember(at(2), 20, B);
        table.remember(at(3), 30, A);
        table.resize(at(3), 33);
        assert_eq!(table.of(A), [(at(1), 10), (at(3), 33)]);
        assert_eq!(table.forget(at(1)), Some(A));
        assert_eq!(table.of(A), [(at(3), 33)]);
        assert_eq!(table.of(B), [(at(2), 20)]);
        assert_eq!(table.untracked.load(Relaxed), 0);
    }

    #[test]
    fn a_full_table_counts() {
        let table = BlockTable::<8>::new();
        (0..11).for_each(|block| table.remember(at(block), 1, A));
        assert_eq!(table.of(A).len(), 8);
        assert_eq!(table.untracked.load(Relaxed), 3);
        let forgotten = (0..11).filter_map(|block| table.forget(at(block))).count();
        assert_eq!(forgotten, 8);
        assert_eq!(table.of(A), []);
        assert_eq!(table.untracked.load(Relaxed), 0);
    }

    #[test]
    fn threads_do_not_lose_blocks() {
        static TABLE: BlockTable<256> = BlockTable::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..200 {
                        let block = at(thread * 1000 + round);
                        TABLE.remember(block, 1, A);
                        assert_eq!(TABLE.forget(block), Some(A));
                    }
                    TABLE.remember(at(thread * 1000), 1, B);
                });
            }
        });
        assert_eq!(TABLE.of(A), []);
        assert_eq!(TABLE.of(B).len(), 4);
    }
}
