//! Which CPUs are hardware threads of one core (`/sys/devices/system/cpu/cpuN/topology`).

use crate::TopologyError;
use crate::sysfs::Sysfs;
use std::collections::BTreeSet;
use zerohop_model::machine::CpuId;

/// The name of kernels since 5.3, and the older one, which all of them have.
const FILES: [&str; 2] = ["core_cpus_list", "thread_siblings_list"];

/// The online CPUs of each core, ascending. None where the kernel does not tell it of every CPU, or contradicts itself,
/// as in containers that hide CPUs.
pub(crate) fn cores(sysfs: &Sysfs, online: &[u32]) -> Result<Vec<Vec<CpuId>>, TopologyError> {
    let mut cores = BTreeSet::new();
    for &cpu in online {
        let Some(mut threads) = of_cpu(sysfs, cpu)? else { return Ok(Vec::new()) };
        threads.retain(|thread| online.binary_search(thread).is_ok());
        cores.insert(threads);
    }
    let mut seen = BTreeSet::new();
    let is_each_once = cores.iter().flatten().all(|thread| seen.insert(*thread)) && seen.len() == online.len();
    let core = |threads: Vec<u32>| threads.into_iter().map(CpuId).collect();
    Ok(if is_each_once { cores.into_iter().map(core).collect() } else { Vec::new() })
}

fn of_cpu(sysfs: &Sysfs, cpu: u32) -> Result<Option<Vec<u32>>, TopologyError> {
    for file in FILES {
        let threads = sysfs.list(&format!("sys/devices/system/cpu/cpu{cpu}/topology/{file}"))?;
        if let Some(threads) = threads.filter(|threads| threads.contains(&cpu)) {
            return Ok(Some(threads));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(u32, &str, &str)], online: &[u32]) -> Vec<Vec<u32>> {
        let root = tempfile::tempdir().unwrap();
        for (cpu, file, text) in files {
            let folder = root.path().join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(file), text).unwrap();
        }
        let cores = cores(&Sysfs::at(root.path()), online).unwrap();
        cores.into_iter().map(|core| core.into_iter().map(|cpu| cpu.0).collect()).collect()
    }

    #[test]
    fn threads_of_a_core_are_told_by_either_file() {
        let [new, old] = FILES;
        let all = [(0, new, "0,2\n"), (1, old, "1,3\n"), (2, new, "0,2\n"), (3, old, "1,3\n")];
        assert_eq!(read(&all, &[0, 1, 2, 3]), [[0, 2], [1, 3]]);
        assert_eq!(read(&all, &[0, 1, 2]), [vec![0, 2], vec![1]], "a thread that is offline is none");
    }

    #[test]
    fn what_is_not_told_of_all_or_contradicts_itself_is_not_known() {
        let [new, _] = FILES;
        assert!(read(&[(0, new, "0-1")], &[0, 1]).is_empty());
        assert!(read(&[(0, new, "0-1"), (1, new, "1")], &[0, 1]).is_empty());
        assert!(read(&[(0, new, "1"), (1, new, "1")], &[0, 1]).is_empty(), "CPU 0 is not on its own list");
    }
}
