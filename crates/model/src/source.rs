//! Where chunks come from.

use crate::chunk::Chunk;
use crate::error::Error;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The result of trying to claim a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimed {
    /// The chunk was filled with text and has its ticket.
    Chunk,
    /// Nothing to do now, for other workers are at it: try again soon.
    NotYet,
    /// There are no more chunks.
    End {
        /// How many there were in the lane.
        chunks: u64,
        /// How many reads were in them.
        reads: u64,
    },
}

/// An input that workers deal themselves, without an emitter: regular files, plain, gzip or BGZF.
pub trait Claim: Send + Sync {
    /// Fills `chunk` with the next chunk's text. Never blocks on another thread; helps to survey the input where it
    /// can.
    ///
    /// # Errors
    /// A fault of the input, with the ticket of the first chunk that it affects in `chunk`; all chunks before are
    /// dealt. Every further call gives it again.
    fn claim(&self, chunk: &mut Chunk) -> Result<Claimed, Error>;

    /// Time so far in which only one thread could go on.
    fn serial_time(&self) -> Duration;

    /// The part of the input dealt so far, 0 to 1, if it is known.
    fn share_dealt(&self) -> Option<f64>;
}

/// The result of asking an emitter for a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emitted {
    /// The chunk was filled with text and has its ticket.
    Chunk,
    /// There are no more chunks.
    End {
        /// How many there were in the lane, those that were passed over too.
        chunks: u64,
        /// How many reads were in them.
        reads: u64,
    },
}

/// An input that one emitter reads and the farm deals: pipes, interleaved reads, FASTA.
pub trait Emit: Send {
    /// Fills `chunk` with the next chunk's text. Blocks while the input is slow, until `stop` is set.
    ///
    /// # Errors
    /// A fault of the input, with the ticket of the chunk that it affects in `chunk`; every further call gives it
    /// again. [`Error::Stopped`].
    fn emit(&mut self, chunk: &mut Chunk, stop: &AtomicBool) -> Result<Emitted, Error>;

    /// Time so far in which only the emitter could go on: cutting and copying, not waiting for the input.
    fn serial_time(&self) -> Duration;

    /// The part of the input emitted so far, 0 to 1, if it is known.
    fn share_dealt(&self) -> Option<f64>;
}

/// What one of several processes may deal next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// These chunks, by their numbers over all lanes; never an empty range.
    Chunks(Range<u64>),
    /// It is not known yet: ask again soon.
    NotYet,
    /// There is nothing more for this process.
    End,
    /// The run has failed, here or elsewhere.
    Closed,
}

/// A run of chunks of this process whose records are all made: their length is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complete {
    /// The chunks, as they were given.
    pub chunks: Range<u64>,
    /// Bytes that they add to each output file.
    pub bytes: Vec<u64>,
    /// Bytes that go before those in each file, if chunk 0 is one of them: its process writes what goes before. None
    /// also if that process has had no reads, and so never learned of a header.
    pub header: Option<Vec<u64>>,
}

/// Who says which chunks are this process's, where several align the same reads.
pub trait Grant: Send + Sync {
    /// The first chunks of this process from number `from` on. Calls come with ascending numbers. Never blocks.
    fn granted(&self, from: u64) -> Granted;

    /// Is told that these chunks do not exist, for the input ends before them.
    fn absent(&self, chunks: Range<u64>);

    /// Is told that these chunks, with which a grant begins, are pieces of a cohort that was begun before: who has its
    /// first piece does them.
    fn begun_before(&self, chunks: Range<u64>);

    /// Is told that these chunks, right behind what was granted, are pieces of the cohort with which that ends: they
    /// are done with it.
    fn goes_on(&self, chunks: Range<u64>);
}

/// Finds the reads in a chunk's text.
pub trait Parse: Send + Sync {
    /// Fills in the fragments of `chunk` from its text, in place.
    ///
    /// # Errors
    /// [`Error::Input`] naming file, record, byte and read.
    fn parse(&self, chunk: &mut Chunk) -> Result<(), Error>;

    /// The file that `text` (0 or 1) of a chunk comes from, for messages; none where that is not known.
    fn path(&self, text: usize) -> Option<&Path> {
        let _ = text;
        None
    }
}

/// How a lane's chunks reach the workers.
pub enum Deal {
    /// Workers take them.
    Claim(Box<dyn Claim>),
    /// An emitter gives them to the farm.
    Emit(Box<dyn Emit>),
}

/// A read file, or a pair of them.
pub struct Lane {
    /// Where its chunks come from.
    pub deal: Deal,
    /// What finds the reads in them.
    pub parser: Box<dyn Parse>,
}
