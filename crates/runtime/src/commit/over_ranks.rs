//! A file that several processes write: workers write, at offsets that all processes agree on.

use super::Commit;
use crate::gate::Closed;
use crate::grains::{ChunkPart, Grains};
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::sink::Sink;

/// Written by the workers of several processes: files of records, or one beside them.
pub(crate) struct OverRanks<'g>(pub(crate) &'g Grains, pub(crate) ChunkPart);

impl Commit for OverRanks<'_> {
    fn number(&self, in_run: u64, _: u64) -> u64 {
        // All processes know a chunk by its number in the run.
        in_run
    }

    fn submit(&self, number: u64, bytes: Vec<u8>, tally: &Tally) -> Result<Option<Vec<u8>>, Error> {
        self.0.submit(self.1, number, bytes.len() as u64, tally)?;
        Ok(Some(bytes))
    }

    fn try_offset(&self, number: u64) -> Option<u64> {
        self.0.try_fetch(self.1, number)
    }

    fn may_wait(&self, number: u64, last: u64) -> bool {
        // Workers take chunks in their order: those who are beyond the grain have nothing of it left to do.
        !self.0.is_with(number, last)
    }

    fn offset(&self, number: u64) -> Result<u64, Closed> {
        self.0.fetch(self.1, number)
    }

    fn write(&self, sink: &dyn Sink, file: usize, number: u64, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        match (number, self.1) {
            (0, ChunkPart::Records) => sink.write_header()?,
            // All of them at once.
            (0, ChunkPart::Beside(0)) => sink.write_header_beside()?,
            _ => {}
        }
        sink.write_at(file, offset, bytes)?;
        self.0.wrote(number);
        Ok(())
    }

    fn close(&self) {
        self.0.close();
    }
}
