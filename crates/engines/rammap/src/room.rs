//! Memory for reads that take much of it, those of satellites: as many are mapped at a time as there is room for.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes for each worker. A read that takes more than all workers have is mapped when no other such read is.
const PER_WORKER: u64 = 256 << 20;

/// What the workers of all copies have. Who comes first is served first, so that no read waits for ever.
#[derive(Debug, Default)]
pub(crate) struct Room {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    workers: u64,
    /// Bytes of the reads that are being mapped.
    taken: u64,
    /// How many have come, and how many of these were let in.
    came: u64,
    admitted: u64,
}

impl State {
    fn has_room_for(&self, bytes: u64) -> bool {
        self.taken == 0 || self.taken.saturating_add(bytes) <= self.workers * PER_WORKER
    }
}

impl Room {
    /// One more worker.
    pub(crate) fn join(self: &Arc<Self>) -> Worker {
        self.lock().workers += 1;
        Worker(Arc::clone(self))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes those that wait for that.
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

/// The share of one worker, given back when it ends.
#[derive(Debug)]
pub(crate) struct Worker(Arc<Room>);

impl Worker {
    /// Waits until there is room for a read of so many bytes, and takes it.
    pub(crate) fn take(&self, bytes: u64) -> Taken {
        let room = &*self.0;
        let mut state = room.lock();
        let turn = state.came;
        state.came += 1;
        let waits = |state: &mut State| state.admitted != turn || !state.has_room_for(bytes);
        let mut state = room.changed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
        state.taken += bytes;
        state.admitted += 1;
        drop(state);
        // The next one may have room, too.
        room.changed.notify_all();
        Taken { room: Arc::clone(&self.0), bytes }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.change(|state| state.workers -= 1);
    }
}

/// Room that a read takes, until this is dropped.
#[derive(Debug)]
pub(crate) struct Taken {
    room: Arc<Room>,
    bytes: u64,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.change(|state| state.taken -= self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    #[test]
    fn no_more_is_taken_than_the_workers_have_or_by_one_read_alone() {
        const WORKERS: u64 = 4;
        let (room, taken, alone, together) =
            (Arc::new(Room::default()), AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let workers: Vec<Worker> = (0..WORKERS).map(|_| room.join()).collect();
        std::thread::scope(|scope| {
            for (seed, worker) in workers.iter().enumerate() {
                let (taken, alone, together) = (&taken, &alone, &together);
                scope.spawn(move || {
                    let mut rng = Rng::with_seed(seed as u64);
                    for _ in 0..300 {
                        let bytes = rng.u64(1..PER_WORKER * 3) * rng.u64(1..=2);
                        let room = worker.take(bytes);
                        let before = taken.fetch_add(bytes, SeqCst);
                        assert!(before == 0 || before + bytes <= WORKERS * PER_WORKER, "{before} + {bytes}");
                        if bytes > WORKERS * PER_WORKER { alone } else { together }.fetch_add(1, SeqCst);
                        std::thread::yield_now();
                        taken.fetch_sub(bytes, SeqCst);
                        drop(room);
                    }
                });
            }
        });
        assert!(alone.into_inner() > 0 && together.into_inner() > 0);
        drop(workers);
        let state = room.lock();
        assert_eq!((state.workers, state.taken, state.came, state.admitted), (0, 0, 1200, 1200));
    }

    #[test]
    fn what_a_thread_that_panics_has_taken_is_given_back() {
        let room = Arc::new(Room::default());
        let worker = room.join();
        let panics = || {
            let _room = room.join().take(u64::MAX);
            panic!("as rammap might");
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
        drop(worker.take(u64::MAX));
    }
}
