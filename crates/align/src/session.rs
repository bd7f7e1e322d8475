//! One run, from reads to files with names, whatever the engine.
//!
//! 1. the lanes are opened, and the first reads looked at;
//! 2. the engine is got ready: in our process (embedded.rs), or as programs of their own (external.rs);
//! 3. with ranks, or with progress on record, the reads are counted, and what is finished is looked up (multi_rank.rs);
//! 4. the engine has the runtime run;
//! 5. records that are to be sorted are merged (merge.rs);
//! 6. the files get their names, and what there is to say is gathered.

use crate::carried;
use crate::duplicates::Metrics;
use crate::error::AlignError;
use crate::job::{Job, NULL};
use crate::lanes;
use crate::merge;
use crate::multi_rank::{self, Begun, MultiRank};
use crate::output_files;
use crate::ready::{Ran, Ready};
use crate::shared_index::OneOfMany;
use crate::{embedded::Embedded, external::External};
use crate::{sorting, summary};
use std::time::Instant;
use zerohop_input::{EndOfPipe, OpenLane};
use zerohop_model::error::shown_path;
use zerohop_model::index::IndexProvider;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::RunReport;
use zerohop_model::sink::Sink as _;
use zerohop_output::Format;
use zerohop_ranks::{RankShare, Transport};
use zerohop_report::Summary;
use zerohop_runtime::Outcome;

/// Files of reads that a system surely lets a process have open, with all others.
const MANY_FILES: usize = 100;

/// A run that went well, as the first rank tells it.
pub struct Done {
    /// What there is to say.
    pub summary: Summary,
    /// Why the records could not be compared, if they should have been. They are there all the same.
    pub not_compared: Option<AlignError>,
}

/// Aligns, over `transport` together with other ranks if there is one, and on the same index as the runs that it is
/// `among`. None on other ranks than the first, and if an earlier run had written everything.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left, and no process.
pub fn run(
    job: &Job,
    embedded: Option<&dyn IndexProvider>,
    transport: Option<&dyn Transport>,
    share: &RankShare,
    among: Option<OneOfMany<'_>>,
) -> Result<Option<Done>, AlignError> {
    let started = Instant::now();
    let until = job.time_limit.map(|limit| started + limit);
    if embedded.is_some() {
        zerohop_memory::set_default_huge_pages(job.placement.huge_pages);
    }
    // Pipes stay open until they are read.
    if job.lanes.iter().map(|lane| lane.files.len()).sum::<usize>() > MANY_FILES {
        zerohop_process::allow_more_files();
    }
    let open = |lane| Ok(OpenLane::open_with(lane, Some(&job.reference))?.first(job.first));
    let lanes: Vec<OpenLane> = job.lanes.iter().map(open).collect::<Result<_, AlignError>>()?;
    lanes.iter().try_for_each(OpenLane::check_ends)?;
    let (job, mut lanes) = carried::complete(job, lanes)?;
    let job = &job;
    transport.map_or(Ok(()), |transport| multi_rank::check_options(transport, job))?;
    let mut notes: Vec<String> = Vec::new();
    let mut engine: Box<dyn Ready + '_> = match embedded {
        Some(provider) => Box::new(Embedded::new(job, provider, &mut lanes, (share, among), &mut notes)?),
        None => Box::new(External::new(job, &mut lanes, share, &mut notes)?),
    };
    let of_lanes = lanes.iter().flat_map(|lane| lane.notes.clone()).chain(without_reads(&lanes));
    notes = of_lanes.chain(share.note.clone()).chain(notes).collect();

    let begun =
        MultiRank::begin((transport, share), job, &lanes, engine.cut(), engine.takers(), engine.aligned_with())?;
    let Begun::ToDo(mut ranks) = begun else { return Ok(None) };
    let ends: Vec<EndOfPipe> = lanes.iter().flat_map(OpenLane::ends_of_pipes).collect();
    let Ran { came: (Outcome { mut report, lengths }, dealt), sink } =
        engine.run(lanes, until, ranks.as_deref_mut())?;
    summary::check(&report)?;
    notes.extend(sink.iter().flat_map(|(sink, _)| sink.notes()));
    for end in ends {
        notes.extend(end.note()?);
    }
    notes.extend(engine.notes(&report, transport.map_or(1, Transport::size)));
    let of_ranks = match ranks.zip(dealt) {
        None => {
            let (mut sink, _) = sink.ok_or_else(|| output_files::no_header(job))?;
            let sorted = merge::merge(job, engine.plan(), &mut sink)?;
            let lengths = match &sorted {
                None => lengths,
                // Of the files that the first half wrote, only those beside the records count.
                Some(sorted) => {
                    let beside = lengths.iter().skip(sink.files()).copied();
                    sorted.lengths.iter().copied().chain(beside).collect()
                }
            };
            let metrics = sorted.iter().flat_map(|sorted| &sorted.metrics).map(Metrics::written);
            report.bytes_out = Bytes(sink.finish(&lengths, metrics.collect::<Result<_, _>>()?)?);
            report.sorted = sorted.map(|sorted| sorted.report);
            Vec::new()
        }
        Some((mut ranks, dealt)) => {
            notes.extend(ranks.note());
            let (sink, header) = sink.unzip();
            let (sink, sorted) = match ranks.output().kept.clone() {
                None => (sink, None),
                Some(kept) => {
                    drop(sink);
                    let (sink, sorted) = merge::merge_kept(job, engine.plan(), &mut ranks, &kept, dealt.chunks)?;
                    (Some(sink), Some(sorted))
                }
            };
            let beside = dealt.ends.iter().flatten().skip(job.output.shards).copied();
            let lengths = match &sorted {
                None => dealt.ends.clone(),
                Some(sorted) => Some(sorted.lengths.iter().copied().chain(beside).collect()),
            };
            if transport.is_some_and(|transport| transport.rank() == 0) {
                // Before the job is complete: after that nobody could make them.
                let metrics = sorted.iter().flat_map(|sorted| &sorted.metrics);
                metrics.map(Metrics::written).try_for_each(|metrics| metrics?.complete())?;
            }
            let threads = engine.plan().workers.len();
            let Some(of_ranks) = ranks.finish(job, (sink, header), &dealt, lengths, (&mut report, threads))? else {
                return Ok(None);
            };
            report.sorted = sorted.map(|sorted| sorted.report);
            of_ranks
        }
    };
    let (comparison, not_compared) = match engine.compare() {
        Ok(comparison) => (comparison, None),
        Err(error) => (None, Some(error)),
    };
    notes.extend(doubts(job, &report));
    let summary = engine.told(report).summary(job, started, comparison, of_ranks, notes);
    Ok(Some(Done { summary, not_compared }))
}

/// A note on each lane without reads, if there are others.
fn without_reads(lanes: &[OpenLane]) -> Vec<String> {
    let is_alone = lanes.iter().all(OpenLane::is_empty);
    let empty = lanes.iter().enumerate().filter(|(_, lane)| !is_alone && lane.is_empty());
    let words = |(at, lane): (usize, &OpenLane)| {
        let paths: Vec<_> = lane.paths().map(|path| shown_path(path)).collect();
        format!("Lane {} ({}) has no reads.", at + 1, paths.join(", "))
    };
    empty.map(words).collect()
}

/// What looks as if something else was meant.
fn doubts(job: &Job, report: &RunReport) -> Vec<String> {
    let (reads, paired) = (report.tally.reads, report.tally.paired);
    let no_reads =
        || "There were no reads. Where they come through a pipe: did the program before zerohop fail?".to_owned();
    let no_pairs = || "No two neighbours have the same name: with -p all reads were single ones.".to_owned();
    let is_interleaved = job.lanes.iter().any(|lane| lane.interleaved);
    let none_aligned = || format!("No read was aligned: is {} their reference?", job.reference.display());
    let is_of_records = matches!(job.output.format(), Format::Sam | Format::Bam { .. } | Format::Cram { .. });
    let is_mapping = job.engine != NULL && is_of_records;
    let barcodes = report.sorted.as_ref().and_then(|sorted| sorting::lacking_barcodes(job, sorted));
    let of_reads = (reads == 0).then(no_reads);
    let of_reads = of_reads.or_else(|| (is_mapping && report.tally.mapped == 0).then(none_aligned));
    let of_pairs = (is_interleaved && reads > 0 && paired == 0).then(no_pairs);
    of_reads.into_iter().chain(of_pairs).chain(lanes::given_twice(&job.lanes)).chain(barcodes).collect()
}
