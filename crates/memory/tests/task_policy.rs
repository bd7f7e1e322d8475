//! The task's memory policy; in a process of its own, as it is changed.

use zerohop_memory::policy::{Mode, TaskPolicy};
use zerohop_memory::{NodeMask, Placed};
use zerohop_model::plan::{HugePages, Pages, Placement};

#[test]
fn a_placement_sets_the_policy_for_itself_and_its_threads_and_puts_the_former_back() {
    let machine = zerohop_topology::detect().unwrap();
    let nodes: Vec<_> = machine.memory_nodes().iter().map(|node| node.id).collect();
    let Ok(former) = TaskPolicy::of_this_thread() else {
        eprintln!("this kernel tells no memory policy: nothing to test");
        return;
    };
    let interleave =
        Placed::new(&Placement { nodes: nodes.clone(), pages: Pages::Interleave, huge_pages: HugePages::Off });
    let bind = Placed::new(&Placement { nodes: nodes[..1].to_vec(), pages: Pages::Local, huge_pages: HugePages::Off });
    let now = || TaskPolicy::of_this_thread().unwrap();
    let (outside, inside, spawned, again) = interleave.run(|| {
        let outside = now();
        let (inside, spawned) = bind.run(|| (now(), std::thread::spawn(now).join().unwrap()));
        (outside, inside, spawned, now())
    });
    assert_eq!(now(), former);
    if !interleave.refused().is_empty() || !bind.refused().is_empty() {
        eprintln!("{:?} {:?}", interleave.refused(), bind.refused());
        return;
    }
    assert_eq!(outside, again);
    assert_eq!(inside, spawned);
    assert_ne!(inside, outside);
    assert_ne!(inside, former);
}

#[test]
fn local_allocation_takes_any_nodes_and_is_a_policy_of_its_own() {
    let Ok(former) = TaskPolicy::of_this_thread() else { return };
    let nodes = vec![zerohop_model::machine::NodeId(1000)];
    let local = Placed::new(&Placement { nodes, pages: Pages::LocalAlloc, huge_pages: HugePages::Off });
    let inside = local.run(|| TaskPolicy::of_this_thread().unwrap());
    assert_eq!(TaskPolicy::of_this_thread().unwrap(), former);
    assert_eq!(local.to_string(), "local allocation");
    if local.refused().is_empty() {
        assert_ne!(inside, TaskPolicy::new(Mode::FirstTouch, &NodeMask::default()));
    }
}

#[test]
fn absent_nodes_are_an_error_and_change_nothing() {
    let Ok(former) = TaskPolicy::of_this_thread() else { return };
    let absent = NodeMask::new(&[zerohop_model::machine::NodeId(1000)]);
    assert!(TaskPolicy::new(Mode::Prefer, &absent).set().is_err());
    assert!(TaskPolicy::new(Mode::Prefer, &NodeMask::default()).set().is_err());
    assert_eq!(TaskPolicy::of_this_thread().unwrap(), former);
}
