//! Index copies that stay in memory for the runs to come: how they are made, and how `align` finds them. They lie where
//! copies for external aligners do, so `zerohop cache` lists and removes them, too.

use std::fs::File;
use std::path::{Path, PathBuf};
use zerohop_engine_external::copies::{self, CopiedFile, Copy, Kept, Manifest, Original};
use zerohop_engine_external::{ExternalError, shm};
use zerohop_memory::{FileMapping, Placed};
use zerohop_model::engine::Engine;
use zerohop_model::index::{IndexSource, Resident};
use zerohop_model::plan::Placement;
use zerohop_topology::allocate;

/// An index that may be kept.
pub(crate) struct ResidentIndex<'a> {
    resident: &'a dyn Resident,
    /// Its copies are made with so many.
    threads: usize,
    /// Its files as they were when this was made: what changes after that is noticed later.
    files: Vec<CopiedFile>,
}

impl<'a> ResidentIndex<'a> {
    /// An index as it is now.
    ///
    /// # Errors
    /// A file that cannot be asked.
    pub(crate) fn new(resident: &'a dyn Resident, threads: usize) -> Result<Self, ExternalError> {
        let as_it_is = |file: PathBuf| match file.metadata() {
            Ok(now) => Ok(CopiedFile::new(&file, &now, 0)),
            Err(source) => Err(ExternalError::System { what: file.display().to_string(), source }),
        };
        let files = resident.files().into_iter().map(as_it_is).collect::<Result<_, _>>()?;
        Ok(ResidentIndex { resident, threads, files })
    }

    /// Moves the copy in a folder to huge pages, on which whoever maps it finds its places sooner.
    ///
    /// # Errors
    /// What the system says: kernels before Linux 6.1 cannot.
    pub(crate) fn collapse(&self, folder: &Path) -> std::io::Result<()> {
        let copy = File::open(self.copy_in(folder))?;
        FileMapping::read(&copy, copy.metadata()?.len() as usize)?.collapse()
    }

    /// Where the copy of it lies in a folder.
    fn copy_in(&self, folder: &Path) -> PathBuf {
        folder.join(self.source().file_name().unwrap_or_default())
    }

    fn copy_to(&self, copy: &Path, bytes: u64, placement: &Placement) -> Result<(), ExternalError> {
        let fault = |error| shm::not_copied(bytes, error);
        let copy = File::options().read(true).write(true).create_new(true).open(copy).map_err(fault)?;
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

impl Original for ResidentIndex<'_> {
    fn engine(&self) -> &str {
        self.resident.engine()
    }

    fn source(&self) -> &Path {
        self.resident.file()
    }

    /// In a moment: its bytes were checked when they were copied, and memory is not read again.
    fn is_fresh(&self, folder: &Path, manifest: &Manifest) -> Result<bool, ExternalError> {
        Ok(manifest.files == self.files && self.resident.is_copy(&self.copy_in(folder)))
    }

    fn copy(&self, folder: &Path, placement: &Placement) -> Result<Vec<CopiedFile>, ExternalError> {
        let bytes = self.resident.bytes(self.threads).map_err(|error| ExternalError::Failed(error.to_string()))?;
        shm::check_room(bytes)?;
        std::fs::create_dir(folder).map_err(|error| shm::not_copied(bytes, error))?;
        self.copy_to(&self.copy_in(folder), bytes, placement)?;
        Ok(self.files.clone())
    }
}

/// The file of a copy that was kept: in use as long as there is this.
pub(crate) struct KeptFile {
    pub(crate) file: PathBuf,
    _copy: Copy,
}

/// Where copies of `source` are kept in memory.
pub(crate) fn kept(source: &dyn IndexSource) -> Vec<Placement> {
    let original = source.resident().and_then(|resident| ResidentIndex::new(resident, 1).ok());
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
    let original = match ResidentIndex::new(resident, threads) {
        Ok(original) => original,
        // Whoever loads it says why it cannot be.
        Err(_) => return Ok(None),
    };
    let unused = |place: &Path, why: &str| format!("{} was not used: {why}.", place.display());
    let copy = match Copy::find(&original, placement) {
        Ok(Kept::None) => return Ok(None),
        Ok(Kept::Stale(folder)) => {
            return Err(unused(
                &folder,
                "it is not a copy of the index as it is now, and 'zerohop index --keep' makes one",
            ));
        }
        Ok(Kept::Fresh(copy)) => copy,
        Err(error) => return Err(unused(Path::new(shm::SHM), &error.to_string())),
    };
    let file = original.copy_in(copy.folder());
    let engine = resident.attach(&file, threads).map_err(|error| unused(copy.folder(), &error.to_string()))?;
    Ok(Some((engine, KeptFile { file, _copy: copy })))
}
