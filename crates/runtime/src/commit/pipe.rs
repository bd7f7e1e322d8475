//! A pipe: chunks go through an ordered queue to one writer thread.

use super::Commit;
use crate::gate::Closed;
use crate::queue::OrderedQueue;
use zerohop_model::error::Error;
use zerohop_model::machine::NodeId;
use zerohop_model::measurement::Tally;
use zerohop_model::sink::Sink;
use zerohop_model::spare;

/// Written by one writer thread, chunk after chunk.
pub(crate) struct Pipe(pub(crate) OrderedQueue<Submitted>);

/// The bytes of a chunk, and the node on which they lie.
pub(crate) struct Submitted {
    pub(crate) node: NodeId,
    pub(crate) bytes: Vec<u8>,
}

impl Commit for Pipe {
    fn submit(&self, number: u64, bytes: Vec<u8>, _: &Tally) -> Result<Option<Vec<u8>>, Error> {
        // What it takes in memory: a chunk of few bytes comes in a buffer for many.
        let room = bytes.capacity();
        self.0.put(number, Submitted { node: spare::node(), bytes }, room).map_err(|Closed| Error::Stopped)?;
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

    fn queue(&self) -> Option<&OrderedQueue<Submitted>> {
        Some(&self.0)
    }
}
