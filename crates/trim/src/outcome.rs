//! What is said of a read or a pair.

use crate::filter::Reason;

/// What becomes of a read or a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<S> {
    /// It stays: these bases of it.
    Kept(S),
    /// It is dropped.
    Dropped(Failed),
}

/// Why a read, or one of two mates at least, is bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed([Option<Reason>; 2]);

impl Failed {
    /// If one of these is a reason, of a read or of two mates.
    pub(crate) fn of(reasons: [Option<Reason>; 2]) -> Option<Self> {
        (reasons != [None; 2]).then_some(Failed(reasons))
    }

    /// A read without a mate.
    pub(crate) fn single(reason: Reason) -> Self {
        Failed([Some(reason), None])
    }

    /// Two mates, of which one has no base left.
    pub(crate) fn empty(reasons: [Option<Reason>; 2], are_empty: [bool; 2]) -> Self {
        let [first, second] = [0, 1].map(|mate| if are_empty[mate] { Some(Reason::TooShort) } else { reasons[mate] });
        Failed([first, second])
    }

    /// What counts for the read, or for both mates: the worst.
    pub fn reason(self) -> Reason {
        self.0[0].max(self.0[1]).unwrap_or(Reason::TooShort)
    }

    /// What is said of mate 0 or 1, in the words of fastp: behind its name in the file of `--failed_out`
    /// (FAILED_TYPES).
    pub fn words(self, mate: usize) -> &'static str {
        match self.0[mate] {
            None => "paired_read_is_failing",
            Some(Reason::TooManyN) => "failed_too_many_n_bases",
            Some(Reason::TooShort) => "failed_too_short",
            Some(Reason::TooLong) => "failed_too_long",
            Some(Reason::LowQuality) => "failed_quality_filter",
            Some(Reason::LowComplexity) => "failed_low_complexity",
            Some(Reason::AdapterDimer) => "failed_adapter_dimer",
        }
    }
}
