//! The allocator object against `Vec`: the same bytes after any sequence of calls.

// The helpers below are test code too, though clippy sees only `#[test]` functions as such.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout};
use zerohop_memory::{LARGE, PlacedAlloc};

#[derive(Debug, Clone)]
enum Step {
    Alloc { size: usize, align: usize, zeroed: bool },
    Realloc { which: usize, size: usize },
    Free { which: usize },
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        3 => 1usize..200,
        2 => 200usize..300_000,
        3 => LARGE - 3..LARGE + 3,
        3 => LARGE..3 * LARGE,
        1 => (LARGE / 4096..2 * LARGE / 4096).prop_map(|pages| pages * 4096),
    ]
}

fn align() -> impl Strategy<Value = usize> {
    prop_oneof![4 => Just(1usize), 4 => Just(8), 2 => Just(64), 1 => Just(4096), 1 => Just(2 << 20), 1 => Just(4 << 20)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (size(), align(), any::<bool>()).prop_map(|(size, align, zeroed)| Step::Alloc { size, align, zeroed }),
        4 => (any::<usize>(), size()).prop_map(|(which, size)| Step::Realloc { which, size }),
        2 => any::<usize>().prop_map(|which| Step::Free { which }),
    ]
}

/// A block and what it must hold.
struct Block {
    start: *mut u8,
    layout: Layout,
    twin: Vec<u8>,
}

impl Block {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block has `layout.size()` bytes, all written by `fill`, and belongs to this value until `free`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }

    fn fill(&mut self, from: usize, seed: u8) {
        for at in from..self.layout.size() {
            // SAFETY: `at` lies in the block.
            unsafe { self.start.add(at).write(seed.wrapping_add((at / 64) as u8)) };
        }
        self.twin = self.bytes().to_vec();
    }

    fn free(self) {
        // SAFETY: the block was allocated with this layout and is given up.
        unsafe { PlacedAlloc.dealloc(self.start, self.layout) };
    }
}

fn play(steps: Vec<Step>) {
    let mut blocks: Vec<Block> = Vec::new();
    for (number, step) in steps.into_iter().enumerate() {
        let seed = number as u8;
        match step {
            Step::Alloc { size, align, zeroed } => {
                let layout = Layout::from_size_align(size, align).unwrap();
                // SAFETY: the size is not 0.
                let start =
                    unsafe { if zeroed { PlacedAlloc.alloc_zeroed(layout) } else { PlacedAlloc.alloc(layout) } };
                assert!(!start.is_null());
                assert_eq!(start as usize % align.max(if size >= 8 { 8 } else { 1 }), 0);
                let mut block = Block { start, layout, twin: Vec::new() };
                if zeroed {
                    assert!(block.bytes().iter().all(|&byte| byte == 0));
                }
                block.fill(0, seed);
                blocks.push(block);
            }
            Step::Realloc { which, size } if !blocks.is_empty() => {
                let at = which % blocks.len();
                let block = &mut blocks[at];
                let (old, kept) = (block.start, block.layout.size().min(size));
                let shrinks_large = size >= LARGE && size <= block.layout.size() && block.layout.align() <= 2 << 20;
                // SAFETY: the block was allocated with this layout; the new size is not 0.
                block.start = unsafe { PlacedAlloc.realloc(block.start, block.layout, size) };
                assert!(!block.start.is_null());
                assert!(!shrinks_large || block.start == old, "shrinking moved a large block");
                block.layout = Layout::from_size_align(size, block.layout.align()).unwrap();
                assert_eq!(block.start as usize % block.layout.align(), 0);
                block.twin.truncate(kept);
                // SAFETY: the first `kept` bytes were written before and must have been kept.
                assert!(unsafe { std::slice::from_raw_parts(block.start, kept) } == block.twin);
                block.fill(kept, seed);
            }
            Step::Free { which } if !blocks.is_empty() => {
                let at = which % blocks.len();
                let mut block = blocks.swap_remove(at);
                let twin = std::mem::take(&mut block.twin);
                assert!(block.bytes() == twin);
                block.free();
            }
            Step::Realloc { .. } | Step::Free { .. } => {}
        }
    }
    for mut block in blocks {
        let twin = std::mem::take(&mut block.twin);
        assert!(block.bytes() == twin);
        block.free();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn holds_what_a_vec_holds(steps in proptest::collection::vec(step(), 1..30)) {
        play(steps);
    }
}

/// There is code that allocates with alignment 1 and frees with 8 (a `Vec<u8>` turned into one of words).
#[test]
fn alignment_does_not_route() {
    for size in [8, 4096, LARGE - 8, LARGE, 3 * LARGE] {
        let (one, eight) = (Layout::from_size_align(size, 1).unwrap(), Layout::from_size_align(size, 8).unwrap());
        // SAFETY: not in the contract of `GlobalAlloc`, but what this allocator promises on top.
        unsafe {
            let block = PlacedAlloc.alloc(one);
            assert_eq!(block as usize % 8, 0);
            block.write_bytes(1, size);
            PlacedAlloc.dealloc(block, eight);
        }
    }
}

#[test]
fn absurd_sizes_are_refused() {
    let layout = Layout::from_size_align(isize::MAX as usize, 1).unwrap();
    // SAFETY: the size is not 0.
    assert!(unsafe { PlacedAlloc.alloc(layout) }.is_null());
    let small = Layout::from_size_align(LARGE, 1).unwrap();
    // SAFETY: sizes are not 0; a block whose growth is refused stays valid and is freed with its old layout.
    unsafe {
        let block = PlacedAlloc.alloc(small);
        block.write_bytes(7, LARGE);
        assert!(PlacedAlloc.realloc(block, small, isize::MAX as usize).is_null());
        assert_eq!(block.add(LARGE - 1).read(), 7);
        PlacedAlloc.dealloc(block, small);
    }
}
