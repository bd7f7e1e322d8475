//! `zerohop index --keep`: an index stays in memory, a copy on each node where there is room for it.

use crate::engines::embedded::index_files::find_or_write;
use crate::engines::embedded::resident::ResidentIndex;
use crate::job::AlignError;
use crate::plan::plan_cache;
use std::path::PathBuf;
use zerohop_engine_external::copies::{self, Copy};
use zerohop_engine_external::{copies_charge, shm};
use zerohop_model::index::{IndexProvider, Resident, Wanted};
use zerohop_model::machine::{Bytes, Machine};
use zerohop_model::plan::{HugePages, Pages, Placement};
use zerohop_plan::{Copies, Engine, Replicas, Request};

/// Moves a copy to huge pages.
///
/// # Errors
/// Why it stays where it is, in words.
fn move_to_huge_pages(original: &ResidentIndex<'_>, copy: &Copy, placement: &Placement) -> Result<(), String> {
    let why = match placement.pages == Pages::Interleave && placement.nodes.len() > 1 {
        true => "the kernel would move all of it to one of its nodes".to_owned(),
        false => match original.collapse(copy.folder()) {
            Ok(()) => return Ok(()),
            Err(error) => {
                format!("the kernel does not move all of it there ({error}), as Linux 6.1 and later do if they can")
            }
        },
    };
    // Else what could have some has them already.
    if shm::has_huge_pages() { Ok(()) } else { Err(why) }
}

/// What the user should know of a copy on small pages.
fn note(resident: &dyn Resident, why: &str) -> String {
    format!(
        "not all of the copy lies on huge pages: {why}. Aligning with it takes {} than with a loaded index. An \
         administrator gives /dev/shm huge pages: mount -o remount,huge=within_size /dev/shm. Then remove the copy \
         ('zerohop cache --clear --all') and keep it again.",
        resident.cost_of_small_pages()
    )
}

/// Refuses copies of so many bytes, all together, for which there is no room: before one of them is made. They do not
/// count as memory of this process, so the kernel would end others for them.
fn check_room(machine: &Machine, needed: u64) -> Result<(), AlignError> {
    shm::check_room(needed)?;
    let free = zerohop_plan::free_memory(machine);
    if needed <= free {
        return Ok(());
    }
    Err(AlignError::Failed(format!(
        "--keep: the copies of the index need {}, and {} of memory are free",
        Bytes(needed),
        Bytes(free)
    )))
}

/// An index that stays in memory.
#[derive(Debug)]
pub struct KeptIndex {
    /// Its copies.
    pub copies: Vec<KeptCopy>,
    /// Why there, a sentence each.
    pub reasons: Vec<String>,
    /// What else the user should know.
    pub note: Option<String>,
}

/// A copy that stays.
#[derive(Debug)]
pub struct KeptCopy {
    /// Where it lies.
    pub folder: PathBuf,
    /// Whether it was there already.
    pub was_there: bool,
}

/// Puts the index of a reference into memory, with so many threads, where a run on all CPUs would place its copies: on
/// each node where there is room for that. The index is written first if there is none.
///
/// # Errors
/// An index that cannot be kept, used or written; no room.
pub fn keep(
    provider: &dyn IndexProvider,
    wanted: &Wanted<'_>,
    machine: &Machine,
    threads: usize,
    shows_progress: bool,
) -> Result<KeptIndex, AlignError> {
    let name = provider.engine().0;
    let cannot = || AlignError::Usage(format!("--keep: the index of {name} cannot be kept in memory"));
    if !provider.has_resident() {
        return Err(cannot());
    }
    let source = find_or_write(provider, wanted, threads, shows_progress)?;
    let resident = source.resident().ok_or_else(cannot)?;
    // Before it is checked: what changes after that is noticed.
    let original = ResidentIndex::new(resident, threads)?;
    resident.check(threads)?;
    let bytes = resident.bytes(threads)?;
    let _charged = zerohop_process::charge(copies_charge()).map_err(AlignError::uncharged)?;
    let _alone = copies::plan_alone()?;
    // What takes room and is of no use: what runs have left that nobody could clear away after, and copies of an index
    // that has changed.
    copies::clear(false)?;
    copies::remove_stale(&original)?;
    let kept = copies::kept(&original);
    let map = plan_cache::memory_map(machine);
    let request = Request {
        workers: None,
        replicas: Replicas::Auto,
        pages: None,
        huge_pages: HugePages::Auto,
        index_bytes: bytes,
        kept: &kept,
        engine: Engine::Embedded,
        map: map.as_ref(),
    };
    let Copies { placements, reasons, .. } = zerohop_plan::copies(machine, &request)?;
    let missing = placements.iter().filter(|placement| !kept.contains(placement)).count() as u64;
    check_room(machine, missing * bytes)?;
    let mut kept = KeptIndex { copies: Vec::new(), reasons, note: None };
    for placement in &placements {
        let (copy, was_there) = Copy::get(&original, placement, true)?;
        if let Err(why) = move_to_huge_pages(&original, &copy, placement) {
            kept.note = Some(note(resident, &why));
        }
        kept.copies.push(KeptCopy { folder: copy.folder().to_owned(), was_there });
    }
    Ok(kept)
}
