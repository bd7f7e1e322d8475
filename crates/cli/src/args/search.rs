//! What can be typed after `zerohop db`, `zerohop search` and `zerohop mpi`.

use super::{PagesName, numbers};
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
    /// Split a database into parts of nearly equal size or search time, and format each
    Build {
        /// Sequences in FASTA, plain or gzip
        fasta: PathBuf,

        /// Program that will search it
        #[arg(long, value_enum)]
        engine: ProgramName,

        /// Number of parts; at least one for each rank of a search
        #[arg(long, value_name = "J", default_value_t = 1)]
        #[arg(value_parser = numbers::count)]
        partitions: usize,

        /// Folder to write
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,

        /// Make parts that take equal time to search with these queries [default: equal letters]
        #[arg(long, value_name = "QUERIES")]
        pilot: Option<PathBuf>,

        /// Threads of the program in the pilot [default: all CPUs that zerohop may use]
        #[arg(short, long, value_name = "N", requires = "pilot")]
        #[arg(value_parser = numbers::count)]
        threads: Option<usize>,

        /// Print only errors and notes on standard error
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
    /// Queries in FASTA, plain or gzip; '-' is standard input
    ///
    /// A file is checked as a whole before the first search, standard input batch by batch. Ranks cannot use standard
    /// input.
    pub queries: PathBuf,

    /// Database that 'zerohop db build' wrote
    #[arg(long, value_name = "FOLDER")]
    pub db: PathBuf,

    /// Write to FILE; ranks need it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Format of the output: tabular or commented; diamond: headed, sam, pairwise; BLAST: csv
    #[arg(long, value_name = "NAME", default_value = "tabular")]
    pub format: Format,

    /// Columns of the output, as in 'qseqid sseqid evalue' [default: std]
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,

    /// Subjects to report for each query [default: that of the program]
    #[arg(short = 'k', long, value_name = "N", value_parser = numbers::any_u32)]
    pub max_target_seqs: Option<u32>,

    /// Arguments for the program, quoted as in a shell
    ///
    /// diamond always gets --no-ranking, --ignore-warnings and --algo 0 as well. Without --no-ranking, parts would give
    /// other hits than the whole database. Options with which parts would give other lines are refused; the
    /// documentation lists all of them ('Options of the programs').
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub engine_args: Option<String>,

    /// Threads of the programs on each rank [default: all CPUs that the rank may use]
    #[arg(short, long, value_name = "N", value_parser = numbers::count)]
    pub threads: Option<usize>,

    /// Parts that each rank searches at the same time [default: one for each NUMA node, if memory allows]
    ///
    /// Each part is searched by a program with its share of the threads, on CPUs and NUMA nodes of its own. By default
    /// there are not more than the rank has parts.
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    #[arg(hide_short_help = true)]
    pub instances: Option<usize>,

    /// Where the memory of each program lies [default: local; interleave for one over several nodes]
    #[arg(long, value_enum, value_name = "PAGES", hide_short_help = true)]
    pub pages: Option<PagesName>,

    /// Letters of a batch of queries
    #[arg(long, value_name = "LETTERS", default_value_t = BATCH_LETTERS)]
    #[arg(value_parser = numbers::some)]
    #[arg(hide_short_help = true)]
    pub batch_letters: u64,

    /// Maximum number of queries in a batch
    #[arg(hide_short_help = true)]
    #[arg(long, value_name = "N", default_value_t = BATCH_QUERIES)]
    #[arg(value_parser = numbers::some_u32)]
    pub batch_queries: u32,

    /// Finish a search that was begun before; it is an error if there is none
    ///
    /// Without the option a search that the same command began is finished, too; that of another command is refused.
    #[arg(long, hide_short_help = true)]
    pub resume: bool,

    /// Discard what was finished of a search that was begun before, and start again
    #[arg(long, conflicts_with = "resume", hide_short_help = true)]
    pub restart: bool,

    /// Write the run summary, with times of each rank, to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write times and sizes of each rank and batch to FILE, for 'zerohop-lab exchange --replay'
    #[arg(long, value_name = "FILE", conflicts_with = "resume", hide_short_help = true)]
    pub record: Option<PathBuf>,

    /// Print only errors and notes on standard error
    #[arg(short, long)]
    pub quiet: bool,

    /// Be one of the ranks of a search that mpirun or srun started
    ///
    /// With =N, it is an error if there are not N ranks. Without the option each task that mpirun or srun starts
    /// searches all of the database by itself.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    #[arg(help_heading = "Ranks")]
    pub ranks: Option<RankCount>,

    /// Library that 'zerohop mpi' built [default: $ZEROHOP_MPI, else libzerohop_mpi.so beside zerohop, else that in the
    /// cache folder]
    #[arg(long, value_name = "FILE", help_heading = "Ranks", hide_short_help = true)]
    pub mpi: Option<PathBuf>,

    /// End the search if a program takes longer for a batch in a part, or if a rank is silent for longer
    ///
    /// [default: no limit for a program, 1800 for a rank]
    #[arg(long, value_name = "SECONDS", value_parser = numbers::seconds, hide_short_help = true)]
    pub hang_limit: Option<u64>,
}

#[derive(Debug, clap::Args)]
pub struct MpiArgs {
    /// mpicc of the MPI whose mpirun will start zerohop
    #[arg(long, value_name = "PROGRAM", default_value = "mpicc")]
    pub compiler: PathBuf,

    /// Write the library to FILE [default: to the cache folder, where zerohop finds it]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
