//! Puts a [`Machine`] together.

use crate::bare::UNKNOWN;
use crate::sysfs::Sysfs;
use crate::{TopologyError, affinity, allowed, bare, caches, cgroup, cores, nodes};
use std::path::Path;
use zerohop_model::machine::{Bytes, Machine};

/// Reads the machine that this process runs on.
///
/// # Errors
/// When files of `/sys` and `/proc` contradict their documentation. Files that are merely absent are no error:
/// a kernel without NUMA is one node, and so is a container without `/sys` and `/proc`, of which
/// [`unknown`](crate::unknown) tells.
pub fn detect() -> Result<Machine, TopologyError> {
    let cpus = affinity::current_affinity()?.into_iter().map(|cpu| cpu.0).collect();
    let mut machine = machine(&Sysfs::at("/"), Some(cpus))?;
    bare::complete(&mut machine);
    Ok(machine)
}

/// The directory of the control group whose memory limit leaves least to this process; none without a limit. Processes
/// with the same one share what is left.
///
/// # Errors
/// As [`detect`].
pub fn memory_group() -> Result<Option<String>, TopologyError> {
    Ok(cgroup::limits(&Sysfs::at("/"))?.memory_group)
}

/// Reads a machine from a tree that holds its `sys` and `proc` folders: a copy from elsewhere, or one made for a test.
///
/// The affinity is then the one of `proc/self/status`, and the page size that of the live machine.
///
/// # Errors
/// As [`detect`].
pub fn detect_under(root: &Path) -> Result<Machine, TopologyError> {
    machine(&Sysfs::at(root), None)
}

fn machine(sysfs: &Sysfs, affinity: Option<Vec<u32>>) -> Result<Machine, TopologyError> {
    let online = nodes::online_cpus(sysfs, affinity.as_deref())?;
    let (nodes, distances) = nodes::nodes(sysfs, &online)?;
    let allowed = allowed::allowed(sysfs, &online, &nodes, affinity)?;
    Ok(Machine {
        name: sysfs.text("proc/sys/kernel/hostname").unwrap_or_else(|| UNKNOWN.to_owned()),
        cpu_model: cpu_model(sysfs),
        caches: caches::caches(sysfs, &online)?,
        cores: cores::cores(sysfs, &online)?,
        page_size: page_size(),
        huge_page_size: huge_page_size(sysfs),
        nodes,
        distances,
        allowed,
    })
}

/// The model as `/proc/cpuinfo` names it: x86 by name, Arm by the part's number.
fn cpu_model(sysfs: &Sysfs) -> String {
    let text = sysfs.text("proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        let mut values = fields.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
        values.next().filter(|value| !value.is_empty())
    };
    match (value("model name"), value("CPU implementer"), value("CPU part")) {
        (Some(name), _, _) => name.to_owned(),
        (None, Some(implementer), Some(part)) => format!("Arm implementer {implementer} part {part}"),
        _ => value("cpu").unwrap_or(UNKNOWN).to_owned(),
    }
}

fn page_size() -> Bytes {
    // SAFETY: sysconf takes no pointers and may be called at any time.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Bytes(u64::try_from(size).unwrap_or(4096))
}

/// The size of a transparent huge page, unless the kernel has none or they are switched off for all.
fn huge_page_size(sysfs: &Sysfs) -> Option<Bytes> {
    const DIRECTORY: &str = "sys/kernel/mm/transparent_hugepage";
    let enabled = sysfs.text(&format!("{DIRECTORY}/enabled"))?;
    if enabled.contains("[never]") {
        return None;
    }
    sysfs.number(&format!("{DIRECTORY}/hpage_pmd_size")).map(Bytes)
}
