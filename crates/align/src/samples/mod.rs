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
//! A sample that fails leaves nothing, and the others go on. Ranks take one sample after the other, each with an index
//! of its own (ranks/samples.rs).

pub(crate) mod complete;
mod sheet;

pub use sheet::{Sample, SampleLane, Sheet};

use crate::engines::embedded::shared_index::{IndexOfRuns, OneOfMany};
use crate::engines::embedded::taken::ReadsTaken;
use crate::engines::{self, descriptors};
use crate::job::lanes::ReadGroups;
use crate::job::qc::QcOptions;
use crate::job::{AlignError, Job, PlanFrom, RankOptions, RecordFormat, files, product, qc, sorting};
use crate::run::{MachineShare, OneProcess, WholeMachine};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use zerohop_engine_external::Found;
use zerohop_input::OpenLane;
use zerohop_model::index::IndexProvider;
use zerohop_model::machine::Bytes;
use zerohop_output::ReadsFormat;
use zerohop_process::overwrite;
use zerohop_process::tell;
use zerohop_report::Summary;

/// Samples that are aligned at the same time: the next one begins while one ends.
const AT_A_TIME: u64 = 2;

/// A sample that is to be aligned.
pub(crate) struct SampleJob {
    pub(crate) name: String,
    pub(crate) job: Job,
    /// The file that says that it is complete.
    pub(crate) report: PathBuf,
    /// Whether it is left as it is if it is complete.
    resume: bool,
    /// Name and version of the aligner.
    aligner: Arc<str>,
    /// The canonical length of its reads, in bases; none if there are none, they cannot be read, or it makes no
    /// difference.
    read_length: Option<usize>,
    /// Why its reads could not be opened, if they could not: it fails when its turn comes, for their read groups and
    /// their length are not known.
    unreadable: Option<String>,
}

impl SampleJob {
    /// All files that it writes.
    fn outputs(&self) -> Vec<PathBuf> {
        let metrics = sorting::metrics(&self.job).map(|(_, path)| path);
        let tables = self.job.report.mqc.iter().chain(&self.job.trim_report).chain([&self.report]);
        let tables = tables.cloned().chain(metrics);
        let reads = self.job.saved.paths();
        let records = [files::all_paths(&self.job), reads, sorting::indexes(&self.job), qc::files(&self.job)].concat();
        records.into_iter().chain(tables).collect()
    }
}

/// Aligns all samples of a sheet as `base` says, which has no reads, output or reports, and writes their files to
/// `folder`: `NAME.bam` (or .sam, .cram, and .paf or .tsv where the engine makes these), `NAME.json`,
/// `NAME_mqc.json`, `NAME.markdup.txt` if duplicates are marked, `NAME.family_sizes.txt` and
/// `NAME.grouping_metrics.txt` of UMIs, `NAME.fastp.json` if reads are trimmed, and `NAME.unaligned`, `NAME.trimmed`
/// and `NAME.failed` with the endings that stand in `base` for the files of such reads. With `resume`, samples that are
/// complete are left as they are.
///
/// # Errors
/// Options that are not for samples; an index that cannot be had; the names of the samples that failed.
pub(crate) fn align_samples(base: &Job, sheet: &Sheet, folder: &Path, resume: bool) -> Result<(), AlignError> {
    let provider = engines::embedded(&base.engine);
    let all = all_ready(base, sheet, (folder, resume), provider)?;
    tell_unknown(base, sheet);
    if !base.quiet {
        zerohop_ranks::note_if_alone(None);
    }
    let count = all.len();
    let left = in_order(left(all, resume, base.quiet));
    let told = SamplesTold::new((left.len(), count), base.quiet, None, &|_| ());
    let words =
        format!("samples that are complete have their files in {}; --resume aligns the others", folder.display());
    let _interruption = zerohop_process::tell_if_interrupted(&words);
    run_all(left.iter(), provider, &WholeMachine, &told)?;
    failure(&told.into_failed(), count).map_or(Ok(()), Err)
}

/// The jobs of all samples. What is wrong with one of them is found before any of them is begun.
pub(crate) fn all_ready(
    base: &Job,
    sheet: &Sheet,
    (folder, resume): (&Path, bool),
    provider: Option<&dyn IndexProvider>,
) -> Result<Vec<SampleJob>, AlignError> {
    check(base)?;
    let ranks = RankOptions { mpi: base.ranks.mpi.clone(), ..RankOptions::default() };
    let mut base = Job { ranks, ..base.clone() };
    if provider.is_some() {
        // It is for the other ranks alone.
        base.external.hang_limit = None;
    }
    let (base, wanted) = product::wanted(&base, provider);
    wanted?;
    std::fs::create_dir_all(folder)
        .map_err(|error| AlignError::Failed(format!("{}: cannot be made: {error}", folder.display())))?;
    let aligner: Arc<str> = aligner(&base, provider)?.into();
    let all = sheet.samples.iter().map(|sample| ready(&base, sample, (folder, resume), (provider, &aligner)));
    let mut all: Vec<SampleJob> = all.collect::<Result<_, _>>()?;
    check_files(&all, sheet)?;
    // Options are the same for all.
    all.iter().take(1).try_for_each(|sample| sorting::check(&sample.job).and_then(|()| qc::check(&sample.job)))?;
    share_index(&mut all);
    Ok(all)
}

/// Name and version of the aligner.
fn aligner(base: &Job, provider: Option<&dyn IndexProvider>) -> Result<String, AlignError> {
    if let Some(provider) = provider {
        let (name, version) = provider.engine();
        return Ok(format!("{name} {version}"));
    }
    let found = Found::find(descriptors::described(&base.engine, &base.external.engine_file)?)?;
    Ok(format!("{} {}", found.descriptor.name, found.version))
}

/// Samples without reads take the index of others: one for no length would be built for them alone.
fn share_index(all: &mut [SampleJob]) {
    let Some(length) = all.iter().find_map(|sample| sample.read_length) else { return };
    for sample in all.iter_mut().filter(|sample| sample.read_length.is_none()) {
        sample.read_length = Some(length);
        sample.job.read_length.get_or_insert(length);
    }
}

pub(crate) fn tell_unknown(base: &Job, sheet: &Sheet) {
    if !sheet.unknown.is_empty() && !base.quiet {
        tell::note(&format!("columns of the sheet that say nothing to zerohop: {}.", sheet.unknown.join(", ")));
    }
}

/// Those that are to be aligned: with `resume`, all that are not complete.
pub(crate) fn left(all: Vec<SampleJob>, resume: bool, quiet: bool) -> Vec<SampleJob> {
    all.into_iter().filter(|sample| !(resume && is_complete(sample, quiet))).collect()
}

/// What is said in the end, if samples have failed.
pub(crate) fn failure(failed: &[String], of: usize) -> Option<AlignError> {
    let words = || format!("{} of {of} samples failed: {}", failed.len(), failed.join(", "));
    (!failed.is_empty()).then(|| AlignError::Failed(words()))
}

/// Refuses what is for one output.
fn check(base: &Job) -> Result<(), AlignError> {
    let refused = [
        ("--plan auto", base.placement.plan == Some(PlanFrom::Auto)),
        ("--compare-with", base.external.compare),
        ("--logs", base.external.logs.is_some()),
        ("--shards", base.output.shards > 1),
        ("--durable and --restart", base.ranks.durable || base.ranks.restart),
    ];
    if let Some((what, _)) = refused.iter().find(|(_, is_so)| *is_so) {
        return Err(AlignError::Usage(format!("{what} cannot be used with --samples")));
    }
    if let Some(QcOptions { prefix: Some(_), .. }) = qc::wanted(base) {
        let words = "--qc=PREFIX: with --samples the reports of each have the names of its records: give --qc alone";
        return Err(AlignError::Usage(words.to_owned()));
    }
    let unaligned = base.output.unaligned.as_ref().map(|unaligned| ("--unaligned", &unaligned.path));
    if let Some((option, path)) = unaligned.into_iter().chain(base.saved.named()).find(|(_, path)| !is_ending(path)) {
        let (what, bam) = match option {
            "--unaligned" => ("unaligned", ", .bam"),
            "--save-trimmed" => ("trimmed", ""),
            _ => ("failed", ""),
        };
        return Err(AlignError::Usage(format!(
            "{option} {}: with --samples this is the ending alone: .fq.gz, .fastq.gz, .fq, .fastq{bam}, so that the \
             reads go to NAME.{what}.fq.gz; or _%.fq.gz and so on, for a file of each mate",
            path.display()
        )));
    }
    engines::check(base, engines::embedded(&base.engine))
}

/// Whether it is the ending of a file of reads, or of files of mates, without a name before it.
fn is_ending(path: &Path) -> bool {
    let ending = path.to_string_lossy();
    let of_mate = ending.strip_prefix("_%").filter(|ending| !ending.ends_with(".bam"));
    let ending = of_mate.unwrap_or(&ending);
    let dots = if ending.ends_with(".gz") { 2 } else { 1 };
    ending.starts_with('.') && ending.matches('.').count() == dots && ReadsFormat::of_name(path, 0).is_some()
}

/// Refuses files of a sample that would destroy what another one reads, or its files.
fn check_files(samples: &[SampleJob], sheet: &Sheet) -> Result<(), AlignError> {
    let jobs = || samples.iter().map(|sample| &sample.job);
    let plan = jobs().next().and_then(|job| match &job.placement.plan {
        Some(PlanFrom::File(path)) => Some(path),
        _ => None,
    });
    let described = jobs().next().into_iter().flat_map(|job| job.external.engine_file.iter().chain([&job.reference]));
    let reads = jobs().flat_map(|job| &job.lanes).flat_map(|lane| &lane.files);
    // What an earlier run has made of a sample goes when it is aligned anew.
    let outputs: Vec<PathBuf> = samples.iter().flat_map(|s| [s.outputs(), complete::left_over(s)].concat()).collect();
    overwrite::apart(reads.chain(described).chain(plan).chain([&sheet.path]), &outputs)?;
    samples.iter().try_for_each(complete::check_report)
}

/// The job of a sample.
fn ready(
    base: &Job,
    sample: &Sample,
    (folder, resume): (&Path, bool),
    (provider, aligner): (Option<&dyn IndexProvider>, &Arc<str>),
) -> Result<SampleJob, AlignError> {
    // Programs of their own load their index anew: there one sample ends before the next one begins.
    let at_a_time = if provider.is_some() { AT_A_TIME } else { 1 };
    let mut job = base.clone();
    job.lanes = sample.lanes.iter().map(|lane| lane.reads.clone()).collect();
    let open = |lane: &SampleLane| {
        let lane = OpenLane::open_with(&lane.reads, Some(&base.reference))?.first(base.first);
        let lane = lane.with_barcodes(&base.barcodes)?;
        Ok(match &job.trimming {
            Some(trimming) => lane.with_trimming(trimming)?,
            None => lane,
        })
    };
    let mut unreadable = None;
    let open: Result<Vec<OpenLane>, AlignError> = sample.lanes.iter().map(open).collect();
    let mut open = open.map_err(|error| unreadable = Some(error.to_string())).unwrap_or_default();
    job.read_groups = read_groups(sample, &open)?;
    let file = |ending: &str| folder.join(format!("{}{ending}", sample.name));
    let format = *job.output.format.get_or_insert(RecordFormat::Bam);
    job.output.path = Some(file(match format {
        RecordFormat::Sam => ".sam",
        RecordFormat::Bam => ".bam",
        RecordFormat::Cram => ".cram",
        RecordFormat::Paf => ".paf",
        RecordFormat::Abundances => ".tsv",
    }));
    let unaligned = job.output.unaligned.as_mut().map(|unaligned| &mut unaligned.path);
    let reads =
        [("unaligned", unaligned), ("trimmed", job.saved.trimmed.as_mut()), ("failed", job.saved.failed.as_mut())];
    for (what, path) in reads {
        let Some(path) = path else { continue };
        let ending = path.display().to_string();
        let ending = ending.strip_prefix("_%").filter(|_| is_single(&open)).unwrap_or(&ending);
        *path = file(&format!(".{what}{ending}"));
    }
    if let Some(sorting) = &mut job.output.sorting {
        sorting.metrics = sorting.marking.map(|_| file(".markdup.txt"));
        sorting.umi_metrics = sorting.marking.and_then(|marking| marking.search.umis).map(|_| file(""));
        sorting.memory = sorting.memory.map(|memory| Bytes(memory.0 / at_a_time));
    }
    job.at_a_time = at_a_time as usize;
    if let Some(trimming) = &mut job.trimming {
        trimming.has_statistics = true;
        job.trim_report = Some(file(".fastp.json"));
    }
    job.report.mqc = Some(file("_mqc.json"));
    job.report.sample = Some(sample.name.clone());
    job.quiet = true;
    let read_length = match provider.filter(|provider| provider.has_read_length()) {
        None => None,
        Some(provider) => {
            let mean = base.read_length.or_else(|| zerohop_input::mean_read_length(&mut open).ok());
            mean.filter(|mean| *mean > 0).map(|mean| provider.canonical_read_length(mean))
        }
    };
    let (name, report, aligner) = (sample.name.clone(), file(".json"), Arc::clone(aligner));
    Ok(SampleJob { name, job, report, resume, aligner, read_length, unreadable })
}

/// Whether there are reads, and the first of each file has no mate: a file of each mate is not for them.
fn is_single(lanes: &[OpenLane]) -> bool {
    let mut with_reads = lanes.iter().filter(|lane| lane.is_fasta().is_some()).peekable();
    with_reads.peek().is_some() && with_reads.all(|lane| !lane.is_paired())
}

/// The read groups of the sheet; reads of BAM that have some keep them.
fn read_groups(sample: &Sample, open: &[OpenLane]) -> Result<ReadGroups, AlignError> {
    let mut all = ReadGroups::default();
    for (number, lane) in sample.lanes.iter().enumerate() {
        let has_own = open.get(number).is_some_and(|open| open.read_group_lines().next().is_some());
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
pub(crate) fn in_order(mut samples: Vec<SampleJob>) -> Vec<SampleJob> {
    let mut lengths: Vec<Option<usize>> = Vec::new();
    for sample in &samples {
        if !lengths.contains(&sample.read_length) {
            lengths.push(sample.read_length);
        }
    }
    samples.sort_by_key(|sample| lengths.iter().position(|length| *length == sample.read_length));
    samples
}

fn is_complete(sample: &SampleJob, quiet: bool) -> bool {
    match complete::changes(sample) {
        None => false,
        Some(changes) if changes.is_empty() => true,
        Some(changes) => {
            if !quiet {
                let (name, changes) = (&sample.name, changes.join("; "));
                tell::note(&format!("sample {name} is aligned again, for something has changed: {changes}"));
            }
            false
        }
    }
}

/// Runs one after the other, as they come; each begins when the reads of the one before are dealt.
pub(crate) fn run_all<'r>(
    samples: impl Iterator<Item = &'r SampleJob>,
    provider: Option<&dyn IndexProvider>,
    share: &dyn MachineShare,
    told: &SamplesTold<'_>,
) -> Result<(), AlignError> {
    let index = IndexOfRuns::default();
    std::thread::scope(|scope| {
        let mut before: Option<RunningSample<'_, '_>> = None;
        for (run, sample) in (0..).zip(samples) {
            // Two indexes at a time may be too many.
            if before.as_ref().is_some_and(|(before, _)| before.read_length != sample.read_length) {
                join(before.take(), told);
            }
            if index.has_failed(sample.read_length.unwrap_or(0)) {
                let words = "its index could not be had, as was said of the sample that needed it first";
                if told.rank.is_some() {
                    // It would take one sample after the other from those that may have theirs.
                    return Err(AlignError::Failed(format!("sample {}: {words}", sample.name)));
                }
                told.outcome(sample, Err(AlignError::Failed(words.to_owned())));
                continue;
            }
            let (taken, index) = (Arc::new(ReadsTaken::default()), &index);
            let thread = std::thread::Builder::new().name("sample".into());
            let aligned = {
                let taken = Arc::clone(&taken);
                move || {
                    let _ended = taken.set_at_end();
                    let among = OneOfMany { index, run, taken: &taken };
                    told.outcome(sample, align(sample, provider, share, (among, told.left)));
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
type RunningSample<'s, 'a> = (&'a SampleJob, ScopedJoinHandle<'s, ()>);

/// Waits for a run, if there is one.
fn join(run: Option<RunningSample<'_, '_>>, told: &SamplesTold<'_>) {
    if let Some((sample, run)) = run
        && run.join().is_err()
    {
        told.outcome(sample, Err(AlignError::Failed("its thread died: please report this".to_owned())));
    }
}

/// Aligns one sample, of so many of all ranks, and writes its report. What was made of it before, and not again, goes
/// in the end. None if another run has completed it meanwhile.
fn align(
    sample: &SampleJob,
    provider: Option<&dyn IndexProvider>,
    share: &dyn MachineShare,
    (among, samples): (OneOfMany<'_>, usize),
) -> Result<Option<Summary>, AlignError> {
    let job = &sample.job;
    crate::check(job, provider)?;
    let _own = complete::hold(sample)?;
    if sample.resume && complete::changes(sample).is_some_and(|changes| changes.is_empty()) {
        return Ok(None);
    }
    let (made_of, left_over) = (complete::made_of(sample), complete::left_over(sample));
    if let Some(what) = &sample.unreadable {
        return Err(AlignError::Failed(what.clone()));
    }
    complete::forget(sample)?;
    let done = crate::align_by(job, provider, &OneProcess { share }, Some(among))?;
    let summary = done.ok_or_else(|| AlignError::Failed("nothing was aligned".to_owned()))?.summary;
    let summary = Summary { samples, ..summary };
    let reports = || {
        crate::tell::write_reports(job, &summary)?;
        complete::write(sample, &summary, made_of)
    };
    reports().inspect_err(|_| complete::remove(&sample.outputs()))?;
    complete::remove_earlier(sample, &left_over);
    Ok(Some(summary))
}

/// What is said of samples as they end, and to whom.
pub(crate) struct SamplesTold<'e> {
    /// How many were to be aligned, by all ranks.
    left: usize,
    /// How many there are.
    of: usize,
    quiet: bool,
    /// Which rank this is, if there are several.
    rank: Option<usize>,
    /// How many have ended, and the names of those that failed.
    done: Mutex<(usize, Vec<String>)>,
    /// Is told of each that has ended.
    ended: &'e (dyn Fn(&SampleJob) + Sync),
}

impl<'e> SamplesTold<'e> {
    /// Of so many samples so many are left, which is said if it is not all of them.
    pub(crate) fn new(
        (left, of): (usize, usize),
        quiet: bool,
        rank: Option<usize>,
        ended: &'e (dyn Fn(&SampleJob) + Sync),
    ) -> Self {
        let told = SamplesTold { left, of, quiet, rank, done: Mutex::new((of - left, Vec::new())), ended };
        if left < of && rank.is_none_or(|rank| rank == 0) {
            told.text(&format!("{} of {of} samples are complete already", of - left));
        }
        told
    }

    /// The names of those that failed.
    pub(crate) fn into_failed(self) -> Vec<String> {
        self.done.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }

    fn text(&self, words: &str) {
        if !self.quiet {
            tell::text(&format!("{words}\n"));
        }
    }

    fn outcome(&self, sample: &SampleJob, outcome: Result<Option<Summary>, AlignError>) {
        let (name, mut done) = (&sample.name, self.done.lock().unwrap_or_else(PoisonError::into_inner));
        done.0 += 1;
        match outcome {
            Ok(None) => self.text(&format!("{name:<20} is complete already")),
            Ok(Some(summary)) => {
                let place = match self.rank {
                    None => format!("{} of {}", done.0, self.of),
                    Some(rank) => format!("rank {rank}"),
                };
                self.text(&format!("{name:<20} {} ({place})", summary.line()));
                summary.notes.iter().for_each(|note| tell::note(&format!("sample {name}: {note}")));
            }
            Err(error) => {
                tell::error(&format!("sample {name}: {error}"));
                done.1.push(name.clone());
            }
        }
        drop(done);
        (self.ended)(sample);
    }
}
