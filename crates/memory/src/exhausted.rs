//! What happens when memory runs out: one line and exit status 1, or an error for whoever asked for one.
//!
//! The standard library ends a program that cannot have memory by SIGABRT, and its hook for that is not stable
//! (std::alloc::set_alloc_error_hook). So the allocator ends it before.

use std::cell::Cell;
use std::io::{Cursor, Write};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use zerohop_model::machine::Bytes;

/// Bytes of the longest line.
const LINE: usize = 256;

thread_local! {
    /// Whether a failed allocation is reported to its caller.
    static FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

static CLEAR: OnceLock<fn()> = OnceLock::new();

/// From now on an allocation that fails ends the program with a line on standard error and exit status 1, after `clear`
/// was called; the first call counts. `clear` runs in the thread that asked, inside the allocator: it must not
/// allocate, nor wait for a lock, as a signal handler must not.
///
/// Without this, and inside [`fallible`], it is reported to its caller.
pub fn on_exhausted(clear: fn()) {
    let _ = CLEAR.set(clear);
}

/// Runs `allocate`. An allocation in it that fails is reported to its caller (`Vec::try_reserve` and its like); the
/// program does not end for it.
pub fn fallible<T>(allocate: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            FALLIBLE.set(self.0);
        }
    }
    let _restore = Restore(FALLIBLE.replace(true));
    allocate()
}

/// What the allocator returns for a block of `size` bytes that it cannot have, if it returns.
pub(crate) fn refuse(size: usize) -> *mut u8 {
    match CLEAR.get() {
        Some(clear) if !FALLIBLE.get() => end(size, *clear),
        _ => ptr::null_mut(),
    }
}

fn end(size: usize, clear: fn()) -> ! {
    static ENDS: AtomicBool = AtomicBool::new(false);
    while ENDS.swap(true, Ordering::AcqRel) {
        // Another thread is at it: it ends this one, too.
        // SAFETY: pause takes no arguments and may be called at any time.
        unsafe { libc::pause() };
    }
    clear();
    let mut line = [0; LINE];
    let length = words(size, &mut line);
    // SAFETY: `length` bytes of `line` are there to be read; both calls may be made at any time, also in a signal
    // handler.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), length);
        libc::_exit(1)
    }
}

/// Writes what is to be said, without allocating; returns its length.
fn words(size: usize, line: &mut [u8]) -> usize {
    let mut line = Cursor::new(line);
    let bytes = Bytes(size as u64);
    // What does not fit is cut off.
    let _ = writeln!(
        line,
        "error: out of memory: cannot allocate {bytes} more: allow more (ulimit -v, the memory of the job), or use \
         fewer threads (-t) or index copies (--replicas)"
    );
    line.position() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits() {
        let mut line = [0; LINE];
        let length = words(usize::MAX, &mut line);
        assert!(line[..length].ends_with(b"(--replicas)\n"));
    }

    #[test]
    fn who_asks_for_it_is_told() {
        on_exhausted(|| ());
        assert!(fallible(|| fallible(|| refuse(1)).is_null() && refuse(1).is_null()));
        assert!(!FALLIBLE.get());
    }
}
