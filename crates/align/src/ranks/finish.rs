//! The end of a job of all ranks: what each did is gathered, and the first gives the files their names.

use super::part::RankPart;
use crate::finish::{Report, Sorted, WrittenFiles};
use crate::job::{AlignError, Job, files};
use crate::open::output;
use zerohop_model::machine::Bytes;
use zerohop_model::measurement::RunReport;
use zerohop_model::sink::Sink as _;
use zerohop_output::{FileSink, remove_other_indexes};
use zerohop_ranks::{host, journal, values};
use zerohop_report::RankSummary;

/// Gathers what all ranks did, adds up what they counted, and gives the files their names; the first rank learns what
/// all did.
///
/// # Errors
/// Ranks with different headers, a file that cannot be written.
pub fn finish(
    part: RankPart<'_>,
    job: &Job,
    mut written: WrittenFiles,
    report: &mut RunReport,
    threads: usize,
) -> Result<Option<Vec<RankSummary>>, AlignError> {
    let metrics = if part.transport.rank() == 0 { written.take_metrics()? } else { Vec::new() };
    let dealt = part.dealt()?;
    // As far as there was something to be written.
    let ends = match (&dealt.ends, &written.sorted) {
        (None, None) => None,
        (ends, _) => Some(written.lengths(ends.as_deref().unwrap_or_default(), job.output.shards)),
    };
    let WrittenFiles { sink, header, sorted, .. } = written;
    let (sorted, reports) = match sorted {
        Some(Sorted { report, reports, .. }) => (Some(report), reports),
        None => (None, Vec::new()),
    };
    report.sorted = sorted;
    let own = RankSummary {
        rank: part.transport.rank(),
        host: host(),
        workers: report.workers.len(),
        threads,
        grains: dealt.grains,
        tally: report.tally.clone(),
        wall: dealt.wall,
    };
    // Without records at all, the header is all there is; and the first rank knows the index.
    let sink = sink.filter(|_| ends.is_none() || part.owner.is_some());
    // Nobody may have a file of the job open when it is cleared away.
    drop(part.journal);
    let all = values(part.transport, &(own, header))?;
    let mut headers = all.iter().filter_map(|(_, header)| header.as_ref());
    let first = headers.next();
    if headers.any(|header| Some(header) != first) {
        let words = "the aligners of the ranks wrote different headers: do all read the same index?";
        return Err(AlignError::Failed(words.to_owned()));
    }
    report.tally = part.finished.tally.clone();
    all.iter().for_each(|(rank, _)| report.tally += &rank.tally);
    let Some(owner) = part.owner else { return Ok(None) };
    let mut ends = match (ends, &sink) {
        (Some(ends), _) => ends,
        (None, Some(sink)) => {
            sink.write_header()?;
            (0..sink.files()).map(|file| sink.start(file)).collect()
        }
        (None, None) => return Err(output::no_header(job)),
    };
    // Where there were no reads, nobody has begun the files beside the records.
    if let Some(sink) = &sink
        && ends.len() < part.output.partials.len()
    {
        sink.write_header_beside()?;
        ends.extend((ends.len()..part.output.partials.len()).map(|file| sink.start(file)));
    }
    report.bytes_out = Bytes(0);
    for ((partial, marker), end) in part.output.partials.iter().zip(files::end_markers(job)?).zip(ends) {
        report.bytes_out.0 += FileSink::end_shared(partial, marker, end)?;
    }
    let mut named: Vec<_> = part.output.partials.into_iter().zip(part.paths).collect();
    let index = sink.as_ref().and_then(|sink| Some((sink, sink.index_path()?)));
    let (paths, index_path) = (files::paths(job), index.as_ref().map(|(_, path)| path.as_path()));
    // Before: whatever happens from here on, no index of other records lies beside these.
    paths.iter().for_each(|path| remove_other_indexes(path, job.output.format(), index_path));
    for Report { written, path } in reports {
        let partial = written.path().to_owned();
        written.complete()?;
        named.push((partial, path));
    }
    // After the records: an index that is older is not trusted.
    if let Some((sink, path)) = index {
        let partial = journal::folder(&named[0].1).join("output.index");
        zerohop_process::write(&partial, &sink.index_bytes()?)?;
        named.push((partial, path));
    }
    drop(sink);
    // Before the job is complete: after that nobody could make them.
    zerohop_process::complete_all(metrics)?;
    owner.complete(&named)?;
    Ok(Some(all.into_iter().map(|(rank, _)| rank).collect()))
}
