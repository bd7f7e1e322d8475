//! `/proc/meminfo` and its twin of each node (`proc_meminfo(5)`).

use crate::sysfs::Sysfs;

/// The lines of a meminfo file that matter here, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MemInfo {
    pub(crate) total: u64,
    pub(crate) free: u64,
    /// Page cache.
    pub(crate) files: u64,
    /// The kernel's own estimate of what can be had without swapping; only in `/proc/meminfo`.
    pub(crate) available: Option<u64>,
}

impl MemInfo {
    /// `/proc/meminfo`.
    pub(crate) fn of_machine(sysfs: &Sysfs) -> Option<Self> {
        sysfs.text("proc/meminfo").map(|text| Self::parse(&text))
    }

    /// `/sys/devices/system/node/nodeN/meminfo`.
    pub(crate) fn of_node(sysfs: &Sysfs, node: u32) -> Option<Self> {
        sysfs.text(&format!("sys/devices/system/node/node{node}/meminfo")).map(|text| Self::parse(&text))
    }

    /// What is free or can be freed at once: half of the page cache is left out, it may be dirty or in use.
    pub(crate) fn usable(&self) -> u64 {
        (self.free + self.files / 2).min(self.total)
    }

    fn parse(text: &str) -> Self {
        let mut info = Self::default();
        for line in text.lines() {
            // "MemTotal: 16 kB", and in a node's file "Node 3 MemTotal: 16 kB".
            let Some((name, value)) = line.split_once(':') else { continue };
            let Some(bytes) = value.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()) else { continue };
            let bytes = bytes.saturating_mul(1024);
            match name.rsplit(' ').next() {
                Some("MemTotal") => info.total = bytes,
                Some("MemFree") => info.free = bytes,
                // The machine's file says Cached for what the node's file calls FilePages.
                Some("FilePages" | "Cached") => info.files = bytes,
                Some("MemAvailable") => info.available = Some(bytes),
                _ => {}
            }
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let machine =
            MemInfo::parse("MemTotal: 8 kB\nMemFree: 2 kB\nMemAvailable: 5 kB\nCached: 4 kB\nSwapCached: 9 kB\n");
        assert_eq!(machine, MemInfo { total: 8192, free: 2048, files: 4096, available: Some(5120) });
        let node = MemInfo::parse("Node 3 MemTotal:  8 kB\nNode 3 MemFree: 2 kB\nNode 3 FilePages: 4 kB\n");
        assert_eq!(node, MemInfo { available: None, ..machine });
        assert_eq!(node.usable(), 4096);
    }
}
