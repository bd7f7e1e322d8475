//! What goes on from the reads to the records, besides what an aligner looks at: read groups, optional fields and
//! programs of BAM, and comments.

use crate::job::lanes::ReadGroups;
use crate::job::{AlignError, Job};
use zerohop_input::{Carried, OpenLane, PairsAlone};
use zerohop_model::error::shown_path;
use zerohop_output::{Comments, History, ReadGroup, ReadsFormat, Renamed};

/// The job with what its lanes say of themselves, and the lanes with what the job wants of them: all fields of BAM, but
/// comments of FASTQ only with `-C`; read groups of BAM, unless the job names some.
///
/// # Errors
/// Read groups of different inputs that cannot be told apart; barcodes that nothing holds; a comparison with BAM;
/// lanes of which not all have qualities, for one file of reads that were not aligned; single reads, for files of
/// mates.
pub fn complete(job: &Job, lanes: Vec<OpenLane>) -> Result<(Job, Vec<OpenLane>), AlignError> {
    if job.external.compare && lanes.iter().any(OpenLane::is_bam) {
        let words = "--compare-with takes reads in FASTQ or FASTA, which the aligner by itself can read";
        return Err(AlignError::Usage(words.to_owned()));
    }
    let is_text = !matches!(job.output.unaligned_format(), None | Some(ReadsFormat::Bam { .. }));
    let mut kinds = lanes.iter().filter_map(OpenLane::is_fasta);
    if is_text && kinds.next().is_some_and(|first| kinds.any(|other| other != first)) {
        let words = "--unaligned: some lanes have qualities and some have none, which one file of FASTQ or FASTA \
                     cannot hold: write BAM (--unaligned FILE.bam)";
        return Err(AlignError::Usage(words.to_owned()));
    }
    let by_mate = job.output.unaligned.as_ref().filter(|unaligned| unaligned.is_by_mate());
    let pairs_alone = by_mate.map(|_| PairsAlone::UnalignedByMate);
    if let Some(unaligned) = by_mate
        && let Some(single) = lanes.iter().find(|lane| !lane.is_paired() && lane.is_fasta().is_some())
    {
        return Err(AlignError::Usage(format!(
            "--unaligned {}: '%' stands for the mates of pairs, and the reads of {} are single: leave out the '%'",
            unaligned.path.display(),
            single.paths().next().map(|path| shown_path(path)).unwrap_or_default()
        )));
    }
    let mut job = job.clone();
    let comments = job.output.comments != Comments::None;
    if !comments && (lanes.iter().any(OpenLane::is_bam) || job.barcodes.give_fields()) {
        job.output.comments = Comments::OfBam;
    }
    let all_have_fields = comments || job.barcodes.give_umis() || lanes.iter().all(OpenLane::is_bam);
    crate::job::sorting::check_barcode(&job, all_have_fields)?;
    let (mut all, mut as_written) = (Vec::new(), Vec::new());
    for (lane, number) in lanes.into_iter().zip(0..) {
        let programs = add_history(&mut job.history, &lane);
        let read_groups = job.read_groups.of_lanes.get(number).is_none_or(Option::is_none);
        if read_groups {
            add_groups((&mut job.read_groups, &mut as_written), &lane, &programs)?;
        }
        let (comments, directed) = (comments || lane.is_bam(), job.output.directed.clone());
        all.push(lane.carrying(Carried { comments, read_groups, pairs_alone, programs, directed }));
    }
    Ok((job, all))
}

/// Adds the read groups of `lane`, some programs of which have other IDs; `as_written` are those of the lanes before as
/// their files have them.
fn add_groups(
    (all, as_written): (&mut ReadGroups, &mut Vec<ReadGroup>),
    lane: &OpenLane,
    programs: &Renamed,
) -> Result<(), AlignError> {
    let file = lane.paths().next().map(|path| shown_path(path)).unwrap_or_default();
    for line in lane.read_group_lines() {
        let mut group = ReadGroup::of_file(line).map_err(|error| AlignError::Failed(format!("{file}: {error}")))?;
        if as_written.contains(&group) {
            continue;
        }
        as_written.push(group.clone());
        for field in &mut group.fields {
            if let Some(id) = field.strip_prefix("PG:").and_then(|id| programs.get(id)) {
                *field = format!("PG:{id}");
            }
        }
        match all.groups.iter().find(|other| other.id == group.id) {
            Some(other) if *other == group => {}
            Some(_) => {
                let id = &group.id;
                return Err(AlignError::Failed(format!(
                    "{file}: its header, or that of another input, names the read group '{id}' with other fields: \
                     rename one of them ('samtools addreplacerg'), or give all reads of a lane another one (-R, or \
                     the column rg_id of a sheet)"
                )));
            }
            None => all.groups.push(group),
        }
    }
    Ok(())
}

/// Adds what was done to the reads of `lane`. Returns other IDs for programs of it.
fn add_history(history: &mut History, lane: &OpenLane) -> Renamed {
    // Command lines hold paths, which may be any bytes; a header is text without control characters but tabs.
    let text = |line: &[u8]| String::from_utf8_lossy(line).replace(|c: char| c.is_ascii_control() && c != '\t', " ");
    let lines: Vec<String> = lane.history_lines().map(text).collect();
    history.add(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}
