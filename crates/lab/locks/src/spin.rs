//! The locks that spin on one word.
#![allow(unsafe_code)]

use super::Lock;
#[cfg(loom)]
use loom::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::atomic::{AtomicBool, Ordering},
    thread::yield_now,
};
use std::marker::PhantomData;
#[cfg(not(loom))]
use std::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::atomic::{AtomicBool, Ordering},
    thread::yield_now,
};

/// The longest row of reads between two looks at a lock.
const LONGEST_BACKOFF: u32 = 1 << 10;
/// Looks at a lock before the core is given up, if it is crowded.
const PATIENCE: u32 = 64;

/// How a thread waits for a lock that spins.
pub trait Wait: Send + Sync {
    /// Waits until it has set `taken`.
    fn acquire(taken: &AtomicBool, crowded: bool);
}

/// Writes until it was the one that set it.
#[derive(Debug)]
pub struct TestAndSet;

impl Wait for TestAndSet {
    fn acquire(taken: &AtomicBool, crowded: bool) {
        let mut looks = 0;
        while !set(taken) {
            pause(&mut looks, crowded);
        }
    }
}

/// Reads until it is free, with pauses that grow twofold, and only then writes.
#[derive(Debug)]
pub struct TestThenSet;

impl Wait for TestThenSet {
    fn acquire(taken: &AtomicBool, crowded: bool) {
        let (mut looks, mut backoff) = (0, 1);
        loop {
            if !taken.load(Ordering::Relaxed) && set(taken) {
                return;
            }
            if !cfg!(loom) {
                (0..backoff).for_each(|_| spin_loop());
            }
            backoff = (2 * backoff).min(LONGEST_BACKOFF);
            pause(&mut looks, crowded);
        }
    }
}

/// Sets it if it is not set: an atomic write to the cache line either way. (A swap does the same, but loom does not
/// know that a store cannot come between the two halves of one.)
fn set(taken: &AtomicBool) -> bool {
    taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

fn pause(looks: &mut u32, crowded: bool) {
    *looks += 1;
    if crowded && looks.is_multiple_of(PATIENCE) || cfg!(loom) { yield_now() } else { spin_loop() }
}

/// A lock of one word that threads spin on as `W` says.
#[derive(Debug)]
pub struct Spin<T, W> {
    /// On a cache line of its own, with what follows on others.
    taken: Padded<AtomicBool>,
    crowded: bool,
    value: UnsafeCell<T>,
    wait: PhantomData<W>,
}

#[derive(Debug)]
#[repr(align(128))]
struct Padded<T>(T);

// SAFETY: `value` is touched only by the thread that has set `taken`, which `with` keeps to; setting it acquires what
// clearing it released. The value moves between threads, hence `T: Send`.
unsafe impl<T: Send, W: Wait> Sync for Spin<T, W> {}

impl<T, W: Wait> Spin<T, W> {
    /// A lock around `value`; waiting threads give up the core now and then if `crowded`.
    pub fn new(value: T, crowded: bool) -> Self {
        let taken = Padded(AtomicBool::new(false));
        Spin { taken, crowded, value: UnsafeCell::new(value), wait: PhantomData }
    }
}

/// Clears the lock, also when `f` panics.
struct Release<'l>(&'l AtomicBool);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl<T: Send, W: Wait> Lock<T> for Spin<T, W> {
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        W::acquire(&self.taken.0, self.crowded);
        let _release = Release(&self.taken.0);
        #[cfg(loom)]
        return self.value.with_mut(|value| {
            // SAFETY: this thread has set `taken`, and clears it only after `f`.
            f(unsafe { &mut *value })
        });
        #[cfg(not(loom))]
        // SAFETY: this thread has set `taken`, and clears it only after `f`.
        f(unsafe { &mut *self.value.get() })
    }
}
