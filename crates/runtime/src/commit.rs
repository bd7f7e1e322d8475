//! How finished chunks get into one file: a [`Commit`] for each order of its bytes.

mod over_ranks;
mod pipe;
mod positioned;

pub(crate) use over_ranks::OverRanks;
pub(crate) use pipe::{Pipe, Submitted};
pub(crate) use positioned::Positioned;

use crate::gate::Closed;
use crate::queue::OrderedQueue;
use zerohop_model::error::Error;
use zerohop_model::measurement::Tally;
use zerohop_model::sink::Sink;

/// One file, as workers see it that have finished a chunk. A further order is a further implementation.
pub(crate) trait Commit: Send + Sync {
    /// The number by which the file knows a chunk: the `in_file`-th that goes to it, which is `in_run` of the run.
    fn number(&self, _in_run: u64, in_file: u64) -> u64 {
        in_file
    }

    /// Takes a finished chunk. Gives its bytes back if the worker is to write them itself, at the
    /// [offset](Self::offset) that will be known.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the run failed; a chunk that is not ours.
    fn submit(&self, number: u64, bytes: Vec<u8>, tally: &Tally) -> Result<Option<Vec<u8>>, Error>;

    /// Where a chunk goes, if that is known by now.
    fn try_offset(&self, number: u64) -> Option<u64>;

    /// Whether a worker that has submitted chunk `last` may wait for the place of chunk `number`: that does not depend
    /// on what the worker has yet to do.
    fn may_wait(&self, _number: u64, _last: u64) -> bool {
        true
    }

    /// Waits until the place of a chunk in the output is known.
    ///
    /// # Errors
    /// When the run failed.
    fn offset(&self, number: u64) -> Result<u64, Closed>;

    /// Writes a chunk at its offset in `file` of `sink`.
    ///
    /// # Errors
    /// What the sink says.
    fn write(&self, sink: &dyn Sink, file: usize, number: u64, offset: u64, bytes: &[u8]) -> Result<(), Error>;

    /// Says that no worker will submit any more.
    fn end(&self) {}

    /// Wakes all who wait, for the run failed.
    fn close(&self);

    /// The length of the file after all was written; none where others know it.
    fn length(&self) -> Option<u64> {
        None
    }

    /// What a writer thread of its own takes chunks from, if the file needs one.
    fn queue(&self) -> Option<&OrderedQueue<Submitted>> {
        None
    }
}
