//! CPU time.

use std::time::Duration;

/// CPU time that the calling thread has used, kernel included; zero where the kernel does not tell.
pub fn thread_cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec to where the pointer leads: a variable of this function.
    let outcome = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    if outcome == 0 { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) } else { Duration::ZERO }
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
