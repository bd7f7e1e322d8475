//! Finished chunks on their way to an output that can only be written front to back: they come in any order and leave
//! in theirs, and whoever is too far ahead waits.

use crate::gate::Closed;
use crate::sync::{Condvar, Mutex, lock, wait};
use std::collections::BTreeMap;

#[derive(Debug)]
struct QueueState<T> {
    items: BTreeMap<u64, T>,
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
    room: Condvar,
    filled: Condvar,
}

impl<T> OrderedQueue<T> {
    /// A queue that holds items up to `window` (at least 1) numbers ahead of the next one to be taken.
    pub fn new(window: u64) -> Self {
        OrderedQueue {
            state: Mutex::new(QueueState { items: BTreeMap::new(), next: 0, ended: false, closed: false }),
            window: window.max(1),
            room: Condvar::new(),
            filled: Condvar::new(),
        }
    }

    /// Puts in item `number`; waits while it is too far ahead. The item that is taken next is never made to wait.
    ///
    /// # Errors
    /// [`Closed`] when the run failed.
    pub fn put(&self, number: u64, item: T) -> Result<(), Closed> {
        let mut state = lock(&self.state);
        while !state.closed && number >= state.next + self.window {
            state = wait(&self.room, state);
        }
        if state.closed {
            return Err(Closed);
        }
        let is_next = number == state.next;
        state.items.insert(number, item);
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
            if let Some(item) = state.items.remove(&next) {
                state.next += 1;
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
        let queue = OrderedQueue::new(3);
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let queue = &queue;
                scope.spawn(move || {
                    for number in (worker..100).step_by(4) {
                        queue.put(number, number).unwrap();
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
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::sync::Arc;

    #[test]
    fn loom_queue_restores_order_with_a_window_of_one() {
        loom::model(|| {
            let queue = Arc::new(OrderedQueue::new(1));
            let threads: Vec<_> = (0..2u64)
                .map(|number| {
                    let queue = Arc::clone(&queue);
                    loom::thread::spawn(move || queue.put(number, number).unwrap())
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
            let queue = Arc::new(OrderedQueue::new(1));
            let putter = {
                let queue = Arc::clone(&queue);
                loom::thread::spawn(move || queue.put(1, ()))
            };
            queue.close();
            assert_eq!(queue.take(), Err(Closed));
            assert_eq!(putter.join().unwrap(), Err(Closed));
        });
    }
}
