//! What can be typed.

pub mod external;
pub mod index;
mod methyldackel;
mod mosdepth;
mod numbers;
mod quoted;
pub mod ranks;
pub mod report;
pub mod search;
pub mod sorting;
pub mod topo;
mod trimming;
pub mod tune;

use clap::{Parser, Subcommand, ValueEnum};
use external::ExternalArgs;
use index::IndexArgs;
use ranks::RankArgs;
use report::ReportArgs;
use search::{DbArgs, MpiArgs, SearchArgs};
use sorting::SortArgs;
use std::ffi::OsString;
use std::path::PathBuf;
use topo::TopoArgs;
use trimming::TrimArgs;
use tune::TuneArgs;
use zerohop_align::{PlanFrom, ReadStructure, STROBEALIGN};
use zerohop_model::plan;

/// Aligns sequencing reads on all cores, NUMA nodes and machines: with the built-in strobealign or bwa mem, or with
/// other, unmodified aligners
#[derive(Debug, Parser)]
#[command(name = "zerohop", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Align reads to a reference
    #[command(after_help = ALL_OPTIONS, after_long_help = ALIGN_STATUS)]
    Align(Box<AlignArgs>),
    /// Build the index of a reference, for later runs of 'align'
    Index(IndexArgs),
    /// List the aligners that 'align' can use, and which of them are installed
    Engines(EnginesArgs),
    /// Run any program as pinned instances on groups of NUMA nodes, under a memory policy
    Run(Box<RunArgs>),
    /// Show which strategy (index copies, threads, page policy) the rule chooses, and why
    Plan(PlanArgs),
    /// Try strategies on your reads, and save the best one for later runs of 'align'
    Tune(Box<TuneArgs>),
    /// Search a database in parts with diamond or BLAST, on one machine or over ranks
    ///
    /// The output has the lines of one search of the whole database, in its order. diamond always gets --no-ranking. Of
    /// BLAST a few lines can differ where its list of subjects is full.
    #[command(after_help = ALL_OPTIONS, after_long_help = "")]
    Search(Box<SearchArgs>),
    /// Make a database in parts, for 'search'
    Db(DbArgs),
    /// Build the library that connects zerohop to your MPI
    Mpi(MpiArgs),
    /// Make one HTML page of the JSON files that other commands wrote
    Report(ReportArgs),
    /// List or remove the index copies in /dev/shm that 'index --keep' and 'align --farm' made
    Cache(CacheArgs),
    /// Show the NUMA nodes, CPUs, caches and memory of this machine, and measure its memory
    Topo(TopoArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of zerohop, or of one of its commands
    Man {
        /// The command, such as align or 'db build'
        command: Vec<String>,
    },
}

/// The last line of a short help that leaves options out.
const ALL_OPTIONS: &str = "'--help' shows all options, with details.";

/// What `zerohop align` ends with.
const ALIGN_STATUS: &str = "\
Exit status:
  0 success, also if the reader of a pipe closes it early
  1 failure: no output file is left that looks complete, but for records whose report cannot be written
  2 wrong usage";

#[derive(Debug, clap::Args)]
pub struct PlanArgs {
    /// Size of one index copy, in bytes or as in 5.1G [default: that of the index of --reference]
    ///
    /// K, M, G and T are powers of 1024.
    #[arg(long, value_name = "SIZE", value_parser = numbers::size)]
    pub index_size: Option<zerohop_model::machine::Bytes>,

    /// Aligner, as 'zerohop engines' lists it [default: strobealign with --reference, else any other]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,

    /// File that describes an aligner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub engine_file: Vec<PathBuf>,

    /// Threads of all index copies together [default: all CPUs that zerohop may use]
    #[arg(short, long, value_name = "N", value_parser = numbers::count)]
    pub threads: Option<usize>,

    /// Reference whose index the plan is for
    #[arg(long, value_name = "FASTA")]
    pub reference: Option<PathBuf>,

    /// Mean read length, which the index may depend on
    #[arg(short = 'r', long, value_name = "BASES", default_value_t = 150, value_parser = numbers::read_length)]
    pub read_length: usize,

    /// Another machine, in a file that 'zerohop topo --json' or 'lstopo --of xml' wrote there
    #[arg(long, value_name = "FILE")]
    pub machine: Option<PathBuf>,

    /// Show all strategies, also those that cannot be used
    #[arg(long)]
    pub explain: bool,

    /// Write the best plan to FILE, for 'zerohop align --plan FILE'
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct AlignArgs {
    /// Reference in FASTA, plain or gzip
    ///
    /// An index that 'zerohop index' wrote beside it is used, also if the FASTA is not there. The index file itself
    /// can be given, too.
    #[arg(value_name = "REF")]
    pub reference: PathBuf,

    /// Reads in FASTQ, FASTA, BAM, SAM or CRAM; '-' is standard input
    ///
    /// FASTQ and FASTA may be plain, gzip or BGZF. The format is recognised by content. After the last member of a
    /// compressed file only zeros may follow: other bytes, which gzip ignores with a warning, are an error. In BAM, SAM
    /// and CRAM the flags say which reads are pairs, and mates follow one another; the records keep the fields and read
    /// groups of the reads. CRAM of aligned reads needs REF as FASTA.
    pub reads_1: Option<PathBuf>,

    /// Second mates, in the same order as the first ones
    pub reads_2: Option<PathBuf>,

    /// One more lane: one file, or two of mates; may be repeated
    ///
    /// Lanes count in the order in which they stand on the command line. Name REF before, or write '--' before it: else
    /// it is taken for a second file.
    #[arg(long, num_args = 1..=2, value_names = ["READS_1", "READS_2"], action = clap::ArgAction::Append)]
    pub reads: Vec<PathBuf>,

    /// Align the samples of a sheet into --output-dir DIR
    ///
    /// The index is loaded once. The sheet is a table (CSV, or with tabs) whose first line names its columns: sample,
    /// fastq_1 and fastq_2, as nf-core has it, or bam in their place; rows of the same sample are its lanes. lane and
    /// rg_xx (such as rg_pl) are for read groups. With --ranks each rank takes one sample after the other.
    /// docs/bioinformatics.md tells more.
    #[arg(long, value_name = "SHEET", requires = "output_dir")]
    #[arg(conflicts_with_all = ["reads_1", "reads", "output", "read_group", "rg_id", "rg", "json", "mqc", "sample"])]
    #[arg(conflicts_with_all = ["durable", "restart", "duplicate_metrics"])]
    pub samples: Option<PathBuf>,

    /// Folder of the files of the samples: NAME.bam, NAME.json, NAME_mqc.json
    ///
    /// --format sam or cram is for NAME.sam or NAME.cram; with --mark-duplicates there is NAME.markdup.txt, with
    /// --unaligned NAME.unaligned.fq.gz, too.
    /// --resume leaves samples as they are that are complete, and made of the same files with the same options.
    #[arg(long, value_name = "DIR", requires = "samples", hide_short_help = true)]
    pub output_dir: Option<PathBuf>,

    /// Mates follow one another in one file
    ///
    /// Two reads in a row with the same name are a pair, any other read is a single read.
    #[arg(short = 'p', long, conflicts_with = "reads_2")]
    pub interleaved: bool,

    /// Which bases of a read are barcodes, such as 8M+T; given twice for pairs: first for R1, then for R2
    ///
    /// A number of bases, or + for all others, and a letter, as in fgbio: T for the template, which is aligned, M for a
    /// UMI, B for a sample, C for a cell, S to be skipped. Barcodes become fields of the records: RX and QX, BC and QT,
    /// CB and CY.
    #[arg(long, value_name = "STRUCTURE", value_parser = read_structure, hide_short_help = true)]
    pub read_structure: Vec<ReadStructure>,

    #[command(flatten)]
    pub trimming: TrimArgs,

    /// Align only the first N reads or pairs of each lane
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = numbers::some)]
    pub first: Option<u64>,

    /// Threads [default: all CPUs that zerohop may use]
    ///
    /// These are the CPUs that the quota of the control group, the cpuset and the affinity mask allow.
    #[arg(short, long, value_name = "N", value_parser = numbers::count)]
    pub threads: Option<usize>,

    /// Mean read length of the index [default: that of the first 500 reads of all lanes]
    #[arg(short = 'r', long, value_name = "BASES", hide_short_help = true, value_parser = numbers::read_length)]
    pub read_length: Option<usize>,

    /// Build the index in memory, even if there is an index file
    #[arg(long, hide_short_help = true)]
    pub no_index: bool,

    /// Aligner; 'zerohop engines' lists them
    ///
    /// strobealign, bwa-mem and, for long reads, rammap are built in. The others run as programs from your PATH.
    #[arg(long, value_name = "NAME", default_value = STROBEALIGN, help_heading = "Aligner")]
    pub engine: String,

    /// Write SAM, BAM or CRAM to FILE [default: SAM to standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Format of the output [default: that of FILE's suffix, else sam]
    ///
    /// CRAM needs the reference as FASTA.
    #[arg(long, value_name = "sam|bam|cram", value_enum, hide_possible_values = true, help_heading = "Output")]
    pub format: Option<FormatName>,

    /// Version of CRAM [default: 3.0]
    ///
    /// 3.1 is smaller, and takes longer; programs of before 2023 may not read it.
    #[arg(long, value_enum, help_heading = "Output", hide_short_help = true)]
    #[arg(value_name = "3.0|3.1", hide_possible_values = true)]
    pub cram_version: Option<CramVersionName>,

    /// Where readers of CRAM find the reference (UR of @SQ) [default: its absolute path]
    ///
    /// As in samtools dict -u. Readers find it by its checksum (M5), too. With it the file does not say in which folder
    /// the reference was.
    #[arg(long, value_name = "URI", value_parser = reference_uri, help_heading = "Output", hide_short_help = true)]
    pub reference_uri: Option<String>,

    /// Compression, 0 to 9 [default: 1; 6 for CRAM and unaligned reads]
    ///
    /// The levels are those of samtools. BAM of level 6 is 4 to 7 % smaller than that of level 1; compressing it takes
    /// 3 to 4 times as long.
    #[arg(long, value_name = "LEVEL", value_parser = numbers::level)]
    #[arg(help_heading = "Output")]
    pub level: Option<u8>,

    /// Order of the records: that of the input, or any
    ///
    /// With any, chunks of reads are written as they are finished. The records of a read or pair always stay together.
    #[arg(long, value_enum, default_value_t = OrderName::Input, help_heading = "Output")]
    #[arg(hide_short_help = true, value_name = "input|any", hide_possible_values = true)]
    pub order: OrderName,

    /// Write N files, FILE.1.bam to FILE.N.bam, each with the header
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = numbers::shards)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub shards: usize,

    #[command(flatten)]
    pub sorting: SortArgs,

    /// Read group, as in '@RG\tID:x\tSM:y'; once, or once for each lane
    ///
    /// Read groups of lanes come in the order of the lanes. \t stands for a tab, \\ for a backslash, as in samtools.
    #[arg(short = 'R', long = "read-group", value_name = "LINE", help_heading = "Output")]
    pub read_group: Vec<String>,

    /// Read group ID, as in strobealign [default: 1 if --rg is given]
    #[arg(long, value_name = "ID", conflicts_with = "read_group", help_heading = "Output", hide_short_help = true)]
    pub rg_id: Option<String>,

    /// Field of the read group, as in 'SM:sample'; may be repeated
    #[arg(
        long,
        value_name = "TG:VALUE",
        conflicts_with = "read_group",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub rg: Vec<String>,

    /// Append FASTQ comments to the records (as fields of BAM are)
    ///
    /// SAM has them as they stand, as with bwa mem -C and strobealign -C, also those that samtools does not read. For
    /// BAM and CRAM they must be fields, such as BC:Z:ACGT.
    #[arg(short = 'C', help_heading = "Output")]
    pub comments: bool,

    /// Tags of reads with one value per base, to be reversed on the reverse strand, as with fgbio ZipperBams
    ///
    /// TAGS are names with commas between them, such as cd,ce. 'Consensus' stands for those of consensus reads that
    /// fgbio names so (cd,ce,ad,ae,bd,be,aq,bq), 'Picard' for those of MergeBamAlignment (OQ,U2).
    #[arg(long, value_name = "TAGS", value_delimiter = ',', help_heading = "Output", hide_short_help = true)]
    pub tags_to_reverse: Vec<String>,

    /// The same, to be reverse complemented
    ///
    /// 'Consensus' stands for ac,bc, 'Picard' for E2,SQ.
    #[arg(long, value_name = "TAGS", value_delimiter = ',', help_heading = "Output", hide_short_help = true)]
    pub tags_to_revcomp: Vec<String>,

    /// Add MQ, MC and ms to the records of pairs, as 'samtools fixmate -m' does
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub mate_tags: bool,

    /// Write reads that were not aligned to FILE, too: FASTQ (.fq.gz, .fq) or BAM (.bam)
    ///
    /// Those are single reads without an alignment, and pairs of which neither mate has one. They are as in the input,
    /// in its order, the mates of a pair one after the other, as -p takes them. A '%' in the name stands for 1 and 2,
    /// for one file of FASTQ per mate: rest_%.fq.gz. All reads must be pairs then. With --samples FILE is the ending
    /// alone: .fq.gz is for NAME.unaligned.fq.gz, _%.fq.gz for NAME.unaligned_1.fq.gz and NAME.unaligned_2.fq.gz where
    /// reads have mates.
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub unaligned: Option<PathBuf>,

    /// Which pairs go there: those of which both mates were not aligned, or any of them
    #[arg(long, value_enum, default_value_t = MatesName::Both, help_heading = "Output", hide_short_help = true)]
    #[arg(value_name = "both|any", hide_possible_values = true, requires = "unaligned")]
    pub unaligned_mates: MatesName,

    /// Write no records of reads that were not aligned; pairs of which one mate was aligned have both records
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub no_unaligned: bool,

    /// Write bases and qualities of secondary records, too (built-in engines)
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub secondary_bases: bool,

    /// Number of index copies or instances, each on its own group of NUMA nodes
    ///
    /// auto: what 'zerohop plan' chooses for this machine, index and number of threads.
    #[arg(long, value_name = "auto|K", default_value = "auto")]
    #[arg(value_parser = numbers::replicas, help_heading = "Placement")]
    #[arg(hide_short_help = true)]
    pub replicas: zerohop_plan::Replicas,

    /// Where the pages of an index copy lie [default: local; interleave for one copy over several nodes]
    #[arg(long, value_enum, help_heading = "Placement", hide_short_help = true)]
    pub pages: Option<PagesName>,

    /// Whether the index asks for huge pages; off: no memory of the process gets any
    #[arg(long, value_enum, default_value_t = HugePagesName::Auto, help_heading = "Placement", hide_short_help = true)]
    pub huge_pages: HugePagesName,

    /// Where the plan comes from [default: 'zerohop tune', else the rule]
    ///
    /// rule: the plan that 'zerohop plan' chooses. auto: some plans are tried during the run. FILE: a plan that
    /// 'zerohop plan -o' or 'zerohop tune -o' wrote. Without the option, the plan that 'zerohop tune' saved for this
    /// aligner, index and kind of reads is used, else the rule.
    #[arg(long, value_name = "rule|auto|FILE", value_parser = parse_plan, help_heading = "Placement")]
    pub plan: Option<PlanFrom>,

    #[command(flatten)]
    pub external: ExternalArgs,

    #[command(flatten)]
    pub ranks: RankArgs,

    /// Write the run summary to FILE, as JSON
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub json: Option<PathBuf>,

    /// Write the run summary to FILE, for MultiQC
    ///
    /// MultiQC looks for names that end in _mqc.json. Its plugin multiqc_zerohop shows more, from the file of --json.
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    pub mqc: Option<PathBuf>,

    /// Name of the sample in the reports [default: SM of the read group, else the name of the reads]
    #[arg(long, value_name = "NAME", help_heading = "Report", hide_short_help = true)]
    pub sample: Option<String>,

    /// Print only errors and notes on standard error
    #[arg(short, long, help_heading = "Report")]
    pub quiet: bool,
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

    /// File that describes an aligner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub engine_file: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_long_help = RUN_STATUS)]
pub struct RunArgs {
    /// Threads of all instances together [default: all CPUs that zerohop may use]
    #[arg(short, long, value_name = "N", value_parser = numbers::count)]
    pub threads: Option<usize>,

    /// Number of instances, each on its own group of NUMA nodes; not more than threads
    #[arg(long, value_name = "K", default_value_t = 1)]
    #[arg(value_parser = numbers::count)]
    pub replicas: usize,

    /// Where the memory of an instance lies [default: local; interleave for one over several nodes]
    #[arg(long, value_enum)]
    pub pages: Option<PagesName>,

    /// Write the output of instance I to DIR/I.out and DIR/I.err [default: that of zerohop]
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,

    /// Write where each instance ran and where its memory lay to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Print only errors and notes on standard error
    #[arg(short, long)]
    pub quiet: bool,

    /// Program and arguments, in which {instance}, {instances}, {threads}, {cpus} and {nodes} are replaced
    ///
    /// Instances are numbered from 0.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub struct CacheArgs {
    /// Remove the copies that no run uses
    #[arg(long)]
    pub clear: bool,

    /// With --clear: also remove copies that 'index --keep' and '--keep-copies' made
    #[arg(long, requires = "clear")]
    pub all: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Text
    Sam,
    /// Binary, compressed
    Bam,
    /// Binary, without the bases that are in the reference
    Cram,
}

/// What can be given to `--cram-version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CramVersionName {
    #[value(name = "3.0")]
    V3_0,
    #[value(name = "3.1")]
    V3_1,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderName {
    /// Order of the input
    Input,
    /// As chunks of reads are finished
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PagesName {
    /// On the nodes of the copy as long as they have free memory
    Local,
    /// In turn on the nodes of the copy
    Interleave,
    /// Where they are first written (the kernel's default)
    FirstTouch,
    /// On the node of the CPU that first writes them (MPOL_LOCAL)
    #[value(name = "localalloc")]
    LocalAlloc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HugePagesName {
    /// Ask for huge pages; the summary says what the kernel gave
    Auto,
    /// Do not ask for them
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

/// Text that can stand in a field of a header.
/// A read structure, which must leave something to align.
fn read_structure(text: &str) -> Result<ReadStructure, String> {
    let structure: ReadStructure = text.parse().map_err(|error: zerohop_align::StructureError| error.to_string())?;
    match structure.has_template() {
        true => Ok(structure),
        false => Err(format!("'{text}' has no template (T), so that nothing would be aligned")),
    }
}

fn reference_uri(text: &str) -> Result<String, &'static str> {
    match text.is_empty() || text.contains(char::is_control) {
        true => Err("it must be text without tabs and ends of lines"),
        false => Ok(text.to_owned()),
    }
}

fn parse_plan(text: &str) -> Result<PlanFrom, std::convert::Infallible> {
    Ok(match text {
        "rule" => PlanFrom::Rule,
        "auto" => PlanFrom::Auto,
        path => PlanFrom::File(PathBuf::from(path)),
    })
}

/// Mates of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MatesName {
    Both,
    Any,
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    /// `-h` of every command fits a screen.
    #[test]
    fn short_help_is_one_screen() {
        let mut program = Args::command().term_width(100);
        program.build();
        check(&mut program, "");
    }

    fn check(command: &mut clap::Command, path: &str) {
        let path = format!("{path} {}", command.get_name());
        let help = command.render_help().to_string();
        let lines = help.lines().count();
        assert!(lines <= 45, "{path} -h: {lines} lines\n{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 100, "{path} -h: a long line\n{line}");
        }
        command.get_subcommands_mut().for_each(|below| check(below, &path));
    }

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }
}
