//! Programs that do nothing any more.
//!
//! diamond 2.1.3 was seen to stand still for minutes, all its threads in a futex, on busy machines: once in thousands of runs; its users
//! report the same of many versions (bbuchfink/diamond, issues 801, 849 and 943). Nothing but time tells that from work, so a program
//! that has used no processor time for long, and does not wait for a disk, is ended.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(500);

/// Looks at process `pid` until `over` is closed; true if the process was idle for `limit` before.
///
/// Looks are counted, and no clock is read: a job that was suspended as a whole, as schedulers do, was not idle meanwhile.
pub(crate) fn is_idle(pid: u32, limit: Duration, over: &Receiver<()>) -> bool {
    let look = LOOK.min(limit);
    let (mut idle, mut before) = (Duration::ZERO, None);
    while idle < limit {
        match over.recv_timeout(look) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return false,
        }
        let now = used(pid);
        idle = if now.is_some() && now == before { idle + look } else { Duration::ZERO };
        before = now;
    }
    true
}

/// The processor time that a process and the children it has waited for have used, in ticks; none if one of its threads waits for a disk
/// or was stopped, or if it is not known.
fn used(pid: u32) -> Option<u64> {
    let mut sum = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let stat = std::fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        // The name stands in brackets and may hold anything; behind it come the state and numbers.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        if matches!(*fields.first()?, "D" | "T" | "t") {
            return None;
        }
        sum += fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    }
    Some(sum)
}
