//! The census of live processes: this one, and children in all states.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use zerohop_memory::{CensusError, NodeMask, Placed, policy, process_census};
use zerohop_model::machine::Bytes;
use zerohop_model::plan::{HugePages, Pages, Placement};

/// More than allocators keep: a mapping of its own.
const SIZE: usize = 64 << 20;

#[test]
fn this_process_is_told_of_its_blocks_and_files() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("a b=c");
    std::fs::write(&path, [7u8; 100_000]).unwrap();
    let before = match process_census(std::process::id()) {
        Ok(census) => census.private(),
        Err(error) => return eprintln!("{error}"),
    };
    let block = vec![1u8; SIZE];
    let census = process_census(std::process::id()).unwrap();
    assert!(census.private().present.0 >= before.present.0 + (SIZE - SIZE / 16) as u64, "{before:?} {census:?}");
    assert_eq!(census.files_under(folder.path()).present, Bytes(0));
    assert!(census.files_under(&std::env::current_exe().unwrap()).present.0 > 0);
    assert!(census.mappings.iter().any(|mapping| mapping.stack) && block[SIZE - 1] == 1);

    let mapped = Mapped::of(&std::fs::File::open(&path).unwrap(), 100_000);
    let census = process_census(std::process::id()).unwrap();
    let file = census.mappings.iter().find(|mapping| mapping.file.as_ref() == Some(&path)).unwrap();
    assert_eq!((file.anonymous, file.heap, file.stack), (Bytes(0), false, false));
    assert_eq!(census.files_under(folder.path()).present.0, 100_000u64.next_multiple_of(file.page_size.0));
    drop(mapped);
}

#[test]
fn a_child_inherits_the_policy_of_the_thread_that_spawns_it() {
    let local = Placed::new(&Placement { nodes: vec![], pages: Pages::LocalAlloc, huge_pages: HugePages::Off });
    let mut cat = Command::new("cat");
    let mut child = local.run(|| cat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    // An answer shows that it is beyond its start.
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    stdin.write_all(b"x").unwrap();
    stdout.read_exact(&mut [0]).unwrap();
    match process_census(child.id()) {
        Ok(census) if local.refused().is_empty() => {
            assert!(census.private().present.0 > 0, "{census:?}");
            let heap = census.mappings.iter().find(|mapping| mapping.heap).unwrap();
            // Kernels before 5.14 have no name of its own for it.
            assert!(["local", "prefer:"].iter().any(|name| heap.policy.starts_with(name)), "{}", heap.policy);
        }
        other => eprintln!("{other:?} {:?}", local.refused()),
    }
    drop(stdin);
    // Ended, and not waited for: there is a process, but it has no memory.
    stdout.read_to_end(&mut Vec::new()).unwrap();
    while process_census(child.id()).is_ok() {
        std::thread::yield_now();
    }
    let ended = process_census(child.id());
    assert!(matches!(ended, Err(CensusError::Gone { .. } | CensusError::NoNumaMaps { .. })), "{ended:?}");
    child.wait().unwrap();
    let gone = process_census(child.id());
    assert!(matches!(gone, Err(CensusError::Gone { .. })), "{gone:?}");
}

#[test]
fn ranges_can_be_told_to_be_local_whatever_nodes_are_named() {
    let block = vec![0u8; SIZE];
    let start = (block.as_ptr() as usize).next_multiple_of(1 << 16);
    let mask = NodeMask::new(&[zerohop_model::machine::NodeId(1000)]);
    match policy::bind_range(start, SIZE / 2, policy::Mode::LocalAlloc, &mask) {
        Ok(()) => {}
        Err(error) => assert!(matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)), "{error}"),
    }
}

/// A file in memory, each page of it touched.
struct Mapped {
    start: *mut libc::c_void,
    bytes: usize,
}

impl Mapped {
    fn of(file: &std::fs::File, bytes: usize) -> Self {
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(file);
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory that exists.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, flags, descriptor, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        Self { start, bytes }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `of`, nobody else knows it, and it is not used any more.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}
