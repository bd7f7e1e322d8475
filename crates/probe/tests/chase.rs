//! The latency that is measured, beside that of a plain pointer chase written in another way.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};
use zerohop_memory::{Placed, PlacedAlloc};
use zerohop_model::machine::Bytes;
use zerohop_model::plan::{HugePages, Pages, Placement};
use zerohop_probe::{Crowd, Extent, Kind, Reader, measure, ring::Ring};

/// As in the program: placements, and so huge pages, hold for large blocks.
#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

const BYTES: usize = 256 << 20;
const ROUNDS: usize = 9;
/// A shared machine may disturb one whole attempt.
const ATTEMPTS: usize = 4;
/// Loads that do not wait for one another, or figures in another unit, differ by more; what a busy machine does differs
/// by less (0.6 was seen).
const FACTOR: f64 = 3.0;

/// Byte offsets in a flat array of words, along a random tour of a visiting list: neither the layout nor the shuffle of
/// `Ring`.
struct Tour {
    words: Vec<u32>,
}

impl Tour {
    fn new() -> Self {
        let lines = BYTES / 64;
        let mut order: Vec<u32> = (0..lines as u32).collect();
        let mut state = 88_172_645_463_325_252u64;
        for i in (1..lines).rev() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            order.swap(i, (state % (i as u64 + 1)) as usize);
        }
        let mut words = vec![0u32; BYTES / 4];
        for (here, next) in order.iter().zip(order.iter().cycle().skip(1)) {
            words[*here as usize * 16] = *next * 16;
        }
        Tour { words }
    }

    fn ns_per_load(&self, start: &mut u32, time: Duration) -> f64 {
        let (began, mut loads) = (Instant::now(), 0u32);
        while began.elapsed() < time {
            for _ in 0..1024 {
                *start = self.words[*start as usize];
            }
            loads += 1024;
        }
        began.elapsed().as_nanos() as f64 / f64::from(loads)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn it_agrees_with_a_plain_pointer_chase() {
    let machine = zerohop_topology::detect().unwrap();
    let cpu = machine.allowed.cpus[0];
    zerohop_topology::pin_current_thread(&[cpu]).unwrap();
    let node = machine.node_of(cpu).filter(|node| machine.memory_nodes().iter().any(|n| n.id == *node));
    let nodes = vec![node.unwrap_or(machine.memory_nodes()[0].id)];
    let placed = Placed::new(&Placement { nodes, pages: Pages::Local, huge_pages: HugePages::Auto });
    let (tour, ring) = placed.run(|| (Tour::new(), Ring::new(BYTES, 5)));
    let crowd = Crowd::new(vec![Reader { cpu, ring: &ring }]);
    let (mut at, time) = (0, Duration::from_millis(40));
    let mut ratios = Vec::new();
    for _ in 0..ATTEMPTS {
        let round = |_| {
            let plain = tour.ns_per_load(&mut at, time);
            crowd.read(Kind::Chase, time).unwrap().line_ns / plain
        };
        let ratio = median((0..ROUNDS).map(round).collect());
        println!("measured over plain: {ratio:.3}");
        ratios.push(ratio);
        if (1.0 / FACTOR..FACTOR).contains(&ratio) {
            return;
        }
    }
    panic!("not within a factor of {FACTOR} of a plain pointer chase in {ATTEMPTS} attempts: {ratios:?}");
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
