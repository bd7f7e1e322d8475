//! Counts where the memory of another process lies.
//!
//! The kernel tells it mapping by mapping (`numa_maps`), which takes it a walk through the process's page tables: for
//! each page that the process has touched, so the larger the process the longer; meanwhile it can run, but not map or
//! unmap.

use crate::census::CensusError;
use crate::numa_maps::{self, MappedPages};
use crate::region;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use zerohop_model::machine::{Bytes, NodeId};
use zerohop_model::measurement::PageCensus;

/// What the kernel calls the file of private hugetlb pages (`mmap(2)`, `MAP_ANONYMOUS | MAP_HUGETLB`): nobody else can
/// map it, so it is a file in name only.
const ANONYMOUS_HUGETLB: &str = "/anon_hugepage (deleted)";

/// The mappings of a process, ascending by address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessCensus {
    /// One per mapping; the kernel joins neighbours of equal kind and policy.
    pub mappings: Vec<MappedPages>,
}

/// Counts the touched pages of a process: its own memory, and what it maps of files.
///
/// Pages of a shared file that only others have touched are not among them, nor what is swapped out.
///
/// # Errors
/// [`CensusError::Gone`] for a process that has ended (also if nobody has waited for it yet), that never was, or that
/// begins another program meanwhile; [`CensusError::NoNumaMaps`] on a kernel without NUMA; else
/// [`CensusError::Unreadable`].
///
/// ```
/// if let Ok(census) = zerohop_memory::process_census(std::process::id()) {
///     assert!(census.private().present.0 > 0);
/// }
/// ```
pub fn process_census(pid: u32) -> Result<ProcessCensus, CensusError> {
    match read(pid) {
        Ok(Some(mappings)) => Ok(ProcessCensus { mappings }),
        Ok(None) => Err(CensusError::Gone { pid }),
        Err(source) if source.raw_os_error() == Some(libc::ESRCH) => Err(CensusError::Gone { pid }),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            let exists = Path::new(&format!("/proc/{pid}")).exists();
            Err(if exists { CensusError::NoNumaMaps { pid } } else { CensusError::Gone { pid } })
        }
        Err(source) => Err(CensusError::Unreadable { pid, source }),
    }
}

/// The mappings, or nothing when the process has no memory any more.
fn read(pid: u32) -> io::Result<Option<Vec<MappedPages>>> {
    let mut file = File::open(format!("/proc/{pid}/numa_maps"))?;
    let mappings = numa_maps::read(BufReader::new(&file))?;
    // The text of a process that ends while it is read just stops, as if there was no more. Read anew, the file of such
    // a process is empty; so is that of one that has replaced its memory by another program's (`execve(2)`).
    file.rewind()?;
    let lives = file.read(&mut [0])? > 0;
    Ok(lives.then(|| mappings.into_iter().map(|(_, pages)| pages).collect()))
}

impl ProcessCensus {
    /// Its private memory: heap and large blocks, whoever allocated them; also the stacks of threads but the first,
    /// which are such blocks. The stack of the first thread is left out, and the data of programs and libraries, which
    /// are private copies of a file's pages.
    ///
    /// [`PageCensus::huge`] counts hugetlb pages only: transparent ones are not told here.
    pub fn private(&self) -> PageCensus {
        // The kernel's own pages in the process (vdso) have neither file nor private pages.
        self.count(|pages| pages.has_no_file() && !pages.stack && pages.anonymous.0 > 0)
    }

    /// The pages of mapped files under `folder`, also of removed ones; a page that is mapped twice counts twice.
    ///
    /// [`PageCensus::huge`] as for [`private`](Self::private).
    pub fn files_under(&self, folder: &Path) -> PageCensus {
        self.count(|pages| pages.file.as_deref().is_some_and(|file| file.starts_with(folder)))
    }

    fn count(&self, wanted: impl Fn(&MappedPages) -> bool) -> PageCensus {
        let base_page = region::page_size() as u64;
        let (mut per_node, mut huge) = (BTreeMap::<NodeId, u64>::new(), 0);
        for pages in self.mappings.iter().filter(|pages| wanted(pages)) {
            for &(node, bytes) in &pages.per_node {
                *per_node.entry(node).or_default() += bytes.0;
                huge += if pages.page_size.0 > base_page { bytes.0 } else { 0 };
            }
        }
        let present = Bytes(per_node.values().sum());
        let per_node = per_node.into_iter().map(|(node, bytes)| (node, Bytes(bytes))).collect();
        PageCensus { present, per_node, huge: Bytes(huge) }
    }
}

impl MappedPages {
    fn has_no_file(&self) -> bool {
        self.file.as_deref().is_none_or(|file| file == Path::new(ANONYMOUS_HUGETLB))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process as the kernel shows it; base pages of 4 KiB.
    const TEXT: &str = "\
        55b1c1155000 default file=/usr/bin/bwa mapped=20 N0=20 kernelpagesize_kB=4\n\
        55b1c1161000 default file=/usr/bin/bwa anon=1 dirty=1 active=0 N0=1 kernelpagesize_kB=4\n\
        55b1ee127000 default heap anon=40 dirty=40 active=0 N0=30 N1=10 kernelpagesize_kB=4\n\
        7f0000000000 bind:1 anon=500 dirty=500 active=0 N1=500 kernelpagesize_kB=4\n\
        7f1000000000 bind:1 file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048\n\
        7f2000000000 default file=/dev/shm/zerohop-1/ref\\040a.bwt mapped=64 mapmax=4 N0=60 N3=4 kernelpagesize_kB=4\n\
        7f3000000000 default file=/dev/shm/zerohop-1/gone\\040(deleted) mapped=1 N3=1 kernelpagesize_kB=4\n\
        7f4000000000 default file=/dev/shm/zerohop-10/other mapped=9 N0=9 kernelpagesize_kB=4\n\
        7f5000000000 default file=/dev/zero\\040(deleted) dirty=7 N0=7 kernelpagesize_kB=4\n\
        7f6000000000 default\n\
        7ffc8b0f4000 default stack anon=5 dirty=5 active=0 N0=5 kernelpagesize_kB=4\n\
        7ffc8b1f4000 default mapped=1 mapmax=27 active=0 N0=1 kernelpagesize_kB=4\n";

    fn census() -> ProcessCensus {
        let mappings = numa_maps::read(TEXT.as_bytes()).unwrap();
        ProcessCensus { mappings: mappings.into_iter().map(|(_, pages)| pages).collect() }
    }

    fn pages(present: u64, per_node: &[(u32, u64)], huge: u64) -> PageCensus {
        let per_node = per_node.iter().map(|&(node, pages)| (NodeId(node), Bytes(pages * 4096))).collect();
        PageCensus { present: Bytes(present * 4096), per_node, huge: Bytes(huge * 4096) }
    }

    #[test]
    fn private_memory_is_heap_and_blocks() {
        assert_eq!(census().private(), pages(1564, &[(0, 30), (1, 1534)], 1024));
    }

    #[test]
    fn files_are_counted_by_folder() {
        let under = |folder: &str| census().files_under(folder.as_ref());
        assert_eq!(under("/dev/shm/zerohop-1"), pages(65, &[(0, 60), (3, 5)], 0));
        assert_eq!(under("/dev/shm/zerohop-1/"), under("/dev/shm/zerohop-1"));
        assert_eq!(under("/nowhere"), PageCensus::default());
        assert_eq!(under("/usr").present, Bytes(21 * 4096));
    }

    #[test]
    fn processes_that_are_not_there_are_told() {
        // No process has this number (`/proc/sys/kernel/pid_max` is at most 2^22).
        let gone = process_census(u32::MAX);
        assert!(matches!(gone, Err(CensusError::Gone { pid: u32::MAX })), "{gone:?}");
    }
}
