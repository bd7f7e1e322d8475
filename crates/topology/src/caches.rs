//! Caches of all online CPUs, one entry per level and kind (`/sys/devices/system/cpu/cpuN/cache`).

use crate::sysfs::Sysfs;
use crate::{TopologyError, cpulist};
use std::collections::{BTreeMap, BTreeSet};
use zerohop_model::machine::{Bytes, Cache};

/// What is known of one level and kind: the largest size, and the groups of CPUs that share one such cache.
#[derive(Default)]
struct Seen {
    size: u64,
    groups: BTreeSet<String>,
    shared_by: u32,
}

/// All caches, ascending by level. Empty where the kernel tells none, as in some virtual machines.
pub(crate) fn caches(sysfs: &Sysfs, online: &[u32]) -> Result<Vec<Cache>, TopologyError> {
    let mut seen: BTreeMap<(u8, String), Seen> = BTreeMap::new();
    for &cpu in online {
        let directory = format!("sys/devices/system/cpu/cpu{cpu}/cache");
        for index in sysfs.numbered(&directory, "index") {
            look_at(sysfs, cpu, &format!("{directory}/index{index}"), &mut seen)?;
        }
    }
    Ok(seen.into_iter().map(|((level, kind), seen)| seen.into_cache(level, kind)).collect())
}

fn look_at(sysfs: &Sysfs, cpu: u32, index: &str, seen: &mut BTreeMap<(u8, String), Seen>) -> Result<(), TopologyError> {
    let level = sysfs.number(&format!("{index}/level")).and_then(|level| u8::try_from(level).ok());
    let (Some(level), Some(kind)) = (level, sysfs.text(&format!("{index}/type"))) else { return Ok(()) };
    let entry = seen.entry((level, kind)).or_default();
    entry.size = entry.size.max(sysfs.text(&format!("{index}/size")).and_then(|s| size(&s)).unwrap_or(0));
    // A cache that does not say who shares it is counted as this CPU's own.
    let sharers = sysfs.list(&format!("{index}/shared_cpu_list"))?.filter(|cpus| !cpus.is_empty());
    let sharers = sharers.unwrap_or_else(|| vec![cpu]);
    entry.shared_by = entry.shared_by.max(u32::try_from(sharers.len()).unwrap_or(u32::MAX));
    entry.groups.insert(cpulist::format(&sharers));
    Ok(())
}

impl Seen {
    fn into_cache(self, level: u8, kind: String) -> Cache {
        let count = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        Cache { level, kind, size: Bytes(self.size), shared_by: self.shared_by, count }
    }
}

/// `32K`, `8192K`, `1M` in bytes.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        assert_eq!(size("32K\n"), Some(32768));
        assert_eq!(size("1M"), Some(1 << 20));
        assert_eq!(size("512"), Some(512));
        assert_eq!(size(""), None);
        assert_eq!(size("big"), None);
    }
}
