//! One alignment, from reads to records, without a command line. `zerohop align` is made of it, and other programs can
//! use it.
//!
//! [`align`] takes a [`Job`] and goes these steps, each a folder or a file of that name (`align_by` below):
//!
//! 1. *check*: a job that contradicts itself, or whose files cannot be read or written, is refused before anything is
//!    loaded;
//! 2. *open*: the reads are opened, and what their headers say joins the job;
//! 3. *plan*, and make ready: the engine (in our process, or as programs of its own) finds its index, gets a plan, and
//!    makes the index copies;
//! 4. *run*: the runtime claims, parses, maps, encodes and commits;
//! 5. *merge*: records that are to be sorted are;
//! 6. *finish*: the files get their names;
//! 7. *tell*: the summary and the reports.
//!
//! `ranks/` wraps this path for jobs over ranks and on record. [`samples`] runs one job per sample on one index.
//! [`tune`](mod@tune) tries plans on the user's reads, and [`strategies`] asks the rule which is best. [`engines`]
//! lists the engines in our own process, [`descriptors`] those that are programs of their own.
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

pub mod engines;
mod finish;
mod job;
mod merge;
mod open;
mod plan;
mod ranks;
mod run;
pub mod samples;
mod tell;
mod trim;
pub mod tune;

pub use engines::descriptors;
pub use engines::embedded::index_files::write_index;
pub use engines::embedded::keep;
pub use job::{
    AlignError, BAM_LEVEL, ExternalOptions, HANG_LIMIT, Job, LEVEL, MethylDackelOptions, MosdepthOptions, NULL,
    OutputOptions, PicardOptions, PlacementOptions, PlanFrom, QcOptions, RAMMAP, RankOptions, RecordFormat,
    ReportOptions, SAVED_LEVEL, STROBEALIGN, SavedPaths, SortOptions, UnalignedOptions, lanes,
};
pub use plan::{plan_cache, tuning_key};
pub use tell::{Done, tell};
pub use tune::strategies;
pub use zerohop_input::{
    Barcodes, BisulfiteLibrary, LaneSpec, ReadStructure, StructureError, TrimOptionError, TrimOptions, Trimming,
};
pub use zerohop_memory::PlacedAlloc;
pub use zerohop_model::plan::{HugePages, Pages};
pub use zerohop_output::Search as DuplicateSearch;
pub use zerohop_output::{
    Barcode, Comments, CramVersion, Duplicates, History, IndexFormat, Marking, ReadGroup, Rules, SortOrder, UmiRules,
    UmiStrategy, WriteIndex,
};
pub use zerohop_plan::Replicas;
pub use zerohop_qc::{Bounds, By, LEFT_OUT, MethylDackelSpec, MosdepthSpec, Quantizer, SiteColumns};
pub use zerohop_ranks::RankCount;
pub use zerohop_runtime::{Dealing, Order};

use engines::embedded::shared_index::OneOfMany;
use run::{EngineRan, OneProcess, Processes, WholeMachine};
use samples::Sheet;
use std::path::Path;
use std::time::Instant;
use zerohop_input::OpenLane;
use zerohop_model::index::IndexProvider;

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

/// Aligns all samples of a sheet on one index, each into files of its own in `folder`, as `base` says: see [`samples`].
/// With `resume`, samples that are complete are left as they are.
///
/// # Errors
/// Options that are not for samples; an index that cannot be had; the names of the samples that failed.
pub fn align_samples(base: &Job, sheet: &Sheet, folder: &Path, resume: bool) -> Result<(), AlignError> {
    match base.ranks.wanted {
        Some(_) => ranks::align_samples(base, sheet, folder, resume),
        None => samples::align_samples(base, sheet, folder, resume),
    }
}

fn run<T>(
    job: &Job,
    embedded: Option<&dyn IndexProvider>,
    end: impl FnOnce(Option<Done>) -> Result<T, AlignError>,
) -> Result<T, AlignError> {
    let (job, checked) = job::product::wanted(job, embedded);
    let checked = checked.and_then(|()| check(&job, embedded));
    if job.output.path.is_some() && !job.quiet {
        zerohop_ranks::note_if_alone(job.ranks.wanted);
    }
    if job.ranks.is_recorded() {
        let checked = checked.and_then(|()| ranks::check(&job));
        return ranks::join(&job, checked, |ranks| align_by(&job, embedded, ranks, None).and_then(end));
    }
    checked?;
    align_by(&job, embedded, &OneProcess { share: &WholeMachine }, None).and_then(end)
}

/// Refuses what contradicts itself, and what cannot be read or written, before anything is loaded.
fn check(job: &Job, embedded: Option<&dyn IndexProvider>) -> Result<(), AlignError> {
    job.check()?;
    trim::check(job)?;
    zerohop_input::reference::check_file(&job.reference)?;
    job::files::check(job, &descriptors::files(&job.external.engine_file))?;
    engines::check(job, embedded)
}

/// The path of a job that was checked, from its reads to files with names, by these processes; on the same index as the
/// runs that it is `among`. None on other ranks than the first, and if an earlier run had written everything.
fn align_by(
    job: &Job,
    embedded: Option<&dyn IndexProvider>,
    processes: &dyn Processes,
    among: Option<OneOfMany<'_>>,
) -> Result<Option<Done>, AlignError> {
    let started = Instant::now();
    let interruption = if among.is_none() { tell::if_interrupted(job) } else { None };
    let until = job.time_limit.map(|limit| started + limit);
    if embedded.is_some() {
        zerohop_memory::set_default_huge_pages(job.placement.huge_pages);
    }
    let (job, mut lanes) = open::open(job)?;
    let job = &job;
    processes.check_options(job)?;
    let (mut engine, of_engine) = engines::make_ready(job, embedded, &mut lanes, (processes.share(), among))?;
    let mut notes = [open::notes(&lanes), processes.share().note().into_iter().collect(), of_engine].concat();

    let (saved, lanes) = open::saved::open(job, lanes, processes.rank())?;
    let Some(mut part) = processes.begin(job, &lanes, &*engine)? else { return Ok(None) };
    let when_read: Vec<_> = lanes.iter().flat_map(|lane| lane.when_read()).collect();
    let trimmed: Vec<_> = lanes.iter().filter_map(OpenLane::trimmed).collect();
    let EngineRan { outcome, sink } = engine.run(lanes, until, &mut *part)?;
    let mut report = outcome.report;
    tell::check(&report)?;
    report.trimmed = trim::report(&trimmed);
    notes.extend(tell::after_run(sink.as_ref(), when_read)?);
    notes.extend(engine.notes(&report, processes.count()));

    let (sink, header) = sink.unzip();
    let (sink, sorted) = merge::merge(job, engine.plan(), sink, &mut *part)?;
    notes.extend(part.notes());
    let beside = trim::report_file(job, &trimmed).into_iter().collect();
    let saved = saved.map_or(Ok(Vec::new()), |saved| saved.end())?;
    let written = finish::WrittenFiles { sink, header, collected: outcome.lengths, sorted, beside, saved };
    let threads = engine.plan().workers.len();
    // From here on the files may have their names.
    drop(interruption);
    let Some(of_ranks) = part.finish(job, written, &mut report, threads)? else { return Ok(None) };

    let (comparison, not_compared) = engine.compare().map_or_else(|error| (None, Some(error)), |c| (c, None));
    let mut summary = engine.told(report).summary(job, started, comparison, of_ranks, notes);
    let doubts = tell::doubts(job, &summary);
    summary.notes.extend(doubts);
    Ok(Some(Done { summary, not_compared }))
}
