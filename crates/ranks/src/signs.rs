//! Signs of life: a rank at work tells the others, who may wait for what it does. Who waits itself gives none, so where
//! all wait for one another, nobody hears anything, and the wait ends at its limit.

use crate::transport::{Transport, TransportError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The tag of signs.
const SIGN_TAG: u32 = 0x7367;
/// A rank at work gives so many in the time that others wait for it, for one may come late; and one a minute at least.
const IN_LIMIT: u32 = 8;
const LONGEST: Duration = Duration::from_secs(60);
/// How often it is looked whether work is done.
const LOOK: Duration = Duration::from_millis(5);

/// Time between two signs, where a silence of `limit` is borne.
pub(crate) fn pause(limit: Duration) -> Duration {
    (limit / IN_LIMIT).min(LONGEST)
}

/// Gives signs of life while this rank works.
pub struct Signs<'t> {
    transport: &'t dyn Transport,
    last: Instant,
}

impl<'t> Signs<'t> {
    /// The work begins; the first sign is given when it takes some time.
    pub fn new(transport: &'t dyn Transport) -> Self {
        Signs { transport, last: Instant::now() }
    }

    /// Gives a sign to all others, if it is time for one. To be called often.
    ///
    /// # Errors
    /// [`TransportError`].
    pub fn give(&mut self) -> Result<(), TransportError> {
        if self.last.elapsed() < pause(self.transport.limit()) {
            return Ok(());
        }
        self.last = Instant::now();
        others(self.transport).try_for_each(|rank| self.transport.send(rank, SIGN_TAG, Vec::new()))?;
        // Theirs would pile up while we do not wait for them.
        taken(self.transport).map(drop)
    }
}

/// Does `work` in a thread of its own, and gives signs of life meanwhile.
///
/// # Errors
/// [`TransportError`]; a thread that cannot be started.
pub fn with_signs<T: Send>(transport: &dyn Transport, work: impl FnOnce() -> T + Send) -> Result<T, TransportError> {
    if transport.size() == 1 {
        return Ok(work());
    }
    std::thread::scope(|scope| {
        let thread = Builder::new().name("work".into()).spawn_scoped(scope, work).map_err(TransportError::NoThread)?;
        let mut signs = Signs::new(transport);
        while !thread.is_finished() {
            transport.poll()?;
            signs.give()?;
            std::thread::sleep(LOOK);
        }
        // A panic goes on here, as if the work had been done by this thread.
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Takes the signs of life that have come from others; false if there were none.
pub(crate) fn taken(transport: &dyn Transport) -> Result<bool, TransportError> {
    let mut any = false;
    for rank in others(transport) {
        while transport.try_receive(rank, SIGN_TAG)?.is_some() {
            any = true;
        }
    }
    Ok(any)
}

fn others(transport: &dyn Transport) -> impl Iterator<Item = usize> {
    let own = transport.rank();
    (0..transport.size()).filter(move |&rank| rank != own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::twin::Twin;

    /// What the others come to at a barrier that rank 0 reaches when it has worked for longer than they wait.
    fn at_barrier(work: fn(&Twin, Duration)) -> Vec<Result<(), TransportError>> {
        let limit = Duration::from_secs(2);
        let go = |twin: Twin| {
            if twin.rank() == 0 {
                work(&twin, 2 * limit);
            }
            twin.barrier()
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = Twin::ranks(3, limit).into_iter().map(|twin| scope.spawn(move || go(twin))).collect();
            threads.into_iter().skip(1).map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn a_rank_at_work_is_waited_for_and_a_silent_one_is_not() {
        std::thread::scope(|scope| {
            let silent = scope.spawn(|| at_barrier(|_, time| std::thread::sleep(time)));
            let at_work = at_barrier(|twin, time| with_signs(twin, || std::thread::sleep(time)).unwrap());
            assert!(at_work.iter().all(Result::is_ok), "{at_work:?}");
            let silent = silent.join().unwrap();
            assert!(silent.iter().all(|end| matches!(end, Err(TransportError::Silent { .. }))), "{silent:?}");
        });
    }

    #[test]
    fn signs_do_not_pile_up() {
        let twins = Twin::ranks(2, Duration::ZERO);
        let mut signs: Vec<_> = twins.iter().map(|twin| Signs::new(twin)).collect();
        signs.iter_mut().for_each(|signs| signs.give().unwrap());
        assert!(taken(&twins[0]).unwrap() && !taken(&twins[0]).unwrap() && !taken(&twins[1]).unwrap());
    }
}
