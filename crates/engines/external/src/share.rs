//! One index copy for many processes, in the way that the aligner knows.

use crate::clearing;
use crate::copies::{self, Copy};
use crate::descriptor::How;
use crate::error::ExternalError;
use crate::found::{Found, FoundIndex};
use crate::index_files::IndexFiles;
use crate::segments::Segments;
use crate::shm::SHM;
use std::path::PathBuf;
use zerohop_model::plan::Placement;
use zerohop_process::{Charged, charge};

/// Index copies that the processes of a run share; given up when dropped.
#[derive(Debug, Default)]
pub struct SharedIndex {
    /// The path that the aligner is given for the index, for each replica.
    pub prefixes: Vec<PathBuf>,
    /// Under which folder the mapped files lie, for each replica.
    pub folders: Vec<PathBuf>,
    /// Copies that were there already.
    pub reused: usize,
    copies: Vec<Copy>,
    /// Held for their end.
    _segments: Option<Segments>,
    /// The last to go: until then the reaper would clear away the rest.
    charged: Option<Charged>,
}

impl SharedIndex {
    /// Copies of `index`, one per different placement; those that are there already and are what they should be are
    /// used. With `keep` they stay when no run uses them any more.
    ///
    /// # Errors
    /// When the aligner cannot share an index, or there is no room.
    pub fn make(
        found: &Found,
        index: &FoundIndex,
        placements: &[Placement],
        keep: bool,
    ) -> Result<Self, ExternalError> {
        let clear = || {
            let charged = charge(clearing::charge()).map_err(ExternalError::uncharged)?;
            // What runs have left that nobody could clear away after takes room.
            copies::clear(false)?;
            Ok::<_, ExternalError>(Some(charged))
        };
        match found.descriptor.sharing.how {
            How::None => {
                let title = &found.descriptor.title;
                Err(ExternalError::Unsuited(format!(
                    "{title} cannot share an index between processes (it reads it into memory of its own), so --farm \
                     would \
                     need one copy per CPU: use --replicas instead"
                )))
            }
            How::MappedFiles => {
                let charged = clear()?;
                SharedIndex::map(found, index, placements, keep, charged)
            }
            How::BwaShm => {
                let charged = clear()?;
                let (segments, prefixes) = Segments::make(found, index, placements)?;
                let folders = vec![PathBuf::from(SHM); prefixes.len()];
                let (copies, _segments) = (Vec::new(), Some(segments));
                Ok(SharedIndex { prefixes, folders, reused: 0, copies, _segments, charged })
            }
        }
    }

    /// Files that the aligner maps.
    fn map(
        found: &Found,
        index: &FoundIndex,
        placements: &[Placement],
        keep: bool,
        charged: Option<Charged>,
    ) -> Result<Self, ExternalError> {
        let mut shared = SharedIndex::default();
        shared.charged = charged;
        for (i, placement) in placements.iter().enumerate() {
            // Several copies on one node would be one.
            let folder = match placements[..i].iter().position(|other| other == placement) {
                Some(same) => shared.folders[same].clone(),
                None => {
                    let (copy, was_there) = Copy::get(&IndexFiles { found, index }, placement, keep)?;
                    shared.reused += usize::from(was_there);
                    let folder = copy.folder().to_owned();
                    shared.copies.push(copy);
                    folder
                }
            };
            let name = index.prefix.file_name().unwrap_or_default();
            shared.prefixes.push(if found.descriptor.index.directory { folder.clone() } else { folder.join(name) });
            shared.folders.push(folder);
        }
        Ok(shared)
    }
}

impl Drop for SharedIndex {
    fn drop(&mut self) {
        self.copies.drain(..).for_each(Copy::give_up);
    }
}
