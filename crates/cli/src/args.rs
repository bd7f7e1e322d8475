//! What can be typed.

pub mod ranks;
pub mod report;
pub mod search;
pub mod tune;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand, ValueEnum};
use ranks::RankArgs;
use report::ReportArgs;
use search::{DbArgs, MpiArgs, SearchArgs};
use std::ffi::OsString;
use std::path::PathBuf;
use tune::TuneArgs;
use zerohop_align::{PlanFrom, STROBEALIGN};
use zerohop_model::plan;

/// Aligns sequencing reads at the full speed of the machine, on every core and NUMA node: with strobealign in its own process,
/// or with other aligners, unmodified, as programs of their own
#[derive(Debug, Parser)]
#[command(name = "zerohop", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Align reads to a reference
    Align(Box<AlignArgs>),
    /// Build the index of a reference once, for later runs of 'align'
    Index(IndexArgs),
    /// List the aligners that 'align' can use, and what of them is on this machine
    Engines(EnginesArgs),
    /// Run any program under a plan: as pinned instances on groups of NUMA nodes, under a memory policy
    Run(Box<RunArgs>),
    /// Show which strategy (index copies, page policy) is best for an index on a machine, by rule, and why
    Plan(PlanArgs),
    /// Find the best strategy for an aligner, an index and reads by trying them, and keep it for 'align'
    Tune(Box<TuneArgs>),
    /// Search a database in parts, on one machine or on many ranks, with diamond or BLAST: what one search of the whole would give
    Search(Box<SearchArgs>),
    /// Make a database in parts, for 'search'
    Db(DbArgs),
    /// Build the library by which ranks find each other, with the MPI's own compiler
    Mpi(MpiArgs),
    /// Make one HTML page of what other commands measured: runs, tunings, memory maps, thread scaling
    Report(ReportArgs),
    /// List or remove the index copies in /dev/shm that 'align --farm' made
    Cache(CacheArgs),
    /// Show the nodes, CPUs, memory and caches of this machine, and what this process may use; measure the ways to its memory
    Topo(TopoArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of zerohop, or of one of its commands
    Man {
        /// The command
        command: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// Size of one copy of the index, in bytes or with a unit: 5.1G, 900M (powers of 1024) [default: that of the engine's index
    /// of the reference]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub index_size: Option<zerohop_model::machine::Bytes>,

    /// The aligner, as 'zerohop engines' lists it [default: strobealign with --reference, else any program of its own]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,

    /// A file that describes an aligner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub engine_file: Vec<PathBuf>,

    /// Number of threads of all index copies together [default: all CPUs that may be used]
    #[arg(short, long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=65_536))]
    pub threads: Option<usize>,

    /// The reference whose index is meant
    #[arg(long, value_name = "FASTA")]
    pub reference: Option<PathBuf>,

    /// Mean read length, on which the index may depend
    #[arg(short = 'r', long, value_name = "BASES", default_value_t = 150)]
    pub read_length: usize,

    /// A machine as 'zerohop topo --json' describes it there, or as 'lstopo --of xml' does [default: this one]
    #[arg(long, value_name = "FILE")]
    pub machine: Option<PathBuf>,

    /// Show all strategies, also those that are ruled out
    #[arg(long)]
    pub explain: bool,

    /// Write the best plan to FILE, for 'zerohop align --plan FILE'
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_size(text: &str) -> Result<zerohop_model::machine::Bytes, String> {
    let wrong = || format!("'{text}' is no size: give bytes, or a number with K, M, G or T");
    let (number, shift) = match text.char_indices().last() {
        Some((at, unit @ ('K' | 'M' | 'G' | 'T'))) => (&text[..at], 10 * (1 + "KMGT".find(unit).unwrap_or(0))),
        _ => (text, 0),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * (1u64 << shift) as f64;
    if (0.0..1e18).contains(&bytes) { Ok(zerohop_model::machine::Bytes(bytes as u64)) } else { Err(wrong()) }
}

#[derive(Debug, clap::Args)]
pub struct AlignArgs {
    /// Reference in FASTA (plain or gzip). An index that 'zerohop index' made is used when it lies beside it, also
    /// without the FASTA; or it can be given here
    pub reference: PathBuf,

    /// Reads in FASTQ or FASTA, plain, gzip or BGZF (found out by content); '-' is standard input. Behind compressed
    /// data only zeros may follow, as for gzip
    pub reads_1: Option<PathBuf>,

    /// Second mates, in step with the first ones
    pub reads_2: Option<PathBuf>,

    /// A further lane: one file of reads, or two with the mates in step; may be repeated
    #[arg(long, num_args = 1..=2, value_names = ["READS_1", "READS_2"], action = clap::ArgAction::Append)]
    pub reads: Vec<PathBuf>,

    /// Each file holds single reads or pairs whose mates follow one another under the same name
    #[arg(short = 'p', long, conflicts_with = "reads_2")]
    pub interleaved: bool,

    /// Align the first N reads or pairs of each lane only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub first: Option<u64>,

    /// Number of workers [default: all CPUs that the cgroup quota, the cpuset and the affinity mask allow]
    #[arg(short, long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
    pub threads: Option<usize>,

    /// Mean read length for which the index is made [default: mean of the first 500 reads over all lanes]
    #[arg(short = 'r', long, value_name = "BASES")]
    pub read_length: Option<usize>,

    /// Build the index anew, even if there is an index file
    #[arg(long)]
    pub no_index: bool,

    /// The aligner: strobealign, which is built in, or one that runs as a program of its own ('zerohop engines' lists them)
    #[arg(long, value_name = "NAME", default_value = STROBEALIGN)]
    pub engine: String,

    /// Write to FILE [default: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Format of the output [default: bam if FILE ends in .bam, else sam]
    #[arg(long, value_enum, help_heading = "Output")]
    pub format: Option<FormatName>,

    /// Compression level of BAM: 0 (none) to 9 (smallest), with the meaning of samtools
    #[arg(long, value_name = "LEVEL", default_value_t = 6, value_parser = clap::value_parser!(u8).range(0..=9), help_heading = "Output")]
    pub level: u8,

    /// Order of the records; whatever it is, the records of a read or pair stay together
    #[arg(long, value_enum, default_value_t = OrderName::Input, help_heading = "Output")]
    pub order: OrderName,

    /// Write N files, FILE.1.bam to FILE.N.bam, each complete with header
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096), help_heading = "Output")]
    pub shards: usize,

    /// Read group line, as in '@RG\tID:x\tSM:y'; once for all lanes, or once per lane
    #[arg(short = 'R', long = "read-group", value_name = "LINE", help_heading = "Output")]
    pub read_group: Vec<String>,

    /// Read group ID, as strobealign takes it [default: 1 if --rg is given]
    #[arg(long, value_name = "ID", conflicts_with = "read_group", help_heading = "Output")]
    pub rg_id: Option<String>,

    /// Field of the read group, as in 'SM:sample'; may be repeated
    #[arg(long, value_name = "TG:VALUE", conflicts_with = "read_group", help_heading = "Output")]
    pub rg: Vec<String>,

    /// Append the comment of each read's header line to its records
    #[arg(short = 'C', help_heading = "Output")]
    pub comments: bool,

    /// Number of index copies, each on its own group of NUMA nodes: 'auto' or a number. auto: what 'zerohop plan' finds
    /// best for this machine, index and number of threads
    #[arg(long, value_name = "auto|K", default_value = "auto", value_parser = parse_replicas, help_heading = "Placement")]
    pub replicas: zerohop_plan::Replicas,

    /// Where the pages of an index copy go [default: local; interleave for one copy over several nodes]
    #[arg(long, value_enum, help_heading = "Placement")]
    pub pages: Option<PagesName>,

    /// Whether the index asks for huge pages
    #[arg(long, value_enum, default_value_t = HugePagesName::Auto, help_heading = "Placement")]
    pub huge_pages: HugePagesName,

    /// Where the plan comes from: 'rule'; 'auto' (tried on the first reads, whose records are kept); or FILE, as 'zerohop plan -o'
    /// and 'zerohop tune' write it [default: what 'zerohop tune' found for this engine, index and kind of reads, else the rule]
    #[arg(long, value_name = "rule|auto|FILE", value_parser = parse_plan, help_heading = "Placement")]
    pub plan: Option<PlanFrom>,

    #[command(flatten)]
    pub external: ExternalArgs,

    #[command(flatten)]
    pub ranks: RankArgs,

    /// Write what the run says of itself to FILE, as JSON
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub json: Option<PathBuf>,

    /// Write it to FILE as custom content for MultiQC (which looks for names that end in _mqc.json)
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub mqc: Option<PathBuf>,

    /// Name of the sample in MultiQC's report [default: SM of the read group, else the name of the reads]
    #[arg(long, value_name = "NAME", help_heading = "Report")]
    pub sample: Option<String>,

    /// Say nothing on standard error but errors
    #[arg(short, long, help_heading = "Report")]
    pub quiet: bool,
}

/// Options for aligners that run as programs of their own.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "External aligners")]
pub struct ExternalArgs {
    /// Arguments for the aligner, as a shell would take them apart
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub engine_args: Option<String>,

    /// A file that describes an aligner: a further one, or another way to run a built-in one; may be repeated
    #[arg(long, value_name = "FILE")]
    pub engine_file: Vec<PathBuf>,

    /// Make the aligner's index with its own indexer if it is missing
    #[arg(long)]
    pub build_index: bool,

    /// The reads are DNA: turns off spliced alignment where an aligner does it (hisat2)
    #[arg(long)]
    pub dna: bool,

    /// One single-threaded process per worker; those on the same index copy share it in /dev/shm
    #[arg(long)]
    pub farm: bool,

    /// Keep the copies in /dev/shm for later runs ('zerohop cache' removes them)
    #[arg(long, requires = "farm")]
    pub keep_copies: bool,

    /// How reads are dealt to the instances
    #[arg(long, value_enum, default_value_t = DealName::OnDemand)]
    pub deal: DealName,

    /// How long an instance may neither take reads nor write records while it has work, loading its index included; and how long
    /// another rank may be silent [default: 1800]
    #[arg(long, value_name = "SECONDS", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub hang_limit: Option<u64>,

    /// Keep what each instance writes on standard error in DIR, a file each [default: kept only when the run fails]
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,

    /// Run the aligner by itself as well, on the same reads, and count the records that differ
    #[arg(long, value_enum, value_name = "WHAT")]
    pub compare_with: Option<CompareName>,

    /// Compare the first N reads or pairs only
    #[arg(long, value_name = "N", requires = "compare_with")]
    pub compare_first: Option<u64>,
}

/// What `zerohop run` ends with.
const RUN_STATUS: &str = "\
Exit status:
  That of the program; 128 + N if signal N ended it. Of several instances, that of the first one, by its
  number, that fails. The others get SIGTERM then, and SIGKILL after 10 seconds. 1 if zerohop itself fails,
  2 for wrong usage.

Signals:
  SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on to all instances, and zerohop waits
  until they end.";

#[derive(Debug, clap::Args)]
pub struct EnginesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// A file that describes an aligner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub engine_file: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_long_help = RUN_STATUS)]
pub struct RunArgs {
    /// Number of threads of all instances together [default: all CPUs that the cgroup quota, the cpuset and the affinity mask
    /// allow]
    #[arg(short, long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
    pub threads: Option<usize>,

    /// Number of instances, each on its own group of NUMA nodes; there must be as many threads
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
    pub replicas: usize,

    /// Where the memory of an instance goes [default: local; interleave for one instance over several nodes]
    #[arg(long, value_enum)]
    pub pages: Option<PagesName>,

    /// Write what instance I says to DIR/I.out and DIR/I.err [default: to ours]
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,

    /// Write to FILE where each instance ran and where its memory lay, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Say nothing on standard error but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// The program and its arguments. {instance} (from 0), {instances}, {threads}, {cpus} and {nodes} in them are replaced
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub struct CacheArgs {
    /// Remove the copies that no run uses
    #[arg(long)]
    pub clear: bool,

    /// With --clear: also those that were to be kept
    #[arg(long, requires = "clear")]
    pub all: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct IndexArgs {
    /// Reference in FASTA (plain or gzip)
    pub reference: PathBuf,

    /// Mean read length; indexes are made for 50, 75, 100, 125, 150, 250 and 400 bases, and the nearest is taken
    #[arg(short = 'r', long, value_name = "BASES", default_value_t = 150, conflicts_with = "reads")]
    pub read_length: usize,

    /// Take the mean length of the first 500 reads of FILE instead
    #[arg(long, value_name = "FILE")]
    pub reads: Option<PathBuf>,

    /// Number of threads [default: all CPUs that the cgroup quota, the cpuset and the affinity mask allow]
    #[arg(short, long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=65536))]
    pub threads: Option<usize>,

    /// Say nothing on standard error but errors
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, clap::Args)]
pub struct TopoArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// Measure latency and bandwidth from the CPUs of each node to the memory of each, alone and all at once
    #[arg(long)]
    pub measure: bool,

    /// Measure anew, even if it was measured before
    #[arg(long, requires = "measure")]
    pub again: bool,

    /// Memory to read on each node, in bytes or with a unit [default: 256M, or 8 times the largest cache if that is more; at
    /// most a quarter of what is free]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "measure")]
    pub buffer: Option<zerohop_model::machine::Bytes>,

    /// Whether the memory that is read asks for huge pages
    #[arg(long, value_enum, default_value_t = HugePagesName::Auto, requires = "measure")]
    pub huge_pages: HugePagesName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DealName {
    /// To whoever has room: a slow instance gets fewer
    OnDemand,
    /// To each in turn, chunk by chunk, whether it has room or not: equal parts, and the same in every run
    Static,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareName {
    /// The aligner as one process, neither pinned nor placed, with the same arguments
    Original,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Text
    Sam,
    /// Binary, compressed
    Bam,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderName {
    /// That of the input
    Input,
    /// As chunks of reads are finished
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PagesName {
    /// On the copy's own nodes only
    Local,
    /// In turn over the copy's nodes
    Interleave,
    /// Where they are written first (the kernel's default)
    FirstTouch,
    /// On the node of the CPU that writes them first, asked for expressly (MPOL_LOCAL)
    #[value(name = "localalloc")]
    LocalAlloc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HugePagesName {
    /// Ask for them; what the kernel gave is reported
    Auto,
    /// Do without
    Off,
}

impl From<PagesName> for plan::Pages {
    fn from(name: PagesName) -> Self {
        match name {
            PagesName::Local => plan::Pages::Local,
            PagesName::Interleave => plan::Pages::Interleave,
            PagesName::FirstTouch => plan::Pages::FirstTouch,
            PagesName::LocalAlloc => plan::Pages::LocalAlloc,
        }
    }
}

impl From<HugePagesName> for plan::HugePages {
    fn from(name: HugePagesName) -> Self {
        match name {
            HugePagesName::Auto => plan::HugePages::Auto,
            HugePagesName::Off => plan::HugePages::Off,
        }
    }
}

fn parse_plan(text: &str) -> Result<PlanFrom, std::convert::Infallible> {
    Ok(match text {
        "rule" => PlanFrom::Rule,
        "auto" => PlanFrom::Auto,
        path => PlanFrom::File(PathBuf::from(path)),
    })
}

fn parse_replicas(text: &str) -> Result<zerohop_plan::Replicas, String> {
    match text.parse() {
        _ if text == "auto" => Ok(zerohop_plan::Replicas::Auto),
        Ok(count) if count > 0 => Ok(zerohop_plan::Replicas::Count(count)),
        _ => Err("it must be 'auto' or a number from 1 on".to_owned()),
    }
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
