//! Finished chunks on their way to an output that can only be written front to back: they come in any order and leave
//! in theirs, and whoever is too far ahead waits. How far that is depends on who is late: a slow reader of the output
//! gets a few chunks, but while a chunk is still being mapped those behind it are taken in up to a number of bytes.

use crate::gate::Closed;
use crate::sync::{Condvar, Mutex, lock, wait};
use std::collections::BTreeMap;

#[derive(Debug)]
struct QueueState<T> {
    /// With how many bytes each has.
    items: BTreeMap<u64, (usize, T)>,
    /// Of all of them.
    bytes: usize,
    next: u64,
    /// No more items come.
    ended: bool,
    closed: bool,
}

/// A queue that restores order, of bounded size.
#[derive(Debug)]
pub struct OrderedQueue<T> {
    state: Mutex<QueueState<T>>,
    window: u64,
    most_bytes: usize,
    room: Condvar,
    filled: Condvar,
}

impl<T> OrderedQueue<T> {
    /// A queue that holds items up to `window` (at least 1) numbers ahead of the next one to be taken, and as long as
    /// that one is not there others, too, until they have `most_bytes` together.
    pub fn new(window: u64, most_bytes: usize) -> Self {
        let items = BTreeMap::new();
        OrderedQueue {
            state: Mutex::new(QueueState { items, bytes: 0, next: 0, ended: false, closed: false }),
            window: window.max(1),
            most_bytes,
            room: Condvar::new(),
            filled: Condvar::new(),
        }
    }

    /// Puts in item `number`, which has so many bytes; waits while it is too far ahead. The item that is taken next is
    /// never made to wait.
    ///
    /// # Errors
    /// [`Closed`] when the run failed.
    pub fn put(&self, number: u64, item: T, bytes: usize) -> Result<(), Closed> {
        let mut state = lock(&self.state);
        let has_room = |state: &QueueState<T>| {
            let is_late = !state.items.contains_key(&state.next);
            number < state.next + self.window || is_late && state.bytes + bytes <= self.most_bytes
        };
        while !state.closed && !has_room(&state) {
            state = wait(&self.room, state);
        }
        if state.closed {
            return Err(Closed);
        }
        let is_next = number == state.next;
        state.items.insert(number, (bytes, item));
        state.bytes += bytes;
        drop(state);
        if is_next {
            self.filled.notify_one();
        }
        Ok(())
    }

    /// Takes the next item, waiting for it; `None` when all were taken.
    ///
    /// # Errors
    /// [`Closed`] when the run failed.
    pub fn take(&self) -> Result<Option<T>, Closed> {
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return Err(Closed);
            }
            let next = state.next;
            if let Some((bytes, item)) = state.items.remove(&next) {
                (state.next, state.bytes) = (state.next + 1, state.bytes - bytes);
                drop(state);
                self.room.notify_all();
                return Ok(Some(item));
            }
            if state.ended {
                return Ok(None);
            }
            state = wait(&self.filled, state);
        }
    }

    /// Says that all items were put in.
    pub fn end(&self) {
        lock(&self.state).ended = true;
        self.filled.notify_one();
    }

    /// Lets all who wait go, for the run failed.
    pub fn close(&self) {
        lock(&self.state).closed = true;
        self.room.notify_all();
        self.filled.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn items_leave_in_order_and_the_queue_stays_bounded() {
        let queue = OrderedQueue::new(3, 0);
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let queue = &queue;
                scope.spawn(move || {
                    for number in (worker..100).step_by(4) {
                        queue.put(number, number, 1).unwrap();
                        assert!(lock(&queue.state).items.len() <= 3);
                    }
                });
            }
            for expected in 0..100 {
                assert_eq!(queue.take(), Ok(Some(expected)));
            }
            queue.end();
            assert_eq!(queue.take(), Ok(None));
        });
    }

    #[test]
    fn while_the_next_one_is_late_others_are_taken_in_by_their_bytes() {
        let queue = OrderedQueue::new(2, 10);
        (1..6).for_each(|number| queue.put(number, number, 2).unwrap());
        let (done, seen) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let put = |number| {
                let (queue, done) = (&queue, done.clone());
                scope.spawn(move || {
                    queue.put(number, number, 2).unwrap();
                    done.send(number).unwrap();
                });
            };
            // Ten bytes are there: it waits.
            put(6);
            assert!(seen.recv_timeout(std::time::Duration::from_millis(50)).is_err());
            queue.put(0, 0, 2).unwrap();
            // The next one is there: it waits for the reader alone.
            put(7);
            for number in 0..8 {
                assert_eq!(queue.take(), Ok(Some(number)));
                assert!(lock(&queue.state).items.len() as u64 <= 6);
            }
            assert_eq!(seen.iter().take(2).sum::<u64>(), 13);
        });
        assert_eq!(lock(&queue.state).bytes, 0);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::Arc;

    #[test]
    fn loom_queue_restores_order_with_a_window_of_one() {
        loom::model(|| {
            let queue = Arc::new(OrderedQueue::new(1, 0));
            let threads: Vec<_> = (0..2u64)
                .map(|number| {
                    let queue = Arc::clone(&queue);
                    loom::thread::spawn(move || queue.put(number, number, 1).unwrap())
                })
                .collect();
            assert_eq!(queue.take(), Ok(Some(0)));
            assert_eq!(queue.take(), Ok(Some(1)));
            threads.into_iter().for_each(|t| t.join().unwrap());
            queue.end();
            assert_eq!(queue.take(), Ok(None));
        });
    }

    #[test]
    fn loom_queue_closing_wakes_both_sides() {
        loom::model(|| {
            let queue = Arc::new(OrderedQueue::new(1, 0));
            let putter = {
                let queue = Arc::clone(&queue);
                loom::thread::spawn(move || queue.put(1, (), 1))
            };
            queue.close();
            assert_eq!(queue.take(), Err(Closed));
            assert_eq!(putter.join().unwrap(), Err(Closed));
        });
    }
}
