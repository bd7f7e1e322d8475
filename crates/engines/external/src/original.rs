//! What index copies are made of, and what is known of a copy.

use crate::error::ExternalError;
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use zerohop_model::plan::Placement;

/// An index that copies are made of.
pub trait Original {
    /// The name of the aligner.
    fn engine(&self) -> &str;

    /// Where it is: the file, or the beginning of the names of its files.
    fn source(&self) -> &Path;

    /// Whether the copy in `folder` is one of the index as it is now, and is whole.
    ///
    /// # Errors
    /// When the index cannot be asked.
    fn is_fresh(&self, folder: &Path, manifest: &Manifest) -> Result<bool, ExternalError>;

    /// Makes `folder` and in it a copy whose pages lie as `placement` says.
    ///
    /// # Errors
    /// No room, an index that cannot be read or is damaged.
    fn copy(&self, folder: &Path, placement: &Placement) -> Result<Vec<CopiedFile>, ExternalError>;
}

/// What is known of a copy that lies in /dev/shm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name of the aligner.
    pub engine: String,
    /// The index that it is a copy of, for people to read: bytes that are no text are replaced.
    pub source: String,
    /// Where it was to lie.
    pub placement: Placement,
    /// Whether it stays when no run uses it.
    pub keep: bool,
    /// The files of the copy, with their lengths.
    pub files: Vec<CopiedFile>,
}

/// A file of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedFile {
    /// The end of the original's path, for people to read.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// When the original was changed last, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// Device and number of the original's inode.
    #[serde(default)]
    pub inode: (u64, u64),
    /// XXH3 of its content; 0 where the content has digests of its own, and in a segment of bwa's.
    pub digest: u64,
}

impl CopiedFile {
    /// What is known of the copy of a file, which was so before it was read.
    pub fn new(original: &Path, before: &Metadata, digest: u64) -> Self {
        let name = original.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (modified, inode) = (modified(before), inode(before));
        CopiedFile { name, bytes: before.len(), modified, inode, digest }
    }

    /// Whether the original has the same length and was not written to since.
    pub fn is_unchanged(&self, now: &Metadata) -> bool {
        now.len() == self.bytes && modified(now) == self.modified
    }
}

fn modified(metadata: &Metadata) -> (i64, i64) {
    (metadata.mtime(), metadata.mtime_nsec())
}

fn inode(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
