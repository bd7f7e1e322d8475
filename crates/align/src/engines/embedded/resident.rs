//! Index copies that stay in memory for the runs to come: how they are made, and how `align` finds them. They lie where
//! copies for external aligners do, so `zerohop cache` lists and removes them, too.

use std::fs::File;
use std::path::{Path, PathBuf};
use zerohop_engine_external::copies::{self, CopiedFile, Copy, Kept, Manifest, Original};
use zerohop_engine_external::{ExternalError, shm};
use zerohop_memory::Placed;
use zerohop_model::engine::Engine;
use zerohop_model::index::{IndexSource, Resident};
use zerohop_model::plan::Placement;
use zerohop_topology::allocate;

/// An index file, with so many threads for its copies.
pub(crate) struct IndexFile<'a> {
    pub(crate) resident: &'a dyn Resident,
    pub(crate) threads: usize,
}

impl IndexFile<'_> {
    /// Where the copy of it lies in a folder.
    fn copy_in(&self, folder: &Path) -> PathBuf {
        folder.join(self.source().file_name().unwrap_or_default())
    }

    fn copy_to(&self, copy: &Path, bytes: u64, placement: &Placement) -> Result<(), ExternalError> {
        let fault = |error| shm::not_copied(bytes, error);
        let copy = File::create_new(copy).map_err(fault)?;
        // As long first as it will be: a file system with huge pages may give them within the length alone.
        copy.set_len(bytes).map_err(fault)?;
        // Here the pages get their places; whoever maps one that is not there would be ended by the kernel.
        Placed::new(placement).run(|| allocate(&copy, bytes)).map_err(fault)?;
        self.resident.fill(&copy, self.threads).map_err(|error| ExternalError::Failed(error.to_string()))?;
        // It is complete: nobody has reason to write to it any more.
        let mut permissions = copy.metadata().map_err(fault)?.permissions();
        permissions.set_readonly(true);
        copy.set_permissions(permissions).map_err(fault)
    }
}

impl Original for IndexFile<'_> {
    fn engine(&self) -> &str {
        self.resident.engine()
    }

    fn source(&self) -> &Path {
        self.resident.file()
    }

    /// In a moment: its pieces were checked when they were copied, and memory is not read again.
    fn is_fresh(&self, folder: &Path, manifest: &Manifest) -> Result<bool, ExternalError> {
        let Ok(now) = self.source().metadata() else { return Ok(false) };
        let is_same = manifest.files.first().is_some_and(|copied| copied.is_same(&now));
        let copy = self.copy_in(folder);
        let is_whole = copy.metadata().is_ok_and(|copy| copy.len() == now.len());
        Ok(is_same && is_whole && self.resident.is_copy(&copy))
    }

    fn copy(&self, folder: &Path, placement: &Placement) -> Result<Vec<CopiedFile>, ExternalError> {
        let source = self.source();
        let unread = |source| ExternalError::System { what: self.source().display().to_string(), source };
        // Before it is read: what changes meanwhile is noticed later.
        let before = source.metadata().map_err(unread)?;
        shm::check_room(before.len())?;
        std::fs::create_dir(folder).map_err(|error| shm::not_copied(before.len(), error))?;
        self.copy_to(&self.copy_in(folder), before.len(), placement)?;
        Ok(vec![CopiedFile::new(source, &before, 0)])
    }
}

/// The file of a copy that was kept: in use as long as there is this.
pub(crate) struct KeptFile {
    pub(crate) file: PathBuf,
    _copy: Copy,
}

/// Where copies of `source` are kept in memory.
pub(crate) fn kept(source: &dyn IndexSource) -> Vec<Placement> {
    let original = source.resident().map(|resident| IndexFile { resident, threads: 1 });
    original.map(|original| copies::kept(&original)).unwrap_or_default()
}

/// An engine, and the copy that it reads.
pub(crate) type Attached = (Box<dyn Engine>, KeptFile);

/// An engine with the copy of `source` that was kept for this placement, under which the calling thread is.
///
/// # Errors
/// What the user should know, if there is a copy that cannot be used.
pub(crate) fn attach(
    source: &dyn IndexSource,
    placement: &Placement,
    threads: usize,
) -> Result<Option<Attached>, String> {
    let Some(resident) = source.resident() else { return Ok(None) };
    let original = IndexFile { resident, threads };
    let unused = |place: &Path, why: &str| format!("{} was not used: {why}.", place.display());
    let copy = match Copy::find(&original, placement) {
        Ok(Kept::None) => return Ok(None),
        Ok(Kept::Stale(folder)) => {
            return Err(unused(&folder, "the index has changed since it was copied there by 'zerohop index --keep'"));
        }
        Ok(Kept::Fresh(copy)) => copy,
        Err(error) => return Err(unused(Path::new(shm::SHM), &error.to_string())),
    };
    let file = original.copy_in(copy.folder());
    let engine = resident.attach(&file, threads).map_err(|error| unused(copy.folder(), &error.to_string()))?;
    Ok(Some((engine, KeptFile { file, _copy: copy })))
}
