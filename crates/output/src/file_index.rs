//! The index of a sorted file, of whatever format.

use crate::index::{IndexFormat, RecordIndex};
use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};
use std::io::Write;
use zerohop_cram::Crai;
use zerohop_model::error::Error;
use zerohop_model::record::Contig;

/// What an index says of a file, or of a part of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum FileIndex {
    /// Of BAM.
    Bam(RecordIndex),
    /// Of CRAM.
    Cram(Crai),
}

/// A part of a sorted file that is made, here or by another process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MadePart {
    pub(crate) number: usize,
    /// How long it is.
    pub(crate) bytes: u64,
    /// What its index says, if one is wanted.
    pub(crate) index: Option<FileIndex>,
}

impl FileIndex {
    /// An empty one.
    pub(crate) fn new(format: IndexFormat, contigs: &[Contig]) -> Self {
        match format {
            IndexFormat::Bai | IndexFormat::Csi => FileIndex::Bam(RecordIndex::new(format, contigs)),
            IndexFormat::Crai => FileIndex::Cram(Crai::default()),
        }
    }

    pub(crate) fn format(&self) -> IndexFormat {
        match self {
            FileIndex::Bam(index) => index.format(),
            FileIndex::Cram(_) => IndexFormat::Crai,
        }
    }

    /// An empty one of the same kind.
    pub(crate) fn like(&self) -> Self {
        match self {
            FileIndex::Bam(index) => FileIndex::Bam(index.like()),
            FileIndex::Cram(_) => FileIndex::Cram(Crai::default()),
        }
    }

    /// Adds what the indexes of all parts say; the first begins at `start`, in bytes.
    pub(crate) fn add_parts(&mut self, mut parts: Vec<MadePart>, start: u64) {
        let mut offset = start;
        parts.sort_unstable_by_key(|part| part.number);
        for MadePart { bytes, index, .. } in parts {
            index.into_iter().for_each(|index| self.append(index, offset));
            offset += bytes;
        }
    }

    /// Adds the index of what follows, which begins at `offset`, in bytes, and is of the same kind.
    fn append(&mut self, part: FileIndex, offset: u64) {
        match (self, part) {
            (FileIndex::Bam(all), FileIndex::Bam(part)) => all.append(part, offset),
            (FileIndex::Cram(all), FileIndex::Cram(part)) => all.append(part, offset),
            _ => {}
        }
    }

    /// The bytes of its file; `contigs` is the number of contigs.
    ///
    /// # Errors
    /// [`Error::Internal`] if compression fails.
    pub(crate) fn file(&self, contigs: usize) -> Result<Vec<u8>, Error> {
        match self {
            FileIndex::Bam(index) => index.file(contigs),
            FileIndex::Cram(crai) => {
                let mut file = GzBuilder::new().write(Vec::new(), Compression::default());
                let written = file.write_all(crai.text().as_bytes()).and_then(|()| file.finish());
                written.map_err(|error| Error::Internal(format!("the index cannot be compressed: {error}")))
            }
        }
    }
}
