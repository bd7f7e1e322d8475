//! The live machine where `/sys` and `/proc` are missing, as in some containers and on macOS: what system calls tell in
//! their place.

use crate::system;
use zerohop_model::machine::Machine;

/// The name of a machine, or of its processors, that nothing tells.
pub(crate) const UNKNOWN: &str = "unknown";

/// What is not known of this machine because `/sys` or `/proc` is missing, a sentence each; empty where both are there.
/// On macOS, what is never known there.
pub fn unknown() -> Vec<String> {
    system::unknown()
}

/// Asks the kernel for memory and host name where no file told them.
pub(crate) fn complete(machine: &mut Machine) {
    if let [node] = &mut machine.nodes[..]
        && node.memory.0 == 0
    {
        (node.memory, node.free) = system::memory();
    }
    if machine.name == UNKNOWN {
        machine.name = host_name().unwrap_or_else(|| UNKNOWN.to_owned());
    }
}

/// The name of the host (`uname(2)`).
pub fn host_name() -> Option<String> {
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
        let (memory, free) = system::memory();
        assert!(memory.0 > free.0 && free.0 > 0, "{memory} {free}");
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(host_name().as_deref(), Some(name.trim()));
        assert!(unknown().is_empty());
    }
}
