//! A regular file: workers write, at offsets that the gate hands out in order.

use super::Commit;
use crate::gate::{Closed, OrderGate};
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::sink::Sink;

/// Written by the workers, at offsets that the gate hands out.
pub(crate) struct Positioned(pub(crate) OrderGate);

impl Commit for Positioned {
    fn submit(&self, number: u64, bytes: Vec<u8>, _: &Tally) -> Result<Option<Vec<u8>>, Error> {
        self.0.submit(number, bytes.len() as u64);
        Ok(Some(bytes))
    }

    fn try_offset(&self, number: u64) -> Option<u64> {
        self.0.try_fetch(number)
    }

    fn offset(&self, number: u64) -> Result<u64, Closed> {
        self.0.fetch(number)
    }

    fn write(&self, sink: &dyn Sink, file: usize, _: u64, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        sink.write_at(file, offset, bytes)
    }

    fn close(&self) {
        self.0.close();
    }

    fn length(&self) -> Option<u64> {
        Some(self.0.end())
    }
}
