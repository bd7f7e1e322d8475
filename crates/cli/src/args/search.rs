//! What can be typed after `zerohop db`, `zerohop search` and `zerohop mpi`.

use super::PagesName;
use crate::variant::Choice;
use clap::builder::RangedU64ValueParser;
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;
use zerohop_ranks::RankCount;
use zerohop_search::{Format, Program};

/// The usual size of a batch.
pub const BATCH_LETTERS: u64 = 200_000;
/// The most queries that it usually has.
pub const BATCH_QUERIES: u32 = 1000;

#[derive(Debug, clap::Args)]
pub struct DbArgs {
    #[command(subcommand)]
    pub command: DbCommand,
}

#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Cut a database into parts of nearly equal letters or search time, and have the program format each
    Build {
        /// Sequences in FASTA, plain or gzip
        fasta: PathBuf,

        /// The program that will search it
        #[arg(long, value_enum)]
        engine: ProgramName,

        /// Number of parts: one for each rank of a search, or more
        #[arg(long, value_name = "J", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
        partitions: usize,

        /// Folder to be made
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,

        /// Search the parts with these typical queries, and cut so that they take equal time [default: equal letters]
        #[arg(long, value_name = "QUERIES")]
        pilot: Option<PathBuf>,

        /// Threads of the program in the pilot [default: all CPUs that may be used]
        #[arg(short, long, value_name = "N", requires = "pilot", value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
        threads: Option<usize>,

        /// Say nothing on standard error but errors
        #[arg(short, long)]
        quiet: bool,
    },
    /// Check all files of a database against the digests in its manifest
    Check {
        /// The folder
        folder: PathBuf,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgramName {
    /// diamond blastp
    Diamond,
    /// NCBI's blastp
    Blastp,
    /// NCBI's blastn
    Blastn,
    /// NCBI's blastx
    Blastx,
}

impl From<ProgramName> for Program {
    fn from(name: ProgramName) -> Self {
        match name {
            ProgramName::Diamond => Program::Diamond,
            ProgramName::Blastp => Program::Blastp,
            ProgramName::Blastn => Program::Blastn,
            ProgramName::Blastx => Program::Blastx,
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// Queries in FASTA, plain or gzip; '-' is standard input, without ranks. A file is checked as a whole before the
    /// first search, a stream batch by batch
    pub queries: PathBuf,

    /// A database that 'zerohop db build' made
    #[arg(long, value_name = "FOLDER")]
    pub db: PathBuf,

    /// Write to FILE [default: standard output, without ranks]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Form of the output: tabular, commented; of diamond also headed, sam, pairwise; of BLAST also csv
    #[arg(long, value_name = "NAME", default_value = "tabular")]
    pub format: Format,

    /// Columns of the output, as the program names them: 'std' or 'qseqid sseqid evalue' [default: std]
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,

    /// Subjects to keep of each query [default: that of the program]
    #[arg(short = 'k', long, value_name = "N")]
    pub max_target_seqs: Option<u32>,

    /// Arguments for the program, as a shell would take them apart. diamond always gets --no-ranking,
    /// --ignore-warnings and --algo 0 as well: without the first, parts would give other hits than the whole database
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub engine_args: Option<String>,

    /// Threads of the programs on each rank [default: all CPUs that the rank may use]
    #[arg(short, long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
    pub threads: Option<usize>,

    /// Parts that each rank searches at the same time, each by a program with its share of the threads, on CPUs and NUMA nodes of its own
    /// [default: one for each node, if the rank has as many parts]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
    pub instances: Option<usize>,

    /// Where the memory of each program goes [default: local; interleave for one program over several nodes]
    #[arg(long, value_enum, value_name = "PAGES")]
    pub pages: Option<PagesName>,

    /// Letters of a batch of queries
    #[arg(long, value_name = "LETTERS", default_value_t = BATCH_LETTERS, value_parser = clap::value_parser!(u64).range(1..))]
    pub batch_letters: u64,

    /// Queries of a batch, at most
    #[arg(long, value_name = "N", default_value_t = BATCH_QUERIES, value_parser = RangedU64ValueParser::<u32>::new().range(1..))]
    pub batch_queries: u32,

    /// Finish a search that was begun before: an error if there is none. Without it, too, one that was begun by the
    /// same command is finished, and that of another is refused
    #[arg(long)]
    pub resume: bool,

    /// Throw away what was finished of a search that was begun before, and begin anew
    #[arg(long, conflicts_with = "resume")]
    pub restart: bool,

    /// Write what each rank did to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write times and sizes of each rank and batch to FILE, for 'zerohop-lab exchange --replay'
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub record: Option<PathBuf>,

    /// Say nothing on standard error but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Work together with the other tasks that mpirun or srun has started, as ranks of one search; =N: there must be N
    /// of them. Without it, each task of a launcher works alone
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    #[arg(help_heading = "Ranks")]
    pub ranks: Option<RankCount>,

    /// How ranks exchange what they found: fence, fence-windows, pscw, pscw-windows, flush, flush-windows, two-sided, master; auto: what a
    /// short self-test finds to be the best on these hosts, now or in an earlier run
    #[arg(long, value_name = "VARIANT", default_value = "auto", help_heading = "Ranks")]
    pub variant: Choice,

    /// The library that 'zerohop mpi' built [default: $ZEROHOP_MPI, libzerohop_mpi.so beside zerohop, or that in the cache folder]
    #[arg(long, value_name = "FILE", help_heading = "Ranks")]
    pub mpi: Option<PathBuf>,

    /// How long a program may take for a batch in a part, in seconds, also if it works, and a rank may be waited for
    /// [default: 1800 for ranks; none for a program]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub hang_limit: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub struct MpiArgs {
    /// The MPI's compiler: mpicc of the MPI whose mpirun will start zerohop
    #[arg(long, value_name = "PROGRAM", default_value = "mpicc")]
    pub compiler: PathBuf,

    /// Write the library to FILE [default: into the cache folder, where zerohop finds it]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
