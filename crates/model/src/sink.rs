//! Where records go.

use crate::alignment::Alignments;
use crate::chunk::Chunk;
use crate::error::Error;

/// How bytes get into an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputAccess {
    /// At any offset, by any thread (a regular file).
    Positioned,
    /// One after the other (a pipe, a terminal).
    Sequential,
}

/// A set of one or more output files, all of one format.
pub trait Sink: Send + Sync {
    /// Number of files of records: 1, or the number of shards.
    fn files(&self) -> usize;

    /// How bytes get into the files of this output.
    fn access(&self) -> OutputAccess;

    /// The offset at which records start in `file`: behind the header, which is written already.
    fn start(&self, file: usize) -> u64;

    /// Writes all of `bytes` at `offset` of `file`. For [`OutputAccess::Sequential`] the offset is where the last write
    /// ended.
    ///
    /// # Errors
    /// [`Error::Output`], or [`Error::BrokenPipe`].
    fn write_at(&self, file: usize, offset: u64, bytes: &[u8]) -> Result<(), Error>;

    /// How many further files there are behind those of the records: regular ones, whatever the others are. To each of
    /// them each chunk adds bytes of another kind, in the order of the input; or in another one, which is the same in
    /// all of them.
    fn beside(&self) -> usize {
        0
    }

    /// Writes what goes before the records into every file of these, where several processes write them: the one with
    /// the first records does.
    ///
    /// # Errors
    /// [`Error::Output`].
    fn write_header(&self) -> Result<(), Error>;

    /// The same for the files [beside](Sink::beside) the records, if there are some.
    ///
    /// # Errors
    /// [`Error::Output`].
    fn write_header_beside(&self) -> Result<(), Error> {
        Ok(())
    }

    /// An encoder for one worker.
    fn encoder(&self) -> Box<dyn Encoder + '_>;

    /// What one worker gives its chunks to, where they are not written in the order of the input.
    fn collector(&self) -> Option<Box<dyn Collect + '_>> {
        None
    }
}

/// Takes the chunks of one worker, to be written in another order.
pub trait Collect {
    /// Takes the bytes of chunk `number` of the run, as the [encoder](Sink::encoder) made them.
    ///
    /// # Errors
    /// [`Error::Spill`], [`Error::Kept`].
    fn add(&mut self, number: u64, bytes: &[u8]) -> Result<(), Error>;

    /// Says that there are no more.
    ///
    /// # Errors
    /// [`Error::Spill`], [`Error::Kept`].
    fn finish(&mut self) -> Result<(), Error>;

    /// The chunks that are on the disk since the last call, in files that outlast the process; none where there are no
    /// such files.
    fn take_kept(&mut self) -> Vec<u64> {
        Vec::new()
    }
}

/// What was collected, to be written in parts: each is made by whoever is free, and they are put one after the other.
pub trait Parts: Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// How many one worker should make in a row.
    fn in_a_row(&self) -> usize;

    /// What makes the bytes of parts, for one worker.
    fn maker(&self) -> Box<dyn MakePart + '_>;
}

/// Makes parts of an output.
pub trait MakePart {
    /// Appends the bytes of part `number` to `buffer`, which is empty, and gives it back.
    ///
    /// # Errors
    /// [`Error::Spill`], [`Error::Kept`].
    fn make(&mut self, number: usize, buffer: Vec<u8>) -> Result<Vec<u8>, Error>;
}

/// What a record takes from its read, besides what the aligner says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OfRead<'a> {
    /// The comment of its header line; may be empty.
    pub comment: &'a [u8],
    /// Whether it failed the sequencer's filters (0x200).
    pub failed_filters: bool,
    /// Whether it has qualities: it is not of FASTA. A program may write a record with some that it has made up.
    pub has_qualities: bool,
    /// Which mate it is: [`PAIRED`](crate::record::PAIRED) and [`FIRST`](crate::record::FIRST) or
    /// [`LAST`](crate::record::LAST); 0 of a single read. A program may take a mate for a single read, if the other one
    /// has no bases.
    pub pair_flags: u16,
}

/// Reads of a chunk of which an encoder did other things than to write their records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Elsewhere {
    /// Reads whose records are not wanted.
    pub not_shown: u64,
    /// Reads that go to the files of unaligned reads.
    pub unaligned: u64,
}

/// Makes the bytes of one chunk out of its records. What comes out of it for different chunks can be put in any order.
pub trait Encoder {
    /// Starts a chunk of `lane`; its bytes will be put into `buffer`, which is empty.
    fn begin(&mut self, lane: u32, buffer: Vec<u8>);

    /// Takes the records of a chunk: names, bases and qualities from `chunk`, all else from `alignments`.
    ///
    /// # Errors
    /// [`Error::Record`] when a record cannot be expressed in the format.
    fn encode(&mut self, chunk: &Chunk, alignments: &Alignments) -> Result<(), Error>;

    /// Ends the chunk and returns its bytes.
    ///
    /// # Errors
    /// [`Error::Output`] when compression fails.
    fn finish(&mut self) -> Result<Vec<u8>, Error>;

    /// After a chunk has ended: which of its reads are counted or written elsewhere.
    fn elsewhere(&self) -> Elsewhere {
        Elsewhere::default()
    }

    /// After a chunk has ended: what it adds to a file [beside](Sink::beside) the records, the first of which is 0, in
    /// `buffer`, which is empty.
    ///
    /// # Errors
    /// [`Error::Output`] when compression fails.
    fn finish_beside(&mut self, _file: usize, buffer: Vec<u8>) -> Result<Vec<u8>, Error> {
        Ok(buffer)
    }

    /// Takes a record that a program wrote as a `line` of SAM, without its newline, and checks it. SAM output gets the
    /// line as it is, byte for byte; BAM gets it translated. The read group of the lane is added if the line has no RG
    /// field; `of_read` is what the record takes from its read; `is_first` says whether it is the first of its
    /// fragment.
    ///
    /// # Errors
    /// [`Error::Record`] when the line is not a valid record, or cannot be expressed in the format.
    fn line(&mut self, line: &[u8], of_read: OfRead<'_>, is_first: bool) -> Result<(), Error>;
}
