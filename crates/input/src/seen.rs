//! Regular files that are looked at when a run begins, closed, and opened again when their turn comes: a run may have
//! more files than a process may have open.

use crate::content::Content;
use crate::regular::{FileCoding, Regular};
use crate::text::open_raw;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use zerohop_model::error::InputError;

/// What a file was like when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeenFile {
    /// Its length in bytes.
    pub(crate) length: u64,
    /// When it was modified; none where the system does not say.
    modified: Option<SystemTime>,
}

impl SeenFile {
    /// What an open file is like now. (Its inode does not count: some file systems in user space give the same file
    /// another one when it is opened again.)
    pub(crate) fn of(file: &File) -> std::io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(SeenFile { length: metadata.len(), modified: metadata.modified().ok() })
    }

    /// Refuses a file that has been opened again and is another one, or was written to.
    pub(crate) fn check(self, path: &Path, file: Option<&File>) -> Result<(), InputError> {
        let changed = |how: &str| {
            let what =
                format!("it was changed after it was checked at the start, {how}: run again once it is complete");
            Err(InputError::new(path, what))
        };
        let Some(file) = file else { return changed("and is not a regular file any more") };
        let now = SeenFile::of(file).map_err(|e| InputError::new(path, format!("cannot read: {e}")))?;
        match now.length == self.length {
            true if now == self => Ok(()),
            true => changed("as the time of its last change says"),
            false => changed(&format!("when it had {} bytes, and has {} now", self.length, now.length)),
        }
    }
}

/// A file that workers deal, closed.
#[derive(Debug, Clone)]
pub(crate) struct ClosedFile {
    pub(crate) path: PathBuf,
    pub(crate) seen: SeenFile,
    pub(crate) coding: FileCoding,
    pub(crate) content: Content,
}

impl ClosedFile {
    /// Opens it again.
    ///
    /// # Errors
    /// A file that cannot be opened, or is not what it was.
    pub(crate) fn open(&self) -> Result<Regular, InputError> {
        let (_, file) = open_raw(&self.path)?;
        self.seen.check(&self.path, file.as_ref())?;
        let gone = || InputError::new(&self.path, "cannot open: it is not a regular file any more");
        let (file, what) = (file.ok_or_else(gone)?, (self.coding, self.content));
        Ok(Regular::new(self.path.clone(), file, what, self.seen.length))
    }
}
