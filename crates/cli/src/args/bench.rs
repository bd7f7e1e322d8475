//! What can be typed after `zerohop bench`.

use clap::builder::RangedU64ValueParser;
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub command: BenchCommand,
}

#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Measure all combinations of input, lock, output, threads and processes; what FOLDER holds already is not measured again
    Scaling(Box<ScalingArgs>),
    /// Compare the farm with lock pools: pinned or not, index interleaved or not, uniform and mixed read lengths
    Farm(Box<FarmArgs>),
    /// Put what the literature says of locks and parsing to the test; exit status 1 if something does not hold that
    /// could, or if other programs kept the machine too busy to judge
    Claims(Box<ClaimsArgs>),
    /// Compare the ways in which ranks exchange what they found, with searches that are made up; under mpirun, or with threads as ranks
    Search(Box<super::search::BenchSearchArgs>),
    /// Make the page, the tables and the charts of a folder anew
    Page {
        /// The folder
        folder: PathBuf,
    },
    /// One process of a measurement (started by zerohop itself)
    #[command(hide = true)]
    Process,
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
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,8", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub threads: Vec<usize>,

    /// Numbers of processes; a number that does not divide the threads evenly is left out
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub processes: Vec<usize>,
}

#[derive(Debug, clap::Args)]
pub struct FarmArgs {
    #[command(flatten)]
    pub experiment: ExperimentArgs,

    /// Numbers of threads
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,4,8", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
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
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub table_mib: usize,

    /// synthetic: the first fragment of each EVERY costs TIMES as much
    #[arg(long, value_name = "EVERY:TIMES", value_parser = parse_skew)]
    pub skew: Option<(u64, u32)>,

    /// weak: so many fragments for each thread; strong: for all together
    #[arg(long, value_enum, default_value_t = ScalingName::Weak)]
    pub scaling: ScalingName,

    /// Fragments (reads or pairs) for each thread, or for all
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 30))]
    pub fragments: usize,

    /// Fragments that B and the farm take at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1 << 20))]
    pub batch: usize,

    /// Bases of a chunk that survey cuts
    #[arg(long, value_name = "BASES", default_value_t = 100_000)]
    pub chunk_bases: u64,

    /// Tasks that each worker of the farm has
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
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
