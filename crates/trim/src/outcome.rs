//! What is said of a read or a pair.

use crate::filter::Reason;

/// What becomes of a read or a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<S> {
    /// It stays: these bases of it.
    Kept(S),
    /// It is dropped.
    Dropped(Reason),
}
