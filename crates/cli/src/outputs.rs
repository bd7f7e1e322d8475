//! The files that `zerohop align` writes.

use crate::args::{AlignArgs, FormatName, OrderName, PlanFrom};
use crate::failure::Failure;
use crate::inputs::{self, Kind};
use crate::{aligners, kept, ranks};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zerohop_model::error::Error;
use zerohop_process::WriteError;
use zerohop_reads::LaneSpec;
use zerohop_runtime::Order;
use zerohop_sinks::{FileSink, Format, Header, OutputSpec, shard_path};

/// Refuses shards without a name, formats that cannot be written, outputs that would destroy an input, each other or a file
/// of another kind, and outputs that cannot be written: before hours of work, not after.
///
/// # Errors
/// Wrong usage, or what the system says.
pub fn check(args: &AlignArgs, lanes: &[LaneSpec]) -> Result<(), Failure> {
    if args.shards > 1 && args.output.is_none() {
        return Err(Failure::Usage("--shards needs an output file (-o)".to_owned()));
    }
    let plan = match &args.plan {
        Some(PlanFrom::File(path)) => Some(path),
        _ => None,
    };
    let (descriptors, library) = (aligners::files(&args.external.engine_file), ranks::find(args.ranks.mpi.as_deref()));
    let reads = lanes.iter().flat_map(|lane| &lane.files);
    let records = paths(args);
    let all = || records.iter().chain(&args.json).chain(&args.mqc);
    all().chain(&args.external.logs).try_for_each(|path| check_folder(path))?;
    apart_from(args, reads.chain([&args.reference]).chain(plan).chain(&descriptors).chain(&library))?;
    records.iter().try_for_each(|path| inputs::replaceable(path, Kind::Records))?;
    args.json.iter().chain(&args.mqc).try_for_each(|path| inputs::replaceable(path, Kind::Json))?;
    if args.format.is_none() {
        args.output.iter().try_for_each(|path| check_suffix(path))?;
    }
    args.external.logs.iter().try_for_each(|logs| check_logs(logs))?;
    all().try_for_each(|path| Ok(zerohop_process::check_writable(path)?))
}

/// Refuses outputs that would destroy one of `inputs`, such as the files of the index once it is found, or each other.
///
/// # Errors
/// Wrong usage.
pub fn apart_from<'p>(args: &AlignArgs, inputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), Failure> {
    let (records, logs) = (paths(args), logs_there(args));
    inputs::apart(inputs, records.iter().chain(&args.json).chain(&args.mqc).chain(&logs))
}

/// What is in the folder for logs already, under names that logs of this run may have.
fn logs_there(args: &AlignArgs) -> Vec<PathBuf> {
    let entries = args.external.logs.as_ref().and_then(|folder| std::fs::read_dir(folder).ok());
    let entries = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".log") && name.starts_with(&*args.engine) || name == "original.log"
    };
    entries.filter(is_ours).collect()
}

/// A suffix must not promise a format that the file has not got. A pipe may have any name.
fn check_suffix(path: &Path) -> Result<(), Failure> {
    let is_pipe = std::fs::metadata(path).is_ok_and(|there| !there.is_file());
    let Some(suffix) = path.extension().filter(|_| !is_pipe && !path.starts_with("/dev")) else { return Ok(()) };
    if ["sam", "bam"].iter().any(|known| suffix.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{}: zerohop writes SAM and BAM, and '.{}' is neither: name the file .sam or .bam, or say --format sam or --format bam",
        path.display(),
        suffix.to_string_lossy()
    )))
}

/// A folder that can be written to, or made.
fn check_logs(path: &Path) -> Result<(), Failure> {
    let check = |folder: &Path| tempfile::tempdir_in(folder).map(drop);
    let checked = match std::fs::create_dir(path) {
        Ok(()) => std::fs::remove_dir(path),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => check(path),
        Err(error) => Err(error),
    };
    Ok(checked.map_err(WriteError::of(path))?)
}

/// Refuses an output in a folder that is not there: none is made, for its name may be mistyped.
///
/// # Errors
/// A folder that is missing, or is none.
pub fn check_folder(path: &Path) -> Result<(), Failure> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        Some(folder) => {
            let (path, folder) = (path.display(), folder.display());
            Err(Failure::Other(format!("{path}: cannot be written: there is no folder {folder}; make it first")))
        }
        None => Ok(()),
    }
}

/// The format of the records.
pub fn format(args: &AlignArgs) -> Format {
    let by_suffix = || match args.output.as_ref().and_then(|path| path.extension()) {
        Some(suffix) if suffix.eq_ignore_ascii_case("bam") => FormatName::Bam,
        _ => FormatName::Sam,
    };
    match args.format.unwrap_or_else(by_suffix) {
        FormatName::Sam => Format::Sam,
        FormatName::Bam => Format::Bam { level: args.level },
    }
}

/// Opens the output, with this header and each lane's read group: that of this process, or `partials`, which other ranks write as well.
///
/// # Errors
/// What the system says.
pub fn open(
    args: &AlignArgs,
    header: Header,
    lane_groups: Vec<Option<usize>>,
    partials: Option<&[PathBuf]>,
) -> Result<FileSink, Error> {
    let (path, shards, comments) = (args.output.clone(), args.shards, args.comments);
    let spec = OutputSpec { path, shards, format: format(args), header, lane_groups, comments };
    match partials {
        Some(partials) => FileSink::share(spec, partials),
        None => FileSink::create(spec),
    }
}

/// Stands for a header, but for the programs that it names: their command lines may differ from process to process.
pub fn header_digest(header: &Header) -> String {
    let text = header.text();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("@PG") && !line.starts_with("@CO")).collect();
    kept::digest(&lines)
}

/// The files of records; none for standard output.
pub fn paths(args: &AlignArgs) -> Vec<PathBuf> {
    match &args.output {
        None => Vec::new(),
        Some(path) if args.shards == 1 => vec![path.clone()],
        Some(path) => (1..=args.shards).map(|i| shard_path(path, i)).collect(),
    }
}

/// The order of the records.
pub fn order(args: &AlignArgs) -> Order {
    match args.order {
        OrderName::Input => Order::Input,
        OrderName::Any => Order::Any,
    }
}
