//! What can be typed after `zerohop report`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// What 'zerohop align --json', 'search --json', 'tune', 'topo --measure --json' or 'zerohop-lab' wrote (a folder of points,
    /// or its points.jsonl, or 'exchange -o'); found out by content. Several of a kind are shown together
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// Write to FILE [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Title of the page
    #[arg(long, value_name = "TEXT", default_value = "zerohop report")]
    pub title: String,
}
