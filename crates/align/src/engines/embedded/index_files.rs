//! The index files of embedded engines: writing them, and finding those that were written.

use crate::engines::embedded::replicas::check_memory;
use crate::job::AlignError;
use crate::tell::progress;
use std::path::Path;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, MakingCost, SavedIndex, Wanted};
use zerohop_model::machine::Bytes;
use zerohop_process::{lock, tell};

/// Making an index that takes so much memory, or so much room, begins with a line that says so.
const WORTH_A_LINE: Bytes = Bytes(1 << 30);

/// Builds the index that is wanted with so many threads, and writes it beside the reference. If it `shows_progress`, it
/// says before what that takes and what there is, and meanwhile what is done and for how long.
///
/// # Errors
/// A reference that cannot be read, an index that does not fit into memory or cannot be written.
pub fn write_index(
    provider: &dyn IndexProvider,
    wanted: &Wanted<'_>,
    threads: usize,
    shows_progress: bool,
) -> Result<SavedIndex, AlignError> {
    let source = provider.find(&Wanted { anew: true, ..*wanted })?;
    let cost = source.making();
    check_memory(cost.least_memory, wanted.reference, 1)?;
    let what = format!("making the index of {}", wanted.reference.display());
    if shows_progress && cost.memory.max(cost.disk) >= WORTH_A_LINE {
        tell::text(&format!("{what}: {}\n", words(cost, source.file())));
    }
    Ok(progress::waiting(shows_progress, &what, |told| provider.save(wanted, threads, told))?)
}

/// What making an index takes, and what there is of it, as far as the system says.
fn words(cost: MakingCost, file: &Path) -> String {
    let memory = zerohop_topology::detect().ok().map(|machine| zerohop_plan::free_memory(&machine));
    let bound = zerohop_topology::memory_bound().map(|bound| bound.left.0);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let free = |free: Option<u64>| free.map(|free| format!(" ({} are free)", Bytes(free))).unwrap_or_default();
    let memory = free(memory.into_iter().chain(bound).min());
    let disk = free(zerohop_topology::free_bytes(folder).ok());
    format!("it takes about {} of memory{memory}, and {} on the disk{disk}", cost.memory, cost.disk)
}

/// The index that is wanted; written first if there is none. Of several runs that want the same one, the first writes
/// it, and the others wait: the reference is their lock. (Without locks, each writes it; the last one stays.)
///
/// # Errors
/// As for [`write_index`]; an index that is not to be used.
pub(crate) fn find_or_write(
    provider: &dyn IndexProvider,
    wanted: &Wanted<'_>,
    threads: usize,
    shows_progress: bool,
) -> Result<Box<dyn IndexSource>, AlignError> {
    let Some(path) = provider.path(wanted)? else {
        let words = format!("--build-index: {} has no index files", provider.engine().0);
        return Err(AlignError::Usage(words));
    };
    if wanted.anew {
        return Err(AlignError::Usage("--build-index and --no-index cannot be given together".to_owned()));
    }
    let found = provider.find(wanted);
    if !is_missing(&found) {
        return Ok(found?);
    }
    zerohop_process::check_writable(&path)?;
    let _lock = lock::take_file(wanted.reference).map_err(|error| AlignError::Failed(error.to_string()))?;
    if is_missing(&provider.find(wanted)) {
        write_index(provider, wanted, threads, shows_progress)?;
    }
    Ok(provider.find(wanted)?)
}

fn is_missing(found: &Result<Box<dyn IndexSource>, IndexError>) -> bool {
    match found {
        Ok(source) => source.is_to_be_saved(),
        Err(error) => matches!(error, IndexError::Missing(_)),
    }
}
