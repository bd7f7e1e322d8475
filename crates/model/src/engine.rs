//! What an aligner is to the runtime.

use crate::alignment::Alignments;
use crate::chunk::Chunk;
use crate::error::Error;
use crate::record::Contig;

/// Where an engine's own program would cut the input, because its output depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// No state passes from fragment to fragment: cut anywhere (bowtie2, minimap2).
    Free {
        /// The number of bases at which it works best.
        preferred_bases: u64,
    },
    /// State passes along a chunk and ends with it (strobealign: the random numbers and the insert size). A chunk
    /// closes with the fragment that takes it past this number of bases.
    Chunk {
        /// The number of bases that an open chunk does not exceed.
        past_bases: u64,
    },
    /// Statistics over a whole batch, then a second phase over it (the bwa family's `-K`). A batch closes with the
    /// fragment that takes it to this number of bases. The runtime gives an engine its batch as one chunk.
    Cohort {
        /// The number of bases that closes a batch.
        at_bases: u64,
    },
}

impl Law {
    /// A chunk closes with the first fragment that takes it to this number of bases or more.
    pub fn closes_at_bases(self) -> u64 {
        match self {
            Law::Free { preferred_bases } => preferred_bases,
            Law::Chunk { past_bases } => past_bases + 1,
            Law::Cohort { at_bases } => at_bases,
        }
    }
}

/// One index copy of an embedded aligner, shared by all its workers.
///
/// It is made (built, loaded or replicated) on the node where it shall lie. It starts no threads while it maps, opens no
/// reads or outputs, prints nothing and never exits. A panic inside it is caught and reported with the read's name.
pub trait Engine: Send + Sync {
    /// Its name and version as @PG has them: `("strobealign", "0.19.1")`.
    fn program(&self) -> (&str, &str);

    /// Where it wants the input cut.
    fn law(&self) -> Law;

    /// The longest read it can take, in bases.
    fn max_read_bases(&self) -> usize;

    /// The sequences of its reference, in the order of the header.
    fn contigs(&self) -> &[Contig];

    /// Bytes of the index copy.
    fn index_bytes(&self) -> u64;

    /// A further copy of the index. Runs under the placement of the new copy.
    ///
    /// # Errors
    /// [`Error::Engine`] when there is no memory for it.
    fn replicate(&self) -> Result<Box<dyn Engine>, Error>;

    /// A worker with scratch of its own. Runs on the worker's pinned thread.
    fn mapper(&self) -> Box<dyn Mapper + '_>;
}

/// One worker of an engine.
pub trait Mapper {
    /// Maps all fragments of `chunk`, in order, and puts their alignments into `out`, which is empty: of each read one that is
    /// neither secondary nor supplementary. Nothing may be carried over to the next chunk.
    ///
    /// # Errors
    /// [`Error::Engine`], [`Error::Record`].
    fn map(&mut self, chunk: &Chunk, out: &mut Alignments) -> Result<(), Error>;
}
