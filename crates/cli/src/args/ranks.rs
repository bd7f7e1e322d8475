//! What can be typed of ranks after `zerohop align`.

use std::path::PathBuf;
use zerohop_ranks::RankCount;

/// Options for alignments by several ranks, or in several goes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ranks")]
pub struct RankArgs {
    /// Be one of the ranks of a job that mpirun or srun started
    ///
    /// With =N, it is an error if there are not N ranks. Without the option each task that mpirun or srun starts
    /// aligns all reads by itself.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub ranks: Option<RankCount>,

    /// Record what is finished, so that the same command can finish the job after a crash
    ///
    /// With ranks this is always on. A job that was begun before is finished; if options or files have changed since,
    /// it is refused.
    #[arg(long, hide_short_help = true)]
    pub durable: bool,

    /// Finish a job that was begun before; it is an error if there is none
    ///
    /// With --samples: align those that are not complete yet.
    #[arg(long, hide_short_help = true)]
    pub resume: bool,

    /// Discard what was finished of a job that was begun before, and start again
    #[arg(long, conflicts_with = "resume", hide_short_help = true)]
    pub restart: bool,

    /// Library that 'zerohop mpi' built [default: $ZEROHOP_MPI, else libzerohop_mpi.so beside zerohop, else that in the
    /// cache folder]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub mpi: Option<PathBuf>,
}
