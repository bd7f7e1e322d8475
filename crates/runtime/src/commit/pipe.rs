//! A pipe: chunks go through an ordered queue to one writer thread.

use super::Commit;
use crate::gate::Closed;
use crate::queue::OrderedQueue;
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::sink::Sink;

/// Written by one writer thread, chunk after chunk.
pub(crate) struct Pipe(pub(crate) OrderedQueue<Vec<u8>>);

impl Commit for Pipe {
    fn submit(&self, number: u64, bytes: Vec<u8>, _: &Tally) -> Result<Option<Vec<u8>>, Error> {
        self.0.put(number, bytes).map_err(|Closed| Error::Stopped)?;
        Ok(None)
    }

    fn try_offset(&self, _: u64) -> Option<u64> {
        None
    }

    fn offset(&self, _: u64) -> Result<u64, Closed> {
        // The queue takes what it is given: nothing waits for a place.
        Err(Closed)
    }

    fn write(&self, sink: &dyn Sink, file: usize, _: u64, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        sink.write_at(file, offset, bytes)
    }

    fn end(&self) {
        self.0.end();
    }

    fn close(&self) {
        self.0.close();
    }

    fn queue(&self) -> Option<&OrderedQueue<Vec<u8>>> {
        Some(&self.0)
    }
}
