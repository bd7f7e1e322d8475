//! Many samples, each into a file of its own, on one index.
//!
//! 1. a [`Sheet`] names the samples and their reads; each becomes a [`Job`] of its own;
//! 2. samples whose reads are of one canonical length follow one another, for they share an index, which is loaded
//!    once;
//! 3. when the reads of a sample are dealt, the next sample begins, while the workers of the one before finish what
//!    they hold: two at a time, not more;
//! 4. a sample has its files (records, index, metrics of duplicates) under their names before its report is written:
//!    that says that it is complete, and of what it was made.
//!
//! A sample that fails leaves nothing, and the others go on.

mod complete;
mod sheet;

pub use sheet::{Sample, SampleLane, Sheet};

use crate::error::AlignError;
use crate::job::{FormatName, Job, PlanFrom};
use crate::lanes::ReadGroups;
use crate::shared_index::{OneOfMany, SharedIndex};
use crate::taken::Taken;
use crate::{engines, external, output_files, product, session, sorting};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use zerohop_input::OpenLane;
use zerohop_model::index::IndexProvider;
use zerohop_model::machine::Bytes;
use zerohop_process::overwrite::{self, Kind};
use zerohop_process::tell;
use zerohop_ranks::RankShare;
use zerohop_report::Summary;

/// Samples that are aligned at the same time: the next one begins while one ends.
const AT_A_TIME: u64 = 2;

/// A sample that is to be aligned.
struct Ready {
    name: String,
    job: Job,
    /// The file that says that it is complete.
    report: PathBuf,
    /// The canonical length of its reads, in bases; none if they cannot be read, or it makes no difference.
    read_length: Option<usize>,
}

impl Ready {
    /// All files that it writes.
    fn outputs(&self) -> Vec<PathBuf> {
        let tables = self.job.report.mqc.iter().chain(sorting::metrics(&self.job)).chain([&self.report]);
        let records = [output_files::paths(&self.job), sorting::indexes(&self.job)].concat();
        records.into_iter().chain(tables.cloned()).collect()
    }
}

/// Aligns all samples of a sheet as `base` says, which has no reads, output or reports, and writes their files to
/// `folder`: `NAME.bam` (or .sam, .cram, and .paf or .tsv where the engine makes these), `NAME.json`,
/// `NAME_mqc.json`, and `NAME.duplicates.txt` if duplicates are marked. With `resume`, samples that are complete are
/// left as they are.
///
/// # Errors
/// Options that are not for samples; an index that cannot be had; the names of the samples that failed.
pub fn align_samples(base: &Job, sheet: &Sheet, folder: &Path, resume: bool) -> Result<(), AlignError> {
    check(base)?;
    let provider = engines::embedded(&base.engine);
    let (base, wanted) = product::wanted(base, provider);
    wanted?;
    std::fs::create_dir_all(folder)
        .map_err(|error| AlignError::Failed(format!("{}: cannot be made: {error}", folder.display())))?;
    if !sheet.unknown.is_empty() && !base.quiet {
        tell::note(&format!("columns of the sheet that say nothing to zerohop: {}.", sheet.unknown.join(", ")));
    }
    let all = sheet.samples.iter().map(|sample| ready(&base, sample, folder, provider));
    let all: Vec<Ready> = all.collect::<Result<_, _>>()?;
    check_files(&all, sheet)?;
    let count = all.len();
    let left: Vec<Ready> = all.into_iter().filter(|sample| !(resume && is_complete(sample))).collect();
    let told = Told { of: count, quiet: base.quiet, done: Mutex::new((count - left.len(), Vec::new())) };
    if left.len() < count {
        told.text(&format!("{} of {count} samples are complete already", count - left.len()));
    }
    run_all(&in_order(left), provider, &told)?;
    let failed = told.done.into_inner().unwrap_or_else(PoisonError::into_inner).1;
    match failed.len() {
        0 => Ok(()),
        number => Err(AlignError::Failed(format!("{number} of {count} samples failed: {}", failed.join(", ")))),
    }
}

/// Refuses what is for one output.
fn check(base: &Job) -> Result<(), AlignError> {
    let refused = [
        ("--plan auto", base.placement.plan == Some(PlanFrom::Auto)),
        ("--compare-with", base.external.compare),
        ("--logs", base.external.logs.is_some()),
        ("--shards", base.output.shards > 1),
        ("--ranks, --durable and --restart", base.ranks.is_recorded()),
    ];
    if let Some((what, _)) = refused.iter().find(|(_, is_so)| *is_so) {
        return Err(AlignError::Usage(format!("{what} cannot be used with --samples")));
    }
    match engines::embedded(&base.engine) {
        Some(provider) => external::refuse_options(base, provider),
        None => external::check(base),
    }
}

/// Refuses files of a sample that would destroy what another one reads, or its files.
fn check_files(samples: &[Ready], sheet: &Sheet) -> Result<(), AlignError> {
    let jobs = || samples.iter().map(|sample| &sample.job);
    let plan = jobs().next().and_then(|job| match &job.placement.plan {
        Some(PlanFrom::File(path)) => Some(path),
        _ => None,
    });
    let described = jobs().next().into_iter().flat_map(|job| job.external.engine_file.iter().chain([&job.reference]));
    let reads = jobs().flat_map(|job| &job.lanes).flat_map(|lane| &lane.files);
    let outputs: Vec<PathBuf> = samples.iter().flat_map(Ready::outputs).collect();
    overwrite::apart(reads.chain(described).chain(plan).chain([&sheet.path]), &outputs)?;
    samples.iter().try_for_each(|sample| Ok(overwrite::replaceable(&sample.report, Kind::Json)?))
}

/// The job of a sample.
fn ready(
    base: &Job,
    sample: &Sample,
    folder: &Path,
    provider: Option<&dyn IndexProvider>,
) -> Result<Ready, AlignError> {
    // Programs of their own load their index anew: there one sample ends before the next one begins.
    let at_a_time = if provider.is_some() { AT_A_TIME } else { 1 };
    let mut job = base.clone();
    job.lanes = sample.lanes.iter().map(|lane| lane.reads.clone()).collect();
    // A file that cannot be opened now fails the sample when its turn comes.
    let open =
        |lane: &SampleLane| Some(OpenLane::open_with(&lane.reads, Some(&base.reference)).ok()?.first(base.first));
    let mut open: Vec<Option<OpenLane>> = sample.lanes.iter().map(open).collect();
    job.read_groups = read_groups(sample, &open)?;
    let file = |ending: &str| folder.join(format!("{}{ending}", sample.name));
    let format = *job.output.format.get_or_insert(FormatName::Bam);
    job.output.path = Some(file(match format {
        FormatName::Sam => ".sam",
        FormatName::Bam => ".bam",
        FormatName::Cram => ".cram",
        FormatName::Paf => ".paf",
        FormatName::Abundances => ".tsv",
    }));
    if let Some(sorting) = &mut job.output.sorting {
        sorting.metrics = sorting.marking.map(|_| file(".duplicates.txt"));
        sorting.memory = sorting.memory.map(|memory| Bytes(memory.0 / at_a_time));
    }
    job.at_a_time = at_a_time as usize;
    job.report.mqc = Some(file("_mqc.json"));
    job.report.sample = Some(sample.name.clone());
    job.quiet = true;
    let read_length = match provider.filter(|provider| provider.has_read_length()) {
        None => None,
        Some(provider) => {
            let mut open: Vec<OpenLane> = open.drain(..).flatten().collect();
            let mean = base.read_length.or_else(|| zerohop_input::mean_read_length(&mut open).ok());
            mean.map(|mean| provider.canonical_read_length(mean))
        }
    };
    Ok(Ready { name: sample.name.clone(), job, report: file(".json"), read_length })
}

/// The read groups of the sheet; reads of BAM that have some keep them.
fn read_groups(sample: &Sample, open: &[Option<OpenLane>]) -> Result<ReadGroups, AlignError> {
    let mut all = ReadGroups::default();
    for (lane, open) in sample.lanes.iter().zip(open) {
        let has_own = open.as_ref().is_some_and(|open| open.read_group_lines().next().is_some());
        if lane.keeps_own && has_own {
            all.of_lanes.push(None);
            continue;
        }
        let group = &lane.read_group;
        let at = match all.groups.iter().position(|other| other.id == group.id) {
            Some(at) if all.groups[at] == *group => at,
            Some(_) => {
                let words = format!("sample {}: two rows have different read groups of ID '{}'", sample.name, group.id);
                return Err(AlignError::Usage(words));
            }
            None => {
                all.groups.push(group.clone());
                all.groups.len() - 1
            }
        };
        all.of_lanes.push(Some(at));
    }
    Ok(all)
}

/// Those that share an index one after the other; apart from that in the order of the sheet.
fn in_order(mut samples: Vec<Ready>) -> Vec<Ready> {
    let mut lengths: Vec<Option<usize>> = Vec::new();
    for sample in &samples {
        if !lengths.contains(&sample.read_length) {
            lengths.push(sample.read_length);
        }
    }
    samples.sort_by_key(|sample| lengths.iter().position(|length| *length == sample.read_length));
    samples
}

fn is_complete(sample: &Ready) -> bool {
    match complete::changes(&sample.job, &sample.report) {
        None => false,
        Some(changes) if changes.is_empty() => true,
        Some(changes) => {
            let changes = changes.join("; ");
            tell::note(&format!("sample {} is aligned again, for something has changed: {changes}", sample.name));
            false
        }
    }
}

/// Runs one after the other; each begins when the reads of the one before are dealt.
fn run_all(samples: &[Ready], provider: Option<&dyn IndexProvider>, told: &Told) -> Result<(), AlignError> {
    let index = SharedIndex::default();
    std::thread::scope(|scope| {
        let mut before: Option<Running<'_, '_>> = None;
        for (run, sample) in (0..).zip(samples) {
            // Two indexes at a time may be too many.
            if before.as_ref().is_some_and(|(before, _)| before.read_length != sample.read_length) {
                join(before.take(), told);
            }
            if index.has_failed(sample.read_length.unwrap_or(0)) {
                let words = "its index could not be had, as was said of the sample that needed it first";
                told.outcome(&sample.name, Err(AlignError::Failed(words.to_owned())));
                continue;
            }
            let (taken, index) = (Arc::new(Taken::default()), &index);
            let thread = std::thread::Builder::new().name("sample".into());
            let aligned = {
                let taken = Arc::clone(&taken);
                move || {
                    let _ended = taken.set_at_end();
                    told.outcome(&sample.name, align(sample, provider, OneOfMany { index, run, taken: &taken }));
                }
            };
            let run = thread.spawn_scoped(scope, aligned).map_err(zerohop_model::error::Error::Thread)?;
            taken.wait();
            join(before.replace((sample, run)), told);
        }
        join(before, told);
        Ok(())
    })
}

/// A sample, and the thread that aligns it.
type Running<'s, 'a> = (&'a Ready, ScopedJoinHandle<'s, ()>);

/// Waits for a run, if there is one.
fn join(run: Option<Running<'_, '_>>, told: &Told) {
    if let Some((sample, run)) = run
        && run.join().is_err()
    {
        told.outcome(&sample.name, Err(AlignError::Failed("its thread died: please report this".to_owned())));
    }
}

/// Aligns one sample and writes its report.
fn align(sample: &Ready, provider: Option<&dyn IndexProvider>, among: OneOfMany<'_>) -> Result<Summary, AlignError> {
    let job = &sample.job;
    crate::check(job, provider)?;
    let made_of = complete::made_of(job);
    complete::forget(&sample.report)?;
    let done = session::run(job, provider, None, &RankShare::default(), Some(among))?;
    let summary = done.ok_or_else(|| AlignError::Failed("nothing was aligned".to_owned()))?.summary;
    crate::summary::write_reports(job, &summary)?;
    complete::write(&sample.report, &summary, made_of)?;
    Ok(summary)
}

/// What is said of samples as they end.
struct Told {
    of: usize,
    quiet: bool,
    /// How many have ended, and the names of those that failed.
    done: Mutex<(usize, Vec<String>)>,
}

impl Told {
    fn text(&self, words: &str) {
        if !self.quiet {
            tell::text(&format!("{words}\n"));
        }
    }

    fn outcome(&self, name: &str, outcome: Result<Summary, AlignError>) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0 += 1;
        match outcome {
            Ok(summary) => {
                self.text(&format!("{name:<20} {} ({} of {})", summary.line(), done.0, self.of));
                summary.notes.iter().for_each(|note| tell::note(&format!("sample {name}: {note}")));
            }
            Err(error) => {
                tell::error(&format!("sample {name}: {error}"));
                done.1.push(name.to_owned());
            }
        }
    }
}
