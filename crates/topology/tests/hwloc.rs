//! Machines from hwloc's XML. The files in `data` were written by `lstopo --of xml` (hwloc 2.9) for machines made up by
//! its synthetic descriptions, the distances added by `hwloc-annotate`.

// The helpers below are test code too, though clippy sees only `#[test]` functions as such.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use zerohop_model::machine::{Bytes, Cache, CpuId, Machine, NodeId};
use zerohop_topology::from_hwloc_xml;

const SMT: &str = include_str!("data/hwloc-2-packages-smt.xml");
const FOUR: &str = include_str!("data/hwloc-4-nodes.xml");
const FOUR_V1: &str = include_str!("data/hwloc-4-nodes-v1.xml");
const GIB: u64 = 1 << 30;

/// As on the real machine: names, page sizes, a memory without CPUs of its own, CPUs that are not ours.
const REAL: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000000f" allowed_cpuset="0x00000006" allowed_nodeset="0x00000001">
    <info name="HostName" value="tower"/>
    <info name="CPUModel" value="of the machine"/>
    <object type="Package" os_index="0" cpuset="0x0000000f">
      <info name="CPUModel" value="Some CPU &amp; more"/>
      <object type="NUMANode" os_index="1" cpuset="0x0000000f" local_memory="2147483648"/>
      <object type="NUMANode" os_index="0" cpuset="0x0000000f" local_memory="1073741824">
        <page_type size="2097152" count="0"/>
        <page_type size="4096" count="262144"/>
        <page_type size="1073741824" count="0"/>
      </object>
      <object type="MemCache" cpuset="0x0000000f" cache_size="99" depth="1" cache_type="0"/>
      <object type="PU" os_index="0"/><object type="PU" os_index="1"/>
      <object type="PU" os_index="2"/><object type="PU" os_index="3"/>
    </object>
  </object>
</topology>"#;

fn machine(text: &str) -> Machine {
    from_hwloc_xml(text).unwrap()
}

fn fault(text: &str) -> String {
    from_hwloc_xml(text).unwrap_err().to_string()
}

fn cpus(machine: &Machine) -> Vec<Vec<u32>> {
    machine.nodes.iter().map(|node| node.cpus.iter().map(|cpu| cpu.0).collect()).collect()
}

#[test]
fn two_packages_with_threads() {
    let machine = machine(SMT);
    assert_eq!(machine.name, "a machine described by hwloc");
    assert_eq!(machine.cpu_model, "unknown");
    assert_eq!(cpus(&machine), [[0, 1, 4, 5], [2, 3, 6, 7]]);
    assert_eq!(machine.nodes[1].memory, Bytes(16 * GIB));
    assert_eq!(machine.nodes[1].free, Bytes(16 * GIB));
    assert_eq!(machine.allowed.cpus, (0..8).map(CpuId).collect::<Vec<_>>());
    assert_eq!(machine.allowed.nodes, [NodeId(0), NodeId(1)]);
    assert!(machine.distances.is_empty());
    assert_eq!((machine.page_size, machine.huge_page_size), (Bytes(4096), None));
    let cache = |level, kind: &str, kib: u64, shared_by, count| Cache {
        level,
        kind: kind.to_owned(),
        size: Bytes(kib << 10),
        shared_by,
        count,
    };
    let caches = [cache(1, "Data", 48, 2, 4), cache(1, "Instruction", 32, 2, 4), cache(3, "Unified", 32768, 4, 2)];
    assert_eq!(machine.caches, caches);
    assert!(machine.cores.len() == 4 && machine.cores.iter().all(|threads| threads.len() == 2), "{:?}", machine.cores);
}

/// The numbers of these nodes do not ascend in the text.
#[test]
fn both_versions_tell_the_same_of_four_nodes() {
    let machine = machine(FOUR);
    assert_eq!(cpus(&machine), [[0, 1], [4, 5], [2, 3], [6, 7]]);
    let distances = [[10, 21, 16, 32], [21, 10, 32, 16], [16, 32, 10, 21], [32, 16, 21, 10]];
    assert_eq!(machine.distances, distances);
    assert_eq!(from_hwloc_xml(FOUR_V1).unwrap(), machine);
}

#[test]
fn names_pages_and_what_is_ours() {
    let machine = machine(REAL);
    assert_eq!((machine.name.as_str(), machine.cpu_model.as_str()), ("tower", "Some CPU & more"));
    assert_eq!(machine.allowed.cpus, [CpuId(1), CpuId(2)]);
    assert_eq!(machine.allowed.nodes, [NodeId(0)]);
    assert_eq!((machine.page_size, machine.huge_page_size), (Bytes(4096), Some(Bytes(2 << 20))));
    assert_eq!(cpus(&machine), [vec![0, 1, 2, 3], vec![]]);
    assert_eq!(machine.nodes[1].memory, Bytes(2 * GIB));
    assert!(machine.caches.is_empty());
}

/// Version 1 of a machine without NUMA, with a cache that tells no type.
#[test]
fn a_machine_without_nodes_is_one_node() {
    let machine = machine(
        r#"<topology><object type="Machine" os_index="0" cpuset="0x3" local_memory="1073741824">
          <page_type size="4096" count="1"/>
          <object type="Cache" cpuset="0x3" cache_size="1024" depth="2"/>
          <object type="PU" os_index="0" cpuset="0x1"/><object type="PU" os_index="1" cpuset="0x2"/>
        </object></topology>"#,
    );
    assert_eq!(cpus(&machine), [[0, 1]]);
    assert_eq!((machine.nodes[0].id, machine.nodes[0].memory), (NodeId(0), Bytes(GIB)));
    assert_eq!(machine.allowed.nodes, [NodeId(0)]);
    assert_eq!(machine.distances, [[10]]);
    assert_eq!((machine.caches[0].kind.as_str(), machine.caches[0].shared_by), ("Unified", 2));
}

#[test]
fn distances_of_other_units_are_scaled_and_other_matrices_left_out() {
    let relative = |value: &str| format!("value=\"{}.{}00000\"", &value[..1], &value[1..]);
    let scaled = ["10", "16", "21", "32"]
        .iter()
        .fold(FOUR_V1.to_owned(), |text, value| text.replace(&format!("value=\"{value}.000000\""), &relative(value)));
    assert!(scaled.contains("value=\"1.600000\""));
    assert_eq!(machine(&scaled).distances, machine(FOUR).distances);
    for (from, to) in
        [("kind=\"5\"", "kind=\"9\""), ("nbobjs=\"4\"", "nbobjs=\"3\""), ("\"NUMANode\" nbobjs", "\"PU\" nbobjs")]
    {
        assert!(machine(&FOUR.replace(from, to)).distances.is_empty(), "{to}");
    }
}

#[test]
fn what_is_wrong_and_where() {
    assert!(fault("").starts_with("it is not well-formed XML: "));
    assert!(fault("{}").starts_with("it is not well-formed XML: "));
    assert!(fault("<topology>").starts_with("it is not well-formed XML: "));
    assert_eq!(fault("<svg/>"), "its outermost element is <svg>, where hwloc writes <topology>");
    assert_eq!(fault("<topology/>"), "it has no CPU, that is, no object of type PU");
    assert_eq!(fault("<!DOCTYPE t [<!ENTITY a 'b'>]><t/>"), "it declares entities (<!ENTITY), which hwloc never does");
    let changed = |from: &str, to: &str| fault(&FOUR.replacen(from, to, 1));
    assert_eq!(
        changed("type=\"NUMANode\" os_index=\"2\"", "type=\"NUMANode\" os_index=\"0\""),
        "line 20: this is the second NUMANode with the os_index 0"
    );
    assert_eq!(changed("type=\"PU\" os_index=\"1\"", "type=\"PU\""), "line 16: this PU has no attribute 'os_index'");
    assert_eq!(
        changed("allowed_cpuset=\"0x", "allowed_cpuset=\"0-"),
        "line 4: the attribute 'allowed_cpuset' is '0-000000ff', which is not a set such as 0x0000000f,0xffffffff"
    );
    assert_eq!(
        changed("local_memory=\"", "local_memory=\"-"),
        "line 9: the attribute 'local_memory' is '-8589934592', which is not a number in the range that it can have"
    );
    let matrix = |from, to| {
        changed(from, to).split_once(": these are not distances between the 4 NUMA nodes: ").unwrap().1.to_owned()
    };
    assert_eq!(matrix(" 32 21 16 10 ", ""), "there are 12 values");
    assert_eq!(matrix(">0 2 1 3 <", ">0 2 1 4 <"), "they are between other nodes");
    assert_eq!(matrix(">10 16 21", ">0 16 21"), "a node is at no distance from itself");
    assert_eq!(matrix(">10 16 21", ">ten 16 21"), "'ten' in <u64values> is not a number");
}

#[test]
fn nesting_without_end_is_no_crash() {
    let depth = 200_000;
    let text = format!("<topology>{}{}</topology>", "<object>".repeat(depth), "</object>".repeat(depth));
    assert!(from_hwloc_xml(&text).is_err());
}

#[test]
fn no_beginning_of_a_file_is_a_machine() {
    for text in [SMT, FOUR, FOUR_V1, REAL] {
        let text = text.trim_end();
        assert!(
            (0..text.len()).filter(|&end| text.is_char_boundary(end)).all(|end| from_hwloc_xml(&text[..end]).is_err())
        );
    }
}

proptest! {
    #[test]
    fn never_panics_on_a_changed_file(file in 0usize..4, at in 0.0..1.0, length in 0usize..40, new in "[ \
        -~]{0,8}|[0-9fx,]{0,12}") {
        let text = [SMT, FOUR, FOUR_V1, REAL][file];
        let start = (at * text.len() as f64) as usize;
        let end = (start + length).min(text.len());
        let _ = from_hwloc_xml(&format!("{}{new}{}", &text[..start], &text[end..]));
    }

    #[test]
    fn never_panics_on_any_text(text in any::<String>()) {
        let _ = from_hwloc_xml(&text);
        let _ = from_hwloc_xml(&format!("<topology>{text}</topology>"));
    }
}
