//! CPU time and memory that were used, and the clock that all processes share.

use crate::system::PEAK_UNIT;
use libc::c_int;
use std::time::Duration;
use zerohop_model::machine::Bytes;

/// CPU time that the calling thread has used, kernel included; zero where the kernel does not tell.
pub fn thread_cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec to where the pointer leads: a variable of this function.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    if outcome == 0 { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) } else { Duration::ZERO }
}

/// CPU time that this process and those of its children that were waited for have used, kernel included
/// (`getrusage(2)`).
pub fn cpu_time() -> Duration {
    let (user, system) = cpu_times();
    user + system
}

/// The same in two parts: the processes' own, and the kernel's for them.
pub fn cpu_times() -> (Duration, Duration) {
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, 1000 * time.tv_usec as u32);
    let (own, children) = (used(libc::RUSAGE_SELF), used(libc::RUSAGE_CHILDREN));
    (time(own.ru_utime) + time(children.ru_utime), time(own.ru_stime) + time(children.ru_stime))
}

/// The most memory that this process has had at a time (`getrusage(2)`).
pub fn peak_memory() -> Bytes {
    Bytes(used(libc::RUSAGE_SELF).ru_maxrss as u64 * PEAK_UNIT)
}

fn used(whose: c_int) -> libc::rusage {
    // SAFETY: rusage is plain numbers, for which zeros are values.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one rusage, for which there is room; if it refuses, the zeros stay.
    unsafe { libc::getrusage(whose, &raw mut used) };
    used
}

/// The time since some moment in the past that is the same for all processes of the machine (`CLOCK_MONOTONIC`).
pub fn monotonic_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: as above. This clock is always there (POSIX), so what it says need not be asked.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_cpu_time() {
        let before = thread_cpu_time();
        while thread_cpu_time() == before {
            std::hint::spin_loop();
        }
    }
}
