//! An emitter that measures how long it is held.

use crate::stopwatch::Stopwatch;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zerohop_model::chunk::Chunk;
use zerohop_model::error::Error;
use zerohop_model::source::{Emit, Emitted};

/// Something that reads are taken from, a chunk at a time.
pub(crate) trait Take: Send {
    /// Fills `chunk`; false at the end, with the ticket that another chunk would have had.
    fn take(&mut self, chunk: &mut Chunk) -> Result<bool, Error>;
}

/// Takes, and measures.
pub(crate) struct Timed<T> {
    from: T,
    holding: Stopwatch,
}

impl<T: Take> Timed<T> {
    pub(crate) fn new(from: T) -> Self {
        Timed { from, holding: Stopwatch::default() }
    }
}

impl<T: Take> Emit for Timed<T> {
    fn emit(&mut self, chunk: &mut Chunk, _stop: &AtomicBool) -> Result<Emitted, Error> {
        let started = self.holding.start();
        let outcome = self.from.take(chunk);
        self.holding.stop(started);
        if !outcome? {
            return Ok(Emitted::End { chunks: chunk.ticket.number, reads: chunk.ticket.first_read });
        }
        Ok(Emitted::Chunk)
    }

    fn serial_time(&self) -> Duration {
        self.holding.estimate()
    }

    fn share_dealt(&self) -> Option<f64> {
        None
    }
}
