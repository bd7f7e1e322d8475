//! The CPU affinity of the calling thread (`sched_setaffinity(2)`), for any number of CPUs.

use crate::{TopologyError, cpulist, system};
use libc::c_ulong;
use std::io;
use std::marker::PhantomData;
use zerohop_model::machine::CpuId;

const BITS: usize = c_ulong::BITS as usize;

/// Pins the calling thread to these CPUs. macOS pins no threads; there it changes nothing.
///
/// # Errors
/// [`TopologyError::Pin`] when none of them is online and in the process's cpuset. The kernel drops single CPUs that
/// are not without an error; [`current_affinity`] tells what is left.
pub fn pin_current_thread(cpus: &[CpuId]) -> Result<(), TopologyError> {
    let numbers: Vec<u32> = cpus.iter().map(|cpu| cpu.0).collect();
    let mask = mask_of(&numbers);
    system::set_affinity(&mask).map_err(|source| TopologyError::Pin { cpus: cpulist::format(&numbers), source })
}

/// The CPUs on which the calling thread may run, ascending.
///
/// # Errors
/// [`TopologyError::Affinity`] when the kernel does not tell.
pub fn current_affinity() -> Result<Vec<CpuId>, TopologyError> {
    // The kernel wants room for all CPUs that it could ever have, and says EINVAL until there is. `cpu_set_t` ends at
    // 1024, so it is grown here.
    for words in [1024, 8192, 65536, 1 << 20].map(|bits| bits / BITS) {
        let mut mask: Vec<c_ulong> = vec![0; words];
        match system::affinity(&mut mask) {
            Ok(()) => return Ok(numbers_in(&mask).map(CpuId).collect()),
            Err(error) if error.raw_os_error() != Some(libc::EINVAL) => return Err(TopologyError::Affinity(error)),
            Err(_) => {}
        }
    }
    Err(TopologyError::Affinity(io::Error::from_raw_os_error(libc::EINVAL)))
}

/// Keeps the calling thread on some CPUs, and gives it its former affinity back when dropped.
///
/// Threads and processes that it starts meanwhile inherit the CPUs, and keep them.
#[derive(Debug)]
pub struct Pinned {
    /// The CPUs to give back; none when nothing was changed.
    former: Option<Vec<CpuId>>,
    /// The state of one thread: a guard dropped on another thread would spoil that one and leave this.
    on_this_thread: PhantomData<*const ()>,
}

impl Pinned {
    /// Pins the calling thread to these CPUs; an empty slice changes nothing.
    ///
    /// Guards that are nested are to be dropped in the reverse order. If the former CPUs are not allowed any more when
    /// the guard is dropped, the thread stays where it is.
    ///
    /// # Errors
    /// As [`pin_current_thread`] and [`current_affinity`]; then nothing has changed.
    pub fn to(cpus: &[CpuId]) -> Result<Self, TopologyError> {
        let mut former = None;
        if !cpus.is_empty() {
            let now = current_affinity()?;
            pin_current_thread(cpus)?;
            former = Some(now);
        }
        Ok(Self { former, on_this_thread: PhantomData })
    }

    /// As [`Pinned::to`]; where the kernel refuses, as in containers that forbid pinning, the thread stays where it is.
    /// The second part then says why, for the user: a program on any CPU is slower, but its results are the same.
    pub fn where_allowed(cpus: &[CpuId]) -> (Self, Option<String>) {
        match Self::to(cpus) {
            Ok(pinned) => (pinned, None),
            Err(refused) => (Self { former: None, on_this_thread: PhantomData }, Some(refused.to_string())),
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(former) = &self.former {
            // Refused only where an administrator took all these CPUs away meanwhile: there is nothing to go back to.
            let _ = pin_current_thread(former);
        }
    }
}

fn mask_of(cpus: &[u32]) -> Vec<c_ulong> {
    let highest = cpus.iter().copied().max().unwrap_or(0) as usize;
    let mut mask: Vec<c_ulong> = vec![0; highest / BITS + 1];
    for &cpu in cpus {
        mask[cpu as usize / BITS] |= 1 << (cpu as usize % BITS);
    }
    mask
}

fn numbers_in(mask: &[c_ulong]) -> impl Iterator<Item = u32> {
    (0..u32::try_from(mask.len() * BITS).unwrap_or(u32::MAX))
        .filter(|&cpu| mask[cpu as usize / BITS] >> (cpu as usize % BITS) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn masks_hold_what_went_in(set in proptest::collection::btree_set(0u32..5000, 0..100)) {
            let cpus: Vec<u32> = set.into_iter().collect();
            prop_assert_eq!(numbers_in(&mask_of(&cpus)).collect::<Vec<_>>(), cpus);
        }
    }
}
