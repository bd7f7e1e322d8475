//! The live machine. In a process of its own, as it changes affinities.

use zerohop_model::machine::CpuId;
use zerohop_topology::{Pinned, TopologyError, current_affinity, describe, detect, pin_current_thread};

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
fn a_guard_gives_the_former_cpus_back() {
    std::thread::spawn(|| {
        let all = current_affinity().unwrap();
        let last = all[all.len() - 1];
        {
            let _outer = Pinned::to(&all[..1]).unwrap();
            // Widening is allowed, whatever was set before.
            let inner = Pinned::to(&[last]).unwrap();
            assert_eq!(current_affinity().unwrap(), [last]);
            let unchanged = Pinned::to(&[]).unwrap();
            drop(unchanged);
            assert_eq!(current_affinity().unwrap(), [last]);
            assert!(Pinned::to(&[CpuId(100_000)]).is_err());
            assert_eq!(current_affinity().unwrap(), [last]);
            drop(inner);
            assert_eq!(current_affinity().unwrap(), all[..1]);
        }
        assert_eq!(current_affinity().unwrap(), all);
    })
    .join()
    .unwrap();
}

#[test]
fn a_child_inherits_the_cpus_of_the_thread_that_spawns_it() {
    let last = *current_affinity().unwrap().last().unwrap();
    let pinned = Pinned::to(&[last]).unwrap();
    let child = std::process::Command::new("cat").arg("/proc/self/status").output();
    drop(pinned);
    let status = String::from_utf8(child.unwrap().stdout).unwrap();
    assert!(status.contains(&format!("Cpus_allowed_list:\t{last}\n")), "{status}");
}

#[test]
fn absent_cpus_are_refused_by_name() {
    for absent in [vec![], vec![CpuId(100_000), CpuId(100_001)]] {
        assert!(matches!(pin_current_thread(&absent), Err(TopologyError::Pin { .. })));
    }
    let error = pin_current_thread(&[CpuId(100_000), CpuId(100_001)]).unwrap_err();
    assert!(error.to_string().starts_with("cannot pin this thread to CPU 100000-100001: Invalid argument"), "{error}");
}
