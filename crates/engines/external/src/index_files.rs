//! The files of an aligner's index as what copies are made of: read as a whole, each time.

use crate::error::ExternalError;
use crate::found::{Found, FoundIndex};
use crate::original::{CopiedFile, Manifest, Original};
use crate::shm::{check_room, not_copied};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;
use zerohop_memory::Placed;
use zerohop_model::plan::Placement;
use zerohop_topology::allocate;

/// Bytes copied at once.
const STEP: usize = 4 << 20;

/// The index of an aligner.
#[derive(Clone, Copy)]
pub(crate) struct IndexFiles<'a> {
    pub(crate) found: &'a Found,
    pub(crate) index: &'a FoundIndex,
}

impl IndexFiles<'_> {
    /// What is known of its files, which are not read.
    ///
    /// # Errors
    /// When one cannot be asked.
    pub(crate) fn list(&self) -> Result<Vec<CopiedFile>, ExternalError> {
        let file = |original: &PathBuf| {
            let fault = ExternalError::system(original.display().to_string());
            Ok(CopiedFile::new(original, &original.metadata().map_err(fault)?, 0))
        };
        self.index.files.iter().map(file).collect()
    }
}

impl Original for IndexFiles<'_> {
    fn engine(&self) -> &str {
        &self.found.descriptor.name
    }

    fn source(&self) -> &Path {
        &self.index.prefix
    }

    fn is_fresh(&self, folder: &Path, manifest: &Manifest) -> Result<bool, ExternalError> {
        if manifest.files.len() != self.index.files.len() {
            return Ok(false);
        }
        for (copied, original) in manifest.files.iter().zip(&self.index.files) {
            let now = original.metadata().map_err(ExternalError::system(original.display().to_string()))?;
            let copy = folder.join(original.file_name().unwrap_or_default());
            let same = copied.is_unchanged(&now) && digest(&copy).is_ok_and(|digest| digest == copied.digest);
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn copy(&self, folder: &Path, placement: &Placement) -> Result<Vec<CopiedFile>, ExternalError> {
        let needed = self.index.bytes();
        check_room(needed)?;
        let fault = |error| not_copied(needed, error);
        std::fs::create_dir(folder).map_err(fault)?;
        let placed = Placed::new(placement);
        let copy = |original: &PathBuf| {
            let name = original.file_name().unwrap_or_default();
            let before = original.metadata()?;
            let mut copy = File::create(folder.join(name))?;
            // Whoever maps a page for which there is no room is ended by the kernel; here it is an error.
            placed.run(|| allocate(&copy, before.len()))?;
            let digest = pass_through(original, |bytes| placed.run(|| copy.write_all(bytes)))?;
            Ok(CopiedFile::new(original, &before, digest))
        };
        self.index.files.iter().map(|original| copy(original).map_err(fault)).collect()
    }
}

fn digest(path: &Path) -> std::io::Result<u64> {
    pass_through(path, |_| Ok(()))
}

/// Reads a file and returns the digest of what it gave to `each`.
fn pass_through(path: &Path, mut each: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<u64> {
    let (mut file, mut hash, mut buffer) = (File::open(path)?, Xxh3::new(), vec![0; STEP]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hash.digest());
        }
        hash.update(&buffer[..read]);
        each(&buffer[..read])?;
    }
}
