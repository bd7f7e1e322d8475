//! `zerohop engines`: the aligners, and what of them is here.

use crate::args::EnginesArgs;
use crate::failure::CommandFailure;
use serde::Serialize;
use std::path::PathBuf;
use zerohop_align::{descriptors, engines};
use zerohop_engine_external::Found;
use zerohop_engine_external::descriptor::{Descriptor, How, Keeps, SameRecords};
use zerohop_process::json;

/// An aligner, as JSON has it.
#[derive(Serialize)]
struct EngineEntry {
    #[serde(flatten)]
    descriptor: Descriptor,
    /// Its program, if it is installed.
    found: Option<PathBuf>,
    found_version: Option<String>,
}

/// Lists them.
///
/// # Errors
/// A descriptor that is wrong, or standard output that cannot be written.
pub fn run(args: &EnginesArgs) -> Result<(), CommandFailure> {
    let entry = |descriptor: Descriptor| {
        let found = Found::find(descriptor.clone()).ok();
        let found_version = found.as_ref().map(|found| found.version.clone());
        EngineEntry { descriptor, found: found.map(|found| found.program), found_version }
    };
    let entries: Vec<EngineEntry> = descriptors::all(&args.engine_file)?.into_iter().map(entry).collect();
    let text = match args.json {
        true => json::text(&entries)?,
        false => table(&entries),
    };
    crate::print(text.as_bytes())
}

/// The names of the engines in our own process that align.
pub fn own_names() -> Vec<String> {
    engines::all_embedded().map(|provider| provider.engine().0.to_owned()).collect()
}

/// The names of all aligners. What a wrong descriptor of the user's describes has none.
pub fn names() -> Vec<String> {
    let described = descriptors::all(&[]).unwrap_or_default().into_iter().map(|descriptor| descriptor.name);
    own_names().into_iter().chain(described).collect()
}

fn table(entries: &[EngineEntry]) -> String {
    let mut rows = vec![["engine", "version", "order of records", "index shared by", "found"].map(str::to_owned)];
    for provider in engines::all_embedded() {
        let (name, version) = provider.engine();
        rows.push([name, version, "as the reads", "all workers", "built in"].map(str::to_owned));
    }
    for EngineEntry { descriptor, found, found_version } in entries {
        let order = match descriptor.order.keeps {
            Keeps::Always => "as the reads".to_owned(),
            Keeps::WithOption => format!("as the reads ({})", descriptor.order.option.join(" ")),
            Keeps::Never => "put back by zerohop".to_owned(),
        };
        let sharing = match descriptor.sharing.how {
            How::None => "nobody".to_owned(),
            How::MappedFiles => format!("--farm ({})", descriptor.sharing.option.join(" ")),
            How::BwaShm => "--farm (bwa shm)".to_owned(),
        };
        let found = found.as_ref().map_or("not on the PATH".to_owned(), |path| path.display().to_string());
        rows.push([descriptor.name.clone(), found_version.clone().unwrap_or("-".to_owned()), order, sharing, found]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text.push('\n');
    for EngineEntry { descriptor, .. } in entries.iter().filter(|entry| entry.found.is_some()) {
        let same = match descriptor.contract.same_records {
            SameRecords::Free => "the same records under every plan",
            SameRecords::WithDna => "the same records under every plan with --dna",
            SameRecords::Batch => "records depend on the number of instances where places are equally good",
            SameRecords::Unknown => "records may depend on the plan",
        };
        text += &format!("{}: {same}. {}\n", descriptor.name, descriptor.contract.notes);
    }
    text
}
