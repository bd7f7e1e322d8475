//! What the files of an index held when they were written, in a file beside them: a byte that changed later is noticed,
//! and so is a reference that did.

use crate::files::{BwaIndexError, ENDINGS, damaged, path, text, unreadable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use zerohop_input::identity::{FileId, digest};

/// The ending of the file.
pub(crate) const ENDING: &str = "bwa-mem.digests";
const VERSION: u32 = 1;

/// What is in the file, as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Digests {
    version: u32,
    reference: FileId,
    /// Of each file of the index, by its ending.
    files: BTreeMap<String, String>,
}

impl Digests {
    /// Those of an index of this reference whose files, in the order of [`ENDINGS`], have these digests.
    pub(crate) fn new(reference: FileId, files: [String; 4]) -> Self {
        Digests { version: VERSION, reference, files: ENDINGS.map(str::to_owned).into_iter().zip(files).collect() }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn write(&self, mut out: impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")
    }

    /// Those of the index of `reference`; none if it was made by another program.
    ///
    /// # Errors
    /// A file that cannot be read, or is damaged.
    pub(crate) fn read(reference: &Path) -> Result<Option<Self>, BwaIndexError> {
        let path = path(reference, ENDING);
        if !path.exists() {
            return Ok(None);
        }
        let read: Result<Digests, _> = serde_json::from_slice(&text(&path)?);
        match read {
            Ok(digests) if digests.version == VERSION => Ok(Some(digests)),
            Ok(digests) => Err(damaged(&path, format!("its version is {}, not {VERSION}", digests.version))),
            Err(error) => Err(damaged(&path, error.to_string())),
        }
    }

    /// Reads all files of the index of `reference`, with so many threads, and the reference itself if it is there and
    /// was changed.
    ///
    /// # Errors
    /// A file that is not what it was.
    pub(crate) fn check(&self, reference: &Path, threads: usize) -> Result<(), BwaIndexError> {
        if reference.exists() && !self.reference.is_of(reference, threads).map_err(unreadable(reference))? {
            return Err(BwaIndexError::Stale { path: path(reference, ENDINGS[0]) });
        }
        for ending in ENDINGS {
            let path = path(reference, ending);
            let is_same = Some(&digest(&path, threads).map_err(unreadable(&path))?) == self.files.get(ending);
            if !is_same {
                return Err(damaged(
                    &path,
                    format!("its digest is not that in {}", self::path(reference, ENDING).display()),
                ));
            }
        }
        Ok(())
    }
}
