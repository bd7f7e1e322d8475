//! The index files of embedded engines: writing them, and finding those that were written.

use crate::engines::embedded::replicas::check_memory;
use crate::job::AlignError;
use crate::tell::progress;
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, SavedIndex, Wanted};
use zerohop_process::lock;

/// Builds the index that is wanted with so many threads, and writes it beside the reference; says meanwhile for how
/// long it has done so, if it `shows_progress`.
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
    check_memory(&*source, wanted.reference, 1)?;
    let what = format!("making the index of {}", wanted.reference.display());
    Ok(progress::waiting(shows_progress, &what, || provider.save(wanted, threads))?)
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
