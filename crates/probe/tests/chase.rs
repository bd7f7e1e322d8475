//! What is measured holds together, on any machine and however busy it is: no figure is compared with a time.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};
use zerohop_memory::{Placed, PlacedAlloc};
use zerohop_model::machine::Bytes;
use zerohop_model::plan::{HugePages, Pages, Placement};
use zerohop_probe::{AccessPattern, Crowd, Extent, ReadingThread, measure, ring::Ring};

/// As in the program: placements, and so huge pages, hold for large blocks.
#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

const BYTES: usize = 8 << 20;
/// Bytes of a line, and how many lines a thread reads before it looks whether time is up.
const LINE: f64 = 64.0;
const LEAST_LINES: f64 = 2048.0;

#[test]
fn latency_and_bandwidth_are_of_the_same_lines() {
    let machine = zerohop_topology::detect().unwrap();
    let cpu = machine.allowed.cpus[0];
    let node = machine.node_of(cpu).filter(|node| machine.memory_nodes().iter().any(|n| n.id == *node));
    let nodes = vec![node.unwrap_or(machine.memory_nodes()[0].id)];
    let placed = Placed::new(&Placement { nodes, pages: Pages::Local, huge_pages: HugePages::Auto });
    let ring = placed.run(|| Ring::new(BYTES, 5));
    for (kind, readers) in [(AccessPattern::Chase, 1), (AccessPattern::Stream, 1), (AccessPattern::Chase, 3)] {
        let crowd = Crowd::new(vec![ReadingThread { cpu, ring: &ring }; readers]);
        let called = Instant::now();
        let pace = crowd.read(kind, Duration::from_millis(20)).unwrap();
        let whole_ns = called.elapsed().as_nanos() as f64;
        println!("{kind:?}, {readers} threads: {pace:?}");
        assert!(pace.line_ns > 0.0 && pace.line_ns <= whole_ns / LEAST_LINES, "{kind:?}: {pace:?} in {whole_ns} ns");
        // A line for each latency, in each thread; with several, the mean of latencies is not below that of paces.
        let bytes = pace.gb_s * pace.line_ns / readers as f64;
        let is_right = if readers == 1 { (bytes - LINE).abs() < 1e-6 } else { bytes > LINE * (1.0 - 1e-9) };
        assert!(is_right, "{kind:?}, {readers} threads: {bytes} bytes a line");
    }
}

#[test]
fn the_map_has_a_figure_for_each_way() {
    let machine = zerohop_topology::detect().unwrap();
    let extent = Extent { bytes: Some(Bytes(8 << 20)), huge_pages: HugePages::Auto };
    let mut last = 0.0;
    let map = measure(&machine, extent, &mut |part| last = part).unwrap();
    assert_eq!(last, 1.0);
    for reading in [&map.one_thread, &map.all_threads] {
        for matrix in [&reading.latency_ns, &reading.bandwidth_gb_s] {
            assert_eq!(matrix.len(), map.sources.len());
            assert!(matrix.iter().all(|row| row.len() == map.targets.len() && row.iter().all(|cell| *cell > 0.0)));
        }
    }
    let crowds = if map.targets.len() > 1 { map.targets.len() + 2 } else { 1 };
    assert_eq!(map.contention.len(), crowds);
}
