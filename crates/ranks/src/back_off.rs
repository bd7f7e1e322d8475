//! Waiting without holding a core that others need.

use crate::signs;
use crate::transport::{Transport, TransportError};
use std::time::{Duration, Instant};
use zerohop_process::running_time;

/// Looks before the core is given away for longer than a moment.
const LOOKS: u32 = 100;
/// How long it is then given away, at least and at most.
const NAPS: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));
/// Between them, this share of what has been waited: who waits long is late by little of that, and takes next to
/// nothing of a core, which on a rank with more threads than its own belongs to a search.
const LATE: u32 = 32;

/// Looks again and again until there is something, or until the limit.
///
/// # Errors
/// What `look` says; [`TransportError::Silent`] about `what` at the limit.
pub(crate) fn until<T>(
    limit: Duration,
    what: &dyn Fn() -> String,
    look: impl FnMut() -> Result<Option<T>, TransportError>,
) -> Result<T, TransportError> {
    wait(limit, what, look, || Ok(false))
}

/// Looks again and again until there is something that the work of other ranks brings. The limit begins anew with each
/// sign of life that one of them gives.
///
/// # Errors
/// What `look` says; [`TransportError::Silent`] about `what` at the limit.
pub fn wait_for<T>(
    transport: &dyn Transport,
    what: &dyn Fn() -> String,
    look: impl FnMut() -> Result<Option<T>, TransportError>,
) -> Result<T, TransportError> {
    wait(transport.limit(), what, look, || signs::taken(transport))
}

fn wait<T>(
    limit: Duration,
    what: &dyn Fn() -> String,
    mut look: impl FnMut() -> Result<Option<T>, TransportError>,
    mut is_heard: impl FnMut() -> Result<bool, TransportError>,
) -> Result<T, TransportError> {
    let (started, mut looks) = (Instant::now(), 0);
    // While the job is suspended nobody can say anything.
    let (mut asked, mut heard) = (started, running_time());
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        looks += 1;
        if looks < LOOKS {
            std::thread::yield_now();
            continue;
        }
        if asked.elapsed() >= signs::pause(limit) {
            asked = Instant::now();
            heard = if is_heard()? { running_time() } else { heard };
        }
        if running_time().saturating_sub(heard) > limit {
            return Err(TransportError::Silent { what: what(), limit });
        }
        std::thread::sleep((started.elapsed() / LATE).clamp(NAPS.0, NAPS.1));
    }
}

/// Waits for the next message of a rank under a tag.
///
/// # Errors
/// [`TransportError`].
pub fn receive(transport: &dyn Transport, from: usize, tag: u32) -> Result<Vec<u8>, TransportError> {
    wait_for(transport, &|| format!("rank {from}"), || {
        transport.poll()?;
        transport.try_receive(from, tag)
    })
}
