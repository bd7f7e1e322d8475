//! What can be typed of ranks after `zerohop align`.

use std::path::PathBuf;
use zerohop_ranks::RankCount;

/// Options for alignments by several ranks, or in several goes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ranks")]
pub struct RankArgs {
    /// Work together with the other tasks that mpirun or srun has started, as ranks of one job; =N: there must be N of
    /// them. Without it, each task of a launcher works alone
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub ranks: Option<RankCount>,

    /// Record what is finished, so that the same command can finish the job after a crash, also without ranks (with
    /// ranks it is always recorded). A job that was begun before is finished; if anything has changed it is refused
    #[arg(long)]
    pub durable: bool,

    /// Finish a job that was begun before: an error if there is none
    #[arg(long)]
    pub resume: bool,

    /// Throw away what was finished of a job that was begun before, and begin anew
    #[arg(long, conflicts_with = "resume")]
    pub restart: bool,

    /// The library that 'zerohop mpi' built [default: $ZEROHOP_MPI, libzerohop_mpi.so beside zerohop, or that in the cache folder]
    #[arg(long, value_name = "FILE")]
    pub mpi: Option<PathBuf>,
}
