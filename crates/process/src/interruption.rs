//! What is said when somebody interrupts the process (SIGINT, Ctrl-C).
//!
//! The words are made before, for a signal handler may not allocate. They are never freed: the handler may be reading
//! them.
#![allow(unsafe_code)]

use crate::tell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

static WORDS: AtomicPtr<Vec<u8>> = AtomicPtr::new(null_mut());

/// While this lives, SIGINT ends the process with these words on standard error.
#[derive(Debug)]
pub struct Interruption(());

impl Interruption {
    /// Has these words said, in place of others before them, by whoever handles SIGINT.
    pub(crate) fn new(words: &str) -> Self {
        // Instead of the line that shows progress.
        let begin = if tell::shows_progress() { "\r\x1b[K" } else { "" };
        let words = format!("{begin}error: interrupted: {}\n", tell::printable(words)).into_bytes();
        WORDS.store(Box::leak(Box::new(words)), Ordering::Release);
        Interruption(())
    }
}

impl Drop for Interruption {
    fn drop(&mut self) {
        WORDS.store(null_mut(), Ordering::Release);
    }
}

/// Says the words, if there are some. For a signal handler: it allocates nothing and takes no lock.
pub(crate) fn tell() {
    // SAFETY: the words are leaked and never changed, once they can be reached from `WORDS`.
    if let Some(words) = unsafe { WORDS.load(Ordering::Acquire).as_ref() } {
        // SAFETY: write(2) is async-signal-safe, and reads the words alone. There is nobody else to tell if it fails.
        unsafe { libc::write(libc::STDERR_FILENO, words.as_ptr().cast(), words.len()) };
    }
}
