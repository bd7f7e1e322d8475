//! A child with all that it has started.

use crate::ending::kill_group;
use crate::mark::Mark;
use crate::stat::{group_runs, used};

/// A child and all that it has started: its process group, and whoever has its mark.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    pub(crate) mark: Mark,
    /// The group that the child leads, if it does. As long as nobody has waited for the child, the number is its own.
    pub(crate) group: Option<u32>,
}

impl Family {
    /// Kills all of it. Of one that cannot be killed nothing is left to be done, and there is nobody to tell.
    pub(crate) fn kill(&self) {
        self.kill_group();
        self.mark.kill_holders();
    }

    /// Kills the group alone.
    pub(crate) fn kill_group(&self) {
        let _ = self.group.map_or(Ok(()), kill_group);
    }

    /// Whether any of it runs.
    pub(crate) fn runs(&self) -> bool {
        self.group.is_some_and(group_runs) || !self.mark.holders().is_empty()
    }

    /// The processor time that all of it has used, in ticks; none if somebody waits for a disk or was stopped, or if it
    /// is not known.
    pub(crate) fn used(&self) -> Option<u64> {
        let holders = self.mark.holders();
        // One that has ended meanwhile is no longer there.
        holders.into_iter().filter(|&pid| is_there(pid)).map(used).sum()
    }
}

fn is_there(pid: u32) -> bool {
    crate::stat::start_ticks(pid).is_some()
}
