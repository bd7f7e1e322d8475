//! A memory map as tables of text.

use std::fmt::Write;
use zerohop_model::memory_map::{Banks, MemoryMap, Reading};

/// The tables of `zerohop topo --measure`: a row per node whose CPUs read, a column per node whose memory is read.
pub fn map_text(map: &MemoryMap) -> String {
    let mut text = format!(
        "{} read per node; base pages of {}, {:.0} % of the bytes on huge pages\n",
        map.buffer,
        map.page_size,
        100.0 * map.on_huge_pages
    );
    if map.targets.len() == 1 {
        text += "There is one node with memory: all of it is equally near, and this is what it gives.\n";
    }
    tables(&mut text, map, "one thread", &map.one_thread);
    tables(&mut text, map, "all threads of a node", &map.all_threads);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\nall CPUs at once, reading  ns per load        GB/s");
    for crowd in &map.contention {
        let memory = banks(crowd.memory);
        let _ = writeln!(text, "  {memory:<24} {:>11.1} {:>11.1}", crowd.latency_ns, crowd.bandwidth_gb_s);
    }
    map.notes.iter().for_each(|note| text += &format!("\nnote: {note}\n"));
    text
}

/// Which memory all CPUs read, in words.
pub(crate) fn banks(banks: Banks) -> String {
    match banks {
        Banks::Own => "their own node's memory".to_owned(),
        Banks::One(node) => format!("the memory of node {node}"),
        Banks::Spread => "pages spread over all".to_owned(),
    }
}

fn tables(text: &mut String, map: &MemoryMap, who: &str, reading: &Reading) {
    table(text, map, &format!("ns per dependent load, {who}"), &reading.latency_ns);
    table(text, map, &format!("GB/s, {who}"), &reading.bandwidth_gb_s);
}

fn table(text: &mut String, map: &MemoryMap, title: &str, rows: &[Vec<f64>]) {
    let heads: String = map.targets.iter().map(|node| format!("{:>8}", node.0)).collect();
    let _ = writeln!(text, "\n{title}\n  from\\to {heads}");
    for (source, row) in map.sources.iter().zip(rows) {
        let cells: String = row.iter().map(|cell| format!("{cell:>8.1}")).collect();
        let _ = writeln!(text, "  {:<7} {cells}", source.node.0);
    }
}
