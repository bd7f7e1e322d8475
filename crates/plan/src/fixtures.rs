//! Invented machines for the tests here and in tests/.

use zerohop_model::machine::{Allowed, Bytes, CpuId, Machine, Node, NodeId};

/// So many nodes, each with so many CPUs and so much memory, all of it free and allowed; `distance` says how far nodes
/// are from one another. Nothing else is known of it.
pub fn invented(nodes: u32, cpus: u32, memory: Bytes, distance: impl Fn(u32, u32) -> u32) -> Machine {
    let own = |id: u32| (cpus * id..cpus * (id + 1)).map(CpuId).collect();
    let node = |id: u32| Node { id: NodeId(id), cpus: own(id), memory, free: memory };
    Machine {
        name: "invented".into(),
        cpu_model: String::new(),
        nodes: (0..nodes).map(node).collect(),
        distances: (0..nodes).map(|a| (0..nodes).map(|b| distance(a, b)).collect()).collect(),
        caches: Vec::new(),
        cores: Vec::new(),
        page_size: Bytes(4096),
        huge_page_size: None,
        allowed: Allowed {
            cpus: (0..nodes * cpus).map(CpuId).collect(),
            nodes: (0..nodes).map(NodeId).collect(),
            cpu_quota: None,
            memory_limit: None,
            memory_left: None,
        },
    }
}
