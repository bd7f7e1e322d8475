//! `zerohop index`: builds the index of a reference and writes it beside it.

use crate::args::external::engine_args;
use crate::args::index::IndexArgs;
use crate::failure::CommandFailure;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;
use zerohop_align::{descriptors, engines};
use zerohop_input::{LaneSpec, OpenLane};
use zerohop_model::index::{IndexProvider, Wanted};
use zerohop_model::machine::Node;
use zerohop_process::{WriteError, overwrite, quoted, tell};

/// Runs the command.
///
/// # Errors
/// When the reference cannot be read or the index cannot be written.
pub fn run(args: &IndexArgs) -> Result<(), CommandFailure> {
    let started = Instant::now();
    let mean_read_length = match &args.reads {
        Some(reads) => {
            let spec = LaneSpec { files: vec![reads.clone()], interleaved: false };
            let lane = OpenLane::open_with(&spec, Some(&args.reference))?;
            match zerohop_input::mean_read_length(&mut [lane])? {
                0 => return Err(CommandFailure::Usage(no_bases(reads))),
                length => length,
            }
        }
        None => args.read_length.unwrap_or(150),
    };
    zerohop_input::reference::check_file(&args.reference)?;
    let provider = match engines::embedded(&args.engine) {
        Some(provider) => provider,
        None => {
            let name = descriptors::described(&args.engine, &[])?.name;
            return Err(CommandFailure::Usage(format!(
                "{name} makes its index itself: 'zerohop align --engine {name} --build-index' has it do so"
            )));
        }
    };
    let none = || CommandFailure::Usage(format!("{} has no index", args.engine));
    let arguments = engine_args(&args.engine, args.engine_args.clone(), args.meth).map_err(CommandFailure::Usage)?;
    let arguments = arguments.as_deref().unwrap_or_default();
    if !provider.takes_arguments() && !arguments.is_empty() {
        return Err(CommandFailure::Usage(format!("--engine-args: {} takes no arguments", args.engine)));
    }
    let is_length_given = args.read_length.is_some() || args.reads.is_some();
    if is_length_given && provider.has_index() && !provider.has_read_length() {
        return Err(CommandFailure::Usage(format!(
            "-r, --reads: the index of {} is for reads of any length",
            args.engine
        )));
    }
    let wanted = Wanted { reference: &args.reference, mean_read_length, anew: true, arguments };
    let path = provider.path(&wanted)?.ok_or_else(none)?;
    if args.keep {
        return keep(args, provider, &wanted);
    }
    overwrite::apart(args.reads.iter().chain([&args.reference]), [&path])?;
    zerohop_process::check_writable(&path).map_err(|error| not_beside(&args.reference, error))?;
    let threads = match args.threads {
        Some(threads) => threads,
        None => zerohop_topology::detect()?.allowed.worker_count(),
    };
    zerohop_memory::set_default_huge_pages(zerohop_model::plan::HugePages::Auto);
    let saved = zerohop_align::write_index(provider, &wanted, threads, !args.quiet)?;
    if !args.quiet {
        saved.notes.iter().for_each(|note| tell::note(note));
        let reads = match provider.canonical_read_length(mean_read_length) {
            // With arguments it may be for reads of any length.
            _ if !provider.has_read_length() || !arguments.is_empty() => String::new(),
            length => format!("for reads of about {length} bases, "),
        };
        let from = saved.made_from.map(|file| format!("from {} ", file.display())).unwrap_or_default();
        let (path, bytes, seconds) = (path.display(), saved.bytes, started.elapsed().as_secs_f64());
        let words = format!("{path}: {bytes} in memory, {reads}made {from}in {seconds:.1} s\n");
        tell::text(&words);
    }
    Ok(())
}

/// What to say where nothing can be written beside the reference, as in folders that many users share.
fn not_beside(reference: &Path, error: WriteError) -> CommandFailure {
    match (error.source.kind(), std::path::absolute(reference)) {
        (ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem, Ok(path)) => CommandFailure::Other(format!(
            "{error}: the index lies beside its reference. In a folder of yours, 'ln -s {} .' makes a link, and the \
             index of that lies beside it",
            quoted(&path.to_string_lossy())
        )),
        _ => error.into(),
    }
}

fn no_bases(reads: &Path) -> String {
    format!("--reads: there are no bases in {}: say how long the reads are with -r", reads.display())
}

/// Keeps the index in memory; it is made if there is none.
fn keep(args: &IndexArgs, provider: &dyn IndexProvider, wanted: &Wanted<'_>) -> Result<(), CommandFailure> {
    let started = Instant::now();
    zerohop_memory::set_default_huge_pages(zerohop_model::plan::HugePages::Auto);
    let machine = zerohop_topology::detect()?;
    let threads = args.threads.unwrap_or_else(|| machine.allowed.worker_count());
    let wanted = Wanted { anew: false, ..*wanted };
    let kept = zerohop_align::keep::keep(provider, &wanted, &machine, threads, !args.quiet)?;
    for copy in &kept.copies {
        let how = match copy.was_there {
            true => "was there".to_owned(),
            false => format!("kept after {:.1} s", started.elapsed().as_secs_f64()),
        };
        if !args.quiet {
            tell::text(&format!("{}: {how}\n", copy.folder.display()));
        }
    }
    let has_cpus = |node: &&&Node| node.cpus.iter().any(|cpu| machine.allowed.cpus.contains(cpu));
    let nodes = machine.memory_nodes().iter().filter(has_cpus).count();
    if kept.copies.len() < nodes && !args.quiet {
        tell::note(&kept.reasons.join(" "));
    }
    if let Some(note) = kept.note.filter(|_| !args.quiet) {
        tell::note(&note);
    }
    Ok(())
}
