//! What can be typed.

use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use zerohop_lab::exchange::Variant;
use zerohop_ranks::RankCount;

/// The laboratory of zerohop: how threads scale by lock, parsing, output and processes; how ranks exchange results;
/// FASTQ in blocks of a fixed size
#[derive(Debug, Parser)]
#[command(name = "zerohop-lab", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure all combinations of input, lock, output, threads and processes; what FOLDER holds already is not
    /// measured again
    Scaling(Box<ScalingArgs>),
    /// Compare the farm with lock pools: pinned or not, index interleaved or not, uniform and mixed read lengths
    Farm(Box<FarmArgs>),
    /// Put what the literature says of locks and parsing to the test; exit status 1 if something does not hold that
    /// could, or if other programs kept the machine too busy to judge
    Claims(Box<ClaimsArgs>),
    /// Make the page, the tables and the charts of a folder anew
    Page {
        /// The folder
        folder: PathBuf,
    },
    /// Compare the ways in which ranks exchange what they found, with searches that are made up; under mpirun, or with
    /// threads as ranks
    Exchange(Box<ExchangeArgs>),
    /// Make one HTML page of what several commands, of zerohop too, measured
    Report(ReportArgs),
    /// Say how well workers are used where an engine maps in two phases, with statistics over a cohort of pieces
    /// between them (bwa-mem): by simulation, and by runs in which workers sleep
    Cohorts(CohortsArgs),
    /// Write FASTQ in blocks of a fixed size, which can be read without looking for the ends of reads; and back
    Block(BlockArgs),
    /// One process of a measurement (started by zerohop-lab itself)
    #[command(hide = true)]
    Process,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of zerohop-lab, or of one of its commands
    Man {
        /// The command
        command: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub struct ScalingArgs {
    #[command(flatten)]
    pub experiment: ExperimentArgs,

    /// Ways of taking reads: O, D, B, L (the literature's, under a lock), survey, farm (zerohop's own)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "O,D,B,L,survey,farm")]
    pub inputs: Vec<zerohop_lab::InputKind>,

    /// Kinds of lock: tas, ttas, futex, mcs
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "tas,ttas,futex,mcs")]
    pub locks: Vec<zerohop_lab::LockKind>,

    /// Kinds of output: shared (one file, under the lock), ordered (one file, in order), files (one per thread)
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "shared,ordered")]
    pub outputs: Vec<zerohop_lab::OutputKind>,

    /// Numbers of threads, over all processes; may exceed the CPUs
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,8",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub threads: Vec<usize>,

    /// Numbers of processes; a number that does not divide the threads evenly is left out
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub processes: Vec<usize>,
}

#[derive(Debug, clap::Args)]
pub struct FarmArgs {
    #[command(flatten)]
    pub experiment: ExperimentArgs,

    /// Numbers of threads
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,8",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub threads: Vec<usize>,
}

#[derive(Debug, clap::Args)]
pub struct ClaimsArgs {
    #[command(flatten)]
    pub experiment: ExperimentArgs,

    /// Threads of the arms with all CPUs [default: the CPUs that this process may use]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub cpus: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub struct ExperimentArgs {
    /// Reads in FASTQ; if there are too few, they are used again
    pub reads_1: PathBuf,

    /// Second mates
    pub reads_2: Option<PathBuf>,

    /// Where points, tables, charts and the page go
    #[arg(short, long, value_name = "FOLDER")]
    pub out: PathBuf,

    /// Where reads and records of the measurements go for a while [default: the folder of --out]
    #[arg(long, value_name = "FOLDER")]
    pub work: Option<PathBuf>,

    /// The engine: null, synthetic, strobealign, or an aligner that runs as a program of its own
    #[arg(long, value_name = "NAME", default_value = "null")]
    pub engine: String,

    /// Reference, for engines that align
    #[arg(long, value_name = "FASTA")]
    pub reference: Option<PathBuf>,

    /// synthetic: work per read, in microseconds of an undisturbed core
    #[arg(long, value_name = "US", default_value_t = 0.0, value_parser = parse_microseconds)]
    pub work_us: f64,

    /// synthetic: sleep per read, in microseconds: as if each thread had a core of its own
    #[arg(long, value_name = "US", default_value_t = 0.0, value_parser = parse_microseconds)]
    pub sleep_us: f64,

    /// synthetic: memory accesses per read, each of which waits for the one before
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub accesses: u32,

    /// synthetic: the table that they go to
    #[arg(long, value_name = "MIB", default_value_t = 256,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub table_mib: usize,

    /// synthetic: the first fragment of each EVERY costs TIMES as much
    #[arg(long, value_name = "EVERY:TIMES", value_parser = parse_skew)]
    pub skew: Option<(u64, u32)>,

    /// weak: so many fragments for each thread; strong: for all together
    #[arg(long, value_enum, default_value_t = ScalingName::Weak)]
    pub scaling: ScalingName,

    /// Fragments (reads or pairs) for each thread, or for all
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 30))]
    pub fragments: usize,

    /// Fragments that B and the farm take at once
    #[arg(long, value_name = "N", default_value_t = 32,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub batch: usize,

    /// Bases of a chunk that survey cuts
    #[arg(long, value_name = "BASES", default_value_t = 100_000)]
    pub chunk_bases: u64,

    /// Tasks that each worker of the farm has
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub queue: usize,

    /// Pin each thread to a CPU
    #[arg(long)]
    pub pin: bool,

    /// Count where the pages of tasks lie; needs --pin
    #[arg(long, requires = "pin")]
    pub probe: bool,

    /// Counted runs of each arm; one more before them warms up
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub repeats: usize,
}

#[derive(Debug, clap::Args)]
pub struct ExchangeArgs {
    /// Write a line of JSON for each run to FILE
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Variants, separated by commas [default: all]
    #[arg(long, value_name = "VARIANTS", value_delimiter = ',')]
    pub variants: Vec<Variant>,

    /// Measure the tasks that mpirun or srun has started, as ranks; =N: there must be N of them [default: threads of
    /// this process]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    #[arg(conflicts_with = "threads")]
    pub ranks: Option<RankCount>,

    /// Threads of this process that take the place of ranks
    #[arg(short, long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub threads: usize,

    /// Rounds: each variant runs once in each
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub repeats: usize,

    /// Batches
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub batches: u64,

    /// Queries of a batch
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub queries: u32,

    /// Subjects that a rank finds for a query, on average
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = parse_amount)]
    pub hits: f64,

    /// Subjects that are kept of each query
    #[arg(short = 'k', long, value_name = "N", default_value_t = 25)]
    pub max_target_seqs: usize,

    /// Bytes of a result
    #[arg(long, value_name = "BYTES", default_value_t = 120)]
    pub result_bytes: u32,

    /// Milliseconds that a rank searches for a batch, on average (it sleeps)
    #[arg(long, value_name = "MS", default_value_t = 20.0, value_parser = parse_amount)]
    pub search_ms: f64,

    /// How many times the average the longest searches and the largest batches are
    #[arg(long, value_name = "TIMES", default_value_t = 2.0, value_parser = parse_amount)]
    pub skew: f64,

    /// Search as it was recorded in FILE ('zerohop search --record'), and not as it is made up: ranks sleep as long,
    /// and have as many results of as many bytes; with more ranks than were recorded, these come again in turn
    #[arg(long, value_name = "FILE", conflicts_with_all = ["batches", "queries", "hits", "result_bytes", "search_ms",
          "skew"])]
    pub replay: Option<PathBuf>,

    /// Let recorded searches take so many times less, so that it does not last as long as they did
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, requires = "replay", value_parser = parse_speed)]
    pub speed: f64,

    /// Predict by simulation what so many ranks would take; the ranks that were measured are predicted too, to see the
    /// error
    #[arg(long, value_name = "RANKS", value_delimiter = ',',
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
    pub predict: Vec<usize>,

    /// Cores that all predicted ranks share [default: one for each rank]
    #[arg(long, value_name = "N", requires = "predict",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
    pub predict_cores: Option<usize>,

    /// Write the predictions, and the times of single calls that they come from, to FILE, as JSON
    #[arg(long, value_name = "FILE", requires = "predict")]
    pub predictions: Option<PathBuf>,

    /// A folder that all ranks see, for what they write [default: that for temporary files]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// The library that 'zerohop mpi' built
    #[arg(long, value_name = "FILE")]
    pub mpi: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Folders of points, or the points.jsonl in them; files of 'exchange -o'; and all that 'zerohop report' takes
    ///
    /// The kind of a file is recognised by content. Several of a kind are shown together.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// Write to FILE [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "zerohop-lab report")]
    pub title: String,
}

#[derive(Debug, clap::Args)]
pub struct CohortsArgs {
    /// Numbers of workers that are simulated
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,8,64,256,1024",
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=65_536))]
    pub workers: Vec<usize>,

    /// Numbers of workers that are measured, too
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub measure: Vec<usize>,

    /// Pieces of a cohort: 20 are bwa's 10,000,000 bases
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub pieces: u32,

    /// Pieces for each worker, about: whole cohorts are done
    #[arg(long, value_name = "N", default_value_t = 100,
          value_parser = RangedU64ValueParser::<u64>::new().range(1..=100_000))]
    pub pieces_per_worker: u64,

    /// Milliseconds of the first phase of a piece, on average
    #[arg(long, value_name = "MS", default_value_t = 20.0, value_parser = parse_amount)]
    pub first_ms: f64,

    /// Milliseconds of the second phase
    #[arg(long, value_name = "MS", default_value_t = 10.0, value_parser = parse_amount)]
    pub second_ms: f64,

    /// Milliseconds of the statistics of a cohort
    #[arg(long, value_name = "MS", default_value_t = 0.5, value_parser = parse_amount)]
    pub combine_ms: f64,

    /// How much pieces differ: the standard deviation of the logarithm of their times
    #[arg(long, value_name = "SIGMA", default_value_t = 0.5, value_parser = parse_amount)]
    pub spread: f64,

    /// Write the table to FILE, as JSON
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct BlockArgs {
    /// Reads in FASTQ, plain, gzip or BGZF; with --unblock and --check a blocked file
    pub reads_1: PathBuf,

    /// Second mates, in step with the first ones: their blocks hold the same reads
    pub reads_2: Option<PathBuf>,

    /// Write to FILE; given once for each file of reads. FILE.blocks.json, which describes the blocks, goes beside it
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,

    /// Bytes of a block [default: what needs the least padding]
    #[arg(long, value_name = "BYTES", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 30))]
    pub block_bytes: Option<usize>,

    /// Reads of a block [default: what needs the least padding]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub reads_per_block: Option<usize>,

    /// The largest block that may be chosen
    #[arg(long, value_name = "BYTES", default_value_t = 65_280,
          value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 30))]
    pub max_block_bytes: usize,

    /// Compress the output with BGZF, also if FILE does not end in .gz; each block has members of its own
    #[arg(long)]
    pub bgzf: bool,

    /// Level of the compression: 0 (none) to 9 (smallest)
    #[arg(long, value_name = "LEVEL", default_value_t = 6, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub level: u8,

    /// Write what was blocked, byte for byte
    #[arg(long)]
    pub unblock: bool,

    /// Only check a blocked file against its description
    #[arg(long, conflicts_with_all = ["unblock", "output"])]
    pub check: bool,
}

/// Whether more threads get more to do.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ScalingName {
    Weak,
    Strong,
}

impl From<ScalingName> for zerohop_lab::Scaling {
    fn from(name: ScalingName) -> Self {
        match name {
            ScalingName::Weak => Self::Weak,
            ScalingName::Strong => Self::Strong,
        }
    }
}

fn parse_microseconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1e9).contains(number));
    number.ok_or_else(|| format!("'{text}' is no number of microseconds from 0 to 10^9"))
}

fn parse_skew(text: &str) -> Result<(u64, u32), String> {
    let parts = text.split_once(':').and_then(|(every, times)| Some((every.parse().ok()?, times.parse().ok()?)));
    parts.filter(|(every, _)| *every > 0).ok_or_else(|| format!("'{text}' is not like 100:1000"))
}

fn parse_amount(text: &str) -> Result<f64, String> {
    let amount: f64 = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    if (0.0..1e6).contains(&amount) {
        Ok(amount)
    } else {
        Err("it must be a number from 0 on, below a million".to_owned())
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    parse_amount(text).and_then(|speed| match speed > 0.0 {
        true => Ok(speed),
        false => Err("it must be more than 0".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }
}
