//! The text of `zerohop topo`.

use crate::cpulist;
use std::fmt::Write as _;
use zerohop_model::machine::{Allowed, Bytes, Machine, Node};

/// Lines are kept to this many columns.
const WIDTH: usize = 80;
const INDENT: &str = "  ";

/// Describes a machine for people: lines of at most 80 columns, apart from names that are longer themselves.
pub fn describe(machine: &Machine) -> String {
    let mut text = String::new();
    head(&mut text, machine);
    nodes(&mut text, &machine.nodes);
    distances(&mut text, machine);
    caches(&mut text, machine);
    allowed(&mut text, &machine.allowed);
    text
}

/// Adds a line. Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($argument:tt)*) => {{ let _ = writeln!($text, $($argument)*); }};
}

fn head(text: &mut String, machine: &Machine) {
    let cpus: usize = machine.nodes.iter().map(|n| n.cpus.len()).sum();
    let memory: u64 = machine.nodes.iter().map(|n| n.memory.0).sum();
    line!(text, "machine     {}", machine.name);
    line!(text, "processor   {}", machine.cpu_model);
    line!(text, "in all      {}, {}, {}", some(machine.nodes.len(), "node"), some(cpus, "CPU"), Bytes(memory));
    match machine.huge_page_size {
        Some(huge) => line!(text, "pages       {}, huge {huge}", machine.page_size),
        None => line!(text, "pages       {}, no huge pages", machine.page_size),
    }
}

fn nodes(text: &mut String, nodes: &[Node]) {
    line!(text, "\nnodes       memory        free  CPUs");
    for node in nodes {
        let numbers: Vec<u32> = node.cpus.iter().map(|cpu| cpu.0).collect();
        let cpus = if numbers.is_empty() { "none".to_owned() } else { cpulist::format(&numbers) };
        let start = format!("{INDENT}{:<5}{:>11}{:>12}  ", node.id.0, memory(node.memory), memory(node.free));
        wrapped(text, &start, &cpus);
    }
}

fn memory(bytes: Bytes) -> String {
    if bytes.0 == 0 { "none".to_owned() } else { bytes.to_string() }
}

fn distances(text: &mut String, machine: &Machine) {
    if machine.nodes.len() < 2 || machine.distances.is_empty() {
        return;
    }
    line!(text, "\ndistances   (10 = local)");
    if INDENT.len() + 4 * (machine.nodes.len() + 1) <= WIDTH { matrix(text, machine) } else { groups(text, machine) }
}

fn matrix(text: &mut String, machine: &Machine) {
    let row = |cells: &mut dyn Iterator<Item = u32>| cells.map(|cell| format!("{cell:>4}")).collect::<String>();
    line!(text, "{INDENT}    {}", row(&mut machine.nodes.iter().map(|n| n.id.0)));
    for (node, distances) in machine.nodes.iter().zip(&machine.distances) {
        line!(text, "{INDENT}{:<4}{}", node.id.0, row(&mut distances.iter().copied()));
    }
}

/// A matrix too wide for the screen: per node, the nodes at each distance.
fn groups(text: &mut String, machine: &Machine) {
    for (node, distances) in machine.nodes.iter().zip(&machine.distances) {
        let mut steps = distances.clone();
        steps.sort_unstable();
        steps.dedup();
        let parts = steps.iter().map(|step| {
            let at = machine.nodes.iter().zip(distances).filter(|(_, d)| *d == step).map(|(n, _)| n.id.0);
            format!("{step} to {};", cpulist::format(&at.collect::<Vec<_>>()))
        });
        let parts = parts.collect::<Vec<_>>().join(" ");
        wrapped(text, &format!("{INDENT}{:<5}", node.id.0), parts.trim_end_matches(';'));
    }
}

fn caches(text: &mut String, machine: &Machine) {
    if machine.caches.is_empty() {
        return;
    }
    line!(text, "\ncaches");
    for cache in &machine.caches {
        let name = format!("L{} {}", cache.level, cache.kind.to_lowercase());
        let shared = some(cache.shared_by as usize, "CPU");
        line!(text, "{INDENT}{name:<16}{:>5} x {} for {shared} each", cache.count, cache.size);
    }
}

fn allowed(text: &mut String, allowed: &Allowed) {
    let cpus = cpulist::format(&allowed.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>());
    let nodes = cpulist::format(&allowed.nodes.iter().map(|node| node.0).collect::<Vec<_>>());
    line!(text, "\nthis process may use");
    wrapped(text, "  CPUs      ", &cpus);
    match allowed.cpu_quota {
        Some(quota) => line!(text, "  quota     {quota:.2} CPUs"),
        None => line!(text, "  quota     none"),
    }
    wrapped(text, "  nodes     ", &nodes);
    match (allowed.memory_limit, allowed.memory_left) {
        (Some(limit), Some(left)) => line!(text, "  memory    at most {limit}, of which {left} can still be taken"),
        (Some(limit), None) => line!(text, "  memory    at most {limit}"),
        (None, _) => line!(text, "  memory    no limit"),
    }
    line!(text, "  workers   {} by default", allowed.worker_count());
}

/// "1 node", "8 nodes".
fn some(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `start` and `body`, broken after commas and blanks where a line would be too wide, and aligned below the body.
fn wrapped(text: &mut String, start: &str, body: &str) {
    let mut line = start.to_owned();
    for part in body.split_inclusive([',', ' ']) {
        let fits = line.len() + part.trim_end().len() <= WIDTH;
        if !fits && line.len() > start.len() {
            line!(text, "{}", line.trim_end());
            line = " ".repeat(start.len());
        }
        line.push_str(part);
    }
    line!(text, "{}", line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::machine;

    #[test]
    fn two_nodes() {
        let expected = "\
machine     opteron
processor   AMD Opteron(tm) Processor 6376
in all      2 nodes, 4 CPUs, 32.0 GiB
pages       4.0 KiB, huge 2.0 MiB

nodes       memory        free  CPUs
  0       16.0 GiB    15.0 GiB  0,2
  1       16.0 GiB    15.0 GiB  1,3

distances   (10 = local)
         0   1
  0     10  22
  1     22  10

caches
  L3 unified          8 x 6.0 MiB for 8 CPUs each

this process may use
  CPUs      0-3
  quota     2.50 CPUs
  nodes     0-1
  memory    no limit
  workers   3 by default
";
        assert_eq!(describe(&machine(2, 2)), expected);
    }

    #[test]
    fn fits_the_screen() {
        for (nodes, cpus) in [(1, 2), (8, 64), (16, 16), (18, 3), (19, 3), (64, 32)] {
            let text = describe(&machine(nodes, cpus));
            let widest = text.lines().map(|l| l.chars().count()).max().unwrap();
            assert!(widest <= WIDTH, "{nodes} nodes: {widest} columns\n{text}");
        }
    }

    #[test]
    fn nodes_without_cpus_or_memory() {
        let mut machine = machine(2, 1);
        machine.nodes[0].cpus.clear();
        (machine.nodes[1].memory, machine.nodes[1].free) = (Bytes(0), Bytes(0));
        let text = describe(&machine);
        assert!(text.contains("  0       16.0 GiB    15.0 GiB  none\n"), "{text}");
        assert!(text.contains("  1           none        none  1\n"), "{text}");
    }
}
