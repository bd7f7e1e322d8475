//! `zerohop index --keep`: an index stays in memory, a copy on each node.

use crate::error::AlignError;
use crate::index_files::find_or_write;
use crate::reaping;
use crate::resident::IndexFile;
use std::path::PathBuf;
use zerohop_engine_external::copies::{self, Copy};
use zerohop_engine_external::{copies_charge, shm};
use zerohop_model::index::{IndexProvider, Wanted};
use zerohop_model::machine::Machine;
use zerohop_model::plan::{HugePages, Pages, Placement};

/// What the user should know of /dev/shm, if copies there do not lie on huge pages.
pub fn note() -> Option<String> {
    let words = "/dev/shm has no huge pages: aligning with the copy takes about a tenth more time than with a loaded \
                 index. An administrator gives it some: mount -o remount,huge=within_size /dev/shm. Then remove the \
                 copy and keep it again.";
    (!shm::has_huge_pages()).then(|| words.to_owned())
}

/// A copy that stays.
#[derive(Debug)]
pub struct KeptCopy {
    /// Where it lies.
    pub folder: PathBuf,
    /// Whether it was there already.
    pub was_there: bool,
}

/// Puts the index of a reference into the memory of each node that this process may use, with so many threads. The
/// index is written first if there is none.
///
/// # Errors
/// An index that cannot be kept, used or written; no room.
pub fn keep(
    provider: &dyn IndexProvider,
    wanted: &Wanted<'_>,
    machine: &Machine,
    threads: usize,
) -> Result<Vec<KeptCopy>, AlignError> {
    let name = provider.engine().0;
    let cannot = || AlignError::Usage(format!("--keep: the index of {name} cannot be kept in memory"));
    if !provider.has_resident() {
        return Err(cannot());
    }
    let source = find_or_write(provider, wanted, threads)?;
    let resident = source.resident().ok_or_else(cannot)?;
    resident.check(threads)?;
    let reaper = reaping::start()?;
    reaping::told(&reaper, &copies_charge())?;
    // What runs have left that nobody could clear away after takes room.
    copies::clear(false)?;
    let nodes = machine.memory_nodes().into_iter().map(|node| node.id);
    let on_node = |node| Placement { nodes: vec![node], pages: Pages::Local, huge_pages: HugePages::Auto };
    let make = |placement: Placement| {
        let (copy, was_there) = Copy::get(&IndexFile { resident, threads }, &placement, true)?;
        Ok(KeptCopy { folder: copy.folder().to_owned(), was_there })
    };
    nodes.map(on_node).map(make).collect()
}
