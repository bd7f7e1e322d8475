//! What the kernel refused, countable from inside the allocator: no locks, no allocation.

use std::io;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

/// What can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusedCall {
    ReadTaskPolicy,
    SetTaskPolicy,
    RestoreTaskPolicy,
    BindBlock,
    AdviseHugePages,
    SwitchHugePages,
}

impl RefusedCall {
    const ALL: [Self; 6] = [
        Self::ReadTaskPolicy,
        Self::SetTaskPolicy,
        Self::RestoreTaskPolicy,
        Self::BindBlock,
        Self::AdviseHugePages,
        Self::SwitchHugePages,
    ];

    /// The first half of a sentence, and what follows from the refusal.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::ReadTaskPolicy => {
                ("get_mempolicy", "the thread's former policy is set back to the default afterwards")
            }
            Self::SetTaskPolicy => ("set_mempolicy", "small blocks and spawned threads are not placed"),
            Self::RestoreTaskPolicy => ("set_mempolicy (back to the former policy)", "the thread keeps this placement"),
            Self::BindBlock => ("mbind", "large blocks lie where they were first written"),
            Self::AdviseHugePages => ("madvise", "large blocks have the page size of the system's setting"),
            Self::SwitchHugePages => ("prctl", "libraries that ask for huge pages may get them"),
        }
    }
}

/// For each call the first error and how often there was one.
#[derive(Debug)]
pub(crate) struct Refusals {
    first: [AtomicI32; RefusedCall::ALL.len()],
    times: [AtomicU32; RefusedCall::ALL.len()],
}

impl Refusals {
    pub(crate) const fn new() -> Self {
        Self {
            first: [const { AtomicI32::new(0) }; RefusedCall::ALL.len()],
            times: [const { AtomicU32::new(0) }; RefusedCall::ALL.len()],
        }
    }

    pub(crate) fn note(&self, call: RefusedCall, outcome: &io::Result<()>) {
        if let Err(error) = outcome {
            let number = error.raw_os_error().unwrap_or(libc::EINVAL);
            let _ = self.first[call as usize].compare_exchange(0, number, Relaxed, Relaxed);
            self.times[call as usize].fetch_add(1, Relaxed);
        }
    }

    /// A sentence for each call that was refused; `what` names the placement.
    pub(crate) fn sentences(&self, what: &str) -> Vec<String> {
        RefusedCall::ALL.into_iter().filter_map(|call| self.sentence(call, what)).collect()
    }

    fn sentence(&self, call: RefusedCall, what: &str) -> Option<String> {
        let times = self.times[call as usize].load(Relaxed);
        let error = io::Error::from_raw_os_error(self.first[call as usize].load(Relaxed));
        let ((name, consequence), often) = (call.words(), if times == 1 { "once" } else { "several times" });
        (times > 0).then(|| format!("{what}: the kernel refused {name} {often}: {error}; {consequence}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_told_once() {
        let refusals = Refusals::new();
        assert_eq!(refusals.sentences("local to node 3"), Vec::<String>::new());
        refusals.note(RefusedCall::SetTaskPolicy, &Ok(()));
        for _ in 0..3 {
            refusals.note(RefusedCall::BindBlock, &Err(io::Error::from_raw_os_error(libc::EPERM)));
        }
        let told = refusals.sentences("local to node 3");
        assert_eq!(
            told,
            ["local to node 3: the kernel refused mbind several times: Operation not permitted (os error 1); \
              large blocks lie where they were first written"]
        );
    }
}
