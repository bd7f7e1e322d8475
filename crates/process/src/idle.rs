//! Programs that do nothing any more.
//!
//! diamond 2.1.3 was seen to stand still for minutes, all its threads in a futex, on busy machines: once in thousands
//! of runs; its users report the same of many versions (bbuchfink/diamond, issues 801, 849 and 943). Nothing but time
//! tells that from work, so a program that has used no processor time for long, and does not wait for a disk, is ended.

use crate::family::Family;
use crate::stat::used;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often to check.
const LOOK: Duration = Duration::from_millis(500);

/// Set when nobody wants the results of any program any more.
static UNWANTED: AtomicBool = AtomicBool::new(false);

/// Has all programs ended that [`output_within`](crate::RunningChild::output_within) waits for, for this process has
/// failed and is about to end: those who wait learn within a second.
pub fn end_programs() {
    UNWANTED.store(true, Ordering::Release);
}

/// How long a program may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long it may do nothing.
    pub idle: Duration,
    /// In all, whatever it does; none for no limit.
    pub whole: Option<Duration>,
}

/// Why a program is to be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It did nothing any more.
    Idle,
    /// It has run for so long.
    TooLong(Duration),
    /// Nobody wants its results any more.
    Unwanted,
}

/// Looks at process `pid` until `over` is closed; tells if its whole family was idle for too long before, ran for too
/// long, or is not wanted any more.
///
/// Looks are counted, and no clock is read: a job that was suspended as a whole, as schedulers do, was not idle
/// meanwhile.
pub(crate) fn watch(pid: u32, family: &Family, limits: Limits, over: &Receiver<()>) -> Option<Stopped> {
    let look = LOOK.min(limits.idle);
    let (mut whole, mut idle, mut before, mut all_before) = (Duration::ZERO, Duration::ZERO, None, None);
    while idle < limits.idle {
        match over.recv_timeout(look) {
            Err(RecvTimeoutError::Timeout) => whole += look,
            _ => return None,
        }
        if UNWANTED.load(Ordering::Acquire) {
            return Some(Stopped::Unwanted);
        }
        if let Some(limit) = limits.whole.filter(|limit| *limit <= whole) {
            return Some(Stopped::TooLong(limit));
        }
        let now = used(pid);
        // Others work where it is a script that has started them: they are looked for only while it does nothing
        // itself.
        let all = if now.is_some() && now == before { family.used() } else { None };
        idle = if all.is_some() && all == all_before { idle + look } else { Duration::ZERO };
        (before, all_before) = (now, all);
    }
    Some(Stopped::Idle)
}
