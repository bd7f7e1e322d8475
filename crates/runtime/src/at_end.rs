//! What is done however a scope is left.

/// Does something when it goes, also where a panic of ours unwinds. Threads of a scope are waited for before a panic
/// goes on: one that waits to be told the end by the thread that has panicked would be waited for for ever.
#[must_use]
pub struct AtEnd<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn it_is_done_at_the_end_and_after_a_panic() {
        let done = Cell::new(0);
        drop(AtEnd(|| done.set(done.get() + 1)));
        let panics = || {
            let _at_end = AtEnd(|| done.set(done.get() + 1));
            panic!("made up")
        };
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(done.get(), 2);
    }
}
