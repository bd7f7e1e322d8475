//! What the sorting of suffixes (libsais) needs of OpenMP, in rayon's pool: the six functions that GCC writes calls of.
//!
//! GCC's own library for them, libgomp, is not linked. Before `main` it binds the whole program to one CPU where a user
//! has set `OMP_PROC_BIND`, as on many clusters, and its threads could not be placed.
//!
//! A team is a call of [`GOMP_parallel`]: each of its members, a thread of the pool, runs the same function. The
//! functions are those of libgomp's ABI (GCC 4.9 and later); libsais calls no others.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a member looks whether the others have come before it lets another thread have the core.
const LOOKS: u32 = 10_000;

/// Where the members of a team wait for each other. It spins: libsais waits 64,000 times for 200 Mb, microseconds each,
/// and sleeping took as long as a second thread saves (6.2 s and 6.1 s with one and two threads; spinning, 4.3 s).
struct Barrier {
    size: usize,
    waiting: AtomicUsize,
    /// How often all have come.
    rounds: AtomicUsize,
}

impl Barrier {
    fn new(size: usize) -> Self {
        Barrier { size, waiting: AtomicUsize::new(0), rounds: AtomicUsize::new(0) }
    }

    fn wait(&self) {
        let round = self.rounds.load(Ordering::Acquire);
        // The last one sees what all did before, and the next round what it did: by the counts that they share.
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.size {
            self.waiting.store(0, Ordering::Relaxed);
            self.rounds.fetch_add(1, Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.rounds.load(Ordering::Acquire) == round {
            looks += 1;
            if looks < LOOKS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

/// Which team a thread belongs to.
#[derive(Clone, Copy)]
struct TeamMember {
    number: usize,
    size: usize,
    /// Where all wait for each other; none for a team of one.
    barrier: *const Barrier,
}

const ALONE: TeamMember = TeamMember { number: 0, size: 1, barrier: std::ptr::null() };

thread_local! {
    static MEMBER: Cell<TeamMember> = const { Cell::new(ALONE) };
}

/// What all members do, and with what.
#[derive(Clone, Copy)]
struct TeamTask(extern "C" fn(*mut c_void), *mut c_void);

// SAFETY: the compiler made both for being used by all threads of a team.
unsafe impl Sync for TeamTask {}

impl TeamTask {
    fn run(&self, member: TeamMember) {
        let before = MEMBER.replace(member);
        (self.0)(self.1);
        MEMBER.set(before);
    }
}

/// Runs the function in so many threads, and waits for all. A team within a team has one member, as libgomp has it by
/// default.
#[unsafe(no_mangle)]
extern "C" fn GOMP_parallel(function: extern "C" fn(*mut c_void), data: *mut c_void, threads: c_uint, _flags: c_uint) {
    let part = TeamTask(function, data);
    let size = (threads as usize).min(rayon::current_num_threads());
    if size < 2 || MEMBER.get().size > 1 {
        return part.run(ALONE);
    }
    let barrier = Barrier::new(size);
    rayon::broadcast(|thread| {
        if thread.index() < size {
            part.run(TeamMember { number: thread.index(), size, barrier: &barrier });
        }
    });
}

/// Waits until all members of the team have come here.
#[unsafe(no_mangle)]
extern "C" fn GOMP_barrier() {
    // SAFETY: it is null, or the barrier of `GOMP_parallel`, which outlives its members' parts.
    if let Some(barrier) = unsafe { MEMBER.get().barrier.as_ref() } {
        barrier.wait();
    }
}

#[unsafe(no_mangle)]
extern "C" fn omp_get_num_threads() -> c_int {
    MEMBER.get().size as c_int
}

#[unsafe(no_mangle)]
extern "C" fn omp_get_thread_num() -> c_int {
    MEMBER.get().number as c_int
}

#[unsafe(no_mangle)]
extern "C" fn omp_get_max_threads() -> c_int {
    rayon::current_num_threads() as c_int
}

/// Whether a team may be smaller than was asked for: never, in the pool that was asked for.
#[unsafe(no_mangle)]
extern "C" fn omp_get_dynamic() -> c_int {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each member counts in a round, all see behind the barrier.
    extern "C" fn count(data: *mut c_void) {
        // SAFETY: what the test below gives.
        let counts = unsafe { &*data.cast::<[AtomicUsize; 8]>() };
        let (own, size) = (omp_get_thread_num() as usize, omp_get_num_threads() as usize);
        for round in 1..=2_000 {
            counts[own].store(round, Ordering::Relaxed);
            GOMP_barrier();
            assert!(counts[..size].iter().all(|count| count.load(Ordering::Relaxed) == round));
            GOMP_barrier();
        }
        // A team in a team: alone.
        GOMP_parallel(alone, std::ptr::null_mut(), 8, 0);
        assert_eq!(omp_get_num_threads() as usize, size);
    }

    extern "C" fn alone(_: *mut c_void) {
        GOMP_barrier();
        assert_eq!((omp_get_thread_num(), omp_get_num_threads()), (0, 1));
    }

    #[test]
    fn members_of_a_team_wait_for_each_other() {
        for (threads, asked, members) in [(1, 4, 1), (2, 2, 2), (5, 5, 5), (4, 2, 2), (2, 8, 2)] {
            let counts: [AtomicUsize; 8] = Default::default();
            let data = (&raw const counts) as usize;
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| GOMP_parallel(count, data as *mut c_void, asked, 0));
            assert_eq!(counts.iter().filter(|count| count.load(Ordering::Relaxed) == 2_000).count(), members);
        }
    }
}
