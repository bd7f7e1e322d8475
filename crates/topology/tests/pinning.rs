//! The live machine. In a process of its own, as it changes affinities.

use zerohop_model::machine::CpuId;
use zerohop_topology::{TopologyError, current_affinity, describe, detect, pin_current_thread};

#[test]
fn the_live_machine_is_plausible() {
    let machine = detect().unwrap();
    assert!(!machine.allowed.cpus.is_empty());
    assert!(machine.nodes.iter().any(|n| n.memory.0 > 0));
    assert_eq!(machine.distances.len(), machine.nodes.len());
    assert!(machine.nodes.iter().all(|n| n.free <= n.memory));
    assert!(machine.allowed.cpus.iter().all(|&cpu| machine.node_of(cpu).is_some()));
    assert!(describe(&machine).contains("this process may use"));
}

#[test]
fn a_thread_can_be_pinned_to_each_allowed_cpu_and_back() {
    std::thread::spawn(|| {
        let all = current_affinity().unwrap();
        for &cpu in &all {
            pin_current_thread(&[cpu]).unwrap();
            assert_eq!(current_affinity().unwrap(), [cpu]);
        }
        pin_current_thread(&all).unwrap();
        assert_eq!(current_affinity().unwrap(), all);
    })
    .join()
    .unwrap();
}

#[test]
fn absent_cpus_are_refused_by_name() {
    for absent in [vec![], vec![CpuId(100_000), CpuId(100_001)]] {
        assert!(matches!(pin_current_thread(&absent), Err(TopologyError::Pin { .. })));
    }
    let error = pin_current_thread(&[CpuId(100_000), CpuId(100_001)]).unwrap_err();
    assert!(error.to_string().starts_with("cannot pin this thread to CPU 100000-100001: Invalid argument"), "{error}");
}
