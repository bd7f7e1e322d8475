//! `zerohop align`: what was typed becomes a job.

use crate::args::external::{CompareName, DealName, LibraryName, engine_args};
use crate::args::{AlignArgs, CramVersionName, FormatName, MatesName, OrderName};
use crate::failure::CommandFailure;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_align::align_samples;
use zerohop_align::lanes::{self, ReadGroups};
use zerohop_align::samples::Sheet;
use zerohop_align::{
    Barcodes, BisulfiteLibrary, Comments, CramVersion, ExternalOptions, Job, LaneSpec, OutputOptions, PlacementOptions,
    RankOptions, ReportOptions, SavedPaths, UnalignedOptions,
};
use zerohop_model::directed::Directed;
use zerohop_output::{History, ReadGroup};
use zerohop_ranks::Ranks as Joined;
use zerohop_runtime::{Dealing, Order};

/// Runs the command; `typed` are the files of each lane, as [`typed_lanes`] finds them.
///
/// # Errors
/// Whatever goes wrong; then nothing that looks complete is left.
pub fn run(args: AlignArgs, typed: Vec<Vec<PathBuf>>) -> Result<(), CommandFailure> {
    let (wanted, library) = (args.ranks.ranks, args.ranks.mpi.clone());
    let samples_of = args.samples.clone().zip(args.output_dir.clone());
    // What is typed wrong the other ranks hear of, and one of them tells the user.
    let refuse = |failure: CommandFailure| match wanted {
        Some(_) => Joined::join(wanted, library.as_deref(), zerohop_align::HANG_LIMIT, Err(failure)).map(|(_, ())| ()),
        None => Err(failure),
    };
    if let Some((sheet, folder)) = samples_of {
        let resume = args.ranks.resume;
        return match samples(args, &sheet) {
            Ok((base, sheet)) => Ok(align_samples(&base, &sheet, &folder, resume)?),
            Err(failure) => refuse(failure),
        };
    }
    match job(args, typed) {
        Ok(job) => Ok(zerohop_align::align_and_tell(&job)?),
        Err(failure) => refuse(failure),
    }
}

/// The samples of a sheet, and what is the same of all of them.
fn samples(args: AlignArgs, sheet: &Path) -> Result<(Job, Sheet), CommandFailure> {
    let sheet = Sheet::read(sheet, args.interleaved)?;
    let mut base = with_reads(args, Vec::new(), ReadGroups::default())?;
    base.ranks.resume = false;
    Ok((base, sheet))
}

/// The files of each lane in the order in which they were typed: those without a name, and those of each `--reads`.
/// (The parsed arguments have all of `--reads` in one row.)
pub fn typed_lanes(matches: &clap::ArgMatches) -> Vec<Vec<PathBuf>> {
    let file = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let unnamed: Vec<PathBuf> = file("reads_1").into_iter().chain(file("reads_2")).collect();
    let occurrences = matches.get_occurrences::<PathBuf>("reads").into_iter().flatten();
    let mut lanes: Vec<Vec<PathBuf>> = occurrences.map(|files| files.cloned().collect()).collect();
    if !unnamed.is_empty() {
        let of_unnamed = matches.index_of("reads_1").unwrap_or_default();
        let before = matches.indices_of("reads").into_iter().flatten().filter(|at| *at < of_unnamed).count();
        let mut files = 0;
        let lanes_before = lanes.iter().take_while(|lane| {
            files += lane.len();
            files <= before
        });
        lanes.insert(lanes_before.count(), unnamed);
    }
    lanes
}

fn job(args: AlignArgs, typed: Vec<Vec<PathBuf>>) -> Result<Job, CommandFailure> {
    if args.output_dir.is_some() {
        return Err(CommandFailure::Usage("--output-dir is for the samples of a sheet (--samples)".to_owned()));
    }
    let lanes = lanes::lanes(typed, args.interleaved)?;
    let read_groups = match args.read_group.is_empty() {
        false => ReadGroups::parse(&args.read_group, lanes.len())?,
        true => {
            // As in strobealign: fields without an ID make the group 1.
            let id = args.rg_id.clone().or_else(|| (!args.rg.is_empty()).then(|| "1".to_owned()));
            ReadGroups::one(id.map(|id| ReadGroup::new(&id, &args.rg)).transpose()?, lanes.len())
        }
    };
    with_reads(args, lanes, read_groups)
}

/// The job with these reads, which are all that is not taken from the arguments.
fn with_reads(args: AlignArgs, lanes: Vec<LaneSpec>, read_groups: ReadGroups) -> Result<Job, CommandFailure> {
    let directed = Directed::new(&args.tags_to_reverse, &args.tags_to_revcomp)
        .map_err(|unknown| CommandFailure::Usage(unknown.to_string()))?;
    let external = args.external;
    let engine_args = engine_args(&args.engine, external.engine_args, external.meth).map_err(CommandFailure::Usage)?;
    let umis_in_names = args.sorting.umi.is_some() && args.sorting.barcode_name;
    Ok(Job {
        reference: args.reference,
        lanes,
        read_groups,
        history: History::default(),
        trimming: args.trimming.trimming().map_err(CommandFailure::Usage)?,
        trim_report: args.trimming.fastp_json,
        saved: SavedPaths { trimmed: args.trimming.save_trimmed, failed: args.trimming.save_failed },
        barcodes: Barcodes { structures: args.read_structure, umis_in_names },
        first: args.first,
        engine: args.engine,
        library: external.library.map(|library| match library {
            LibraryName::Directional => BisulfiteLibrary::Directional,
            LibraryName::Pbat => BisulfiteLibrary::Pbat,
        }),
        read_length: args.read_length,
        no_index: args.no_index,
        output: OutputOptions {
            path: args.output,
            format: args.format.map(|format| match format {
                FormatName::Sam => zerohop_align::RecordFormat::Sam,
                FormatName::Bam => zerohop_align::RecordFormat::Bam,
                FormatName::Cram => zerohop_align::RecordFormat::Cram,
            }),
            cram_version: args.cram_version.map(|version| match version {
                CramVersionName::V3_0 => CramVersion::V3_0,
                CramVersionName::V3_1 => CramVersion::V3_1,
            }),
            reference_uri: args.reference_uri,
            level: args.level,
            order: match args.order {
                OrderName::Input => Order::Input,
                OrderName::Any => Order::Any,
            },
            shards: args.shards,
            comments: if args.comments { Comments::AsTheyStand } else { Comments::None },
            directed,
            mate_tags: args.mate_tags,
            no_unaligned: args.no_unaligned,
            unaligned: args
                .unaligned
                .map(|path| UnalignedOptions { path, any_mate: args.unaligned_mates == MatesName::Any }),
            secondary_bases: args.secondary_bases,
            sorting: args.sorting.sorting().map_err(CommandFailure::Usage)?,
        },
        placement: PlacementOptions {
            threads: args.threads,
            replicas: args.replicas,
            pages: args.pages.map(Into::into),
            huge_pages: args.huge_pages.into(),
            plan: args.plan,
        },
        external: ExternalOptions {
            engine_args,
            engine_file: external.engine_file,
            build_index: external.build_index,
            dna: external.dna,
            farm: external.farm,
            keep_copies: external.keep_copies,
            deal: match external.deal {
                DealName::OnDemand => Dealing::OnDemand,
                DealName::Static => Dealing::Static,
            },
            hang_limit: external.hang_limit.map(Duration::from_secs),
            logs: external.logs,
            compare: external.compare_with == Some(CompareName::Original),
            compare_first: external.compare_first,
        },
        ranks: RankOptions {
            wanted: args.ranks.ranks,
            durable: args.ranks.durable,
            resume: args.ranks.resume,
            restart: args.ranks.restart,
            mpi: args.ranks.mpi,
        },
        report: ReportOptions { json: args.json, mqc: args.mqc, sample: args.sample },
        time_limit: None,
        command: crate::command_line(),
        quiet: args.quiet,
        at_a_time: 1,
    })
}
