//! As the global allocator of a process, with placements in force. One test: they share the table of blocks.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]
// The helpers below are test code too, though clippy sees only `#[test]` functions as such.
#![allow(clippy::unwrap_used)]

use std::thread;
use zerohop_memory::{LARGE, Placed, PlacedAlloc, PlacementId, census, census_of, with_placement};
use zerohop_model::machine::Bytes;
use zerohop_model::plan::{HugePages, Pages, Placement};

#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

fn placement(pages: Pages) -> Placement {
    let machine = zerohop_topology::detect().unwrap();
    let nodes = machine.memory_nodes().iter().map(|node| node.id).collect();
    Placement { nodes, pages, huge_pages: HugePages::Auto }
}

/// Present bytes of a placement; nothing where the kernel does not tell.
fn present(placed: &Placed) -> Option<u64> {
    placed.census().inspect_err(|error| eprintln!("{error}")).ok().map(|census| census.pages.present.0)
}

#[test]
fn blocks_are_marked_counted_and_given_back() {
    let size = 3 * LARGE;
    for pages in [Pages::Local, Pages::Interleave, Pages::FirstTouch, Pages::LocalAlloc] {
        let placed = Placed::new(&placement(pages));
        let mut block = placed.run(|| vec![1u8; size]);
        eprintln!("{placed}: refused: {:?}", placed.refused());
        let Some(bytes) = present(&placed) else { return };
        assert_eq!(bytes, size as u64, "{placed}");

        // Growing keeps the mark, wherever it happens; so does shrinking, which gives pages back.
        block.resize(2 * size, 2);
        assert_eq!(present(&placed), Some(2 * size as u64));
        assert!(block[..size].iter().all(|&b| b == 1) && block[size..].iter().all(|&b| b == 2));
        block.truncate(LARGE);
        block.shrink_to_fit();
        assert_eq!(present(&placed), Some(LARGE as u64));
        block.truncate(10);
        block.shrink_to_fit();
        assert_eq!((present(&placed), &block[..]), (Some(0), &[1u8; 10][..]));

        // Zeroed blocks are not written: nothing is present before the first touch.
        let mut zeroed = placed.run(|| vec![0u64; size / 8]);
        assert_eq!(present(&placed), Some(0));
        zeroed.fill(1);
        assert_eq!(present(&placed), Some(size as u64));

        // A spawned thread marks its blocks when it enters.
        let other = placed.run(|| thread::spawn(move || placed.run(|| vec![3u8; size])).join().unwrap());
        assert_eq!(present(&placed), Some(2 * size as u64));
        drop((zeroed, other));
        assert_eq!(present(&placed), Some(0));
    }

    let (outer, inner) = (Placed::new(&placement(Pages::Local)), Placed::new(&placement(Pages::Interleave)));
    let (first, second, third) = outer.run(|| (vec![1u8; size], inner.run(|| vec![1u8; size]), vec![1u8; size]));
    assert_eq!((present(&outer), present(&inner)), (Some(2 * size as u64), Some(size as u64)));
    drop((first, second, third));

    let unplaced = vec![5u8; size];
    let counted = census_of(PlacementId::UNPLACED).unwrap().pages;
    assert!(counted.present >= Bytes(size as u64));
    assert_eq!(census(&[(unplaced.as_ptr() as usize, size)]).unwrap().pages.present, Bytes(size as u64));

    let absent = Placement { nodes: vec![zerohop_model::machine::NodeId(1000)], ..placement(Pages::Local) };
    let (block, refused) = with_placement(&absent, || vec![9u8; size]);
    assert_eq!(block[size - 1], 9);
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(
        refused.iter().all(|sentence| sentence.starts_with("local to node 1000: the kernel refused ")),
        "{refused:?}"
    );

    busy_threads();
}

/// Threads that allocate, grow and hand blocks to each other.
fn busy_threads() {
    let (sender, receiver) = std::sync::mpsc::channel::<Vec<u8>>();
    let check = thread::spawn(move || {
        receiver.into_iter().map(|block| usize::from(block.iter().all(|b| *b == block[0]))).sum::<usize>()
    });
    let workers: Vec<_> = (0..4u8)
        .map(|worker| {
            let sender = sender.clone();
            thread::spawn(move || {
                for round in 0..40usize {
                    let mut block = vec![worker; 1 + round * 1000];
                    block.resize(if round % 3 == 0 { LARGE + round * 4096 } else { round * 90_000 + 1 }, worker);
                    sender.send(block).unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(check.join().unwrap(), 160);
}
