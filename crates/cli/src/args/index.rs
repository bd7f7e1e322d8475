//! Options of `zerohop index`.

use super::numbers;
use std::path::PathBuf;
use zerohop_align::STROBEALIGN;

/// What is typed behind `zerohop index`.
#[derive(Debug, clap::Args)]
pub struct IndexArgs {
    /// Reference in FASTA, plain or gzip
    #[arg(value_name = "REF")]
    pub reference: PathBuf,

    /// Aligner that runs inside zerohop: strobealign, bwa-mem or rammap
    #[arg(long, value_name = "NAME", default_value = STROBEALIGN)]
    pub engine: String,

    /// Mean read length, for strobealign [default: 150]
    ///
    /// There is one index for up to 70 bases, one each for up to 90, 110, 135, 175 and 375, and one for all above. Its
    /// file has 50, 75, 100, 125, 150, 250 or 400 in its name.
    #[arg(short = 'r', long, value_name = "BASES", conflicts_with = "reads", value_parser = numbers::read_length)]
    pub read_length: Option<usize>,

    /// Use the mean length of the first 500 reads of FILE instead
    #[arg(long, value_name = "FILE")]
    pub reads: Option<PathBuf>,

    /// Arguments for the aligner, as for 'align', which the index may depend on
    ///
    /// strobealign's index depends on -k -s -l -u -m -c -b -f --aux-len and -P, and its file is named after them.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub engine_args: Option<String>,

    /// For the reads of bisulfite and EM-seq libraries (bwa-mem)
    ///
    /// The index is REF.meth.*, beside which that for other reads may lie.
    #[arg(long)]
    pub meth: bool,

    /// Threads [default: all CPUs that zerohop may use]
    #[arg(short, long, value_name = "N", value_parser = numbers::count)]
    pub threads: Option<usize>,

    /// Keep the index in memory, for 'zerohop align' to start at once (strobealign, bwa-mem)
    ///
    /// A copy of the index for each NUMA node, or fewer, lies in /dev/shm until 'zerohop cache --clear --all'
    /// removes it, or the system does. 'zerohop align' of this user finds it by itself, and does not use it if the
    /// index has changed. An index that is there is not made again.
    #[arg(long)]
    pub keep: bool,

    /// Print only errors and notes on standard error
    #[arg(short, long)]
    pub quiet: bool,
}
