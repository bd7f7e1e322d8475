//! A bounded queue between one producer and one consumer, without a lock (Lamport 1983; with the cached counters of
//! FastForward and its kin): the channel from the emitter to each worker, and the way back for empty buffers.
//!
//! Both sides count on: `tail` items were pushed, `head` were popped, and slot `n % capacity` holds item `n`. Only the
//! producer writes `tail` and only the consumer `head`, so each can keep the other's counter at hand and look at the
//! shared one only when the queue seems full or empty.
#![allow(unsafe_code)]

use crate::sync::{Arc, AtomicBool, AtomicUsize, Ordering, UnsafeCell};
use std::mem::MaybeUninit;

/// Keeps the two counters out of each other's cache line (two lines, for the adjacent-line prefetcher).
#[repr(align(128))]
struct PaddedCounter<T>(T);

struct SharedSlots<T> {
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
    head: PaddedCounter<AtomicUsize>,
    tail: PaddedCounter<AtomicUsize>,
    /// One of the two sides is gone.
    closed: AtomicBool,
}

// SAFETY: a slot is touched by the producer only while head <= n - capacity < n (it is empty), and by the consumer only
// while n < tail (it is full); the release store of a counter and its acquire load order the two. Items move between
// threads, hence `T: Send`.
unsafe impl<T: Send> Sync for SharedSlots<T> {}
// SAFETY: as above; dropping it drops items, which are `Send`.
unsafe impl<T: Send> Send for SharedSlots<T> {}

impl<T> Drop for SharedSlots<T> {
    fn drop(&mut self) {
        let (head, tail) = (self.head.0.load(Ordering::Relaxed), self.tail.0.load(Ordering::Relaxed));
        for n in head..tail {
            // SAFETY: items head..tail were pushed and not popped, and nobody else holds the queue any more.
            self.slots[n % self.slots.len()].with_mut(|slot| unsafe { (*slot).assume_init_drop() });
        }
    }
}

/// The side that pushes.
pub struct Producer<T> {
    shared: Arc<SharedSlots<T>>,
    tail: usize,
    /// The consumer's counter as last seen.
    head: usize,
}

/// The side that pops.
pub struct Consumer<T> {
    shared: Arc<SharedSlots<T>>,
    head: usize,
    /// The producer's counter as last seen.
    tail: usize,
}

/// A queue for `capacity` items (at least one).
///
/// ```
/// let (mut producer, mut consumer) = zerohop_runtime::spsc::channel(1);
/// assert_eq!(producer.push(7), Ok(()));
/// assert_eq!(producer.push(8), Err(8));
/// assert_eq!(consumer.pop(), Some(7));
/// ```
pub fn channel<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let slot = |_| UnsafeCell::new(MaybeUninit::uninit());
    let shared = Arc::new(SharedSlots {
        slots: (0..capacity.max(1)).map(slot).collect(),
        head: PaddedCounter(AtomicUsize::new(0)),
        tail: PaddedCounter(AtomicUsize::new(0)),
        closed: AtomicBool::new(false),
    });
    (Producer { shared: Arc::clone(&shared), tail: 0, head: 0 }, Consumer { shared, head: 0, tail: 0 })
}

impl<T> Producer<T> {
    /// Adds an item.
    ///
    /// # Errors
    /// Gives the item back when the queue is full.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        let capacity = self.shared.slots.len();
        if self.tail - self.head == capacity {
            self.head = self.shared.head.0.load(Ordering::Acquire);
            if self.tail - self.head == capacity {
                return Err(item);
            }
        }
        // SAFETY: fewer than `capacity` items are in the queue, so this slot is empty; the consumer does not look at it
        // before the store below.
        self.shared.slots[self.tail % capacity].with_mut(|slot| unsafe { (*slot).write(item) });
        self.tail += 1;
        self.shared.tail.0.store(self.tail, Ordering::Release);
        Ok(())
    }

    /// Whether the consumer is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }
}

impl<T> Consumer<T> {
    /// Takes the oldest item; `None` when there is none now.
    pub fn pop(&mut self) -> Option<T> {
        if self.head == self.tail {
            self.tail = self.shared.tail.0.load(Ordering::Acquire);
            if self.head == self.tail {
                return None;
            }
        }
        let slot = &self.shared.slots[self.head % self.shared.slots.len()];
        // SAFETY: the slot was filled before the producer's store of a `tail` beyond it; it counts as empty from the
        // store below on, and is not read again before it is filled again.
        let item = slot.with_mut(|slot| unsafe { (*slot).assume_init_read() });
        self.head += 1;
        self.shared.head.0.store(self.head, Ordering::Release);
        Some(item)
    }

    /// Whether the producer is gone. What it pushed before can still be popped: look here first, and pop then.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.load(Ordering::Acquire)
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    proptest::proptest! {
        // Under Miri there is no file system to keep failures in, and little time.
        #![proptest_config(proptest::prelude::ProptestConfig {
            cases: if cfg!(miri) { 8 } else { 256 },
            failure_persistence: None,
            ..Default::default()
        })]
        #[test]
        fn it_is_a_bounded_fifo(capacity in 1usize..5, steps in proptest::collection::vec(proptest::bool::ANY, 0..60)) {
            let (mut producer, mut consumer) = channel(capacity);
            let mut twin = VecDeque::new();
            for (i, push) in steps.into_iter().enumerate() {
                if push {
                    let item = Box::new(i);
                    let room = twin.len() < capacity;
                    assert_eq!(producer.push(item.clone()).is_ok(), room);
                    twin.extend(room.then_some(item));
                } else {
                    assert_eq!(consumer.pop(), twin.pop_front());
                }
            }
        }
    }

    #[test]
    fn items_cross_threads_in_order_and_none_is_lost() {
        let n = if cfg!(miri) { 50 } else { 100_000 };
        let (mut producer, mut consumer) = channel(3);
        let sender = std::thread::spawn(move || {
            for i in 0..n {
                let mut item = Box::new(i);
                while let Err(back) = producer.push(item) {
                    item = back;
                    std::thread::yield_now();
                }
            }
        });
        let mut expected = 0;
        loop {
            let closed = consumer.is_closed();
            match consumer.pop() {
                Some(item) => {
                    assert_eq!(*item, expected);
                    expected += 1;
                }
                None if closed => break,
                None => std::thread::yield_now(),
            }
        }
        sender.join().unwrap();
        assert_eq!(expected, n);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;

    #[test]
    fn loom_spsc_keeps_order_and_loses_nothing() {
        loom::model(|| {
            let (mut producer, mut consumer) = channel(2);
            let sender = loom::thread::spawn(move || {
                for i in 0..3 {
                    let mut item = Box::new(i);
                    while let Err(back) = producer.push(item) {
                        item = back;
                        loom::thread::yield_now();
                    }
                }
            });
            let mut got = vec![];
            while got.len() < 3 {
                match consumer.pop() {
                    Some(item) => got.push(*item),
                    None => loom::thread::yield_now(),
                }
            }
            assert_eq!(got, [0, 1, 2]);
            sender.join().unwrap();
        });
    }

    #[test]
    fn loom_spsc_drops_what_was_not_popped() {
        loom::model(|| {
            let (mut producer, mut consumer) = channel(2);
            let item = Arc::new(());
            let watched = Arc::clone(&item);
            let sender = loom::thread::spawn(move || {
                let _ = producer.push(Arc::clone(&item));
                let _ = producer.push(item);
            });
            drop(consumer.pop());
            drop(consumer);
            sender.join().unwrap();
            assert_eq!(Arc::strong_count(&watched), 1);
        });
    }
}
