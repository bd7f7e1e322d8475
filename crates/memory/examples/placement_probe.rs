//! Allocates under each policy, asks the kernel where the pages lie, and fails when they lie elsewhere.
//!
//! Prints a line per case, such as `bind:3 N3=16384 pages`. Exit status 1 when more than 1 % of the pages are misplaced
//! or an interleaved block is uneven by more than 5 %.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer reads it")]

use std::process::ExitCode;
use std::thread;
use zerohop_memory::{Census, CensusError, Placed, PlacedAlloc};
use zerohop_model::machine::{Machine, NodeId};
use zerohop_model::plan::{HugePages, Pages, Placement};
use zerohop_topology::{detect, pin_current_thread};

#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const BYTES: usize = 64 << 20;
const HUGE: usize = 2 << 20;
const STEP: usize = 64 << 10;
const PAGE: u64 = 4096;

fn main() -> ExitCode {
    match probe() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn probe() -> Result<bool, Failure> {
    let machine = detect()?;
    let nodes: Vec<NodeId> = machine.memory_nodes().iter().map(|node| node.id).collect();
    let mut good = true;
    for huge_pages in [HugePages::Auto, HugePages::Off] {
        println!("huge pages {huge_pages:?}");
        for &node in &nodes {
            good &= bind(node, huge_pages)?;
            good &= spawned(node, huge_pages)?;
        }
        good &= interleave(&nodes, huge_pages)?;
        good &= first_touch(&machine, Pages::FirstTouch, huge_pages)?;
        good &= first_touch(&machine, Pages::LocalAlloc, huge_pages)?;
    }
    Ok(good)
}

fn bind(node: NodeId, huge_pages: HugePages) -> Result<bool, CensusError> {
    let placed = Placed::new(&Placement { nodes: vec![node], pages: Pages::Local, huge_pages });
    // Grown step by step: the block moves several times and must keep its placement.
    let block = placed.run(|| {
        let mut block = Vec::new();
        (0..BYTES / STEP).for_each(|_| block.extend_from_slice(&[1u8; STEP]));
        block
    });
    let census = placed.census()?;
    drop(block);
    Ok(report(&format!("bind:{node}"), &placed, &census, &[node]))
}

/// A thread spawned inside, once entering the placement and once only inheriting the task's policy.
fn spawned(node: NodeId, huge_pages: HugePages) -> Result<bool, Failure> {
    let placed = Placed::new(&Placement { nodes: vec![node], pages: Pages::Local, huge_pages });
    let entering = placed.run(|| thread::spawn(move || placed.run(|| vec![1u8; BYTES])).join());
    let census = placed.census()?;
    drop(entering);
    let entered = report(&format!("spawned-entered:{node}"), &placed, &census, &[node]);
    let inheriting = placed.run(|| {
        thread::spawn(|| {
            let block = vec![1u8; BYTES];
            zerohop_memory::census(&[(block.as_ptr() as usize, BYTES)])
        })
        .join()
    });
    let census = inheriting.map_err(|_| "the thread panicked")??;
    Ok(entered & report(&format!("spawned-inherited:{node}"), &placed, &census, &[node]))
}

fn interleave(nodes: &[NodeId], huge_pages: HugePages) -> Result<bool, CensusError> {
    let placed = Placed::new(&Placement { nodes: nodes.to_vec(), pages: Pages::Interleave, huge_pages });
    let block = placed.run(|| vec![1u8; HUGE * 4 * nodes.len()]);
    let census = placed.census()?;
    drop(block);
    let placed_well = report("interleave", &placed, &census, nodes);
    let fair = census.pages.present.0 as f64 / nodes.len() as f64;
    let uneven = |bytes: u64| (bytes as f64 - fair).abs() > 0.05 * fair;
    let even = census.pages.per_node.len() == nodes.len() && !census.pages.per_node.iter().any(|n| uneven(n.1.0));
    if !even {
        println!("  FAILED: not even");
    }
    Ok(placed_well & even)
}

/// On each node with CPUs and memory: memory follows the thread that writes.
fn first_touch(machine: &Machine, pages: Pages, huge_pages: HugePages) -> Result<bool, Failure> {
    let mut good = true;
    for node in machine.memory_nodes() {
        let Some(&cpu) = node.cpus.iter().find(|cpu| machine.allowed.cpus.contains(cpu)) else { continue };
        let placed = Placed::new(&Placement { nodes: vec![], pages, huge_pages });
        let touch = move || {
            pin_current_thread(&[cpu])?;
            Ok::<_, zerohop_topology::TopologyError>(placed.run(|| vec![1u8; BYTES]))
        };
        let block = thread::spawn(touch).join().map_err(|_| "the thread panicked")??;
        let census = placed.census()?;
        drop(block);
        let name = if pages == Pages::LocalAlloc { "local-alloc" } else { "first-touch" };
        good &= report(&format!("{name}:{}", node.id), &placed, &census, &[node.id]);
    }
    Ok(good)
}

/// Prints a census; true when 99 % of the pages lie on the wanted nodes.
fn report(case: &str, placed: &Placed, census: &Census, wanted: &[NodeId]) -> bool {
    let nodes: Vec<String> = census.pages.per_node.iter().map(|(n, b)| format!("N{n}={}", b.0 / PAGE)).collect();
    println!("{case} {} pages, huge {}", nodes.join(" "), census.pages.huge);
    placed.refused().iter().chain(&census.notes).for_each(|sentence| println!("  {sentence}"));
    let right: u64 = census.pages.per_node.iter().filter(|n| wanted.contains(&n.0)).map(|n| n.1.0).sum();
    let good = census.pages.present.0 > 0 && right as f64 >= 0.99 * census.pages.present.0 as f64;
    if !good {
        println!("  FAILED: misplaced pages");
    }
    good
}
