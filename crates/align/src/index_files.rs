//! The index files of embedded engines: writing them, and finding those that were written.

use crate::error::AlignError;
use crate::replicas::check_memory;
use std::path::{Path, PathBuf};
use zerohop_model::index::{IndexError, IndexProvider, IndexSource, Wanted};
use zerohop_model::machine::Bytes;
use zerohop_process::lock::{self, Hold};

/// Builds the index of a reference with so many threads, and writes it beside it. Gives its size.
///
/// # Errors
/// A reference that cannot be read, an index that does not fit into memory or cannot be written.
pub fn write_index(
    provider: &dyn IndexProvider,
    reference: &Path,
    mean_read_length: usize,
    threads: usize,
) -> Result<Bytes, AlignError> {
    let source = provider.find(&Wanted { reference, mean_read_length, anew: true, arguments: "" })?;
    check_memory(&*source, reference, 1)?;
    Ok(provider.save(reference, mean_read_length, threads)?)
}

/// The index that is wanted; written first if there is none. Of several runs that want the same one, the first writes
/// it, and the others wait.
///
/// # Errors
/// As for [`write_index`]; an index that is not to be used.
pub(crate) fn find_or_write(
    provider: &dyn IndexProvider,
    wanted: &Wanted<'_>,
    threads: usize,
) -> Result<Box<dyn IndexSource>, AlignError> {
    let Some(path) = provider.path(wanted.reference, wanted.mean_read_length) else {
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
    let lock_path = lock_path(&path);
    let _lock = lock::take(&lock_path, Hold::Alone).map_err(|error| AlignError::Failed(error.to_string()))?;
    let outcome = match is_missing(&provider.find(wanted)) {
        true => write_index(provider, wanted.reference, wanted.mean_read_length, threads).map(drop),
        false => Ok(()),
    };
    // Whoever waits for it will find that it is nobody's, and takes it anew.
    let _ = std::fs::remove_file(&lock_path);
    outcome?;
    Ok(provider.find(wanted)?)
}

fn is_missing(found: &Result<Box<dyn IndexSource>, IndexError>) -> bool {
    match found {
        Ok(source) => source.is_built(),
        Err(error) => matches!(error, IndexError::Missing(_)),
    }
}

/// A hidden file beside the index.
fn lock_path(index: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(index.file_name().unwrap_or_default());
    name.push(".lock");
    index.with_file_name(name)
}
