//! What an engine makes in place of records, if its arguments say so: lines of PAF, or the abundances of contigs. What
//! is for records alone is refused then.

use crate::job::{AlignError, Job, RAMMAP, RecordFormat, files};
use std::borrow::Cow;
use zerohop_model::directed::Directed;
use zerohop_model::index::{IndexProvider, Product};
use zerohop_output::Comments;
use zerohop_runtime::Order;

/// The job with the format of what the engine makes, and whether that can be had.
pub fn wanted<'j>(job: &'j Job, embedded: Option<&dyn IndexProvider>) -> (Cow<'j, Job>, Result<(), AlignError>) {
    match product(job, embedded) {
        Ok(Product::Records) => (Cow::Borrowed(job), check_records(job)),
        Ok(Product::Paf) => with_format(job, RecordFormat::Paf, check_paf(job)),
        Ok(Product::Abundances) => with_format(job, RecordFormat::Abundances, check_abundances(job)),
        Err(error) => (Cow::Borrowed(job), Err(error)),
    }
}

fn product(job: &Job, embedded: Option<&dyn IndexProvider>) -> Result<Product, AlignError> {
    let arguments = job.external.engine_args.as_deref();
    match (embedded, arguments) {
        (Some(provider), Some(arguments)) if provider.takes_arguments() => Ok(provider.product(arguments)?),
        _ => Ok(Product::Records),
    }
}

fn with_format<T>(job: &Job, format: RecordFormat, checked: T) -> (Cow<'_, Job>, T) {
    let mut job = job.clone();
    job.output.format = Some(format);
    (Cow::Owned(job), checked)
}

fn check_records(job: &Job) -> Result<(), AlignError> {
    match job.output.format {
        Some(RecordFormat::Paf | RecordFormat::Abundances) => Err(AlignError::Usage(format!(
            "the engine {} writes PAF and abundances only if its arguments say so",
            job.engine
        ))),
        _ => Ok(()),
    }
}

fn check_paf(job: &Job) -> Result<(), AlignError> {
    let why = match &*job.engine {
        RAMMAP => "-c or --paf writes PAF",
        _ => "-x writes PAF",
    };
    refuse(why, of_records(job))?;
    check_suffix(job, |suffix| suffix == "paf", &format!("{why}: name the file .paf"))
}

fn check_abundances(job: &Job) -> Result<(), AlignError> {
    let of_many_writers = [
        ("--ranks, --durable, --resume and --restart", job.ranks.is_recorded()),
        ("--shards", job.output.shards > 1),
        // Sums of floating point numbers depend on it.
        ("--order any", job.output.order == Order::Any),
    ];
    refuse("--aemb writes one table", of_records(job).into_iter().chain(of_many_writers))?;
    let is_other = ["sam", "bam", "cram", "paf", "gz"];
    let words = "--aemb writes a table as text: name the file .tsv";
    check_suffix(job, |suffix| !is_other.contains(&suffix), words)
}

/// Options that are for records.
fn of_records(job: &Job) -> [(&'static str, bool); 9] {
    let output = &job.output;
    [
        ("--format", output.format.is_some()),
        ("--sort and --mark-duplicates", output.sorting.is_some()),
        ("-R, --rg and --rg-id", !job.read_groups.groups.is_empty()),
        ("-C", output.comments != Comments::None),
        ("--mate-tags", output.mate_tags),
        ("--unaligned", output.unaligned.is_some()),
        ("--no-unaligned", output.no_unaligned),
        ("--secondary-bases", output.secondary_bases),
        ("--tags-to-reverse and --tags-to-revcomp", output.directed != Directed::default()),
    ]
}

fn refuse(why: &str, options: impl IntoIterator<Item = (&'static str, bool)>) -> Result<(), AlignError> {
    match options.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            Err(AlignError::Usage(format!("--engine-args: {why}: it cannot be combined with {option}")))
        }
        None => Ok(()),
    }
}

fn check_suffix(job: &Job, is_right: impl Fn(&str) -> bool, words: &str) -> Result<(), AlignError> {
    let Some(path) = &job.output.path else { return Ok(()) };
    match files::suffix(path) {
        Some(suffix) if !is_right(&suffix) => {
            Err(AlignError::Usage(format!("{}: --engine-args: {words}", path.display())))
        }
        _ => Ok(()),
    }
}
