//! What can be typed after `zerohop report`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// Files that 'align --json', 'search --json', 'tune' or 'topo --measure --json' wrote, or the folder of
    /// 'align --samples'
    ///
    /// Of a folder all runs of 'align' are shown; several samples are in one table. The kind of a file is recognised by
    /// content. Several of a kind are shown together. 'zerohop-lab report' shows them, too, beside what 'zerohop-lab'
    /// wrote.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// Write to FILE [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "zerohop report")]
    pub title: String,
}
