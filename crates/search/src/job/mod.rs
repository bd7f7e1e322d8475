//! A search job: queries against a database in parts, on one machine or on as many ranks as a launcher has started.
//!
//! 1. every process cuts the queries into the same batches, and searches its parts with each, by the unmodified
//!    program, in a thread of its own that is some batches ahead (searching.rs, on the instances of the process);
//! 2. one process alone writes what it finds to standard output (one.rs); all others are ranks, or on record
//!    (src/ranks);
//! 3. what was done is told (report.rs).

mod error;
pub(crate) mod instances;
pub(crate) mod one;
pub(crate) mod report;
pub(crate) mod searching;

pub use error::JobError;

use crate::fasta::is_stream;
use crate::format::Format;
use std::path::PathBuf;
use std::time::Duration;
use zerohop_model::plan::Pages;
use zerohop_process::overwrite;
use zerohop_ranks::RankCount;

/// How long a rank may be waited for, unless the job says.
pub(crate) const HANG_LIMIT: Duration = Duration::from_secs(1800);

/// What is searched, how, and where the results go.
#[derive(Debug, Clone)]
pub struct SearchJob {
    /// Queries in FASTA; `-` is standard input.
    pub queries: PathBuf,
    /// The folder of the database.
    pub db: PathBuf,
    /// Where the results go; standard output by default.
    pub output: Option<PathBuf>,
    /// The form of the output.
    pub format: Format,
    /// The columns of the output, as the program names them; by default its own.
    pub columns: Option<String>,
    /// Subjects to keep of each query; by default as the program does.
    pub max_target_seqs: Option<u32>,
    /// Arguments for the program, as a shell would take them apart.
    pub engine_args: Option<String>,
    /// Threads of the programs on each rank; by default all CPUs that the rank may use.
    pub threads: Option<usize>,
    /// Parts that each rank searches at the same time; by default one for each node.
    pub instances: Option<usize>,
    /// Where the memory of each program goes; by default as the planner says.
    pub pages: Option<Pages>,
    /// Letters of a batch of queries.
    pub batch_letters: u64,
    /// Queries of a batch, at most.
    pub batch_queries: u32,
    /// Whether there must be progress to take up.
    pub resume: bool,
    /// Whether progress is thrown away.
    pub restart: bool,
    /// Where the report goes, as JSON.
    pub json: Option<PathBuf>,
    /// Where times and sizes of each rank and batch go.
    pub record: Option<PathBuf>,
    /// How many ranks there must be; none by default.
    pub ranks: Option<RankCount>,
    /// The library that `zerohop mpi` built.
    pub mpi: Option<PathBuf>,
    /// How long a program may take for a batch in a part, and how long a rank may be waited for.
    pub hang_limit: Option<Duration>,
    /// The command that asked for it, for reports.
    pub command: String,
    /// Whether the report and notes are kept back.
    pub quiet: bool,
}

/// Refuses what does not go together, and an output that would destroy something else.
pub(crate) fn check(job: &SearchJob) -> Result<(), JobError> {
    if job.queries.is_dir() {
        return Err(JobError::Usage(format!("{}: it is a folder; give a file of queries", job.queries.display())));
    }
    if job.columns.is_some() && !job.format.has_columns() {
        return Err(JobError::Usage(format!("--columns does not go with --format {}, which has none", job.format)));
    }
    if let Some(output) = job.output.as_ref().filter(|output| output.exists() && !output.is_file()) {
        return Err(JobError::Usage(format!("{}: the output must be a regular file", output.display())));
    }
    let again = job.ranks.is_some() || job.resume || job.restart;
    if again && job.output.is_none() {
        return Err(JobError::Usage("--ranks, --resume and --restart need an output file (-o)".to_owned()));
    }
    if (job.ranks.is_some() || job.resume) && is_stream(&job.queries) {
        return Err(JobError::Usage(format!(
            "{}: with --ranks and --resume queries are read more than once: they must be in a regular file",
            job.queries.display()
        )));
    }
    job.output.iter().chain(&job.json).chain(&job.record).try_for_each(|path| zerohop_process::check_folder(path))?;
    // What is in a database is a file of it, whatever its name.
    let in_database = std::fs::read_dir(&job.db).into_iter().flatten().flatten().map(|entry| entry.path());
    let library = zerohop_ranks::find(job.mpi.as_deref());
    let read: Vec<PathBuf> = std::iter::once(job.queries.clone()).chain(library).chain(in_database).collect();
    let standard_output = job.output.is_none().then(|| PathBuf::from("-"));
    let written = standard_output.iter().chain(&job.output).chain(&job.json).chain(&job.record);
    Ok(overwrite::apart(&read, written)?)
}
