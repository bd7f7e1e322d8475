//! Waiting without holding a core that others need.

use crate::transport::{Transport, TransportError};
use std::time::{Duration, Instant};

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
pub fn until<T>(
    limit: Duration,
    what: &dyn Fn() -> String,
    mut look: impl FnMut() -> Result<Option<T>, TransportError>,
) -> Result<T, TransportError> {
    let (started, mut looks) = (Instant::now(), 0);
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        looks += 1;
        if looks < LOOKS {
            std::thread::yield_now();
        } else {
            let waited = started.elapsed();
            if waited > limit {
                return Err(TransportError::Silent { what: what(), limit });
            }
            std::thread::sleep((waited / LATE).clamp(NAPS.0, NAPS.1));
        }
    }
}

/// Waits for the next message of a rank under a tag.
///
/// # Errors
/// [`TransportError`].
pub fn receive(transport: &dyn Transport, from: usize, tag: u32) -> Result<Vec<u8>, TransportError> {
    until(transport.limit(), &|| format!("rank {from}"), || {
        transport.poll()?;
        transport.try_receive(from, tag)
    })
}
