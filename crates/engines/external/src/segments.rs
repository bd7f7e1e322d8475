//! Index copies that `bwa shm` makes, one per placement, for this run alone.
//!
//! bwa finds a segment by the last part of the index's name, whoever made it, so each copy gets a name of its own by
//! links to the index's files.

use crate::bwactl;
use crate::copies::Copy;
use crate::error::ExternalError;
use crate::found::{Found, FoundIndex};
use crate::index_files::IndexFiles;
use crate::shm;
use crate::tool::run_tool;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use zerohop_memory::Placed;
use zerohop_model::plan::Placement;

/// Bytes of bwa's list.
const LIST_BYTES: u64 = 1 << 16;
/// The names, places and holes of contigs are text in these files, and structures of so many times their size, at most,
/// in a segment (bntann1_t and bntamb1_t in bwa's bntseq.h).
const TEXT_FILES: [&str; 2] = ["ann", "amb"];
const TEXT_GROWS: u64 = 3;

/// Segments of this run; removed when dropped.
#[derive(Debug, Default)]
pub(crate) struct Segments(Vec<Copy>);

impl Segments {
    /// Segments of `index`, one per placement, and the names by which bwa finds them.
    ///
    /// # Errors
    /// When there is no room for them, or bwa fails.
    pub(crate) fn make(
        found: &Found,
        index: &FoundIndex,
        placements: &[Placement],
    ) -> Result<(Self, Vec<PathBuf>), ExternalError> {
        let mut segments = Segments::default();
        // Taken last, so that it is given back before segments are removed, for which it is needed too.
        let _lock = bwactl::lock()?;
        let own = format!("{}{}-", bwactl::OURS, std::process::id());
        let mut prefixes = Vec::new();
        for placement in placements {
            let original = IndexFiles { found, index };
            let copy = Copy::begin(&original, original.list()?, placement, &own)?;
            let folder = copy.folder().to_owned();
            segments.0.push(copy);
            prefixes.push(stage(found, index, &folder, placement)?);
        }
        Ok((segments, prefixes))
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Copy::give_up);
    }
}

/// Has bwa load the index under `placement`, by links in `folder`, whose name is that of the segment.
fn stage(found: &Found, index: &FoundIndex, folder: &Path, placement: &Placement) -> Result<PathBuf, ExternalError> {
    let needed = room_needed(index);
    shm::check_room(needed)?;
    let name = folder.file_name().unwrap_or_default();
    let with = |suffix: &[u8]| folder.join(OsString::from_vec([name.as_bytes(), suffix].concat()));
    let prefix = index.prefix.as_os_str().as_bytes();
    for file in &index.files {
        let suffix = file.as_os_str().as_bytes().strip_prefix(prefix).unwrap_or_default();
        let original = file.canonicalize().map_err(ExternalError::system(file.display().to_string()))?;
        let link = with(suffix);
        std::os::unix::fs::symlink(original, &link).map_err(ExternalError::system(link.display().to_string()))?;
    }
    let prefix = with(b"");
    let words = [found.program.as_os_str(), OsStr::new("shm"), prefix.as_os_str()].map(OsStr::to_owned);
    let out = File::create(with(b".out")).map_err(ExternalError::system(prefix.display().to_string()))?;
    let staged = Placed::new(placement).run(|| run_tool(&words, out, &with(b".log")));
    staged.map_err(|failed| {
        // bwa does not ask whether there is room, and somebody else may have taken what there was: then SIGBUS ends it.
        let _ = std::fs::remove_file(bwactl::file(name));
        shm::check_room(needed).err().unwrap_or(failed)
    })?;
    Ok(prefix)
}

/// Bytes in /dev/shm that a segment of `index` takes at most, with bwa's list.
fn room_needed(index: &FoundIndex) -> u64 {
    let bytes = |file: &PathBuf| {
        let times = if file.extension().is_some_and(|ending| TEXT_FILES.iter().any(|text| ending == *text)) {
            TEXT_GROWS
        } else {
            1
        };
        times * file.metadata().map_or(0, |file| file.len())
    };
    LIST_BYTES + index.files.iter().map(bytes).sum::<u64>()
}
