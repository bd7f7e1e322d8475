//! What can be typed of ranks after `zerohop align`.

use std::path::PathBuf;

/// Options for alignments by several ranks, or in several goes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ranks")]
pub struct RankArgs {
    /// Go on where a run of the same alignment was interrupted
    #[arg(long)]
    pub resume: bool,

    /// Record what is finished, so that --resume can go on after a crash, also without ranks (with ranks it is always recorded)
    #[arg(long)]
    pub durable: bool,

    /// The library that 'zerohop mpi' built [default: $ZEROHOP_MPI, libzerohop_mpi.so beside zerohop, or that in the cache folder]
    #[arg(long, value_name = "FILE")]
    pub mpi: Option<PathBuf>,
}
