//! Sorted output: what is refused, how much memory it may take, and which files belong to it.

use crate::job::{AlignError, Job, SortOptions};
use std::path::{Path, PathBuf};
use zerohop_model::error::{Error, shown};
use zerohop_model::measurement::{DuplicateReport, SortReport};
use zerohop_model::thousands::grouped;
use zerohop_output::{
    Barcode, IndexFormat, KeptRuns, Marking, SortOrder, UmiRules, UmiStrategy, WriteIndex, index_path,
};

/// The part of free memory that records may take until they are written, by default.
const PART_OF_FREE: f64 = 0.5;
/// The least memory that records get by default, in bytes.
const LEAST: u64 = 256 << 20;

/// Refuses what cannot be sorted, or sorted so.
///
/// # Errors
/// Wrong usage; a folder for temporary files that cannot be written to.
pub fn check(job: &Job) -> Result<(), AlignError> {
    let Some(sorting) = &job.output.sorting else { return Ok(()) };
    let refused = [("--shards", job.output.shards > 1), ("--compare-with", job.external.compare)];
    if let Some((option, _)) = refused.iter().find(|(_, is_given)| *is_given) {
        return Err(AlignError::Usage(format!("--sort cannot be combined with {option}")));
    }
    if job.ranks.is_recorded() && sorting.tmp_dir.is_some() {
        let words = "--tmp-dir is not for --ranks, --durable, --resume and --restart: sorted records are kept beside \
                     the output, where all ranks see them and a later run finds them";
        return Err(AlignError::Usage(words.to_owned()));
    }
    if let WriteIndex::As(index) = sorting.index
        && (indexes(job).is_empty() || !IndexFormat::of(job.output.format()).contains(&index))
    {
        let words = "--index is for BAM files (-o FILE.bam) that are sorted by coordinate";
        return Err(AlignError::Usage(words.to_owned()));
    }
    sorting.tmp_dir.as_deref().map_or(Ok(()), check_tmp_dir)
}

/// Refuses a folder where no temporary files can be. That of the output can be written to, if the output can; elsewhere
/// it is known when there is more than fits into memory.
fn check_tmp_dir(folder: &Path) -> Result<(), AlignError> {
    let unusable = |source| Error::Spill { folder: folder.to_owned(), source };
    Ok(tempfile::tempfile_in(folder).map(drop).map_err(unusable)?)
}

/// Refuses barcodes where not all lanes have fields.
///
/// # Errors
/// Wrong usage.
pub fn check_barcode(job: &Job, all_have_fields: bool) -> Result<(), AlignError> {
    let marking = job.output.sorting.as_ref().and_then(|sorting| sorting.marking);
    if let Some(Marking { barcode: Some(Barcode::Tag(tag)), search, .. }) = marking
        && !all_have_fields
    {
        let what = match search.umis {
            Some(_) => format!("the UMI is looked for in the tag {} (--umi, --barcode-tag), which", shown(&tag)),
            None => "--barcode-tag".to_owned(),
        };
        return Err(AlignError::Usage(format!(
            "{what} is looked for in the fields of BAM, or in the comments of the reads: give -C, too, which copies \
             them"
        )));
    }
    Ok(())
}

/// What the user should know where reads, or mates, have not got the barcode that is looked for.
pub fn lacking_barcodes(job: &Job, sorted: &SortReport) -> Option<String> {
    let some = |found: &&DuplicateReport| found.paired + found.single > 0 || found.umis.is_some();
    let found = sorted.duplicates.as_ref().filter(some)?;
    let barcode = job.output.sorting.as_ref()?.marking?.barcode?;
    match (found.barcoded, found.barcoded_alone) {
        (0, _) => {}
        (_, 0) => return None,
        _ if found.umis.is_some() => return None,
        (_, pairs) => {
            return Some(format!(
                "Of {} pairs one mate has a barcode, and the other has none: their records may have been marked \
                 one by one. Give both mates the barcode.",
                grouped(pairs)
            ));
        }
    }
    let what = match barcode {
        Barcode::Tag(tag) => format!("No read has the tag {} with text (--barcode-tag)", String::from_utf8_lossy(&tag)),
        Barcode::Name => "No name of a read has an eighth field (--barcode-name)".to_owned(),
    };
    let then = match found.umis {
        Some(_) => "nothing was grouped, and no duplicate was looked for",
        None => "duplicates were looked for as without barcodes",
    };
    Some(format!("{what}: {then}."))
}

/// The folder of temporary files: the one that is wanted, else that of the output; of an output that is no file, that
/// of the environment ($TMPDIR), else the present one.
fn folder(tmp_dir: Option<&Path>, output: Option<&Path>, environment: Option<PathBuf>) -> PathBuf {
    let output = output.filter(|path| !zerohop_process::is_written_in_place(path));
    let beside = output.map(|path| path.parent().unwrap_or(Path::new("")).to_owned());
    let wanted = tmp_dir.map(Path::to_owned).or(beside).or(environment);
    wanted.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(PathBuf::from("."))
}

/// How the records of a job are to be sorted: one of so many `jobs` that share what memory is free, which keeps them as
/// `kept` says.
///
/// # Errors
/// A machine that does not say how much memory it has.
pub fn spec(
    job: &Job,
    wanted: &SortOptions,
    jobs: usize,
    kept: Option<KeptRuns>,
) -> Result<zerohop_output::Sorting, Error> {
    let memory = match wanted.memory {
        Some(memory) => memory.0,
        None => {
            let machine = zerohop_topology::detect().map_err(|error| Error::Internal(error.to_string()))?;
            LEAST.max((zerohop_plan::free_memory(&machine) as f64 * PART_OF_FREE / jobs.max(1) as f64) as u64)
        }
    };
    Ok(zerohop_output::Sorting {
        order: wanted.order,
        memory,
        folder: folder(
            wanted.tmp_dir.as_deref(),
            job.output.path.as_deref(),
            std::env::var_os("TMPDIR").map(Into::into),
        ),
        index: wanted.index,
        marking: wanted.marking,
        kept,
    })
}

/// What a file of metrics is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfMetrics {
    /// Duplicates, as Picard writes them.
    Duplicates,
    /// How many families of templates have which size, as fgbio writes it.
    FamilySizes,
    /// What became of reads with UMIs, as fgbio writes it.
    Grouping,
}

/// The files of metrics that are wanted.
pub fn metrics(job: &Job) -> impl Iterator<Item = (OfMetrics, PathBuf)> {
    let sorting = job.output.sorting.as_ref();
    let of_duplicates = sorting.and_then(|sorting| sorting.metrics.clone());
    let of_umis = sorting.and_then(|sorting| sorting.umi_metrics.as_ref()).into_iter().flat_map(|prefix| {
        [(OfMetrics::FamilySizes, ".family_sizes.txt"), (OfMetrics::Grouping, ".grouping_metrics.txt")].map(
            |(of, suffix)| {
                let mut name = prefix.as_os_str().to_owned();
                name.push(suffix);
                (of, PathBuf::from(name))
            },
        )
    });
    of_duplicates.map(|path| (OfMetrics::Duplicates, path)).into_iter().chain(of_umis)
}

/// How UMIs are compared, as `--umi` says it.
pub fn umi_words(rules: UmiRules) -> String {
    let words = match rules.strategy() {
        UmiStrategy::Exact => "exact".to_owned(),
        UmiStrategy::Edit => format!("edit:{}", rules.edits()),
        UmiStrategy::Adjacency => format!("adjacency:{}", rules.edits()),
        UmiStrategy::Paired => format!("paired:{}", rules.edits()),
    };
    match rules.least_bases() {
        None => words,
        Some(bases) => format!("{words}, of {bases} bases or more"),
    }
}

/// Indexes that the output may get; and those of another format, which are removed, for they would be of other records.
pub fn indexes(job: &Job) -> Vec<PathBuf> {
    let (Some(sorting), Some(path)) = (&job.output.sorting, &job.output.path) else { return Vec::new() };
    let has_none = sorting.order != SortOrder::Coordinate
        || sorting.index == WriteIndex::No
        || zerohop_process::is_written_in_place(path);
    let formats = if has_none { &[][..] } else { IndexFormat::of(job.output.format()) };
    formats.iter().map(|format| index_path(path, *format)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_are_beside_the_output_or_where_they_are_wanted() {
        for (tmp_dir, output, environment, wanted) in [
            (None, Some("a/out.bam"), Some("t"), "a"),
            (None, Some("out.bam"), Some("t"), "."),
            (Some("w"), Some("a/out.bam"), Some("t"), "w"),
            (Some("w"), None, Some("t"), "w"),
            (None, None, Some("t"), "t"),
            (None, Some("/dev/stdout"), Some("t"), "t"),
            (None, Some("-"), Some("t"), "t"),
            (None, None, Some(""), "."),
            (None, None, None, "."),
        ] {
            let found = folder(tmp_dir.map(Path::new), output.map(Path::new), environment.map(PathBuf::from));
            assert_eq!(found, Path::new(wanted), "{tmp_dir:?} {output:?} {environment:?}");
        }
    }
}
