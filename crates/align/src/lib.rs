//! One alignment, from reads to records, without a command line. `zerohop align` is made of it, and other programs can
//! use it.
//!
//! [`align`] takes a [`Job`] and goes these steps:
//!
//! 1. a job that contradicts itself, or whose files cannot be read or written, is refused before anything is loaded
//!    (`check`);
//! 2. if the job is for ranks, they find each other and share the machine;
//! 3. the session (session.rs) opens the reads, gets the engine ready (embedded.rs or external.rs), has the runtime
//!    claim, parse, map, encode and commit, and gives the files their names;
//! 4. [`tell`] writes the summary and the reports.
//!
//! [`strategies`] asks the rule which plan is best, and [`tune`](mod@tune) tries plans on the user's reads. [`samples`]
//! runs one job per sample on one index. [`engines`] lists the engines in our own process, [`descriptors`] those that
//! are programs of their own.
//!
//! What it refuses to do: parse a command line, write anything but records to standard output, or leave a file that
//! looks complete after a failure.
//!
//! # From another program
//!
//! A program calls [`prepare`] first, and fills a [`Job`], which begins with the defaults of `zerohop align`:
//!
//! ```no_run
//! use zerohop_align::{AlignError, Job, PlacedAlloc, align, lanes};
//!
//! // Index copies and buffers lie where the plan says.
//! #[global_allocator]
//! static ALLOCATOR: PlacedAlloc = PlacedAlloc;
//!
//! fn main() -> Result<(), AlignError> {
//!     zerohop_align::prepare();
//!     let pairs = vec!["reads_1.fq.gz".into(), "reads_2.fq.gz".into()];
//!     let mut job = Job::new("ref.fa".into(), lanes::lanes(vec![pairs], false)?);
//!     job.output.path = Some("out.bam".into());
//!     job.placement.threads = Some(8);
//!     job.quiet = true;
//!     align(&job)?;
//!     Ok(())
//! }
//! ```
//!
//! An embedded engine of one's own goes to [`align_with`]. The feature `bwa-mem` adds bwa mem, and needs a C++ compiler
//! and zlib.
#![forbid(unsafe_code)]

mod at_end;
mod carried;
mod compare;
mod counting;
pub mod descriptors;
mod duplicates;
mod embedded;
pub mod engines;
mod error;
mod external;
mod gather;
mod handover;
mod identity;
mod index_files;
mod job;
pub mod keep;
mod kept_runs;
pub mod lanes;
mod merge;
mod multi_rank;
mod output_files;
mod pilots;
pub mod plan_cache;
mod planning;
mod product;
mod progress;
mod ready;
mod replicas;
mod resident;
mod resources;
pub mod samples;
mod session;
mod shared_index;
mod sorting;
pub mod strategies;
mod summary;
mod taken;
pub mod tune;
pub mod tuning_key;

pub use error::AlignError;
pub use index_files::write_index;
pub use job::{
    BAM_LEVEL, External, FormatName, HANG_LIMIT, Job, LEVEL, NULL, Output, Placement, PlanFrom, Ranks, Report,
    STROBEALIGN, Sorting, Unaligned,
};
pub use session::Done;
pub use summary::tell;
pub use zerohop_input::LaneSpec;
pub use zerohop_memory::PlacedAlloc;
pub use zerohop_model::plan::{HugePages, Pages};
pub use zerohop_output::Search as DuplicateSearch;
pub use zerohop_output::{
    Barcode, Comments, CramVersion, Duplicates, History, IndexFormat, Marking, ReadGroup, Rules, SortOrder, WriteIndex,
};
pub use zerohop_plan::Replicas;
pub use zerohop_ranks::RankCount;
pub use zerohop_runtime::{Dealing, Order};

use zerohop_model::index::IndexProvider;
use zerohop_ranks::{RankShare, Ranks as Started};

/// Makes the process ready; the first call of `main`. With [`PlacedAlloc`] as the global allocator, index copies and
/// buffers lie where plans say. A panic of an engine is told once, with the read's name; memory that cannot be had ends
/// the program with one line. Signals end it also as the first process of a container. External aligners need it, and
/// reads in SAM and CRAM: what clears away after a killed run, and what reads these, is the same program, started
/// again, which does that here and ends.
pub fn prepare() {
    zerohop_process::prepare(zerohop_engine_external::clear_own);
    zerohop_input::convert_if_asked();
    zerohop_process::see_children_end();
    zerohop_process::end_as_first_process();
    engines::prepare();
    zerohop_runtime::install_hook();
    zerohop_memory::on_exhausted(zerohop_process::remove_temporaries);
    zerohop_process::end_where_exhausted();
}

/// Aligns, and gives what there is to say of it. None where another rank says it, and where an earlier run of a
/// recorded job had written everything.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left, and no process.
pub fn align(job: &Job) -> Result<Option<Done>, AlignError> {
    run(job, engines::embedded(&job.engine), Ok)
}

/// As [`align()`], and says how it went: on standard error, and in the files that the job asks for.
///
/// # Errors
/// As for [`align()`]; a file that cannot be written; records that could not be compared.
pub fn align_and_tell(job: &Job) -> Result<(), AlignError> {
    run(job, engines::embedded(&job.engine), |done| told(job, done))
}

/// As [`align_and_tell`], with an embedded engine that zerohop does not know: `job.engine` is only a name then. This is
/// how the author of another aligner puts it under the runtime (`examples/own-aligner`).
///
/// # Errors
/// As for [`align_and_tell`].
pub fn align_with(job: &Job, engine: &dyn IndexProvider) -> Result<(), AlignError> {
    run(job, Some(engine), |done| told(job, done))
}

/// Tells, while the ranks are still there to hear of a failure.
fn told(job: &Job, done: Option<Done>) -> Result<(), AlignError> {
    let Some(done) = done else { return Ok(()) };
    tell(job, &done.summary)?;
    done.not_compared.map_or(Ok(()), Err)
}

fn run<T>(
    job: &Job,
    embedded: Option<&dyn IndexProvider>,
    end: impl FnOnce(Option<Done>) -> Result<T, AlignError>,
) -> Result<T, AlignError> {
    let (job, checked) = product::wanted(job, embedded);
    let job = &*job;
    let checked = checked.and_then(|()| check(job, embedded));
    if job.output.path.is_some() && !job.quiet {
        zerohop_ranks::note_if_alone(job.ranks.wanted);
    }
    if !job.ranks.is_recorded() {
        checked?;
        return session::run(job, embedded, None, &RankShare::default(), None).and_then(end);
    }
    let (ranks, ()) = Started::join(job.ranks.wanted, job.ranks.mpi.as_deref(), job.hang_limit(), checked)?;
    let transport = ranks.transport();
    let share = RankShare::take(transport).map_err(AlignError::from);
    let outcome = share.and_then(|share| session::run(job, embedded, Some(transport), &share, None)).and_then(end);
    ranks.end(outcome)
}

/// Refuses what makes no sense, and what cannot be read or written, before anything is loaded.
fn check(job: &Job, embedded: Option<&dyn IndexProvider>) -> Result<(), AlignError> {
    job.check()?;
    zerohop_input::reference::check_file(&job.reference)?;
    output_files::check(job)?;
    if job.ranks.is_recorded() {
        multi_rank::check(job)?;
    }
    match embedded {
        Some(provider) => external::refuse_options(job, provider),
        None => external::check(job).and_then(|()| compare::check(job)),
    }
}
