//! What the user wants: the aligner, the arguments for it, and what kind of reads it gets.

use crate::engines::descriptors;
use crate::job::lanes::ReadGroups;
use crate::job::{AlignError, Job};
use crate::plan::tuning_key::Profile;
use zerohop_engine_external::descriptor::Descriptor;
use zerohop_engine_external::{Found, UserArguments, cut};
use zerohop_input::OpenLane;
use zerohop_model::engine::Cut;
use zerohop_model::index::IndexProvider;
use zerohop_model::plan::HugePages;
use zerohop_output::ReadGroup;
use zerohop_runtime::Dealing;

/// Options that only make sense for a program of its own.
///
/// # Errors
/// Wrong usage.
pub fn refuse_options(job: &Job, provider: &dyn IndexProvider) -> Result<(), AlignError> {
    let external = &job.external;
    let given = [
        ("--engine-args", external.engine_args.is_some() && !provider.takes_arguments()),
        ("--engine-file", !external.engine_file.is_empty()),
        ("--dna", external.dna),
        ("--farm", external.farm),
        ("--deal static", external.deal == Dealing::Static),
        ("--hang-limit", external.hang_limit.is_some() && job.ranks.wanted.is_none()),
        ("--logs", external.logs.is_some()),
        ("--compare-with", external.compare),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(AlignError::Usage(format!(
            "{option} is for aligners that run as programs of their own, and {} runs inside zerohop",
            job.engine
        ))),
        None => Ok(()),
    }
}

/// What the user wants.
pub struct WantedAligner {
    pub found: Found,
    pub user: UserArguments,
    pub cut: Cut,
    pub paired: bool,
    pub fasta: bool,
    /// Whether instances take chunks by themselves, in all lanes.
    pub claimed: bool,
    /// Mean length of the first reads, in bases.
    pub read_length: usize,
    /// The kind of reads.
    pub profile: Profile,
    /// The header line of the read group that the aligner itself is told.
    pub read_group: Option<String>,
}

impl WantedAligner {
    /// The aligner and its arguments, for the reads of these lanes.
    ///
    /// # Errors
    /// Wrong usage; an aligner that is not known or not here; reads that cannot be read.
    pub fn new(job: &Job, open: &mut [OpenLane]) -> Result<Self, AlignError> {
        let descriptor = choose(job)?;
        let read_length = zerohop_input::mean_read_length(open)?;
        let text = job.external.engine_args.as_deref().unwrap_or_default();
        let user = descriptors::user_arguments(&descriptor, text, read_length)?;
        let cut = cut(&descriptor, &user)?;
        let (paired, fasta) = one_kind(open)?;
        let read_group = read_group(&descriptor, &job.read_groups)?;
        let profile = crate::engines::key::profile(paired, read_length, job.external.engine_args.as_deref());
        let claimed = open.iter().all(OpenLane::is_claimed);
        Ok(WantedAligner {
            found: Found::find(descriptor)?,
            user,
            cut,
            paired,
            fasta,
            claimed,
            read_length,
            profile,
            read_group,
        })
    }
}

/// Refuses an aligner that is not known, and options that no program of its own has.
///
/// # Errors
/// Wrong usage; a file that is no descriptor.
pub fn check(job: &Job) -> Result<(), AlignError> {
    choose(job).map(drop)
}

/// The aligner that the user wants.
fn choose(job: &Job) -> Result<Descriptor, AlignError> {
    if job.read_length.is_some() || job.no_index {
        return Err(AlignError::Usage("--read-length and --no-index are for built-in engines".to_owned()));
    }
    if job.output.secondary_bases {
        return Err(AlignError::Usage("--secondary-bases is for built-in engines".to_owned()));
    }
    if job.placement.huge_pages == HugePages::Off {
        return Err(AlignError::Usage("--huge-pages is for built-in engines".to_owned()));
    }
    descriptors::described(&job.engine, &job.external.engine_file)
}

/// One process takes either pairs or single reads, and either FASTQ or FASTA.
fn one_kind(lanes: &[OpenLane]) -> Result<(bool, bool), AlignError> {
    // A lane without reads is of any kind.
    let lanes = || lanes.iter().filter(|lane| lane.is_fasta().is_some());
    let paired = lanes().next().is_some_and(OpenLane::is_paired);
    let mut kinds = lanes().filter_map(OpenLane::is_fasta);
    let fasta = kinds.next().unwrap_or(false);
    if lanes().any(|lane| lane.is_paired() != paired) || kinds.any(|kind| kind != fasta) {
        let words = "an external aligner takes either pairs or single reads, and either FASTQ or FASTA: \
                     align them in runs of their own";
        return Err(AlignError::Usage(words.to_owned()));
    }
    Ok((paired, fasta))
}

/// The read group that the aligner itself is told: one for all reads, if it can be told any.
fn read_group(
    descriptor: &Descriptor,
    ReadGroups { groups, of_lanes }: &ReadGroups,
) -> Result<Option<String>, AlignError> {
    let told = &descriptor.read_group;
    let one = groups.len() == 1 && of_lanes.iter().all(|group| group == &Some(0));
    let line = |group: &ReadGroup| {
        let fields: String = group.fields.iter().map(|field| format!("\t{field}")).collect();
        format!("@RG\tID:{}{fields}", group.id)
    };
    Ok((one && !told.option.is_empty()).then(|| line(&groups[0])))
}
