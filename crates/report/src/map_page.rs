//! What a memory map shows: heat maps, and what happens when all CPUs read at once.

use crate::heat::{Dark, Heat};
use crate::page::{Page, Table};
use crate::text::machine_words;
use crate::topology::Topology;
use crate::utc::utc;
use serde::{Deserialize, Serialize};
use zerohop_model::machine::Machine;
use zerohop_model::memory_map::{Banks, Contention, MemoryMap, Reading};

/// A machine with its memory map, as `zerohop topo --measure --json` writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredMachine {
    /// The machine.
    pub machine: Machine,
    /// What was measured on it.
    pub map: MemoryMap,
}

/// The sections of one map.
pub(crate) fn add(page: &mut Page, name: &str, measured: &MeasuredMachine) {
    let MeasuredMachine { machine, map } = measured;
    page.subheading(name).facts(&[
        ("machine", machine_words(machine)),
        ("measured", utc(map.measured_at)),
        (
            "read of each node",
            format!(
                "{}, {:.0} % of it on huge pages; base pages of {}",
                map.buffer,
                100.0 * map.on_huge_pages,
                map.page_size
            ),
        ),
    ]);
    for note in &map.notes {
        page.note(note);
    }
    page.note(
        "A row per node whose CPUs read, a column per node whose memory is read. Darker is worse: slower, or less.",
    );
    for (who, reading) in
        [("one thread", &map.one_thread), ("a thread on each CPU of the node, the others at rest", &map.all_threads)]
    {
        let Reading { latency_ns, bandwidth_gb_s } = reading;
        page.heat(&heat(map, format!("Nanoseconds per load that needs the one before: {who}"), latency_ns, Dark::High));
        page.heat(&heat(map, format!("GB/s, line after line: {who}"), bandwidth_gb_s, Dark::Low));
    }
    page.caption("All CPUs of all nodes at once").table(&contention(&map.contention));
    page.caption("The machine").topology(&Topology { machine, plan: None, found: &[] });
}

fn heat(map: &MemoryMap, title: String, values: &[Vec<f64>], dark: Dark) -> Heat {
    let head = std::iter::once("from \\ to".to_owned()).chain(map.targets.iter().map(|node| format!("node {node}")));
    let name = |source: &zerohop_model::memory_map::Source| match source.cpus {
        1 => format!("node {} (1 CPU)", source.node),
        n => format!("node {} ({n} CPUs)", source.node),
    };
    let rows = map.sources.iter().map(name).zip(values.iter().cloned()).collect();
    Heat::matrix(title, head.collect(), rows, 1, dark)
}

fn contention(contention: &[Contention]) -> Table {
    let head = ["memory that all read", "ns per load", "GB/s of all together"].map(str::to_owned).to_vec();
    let row = |row: &Contention| {
        let memory = match row.memory {
            Banks::Own => "each its own node's".to_owned(),
            Banks::One(node) => format!("all that of node {node}"),
            Banks::Spread => "pages spread over all nodes".to_owned(),
        };
        vec![memory, format!("{:.1}", row.latency_ns), format!("{:.1}", row.bandwidth_gb_s)]
    };
    Table { head, rows: contention.iter().map(row).collect() }
}
