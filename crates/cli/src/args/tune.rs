//! What can be typed after `zerohop tune`.

use super::{STROBEALIGN, numbers};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    /// Reference, as for 'align'; other aligners than strobealign need their index
    #[arg(value_name = "REF")]
    pub reference: PathBuf,

    /// Reads of the kind that you will align, in a regular file
    pub reads_1: PathBuf,

    /// Second mates
    pub reads_2: Option<PathBuf>,

    /// Aligner, as 'zerohop engines' lists it
    #[arg(long, value_name = "NAME", default_value = STROBEALIGN)]
    pub engine: String,

    /// File that describes an aligner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub engine_file: Vec<PathBuf>,

    /// Arguments for the aligner, as for 'align'
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub engine_args: Option<String>,

    /// The reads are those of a bisulfite or EM-seq library (bwa-mem)
    #[arg(long)]
    pub meth: bool,

    /// Use only the first N reads or pairs
    #[arg(long, value_name = "N", value_parser = numbers::some)]
    pub first: Option<u64>,

    /// Run every strategy on all reads, to the end, instead of short trials
    #[arg(long)]
    pub full: bool,

    /// Rounds; each strategy runs once in a round [default: 10 with --full, else at most 5]
    #[arg(long, value_name = "N", value_parser = numbers::rounds)]
    pub repeat: Option<u32>,

    /// Folder for the results of trials; a trial whose result is there is not run again
    ///
    /// The records that trials write go there, too.
    #[arg(long, value_name = "FOLDER", default_value = "zerohop-tune")]
    pub runs: PathBuf,

    /// Also write the plan to FILE, for 'zerohop align --plan FILE'
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Do not save the plan for later runs of 'align'
    #[arg(long)]
    pub no_keep: bool,

    /// Print only errors and notes on standard error
    #[arg(short, long)]
    pub quiet: bool,
}
