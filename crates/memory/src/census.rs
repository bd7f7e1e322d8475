//! Counts where the pages of some memory really lie.
//!
//! The kernel is asked page by page (`move_pages(2)` without a target), which costs about 0.1 microseconds each. Beyond
//! [`SAMPLE_FROM`] one page of every k is asked for, chosen at random within its group so that no pattern of an
//! interleaved mapping can hide, and counted k times.

use crate::id::PlacementId;
use crate::vmas::{self, Vma};
use crate::{blocks, numa_maps, policy, region};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use zerohop_model::machine::{Bytes, NodeId};
use zerohop_model::measurement::PageCensus;

/// More bytes than this are sampled: 16 GiB, four million base pages.
const SAMPLE_FROM: usize = 16 << 30;

/// Pages per system call: few enough to fit the caches, many enough for the call's own cost not to count.
const BATCH: usize = 1 << 14;

/// What was counted, and how far it can be trusted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Census {
    /// The pages that were counted.
    pub pages: PageCensus,
    /// What is sampled, estimated or missing in it, a sentence each; empty for a full count.
    pub notes: Vec<String>,
}

/// Why nothing could be counted.
#[derive(Debug, thiserror::Error)]
pub enum CensusError {
    /// The kernel (a sandbox, a kernel without NUMA) does not tell where this process's own pages lie.
    #[error("where pages lie is not known: move_pages: {move_pages}; /proc/self/numa_maps: {numa_maps}")]
    Untold {
        /// What the system call said.
        move_pages: io::Error,
        /// What reading the file instead said.
        numa_maps: io::Error,
    },
    /// The process does not exist, or has ended, or began another program while its pages were counted.
    #[error("where the pages of process {pid} lie is not known: it has gone")]
    Gone {
        /// The process.
        pid: u32,
    },
    /// The kernel was built without NUMA: it has no such file for any process.
    #[error("where the pages of process {pid} lie is not known: this kernel has no /proc/{pid}/numa_maps")]
    NoNumaMaps {
        /// The process.
        pid: u32,
    },
    /// The file is there and could not be read: the process is another user's, or a sandbox forbids it.
    #[error("where the pages of process {pid} lie is not known: /proc/{pid}/numa_maps: {source}")]
    Unreadable {
        /// The process.
        pid: u32,
        /// What reading the file said.
        source: io::Error,
    },
}

/// Counts the pages of these ranges (address, bytes). A page that two ranges share is counted for each.
///
/// Bytes per node are exact up to 16 GiB and sampled beyond. Bytes on huge pages are those of the kernel's mappings
/// that hold the ranges, in proportion to the part that they take of them.
///
/// # Errors
/// [`CensusError::Untold`] when the kernel does not tell in any way.
pub fn census(ranges: &[(usize, usize)]) -> Result<Census, CensusError> {
    let mut census = Census::default();
    let step = step_for(ranges.iter().map(|&(_, bytes)| bytes).sum());
    let smaps = read("/proc/self/smaps", vmas::read_smaps);
    let per_node = match by_move_pages(ranges, step) {
        Ok(per_node) => {
            if step > 1 {
                census.notes.push(format!("one page of every {step} was looked at"));
            }
            per_node
        }
        Err(move_pages) => {
            let per_node = by_numa_maps(ranges, &smaps);
            let reason = format!("move_pages: {move_pages}; pages per node are estimated from /proc/self/numa_maps");
            census.notes.push(reason);
            per_node.map_err(|numa_maps| CensusError::Untold { move_pages, numa_maps })?
        }
    };
    census.pages.present = Bytes(per_node.values().sum());
    census.pages.per_node = per_node.into_iter().map(|(node, bytes)| (NodeId(node), Bytes(bytes))).collect();
    match smaps {
        Ok(vmas) => census.pages.huge = Bytes(huge(ranges, &vmas).min(census.pages.present.0)),
        Err(error) => census.notes.push(format!("bytes on huge pages are not known: /proc/self/smaps: {error}")),
    }
    Ok(census)
}

/// Counts the pages of the live large blocks that were allocated under a placement.
///
/// # Errors
/// As [`census`].
pub fn census_of(id: PlacementId) -> Result<Census, CensusError> {
    census_with(id, &[])
}

/// The same, with the pages of these ranges (address, bytes), which another allocator has given.
///
/// # Errors
/// As [`census`].
pub fn census_with(id: PlacementId, foreign: &[(usize, usize)]) -> Result<Census, CensusError> {
    let (mut ranges, untracked) = blocks::of(id);
    ranges.extend_from_slice(foreign);
    let mut census = census(&ranges)?;
    if untracked > 0 {
        census.notes.push(format!("{untracked} large blocks found no room in the table of blocks and are left out"));
    }
    Ok(census)
}

/// Every how many pages one is looked at.
fn step_for(bytes: usize) -> usize {
    bytes.div_ceil(SAMPLE_FROM).max(1)
}

/// The addresses to look at in a range, and how many pages each stands for.
fn sample(start: usize, bytes: usize, page: usize, step: usize) -> impl Iterator<Item = (usize, u64)> {
    let first = start & !(page - 1);
    let pages = (start - first + bytes).div_ceil(page);
    (0..pages).step_by(step).map(move |group| {
        let size = step.min(pages - group);
        (first + (group + jitter(group, size)) * page, size as u64)
    })
}

/// A pseudo-random number below `below`, from `seed` (splitmix64, Steele and others 2014).
fn jitter(seed: usize, below: usize) -> usize {
    let mut z = (seed as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) % below as u64) as usize
}

/// Bytes per node.
type PerNode = BTreeMap<u32, u64>;

fn by_move_pages(ranges: &[(usize, usize)], step: usize) -> io::Result<PerNode> {
    let page = region::page_size();
    let mut per_node = PerNode::new();
    let mut samples = ranges.iter().flat_map(|&(start, bytes)| sample(start, bytes, page, step));
    loop {
        let (pages, weights): (Vec<usize>, Vec<u64>) = samples.by_ref().take(BATCH).unzip();
        if pages.is_empty() {
            return Ok(per_node);
        }
        let mut statuses = vec![-libc::ENOENT; pages.len()];
        policy::nodes_of_pages(&pages, &mut statuses)?;
        for (status, weight) in statuses.into_iter().zip(weights) {
            // Negative: not written yet, or not mapped any more.
            if let Ok(node) = u32::try_from(status) {
                *per_node.entry(node).or_default() += weight * page as u64;
            }
        }
    }
}

fn by_numa_maps(ranges: &[(usize, usize)], smaps: &io::Result<Vec<Vma>>) -> io::Result<PerNode> {
    let mappings: BTreeMap<usize, _> = read("/proc/self/numa_maps", numa_maps::read)?.into_iter().collect();
    let vmas = smaps.as_ref().map_err(|error| io::Error::new(error.kind(), format!("/proc/self/smaps: {error}")))?;
    let mut per_node = PerNode::new();
    for vma in vmas {
        for &(node, bytes) in mappings.get(&vma.start).map_or(&[][..], |mapping| &mapping.per_node) {
            let share = vma.share(bytes.0, ranges);
            if share > 0 {
                *per_node.entry(node.0).or_default() += share;
            }
        }
    }
    Ok(per_node)
}

/// Bytes of these ranges (address, bytes) that lie on huge pages, mapped as such, as the kernel's mappings say.
///
/// # Errors
/// When `/proc/self/smaps` cannot be read.
pub fn on_huge_pages(ranges: &[(usize, usize)]) -> io::Result<u64> {
    Ok(huge(ranges, &read("/proc/self/smaps", vmas::read_smaps)?))
}

fn huge(ranges: &[(usize, usize)], vmas: &[Vma]) -> u64 {
    vmas.iter().filter(|vma| vma.huge > 0).map(|vma| vma.share(vma.huge, ranges)).sum()
}

fn read<T>(path: &str, parse: impl FnOnce(BufReader<File>) -> io::Result<T>) -> io::Result<T> {
    parse(BufReader::new(File::open(path)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_memory_is_not_sampled() {
        assert_eq!(step_for(0), 1);
        assert_eq!(step_for(16 << 30), 1);
        assert_eq!(step_for((16 << 30) + 1), 2);
        assert_eq!(step_for(160 << 30), 10);
    }

    #[test]
    fn a_full_count_looks_at_each_page_once() {
        let pages: Vec<_> = sample(0x1000_0ff0, 0x20, 4096, 1).collect();
        assert_eq!(pages, [(0x1000_0000, 1), (0x1000_1000, 1)]);
    }

    #[test]
    fn sampling_an_interleaved_range_is_not_fooled_by_its_pattern() {
        // Pages in turn over 8 nodes, one of 8 looked at: without chance all would be on one node.
        let mut per_node = [0u64; 8];
        sample(0, 4096 * 80_000, 4096, 8).for_each(|(address, weight)| per_node[address / 4096 % 8] += weight);
        assert!(per_node.iter().all(|&pages| pages.abs_diff(10_000) < 1000), "{per_node:?}");
    }

    proptest! {
        #[test]
        fn samples_stay_inside_and_stand_for_all(
            start in 0usize..1 << 40, bytes in 1usize..1 << 24, step in 1usize..50,
        ) {
            let pages = (start % 4096 + bytes).div_ceil(4096);
            let samples: Vec<_> = sample(start, bytes, 4096, step).collect();
            prop_assert_eq!(samples.iter().map(|s| s.1).sum::<u64>(), pages as u64);
            for pair in samples.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0);
            }
            for &(address, _) in &samples {
                prop_assert!(address % 4096 == 0 && address + 4096 > start && address < start + bytes);
            }
        }
    }
}
