//! What an aligner is to the runtime.

use crate::error::Error;
use crate::mapper::Mapper;
use crate::record::Contig;

/// Where the input is cut for an engine, because the output of its own program depends on it.
///
/// A *cohort* is a run of fragments that its program treats as one batch. It closes with the first fragment that takes
/// its bases, those of both mates counted, to `closes_at_bases`, or with the end of its lane. Examples:
///
/// - no state passes from fragment to fragment (bowtie2, minimap2): any number of bases, whichever the engine works
///   best with;
/// - state passes along a chunk and ends with it (strobealign: random numbers, insert size): that of its program;
/// - statistics over a batch come before its alignments (the bwa family's `-K`): that of `-K`, and pieces
///   ([`Phases`](crate::mapper::Phases)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number of bases that closes a cohort.
    pub closes_at_bases: u64,
    /// None: a cohort is one chunk, and one worker maps it. Otherwise it is cut into *pieces* of about so many bases, a
    /// chunk each, for any number of workers: a piece closes with the first fragment that takes it to so many bases,
    /// and with its cohort.
    pub piece_bases: Option<u64>,
}

impl Cut {
    /// A cohort, which is one chunk, closes with the fragment that takes it to so many bases.
    pub const fn at(closes_at_bases: u64) -> Self {
        Cut { closes_at_bases, piece_bases: None }
    }

    /// The same cohorts in pieces.
    pub const fn in_pieces_of(self, piece_bases: u64) -> Self {
        Cut { piece_bases: Some(piece_bases), ..self }
    }

    /// The number of bases that closes the next chunk, when the pieces before it in its cohort have so many together.
    pub fn next_chunk_closes_at(self, bases_before: u64) -> u64 {
        let left = self.closes_at_bases.saturating_sub(bases_before);
        self.piece_bases.map_or(left, |piece| piece.max(1).min(left))
    }

    /// About how many bases a chunk has.
    pub fn chunk_bases(self) -> u64 {
        self.piece_bases.map_or(self.closes_at_bases, |piece| piece.min(self.closes_at_bases))
    }
}

/// One index copy of an embedded aligner, shared by all its workers.
///
/// What is called when:
///
/// 1. the copy is made (built, loaded, or by [`replicate`](Engine::replicate)) by a thread whose memory lies where the
///    copy is to lie;
/// 2. [`cut`](Engine::cut), [`max_read_bases`](Engine::max_read_bases), [`contigs`](Engine::contigs) and
///    [`program`](Engine::program) before the run; they always say the same;
/// 3. [`mapper`](Engine::mapper) on each worker's pinned thread, for scratch in memory of its node; again if the worker
///    goes over to another copy while the run goes on;
/// 4. [`Mapper::map`] for one chunk after the other; or, if the mapper is one of [two phases](Mapper::phases), what
///    [`Phases`](crate::mapper::Phases) says.
///
/// What must not be done: start threads while it maps, use a pool that others share, wait for another worker, open
/// reads or outputs, print, exit, or carry anything from one chunk to the next in which the records could show. The
/// records of a chunk depend on the chunk, its ticket and (in two phases) its cohort, not on the worker, the copy, or
/// what was mapped before. A panic is caught and reported with the read's name; it ends the run.
pub trait Engine: Send + Sync {
    /// Its name and version as @PG has them: `("strobealign", "0.19.1")`.
    fn program(&self) -> (&str, &str);

    /// What @PG says of it (DS), where name and version do not say whose records it has.
    fn description(&self) -> Option<&str> {
        None
    }

    /// Whether the header has a line (@PG) of it.
    fn is_in_header(&self) -> bool {
        true
    }

    /// Where it wants the input cut.
    fn cut(&self) -> Cut;

    /// The longest read it can take, in bases.
    fn max_read_bases(&self) -> usize;

    /// The sequences of its reference, in the order of the header.
    fn contigs(&self) -> &[Contig];

    /// Bytes of the index copy.
    fn index_bytes(&self) -> u64;

    /// Addresses and bytes of that part of the copy that does not come from Rust's allocator: an engine of another
    /// language says here where its index lies, so that the summary can say on which nodes.
    fn foreign_memory(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Called when all reads were mapped, before the outputs get their names: whether the index was the same all the
    /// time. One that is read in place of a copy ([`IndexSource::map`](crate::index::IndexSource::map)) may not have
    /// been.
    ///
    /// # Errors
    /// An index that was changed.
    fn check_unchanged(&self) -> Result<(), Error> {
        Ok(())
    }

    /// A further copy of the index, made by so many threads. The calling one is under the placement of the new copy;
    /// threads that it starts inherit its memory policy and its CPUs.
    ///
    /// # Errors
    /// [`Error::Engine`] when there is no memory for it.
    fn replicate(&self, threads: usize) -> Result<Box<dyn Engine>, Error>;

    /// A worker with scratch of its own. Runs on the worker's pinned thread.
    fn mapper(&self) -> Box<dyn Mapper + '_>;
}
