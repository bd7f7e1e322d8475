//! An invented machine for tests.

use zerohop_model::machine::{Allowed, Bytes, Cache, CpuId, Machine, Node, NodeId};

/// So many nodes with so many CPUs each.
pub(crate) fn machine(count: u32, cpus_each: u32) -> Machine {
    let node = |id: u32| Node {
        id: NodeId(id),
        // Every second CPU: the worst case for the width of a list.
        cpus: (0..cpus_each).map(|i| CpuId(i * count + id)).collect(),
        memory: Bytes(16 << 30),
        free: Bytes(15 << 30),
    };
    let distance = |a: u32, b: u32| if a == b { 10 } else { 16 + 6 * ((a ^ b) & 1) };
    Machine {
        name: "opteron".into(),
        cpu_model: "AMD Opteron(tm) Processor 6376".into(),
        nodes: (0..count).map(node).collect(),
        distances: (0..count).map(|a| (0..count).map(|b| distance(a, b)).collect()).collect(),
        caches: vec![Cache { level: 3, kind: "Unified".into(), size: Bytes(6 << 20), shared_by: 8, count: 8 }],
        cores: Vec::new(),
        page_size: Bytes(4096),
        huge_page_size: Some(Bytes(2 << 20)),
        allowed: Allowed {
            cpus: (0..count * cpus_each).map(CpuId).collect(),
            nodes: (0..count).map(NodeId).collect(),
            cpu_quota: Some(2.5),
            memory_limit: None,
            memory_left: None,
        },
    }
}
