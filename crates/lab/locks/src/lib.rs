//! The kinds of lock that aligners put before their input and output, to be compared (Langmead et al., "Scaling read
//! aligners to hundreds of threads on general-purpose processors", Bioinformatics 2019). zerohop itself uses none of
//! those that spin.
//!
//! - test and set ([`TestAndSet`]): tries to write until it succeeds; each try takes the cache line from the others;
//! - test, then test and set ([`TestThenSet`]): waits by reading, ever longer, and writes only when the lock looks
//!   free;
//! - blocking ([`Blocking`]): std's mutex, which on Linux spins a little and then sleeps in a futex;
//! - queueing ([`Queueing`]): Mellor-Crummey and Scott's, from the crate `mcslock`: each waits on a cache line of its
//!   own.
//!
//! All that spin give up the core now and then if `crowded`: on cores that others need, a waiting thread would keep the
//! holder from going on.
//!
//! What it refuses to do: be fair, or be used by zerohop itself.
#![deny(unsafe_code)]

mod spin;

pub use spin::{Spin, TestAndSet, TestThenSet};

#[cfg(not(loom))]
use mcslock::raw::{Mutex as McsMutex, MutexNode};
#[cfg(not(loom))]
use mcslock::relax;

/// Something that only one thread at a time may touch.
pub trait Lock<T>: Send + Sync {
    /// Waits for the lock and calls `f` with what it guards.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;
}

/// std's mutex.
#[derive(Debug, Default)]
pub struct Blocking<T>(std::sync::Mutex<T>);

impl<T> Blocking<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Blocking(std::sync::Mutex::new(value))
    }
}

impl<T: Send> Lock<T> for Blocking<T> {
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

/// A queue of waiting threads.
#[cfg(not(loom))]
#[derive(Debug)]
pub enum Queueing<T> {
    /// For as many threads as cores, or fewer.
    Spinning(McsMutex<T, relax::Spin>),
    /// For more.
    Yielding(McsMutex<T, relax::Yield>),
}

#[cfg(not(loom))]
impl<T> Queueing<T> {
    /// A lock around `value`; waiting threads give up the core if `crowded`.
    pub fn new(value: T, crowded: bool) -> Self {
        if crowded { Queueing::Yielding(McsMutex::new(value)) } else { Queueing::Spinning(McsMutex::new(value)) }
    }
}

#[cfg(not(loom))]
impl<T: Send> Lock<T> for Queueing<T> {
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let mut node = MutexNode::new();
        match self {
            Queueing::Spinning(mutex) => mutex.lock_with_then(&mut node, f),
            Queueing::Yielding(mutex) => mutex.lock_with_then(&mut node, f),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn counts(lock: &impl Lock<u64>) {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..2000).for_each(|_| lock.with(|count| *count += 1)));
            }
        });
        assert_eq!(lock.with(|count| *count), 8000);
    }

    #[test]
    fn every_kind_lets_in_one_at_a_time() {
        counts(&Spin::<u64, TestAndSet>::new(0, true));
        counts(&Spin::<u64, TestThenSet>::new(0, true));
        counts(&Blocking::new(0));
        counts(&Queueing::new(0, true));
        let alone = Spin::<u64, TestAndSet>::new(1, false);
        assert_eq!(alone.with(|value| *value), 1);
        assert_eq!(Queueing::new(1, false).with(|value| *value), 1);
    }

    #[test]
    fn a_panic_inside_frees_the_lock() {
        let lock = Spin::<u64, TestThenSet>::new(0, true);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lock.with(|_| panic!("inside"))));
        assert!(caught.is_err());
        assert_eq!(lock.with(|value| *value), 0);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    fn excludes<W: spin::Wait + 'static>() {
        loom::model(|| {
            let lock = Arc::new(Spin::<u64, W>::new(0, true));
            let other = Arc::clone(&lock);
            let thread = loom::thread::spawn(move || other.with(|count| *count += 1));
            lock.with(|count| *count += 1);
            thread.join().unwrap();
            assert_eq!(lock.with(|count| *count), 2);
        });
    }

    #[test]
    fn loom_lock_test_and_set_excludes() {
        excludes::<TestAndSet>();
    }

    #[test]
    fn loom_lock_test_then_set_excludes() {
        excludes::<TestThenSet>();
    }
}
