//! What the files of an index held when they were written, in a file beside them: a byte that changed later is noticed,
//! and so is a reference that did.

use crate::files::{BwaIndexError, DIGESTS, IndexKind, damaged, path, text, unreadable};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use zerohop_input::identity::{FileId, digest};

const VERSION: u32 = 1;

/// What is in the file, as JSON.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Digests {
    version: u32,
    reference: FileId,
    /// Of each file of the index, by what is behind the name of the reference.
    files: BTreeMap<String, String>,
}

impl Digests {
    /// Those of an index of `reference`, which is this one, whose files have these digests.
    pub(crate) fn new((reference, id): (&Path, FileId), files: &[(PathBuf, String)]) -> Self {
        let files = files.iter().map(|(file, digest)| (ending(reference, file), digest.clone())).collect();
        Digests { version: VERSION, reference: id, files }
    }

    /// Where they are.
    pub(crate) fn path(reference: &Path, kind: IndexKind) -> PathBuf {
        path(&kind.prefix(reference), DIGESTS)
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
    pub(crate) fn read(reference: &Path, kind: IndexKind) -> Result<Option<Self>, BwaIndexError> {
        let path = Digests::path(reference, kind);
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

    /// Looks whether the index is of `reference` as it is, if it is there: it is read, with so many threads, if it was
    /// written to since.
    ///
    /// # Errors
    /// Another reference.
    pub(crate) fn check_reference(
        &self,
        reference: &Path,
        kind: IndexKind,
        threads: usize,
    ) -> Result<(), BwaIndexError> {
        match !reference.exists() || self.reference.is_of(reference, threads).map_err(unreadable(reference))? {
            true => Ok(()),
            false => Err(BwaIndexError::Stale { path: kind.fm(reference) }),
        }
    }

    /// Reads all files of the index of `reference`, with so many threads.
    ///
    /// # Errors
    /// A file that is not what it was.
    pub(crate) fn check_files(&self, reference: &Path, kind: IndexKind, threads: usize) -> Result<(), BwaIndexError> {
        for path in &kind.files(reference) {
            let found = digest(path, threads).map_err(unreadable(path))?;
            if Some(&found) != self.files.get(&ending(reference, path)) {
                let file = Digests::path(reference, kind);
                return Err(damaged(path, format!("its digest is not that in {}", file.display())));
            }
        }
        Ok(())
    }
}

/// What is behind the name of the reference in that of a file.
fn ending(reference: &Path, file: &Path) -> String {
    let [reference, file] = [reference, file].map(|path| path.to_string_lossy().into_owned());
    file.strip_prefix(&reference).unwrap_or(&file).trim_start_matches('.').to_owned()
}
