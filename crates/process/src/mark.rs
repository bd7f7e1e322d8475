//! Marks by which all that a child has started are found, wherever they are by now.
//!
//! A process group is not enough: `timeout`, `setsid` and `set -m` put what they start into groups of their own. So a
//! child gets a mark in its environment, which all that it starts inherits. Who takes it out of its environment is not
//! found. A program that a child starts and that is a zerohop, too, adds its own marks to ours.

use crate::signals::Signal;
use crate::stat::{environment_of, processes, start_ticks};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The variable that holds the marks, divided by commas.
pub(crate) const VARIABLE: &str = "ZEROHOP_CHILD";

/// How often to look for processes that are left, and the pause before looking again: a process may start another one
/// while it is being killed.
const LOOKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// The mark of a child, or of all children of a process.
#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

impl Mark {
    /// That of all children of this process. No other process has the same.
    pub(crate) fn of_all() -> &'static Mark {
        static OWN: OnceLock<Mark> = OnceLock::new();
        OWN.get_or_init(|| {
            let own = std::process::id();
            // Process ids and times alone could be those of a process in another container.
            let chance = RandomState::new().build_hasher().finish();
            Mark(format!("{own}-{:x}-{chance:x}", start_ticks(own).unwrap_or(0)))
        })
    }

    /// The mark of a new child.
    pub(crate) fn next() -> Self {
        static CHILDREN: AtomicU64 = AtomicU64::new(0);
        Mark(format!("{}.{}", Mark::of_all().0, CHILDREN.fetch_add(1, Ordering::Relaxed)))
    }

    /// A mark as it was told ([`Mark::as_str`]).
    pub(crate) fn told(text: &str) -> Self {
        Mark(text.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// What the variable holds in the child's environment.
    pub(crate) fn for_child(&self) -> String {
        match std::env::var(VARIABLE) {
            Ok(outer) if !outer.is_empty() => format!("{outer},{}", self.0),
            _ => self.0.clone(),
        }
    }

    /// Whether a process with this environment has the mark.
    fn is_in(&self, environment: &[u8]) -> bool {
        let mut variables = environment.split(|&byte| byte == 0);
        let value = variables.find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="));
        value.into_iter().flat_map(|marks| marks.split(|&byte| byte == b',')).any(|mark| {
            mark.strip_prefix(self.0.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."))
        })
    }

    /// The processes that have it, but for those that have ended.
    pub(crate) fn holders(&self) -> Vec<u32> {
        let has_it = |pid: &u32| environment_of(*pid).is_some_and(|environment| self.is_in(&environment));
        processes().into_iter().flatten().filter(has_it).collect()
    }

    /// Kills all processes that have it (`SIGKILL`). Who may not be killed has changed its user, and is its user's.
    pub(crate) fn kill_holders(&self) {
        for _ in 0..LOOKS {
            let left = self.holders();
            if left.is_empty() {
                return;
            }
            left.into_iter().for_each(|pid| drop(Signal::KILL.send(pid, false)));
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_among_others() {
        let mark = Mark::told("7-1-a.2");
        let holds = |value: &str| mark.is_in(format!("A=1\0{VARIABLE}={value}\0B=2").as_bytes());
        assert!(holds("7-1-a.2") && holds("1-1-1.1,7-1-a.2") && holds("7-1-a.2,9-9-9.0"));
        assert!(!holds("7-1-a.20") && !holds("7-1-a") && !holds("") && !holds("17-1-a.2"));
        assert!(Mark::told("7-1-a").is_in(format!("{VARIABLE}=7-1-a.20").as_bytes()), "that of all children");
        assert!(!mark.is_in(b"A=7-1-a.2") && !mark.is_in(b""));
        assert_ne!(Mark::next().as_str(), Mark::next().as_str());
    }
}
