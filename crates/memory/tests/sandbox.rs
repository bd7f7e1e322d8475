//! A sandbox that forbids the NUMA system calls, as container run times do by default: all is told, nothing fails. In a
//! process of its own, as a thread cannot leave the filter again.

use zerohop_memory::{LARGE, Placed, PlacedAlloc};
use zerohop_model::machine::{Bytes, NodeId};
use zerohop_model::plan::{HugePages, Pages, Placement};

#[global_allocator]
static ALLOCATOR: PlacedAlloc = PlacedAlloc;

/// Has the kernel answer EPERM to these calls on this thread from now on; false where it does not filter.
fn forbid(calls: &[libc::c_long]) -> bool {
    // Classic BPF (`seccomp(2)`): load the call's number, compare it with each, answer.
    let operation = |code: u32, value: u32, skip_if_equal: u8| libc::sock_filter {
        code: code as u16,
        jt: skip_if_equal,
        jf: 0,
        k: value,
    };
    let mut program = vec![operation(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (at, call) in calls.iter().enumerate() {
        let to_the_end = (calls.len() - at) as u8;
        program.push(operation(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32, to_the_end));
    }
    program.push(operation(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0));
    program.push(operation(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0));
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: `program` points to as many operations as it says, alive until the calls return.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

#[test]
fn refusals_are_told_once_each_and_the_census_finds_another_way() {
    if !forbid(&[libc::SYS_mbind, libc::SYS_set_mempolicy, libc::SYS_get_mempolicy, libc::SYS_move_pages]) {
        eprintln!("this kernel filters no system calls: nothing to test");
        return;
    }
    let placed = Placed::new(&Placement { nodes: vec![NodeId(0)], pages: Pages::Local, huge_pages: HugePages::Off });
    let blocks = placed.run(|| [vec![1u8; LARGE], vec![2u8; 2 * LARGE]]);
    assert!(blocks.iter().all(|block| block[0] == block[LARGE - 1]));
    assert_eq!(
        placed.refused(),
        [
            "local to node 0: the kernel refused set_mempolicy once: Operation not permitted (os error 1); small \
             blocks and spawned threads are not placed",
            "local to node 0: the kernel refused mbind several times: Operation not permitted (os error 1); large \
             blocks \
             lie where they were first written",
        ]
    );
    match placed.census() {
        Ok(census) => {
            assert!(census.notes[0].contains("estimated from /proc/self/numa_maps"), "{:?}", census.notes);
            let (found, wanted) = (census.pages.present.0, 3 * LARGE as u64);
            assert!(found.abs_diff(wanted) < wanted / 10, "{:?}", Bytes(found));
        }
        // A kernel without NUMA has no such file.
        Err(error) => assert!(error.to_string().contains("move_pages: Operation not permitted"), "{error}"),
    }
}
