//! The live machine where `/sys` and `/proc` are missing, as in some containers: what system calls tell in their place.

use std::path::Path;
use zerohop_model::machine::{Bytes, Machine};

/// The name of a machine, or of its processors, that nothing tells.
pub(crate) const UNKNOWN: &str = "unknown";

/// What is not known of this machine because `/sys` or `/proc` is missing, a sentence each; empty where both are there.
pub fn unknown() -> Vec<String> {
    let missing = |path: &str| !Path::new(path).exists();
    let sys = (
        missing("/sys/devices/system/cpu"),
        "/sys is missing: nodes, distances and caches are not known; the machine counts as one node.",
    );
    let proc = (
        missing("/proc/self"),
        "/proc is missing: limits of control groups are not known, and free memory only roughly.",
    );
    [sys, proc].into_iter().filter(|(missing, _)| *missing).map(|(_, words)| words.to_owned()).collect()
}

/// Asks the kernel for memory and host name where no file told them.
pub(crate) fn complete(machine: &mut Machine) {
    if let [node] = &mut machine.nodes[..]
        && node.memory.0 == 0
    {
        (node.memory, node.free) = memory();
    }
    if machine.name == UNKNOWN {
        machine.name = host_name().unwrap_or_else(|| UNKNOWN.to_owned());
    }
}

/// All memory, and what of it is free (`sysinfo(2)`, which does not count the page cache as free); zeros where the
/// kernel does not tell.
fn memory() -> (Bytes, Bytes) {
    // SAFETY: sysinfo is plain numbers, for which zeros are values.
    let mut told: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one such structure, for which there is room.
    if unsafe { libc::sysinfo(&raw mut told) } != 0 {
        return (Bytes(0), Bytes(0));
    }
    let bytes = |units| Bytes(u64::from(told.mem_unit).saturating_mul(units));
    (bytes(told.totalram), bytes(told.freeram.saturating_add(told.bufferram)))
}

/// The name of the host (`uname(2)`).
fn host_name() -> Option<String> {
    // SAFETY: utsname is plain bytes, for which zeros are values.
    let mut told: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one such structure, for which there is room.
    if unsafe { libc::uname(&raw mut told) } != 0 {
        return None;
    }
    let name: Vec<u8> = told.nodename.iter().take_while(|&&byte| byte != 0).map(|&byte| byte as u8).collect();
    Some(String::from_utf8_lossy(&name).into_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_what_files_would() {
        let (memory, free) = memory();
        assert!(memory.0 > free.0 && free.0 > 0, "{memory} {free}");
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(host_name().as_deref(), Some(name.trim()));
        assert!(unknown().is_empty());
    }
}
