//! Options for aligners that run as programs of their own.

use super::numbers;
use clap::ValueEnum;
use std::path::PathBuf;

/// The aligner that has bisulfite reads, and its word for them.
const BWA_MEM: &str = "bwa-mem";
const METH: &str = "--meth";

/// Options for aligners that run as programs of their own.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "External aligners")]
pub struct ExternalArgs {
    /// Arguments for the aligner, quoted as in a shell
    ///
    /// strobealign, bwa-mem and rammap take the options of their programs, but for those that zerohop has itself
    /// (docs/engines.md). With strobealign's -x, PAF is written (.paf), with --aemb the abundance of each contig.
    /// bwa-mem is 1.3 times as fast with "-m 10 -y 0", and has the records of bwa mem with these;
    /// "--fast-unlike-bwa" is 1.5 times as fast, with records of its own.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Aligner")]
    pub engine_args: Option<String>,

    /// The reads are those of a bisulfite or EM-seq library (bwa-mem)
    ///
    /// Records have XR, XG and XM, as those of Bismark. The index is another one, which 'zerohop index --engine bwa-mem
    /// --meth' makes.
    #[arg(long, help_heading = "Aligner")]
    pub meth: bool,

    /// Kind of bisulfite library, where the first reads do not tell it
    #[arg(long, value_enum, value_name = "KIND", requires = "meth", hide_short_help = true, help_heading = "Aligner")]
    pub library: Option<LibraryName>,

    /// File that describes an aligner, or another way to run a known one; may be repeated
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub engine_file: Vec<PathBuf>,

    /// Build the index if it is missing, and write it beside the reference
    #[arg(long, help_heading = "Aligner")]
    pub build_index: bool,

    /// The reads are DNA: no spliced alignment (hisat2)
    #[arg(long, hide_short_help = true)]
    pub dna: bool,

    /// Run one single-threaded process per worker; those on the same nodes share an index copy in /dev/shm
    #[arg(long, hide_short_help = true)]
    pub farm: bool,

    /// Keep the index copies in /dev/shm for later runs; 'zerohop cache' removes them
    #[arg(long, requires = "farm", hide_short_help = true)]
    pub keep_copies: bool,

    /// How reads are divided among the instances
    #[arg(long, value_enum, default_value_t = DealName::OnDemand, hide_short_help = true)]
    pub deal: DealName,

    /// End the run if an instance, or another rank, does nothing for so long [default: 1800]
    ///
    /// An instance does nothing if it has work and neither takes reads nor writes records. Loading its index counts.
    #[arg(long, value_name = "SECONDS", value_parser = numbers::seconds)]
    #[arg(hide_short_help = true)]
    pub hang_limit: Option<u64>,

    /// Save the standard error of each instance in a file in DIR [default: only if the run fails]
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub logs: Option<PathBuf>,

    /// Also run the aligner by itself on the same reads, and count the records that differ
    #[arg(long, value_enum, value_name = "WHAT", hide_short_help = true)]
    pub compare_with: Option<CompareName>,

    /// Compare only the first N reads or pairs
    #[arg(long, value_name = "N", requires = "compare_with", hide_short_help = true)]
    #[arg(value_parser = numbers::some)]
    pub compare_first: Option<u64>,
}

/// The aligner's arguments, where `--meth` may be given, too.
///
/// # Errors
/// An aligner that has no bisulfite reads here.
pub fn engine_args(engine: &str, given: Option<String>, meth: bool) -> Result<Option<String>, String> {
    match (meth, given) {
        (false, given) => Ok(given),
        (true, _) if engine != BWA_MEM => Err(format!(
            "--meth is for --engine {BWA_MEM}: if {engine} has an option for bisulfite reads, name it in --engine-args"
        )),
        (true, None) => Ok(Some(METH.to_owned())),
        (true, Some(given)) => Ok(Some(format!("{METH} {given}"))),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LibraryName {
    /// C of the first mates were read as T
    Directional,
    /// G of the first mates were read as A: mates are exchanged for alignment
    Pbat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DealName {
    /// An instance gets more when it has room: a slow one gets fewer reads
    OnDemand,
    /// In turn, chunk by chunk: equal numbers of chunks, and the same ones in every run
    Static,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareName {
    /// The aligner as one process with the same arguments, neither pinned nor under a memory policy
    Original,
}
