//! When all reads of a run are dealt: then the workers of the next run can begin, while those of this one finish what
//! they hold.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::source::{Claim, Claimed, Deal, Emit, Emitted, Lane};
use zerohop_runtime::AtEnd;

/// Whether all reads of a run are dealt, or it has ended.
#[derive(Debug, Default)]
pub struct ReadsTaken {
    is_so: Mutex<bool>,
    changed: Condvar,
}

impl ReadsTaken {
    /// Says that they are.
    pub fn set(&self) {
        *self.is_so.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Says so at the latest when what it gives is dropped: also where a thread panics.
    pub fn set_at_end(&self) -> AtEnd<impl FnMut()> {
        AtEnd(|| self.set())
    }

    /// Waits until they are.
    pub fn wait(&self) {
        let is_so = self.is_so.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(is_so, |is_so| !*is_so).unwrap_or_else(PoisonError::into_inner));
    }
}

/// The lanes of run number `run` of those that read the same index. The last lane says when it is dealt: lanes are
/// dealt in order.
pub fn watched(lanes: Vec<Lane>, run: u32, taken: &Arc<ReadsTaken>) -> Vec<Lane> {
    let last = lanes.len().saturating_sub(1);
    let watch = |(number, Lane { deal, parser }): (usize, Lane)| {
        let taken = (number == last).then(|| Arc::clone(taken));
        let deal = match deal {
            Deal::Claim(inner) => Deal::Claim(Box::new(WatchedLane { run, taken, inner })),
            Deal::Emit(inner) => Deal::Emit(Box::new(WatchedLane { run, taken, inner })),
        };
        Lane { deal, parser }
    };
    lanes.into_iter().enumerate().map(watch).collect()
}

struct WatchedLane<T: ?Sized> {
    run: u32,
    /// Of the last lane.
    taken: Option<Arc<ReadsTaken>>,
    inner: Box<T>,
}

impl<T: ?Sized> WatchedLane<T> {
    fn has_ended(&self) {
        self.taken.iter().for_each(|taken| taken.set());
    }
}

impl Claim for WatchedLane<dyn Claim> {
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error> {
        let claimed = self.inner.claim(chunk);
        chunk.ticket.run = self.run;
        if !matches!(claimed, Ok(Claimed::Chunk | Claimed::NotYet)) {
            self.has_ended();
        }
        claimed
    }

    fn serial_time(&self) -> Duration {
        self.inner.serial_time()
    }

    fn share_dealt(&self) -> Option<f64> {
        self.inner.share_dealt()
    }
}

impl Emit for WatchedLane<dyn Emit> {
    fn emit(&mut self, chunk: &mut Chunk, stop: &AtomicBool) -> Result<Emitted, Error> {
        let emitted = self.inner.emit(chunk, stop);
        chunk.ticket.run = self.run;
        if !matches!(emitted, Ok(Emitted::Chunk)) {
            self.has_ended();
        }
        emitted
    }

    fn serial_time(&self) -> Duration {
        self.inner.serial_time()
    }

    fn share_dealt(&self) -> Option<f64> {
        self.inner.share_dealt()
    }
}
