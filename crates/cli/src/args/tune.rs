//! What can be typed after `zerohop tune`.

use super::STROBEALIGN;
use clap::builder::RangedU64ValueParser;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct TuneArgs {
    /// Reference, as for 'align'; its index must be there for aligners that are programs of their own
    pub reference: PathBuf,

    /// Reads as they will be aligned, in a regular file
    pub reads_1: PathBuf,

    /// Second mates
    pub reads_2: Option<PathBuf>,

    /// The aligner, as 'zerohop engines' lists it
    #[arg(long, value_name = "NAME", default_value = STROBEALIGN)]
    pub engine: String,

    /// A file that describes an aligner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub engine_file: Vec<PathBuf>,

    /// Arguments for the aligner, as for 'align'
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub engine_args: Option<String>,

    /// Take the first N reads or pairs for the whole input
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub first: Option<u64>,

    /// Run all choices on all reads, to the end, instead of short trials that end early
    #[arg(long)]
    pub full: bool,

    /// Rounds: each choice runs once in each [default: 10 with --full, else 5 at most]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(1..=1000))]
    pub repeat: Option<u32>,

    /// Folder for the trials, saved one by one: what is there is not tried again; trial output goes there, too
    #[arg(long, value_name = "FOLDER", default_value = "zerohop-tune")]
    pub runs: PathBuf,

    /// Write the plan to FILE as well, for 'zerohop align --plan FILE'
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Do not keep the plan for later runs of 'align'
    #[arg(long)]
    pub no_keep: bool,

    /// Say nothing on standard error but errors
    #[arg(short, long)]
    pub quiet: bool,
}
